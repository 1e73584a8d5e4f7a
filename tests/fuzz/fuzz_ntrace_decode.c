/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an N-Trace stream over a small program: the decoder comes to its end, entered anywhere it gives the same
 * events, the encoder takes them, and records.txt accounts for all bytes. The first byte says the parameters, the
 * second how the stream is stored, the dialect, whether it is the flow or records.txt that is tried, and where the decoder
 * is cut.
 */
#include "tests/lib/fuzz.h"
#include "tests/lib/rvrun.h"

/* A few bytes can stand for as many events as one likes; long inputs find nothing that short ones do not. */
#define EVENTS_MAX 1500
#define BYTES_MAX 512
/* What a decoder entered somewhere is compared with. */
#define CUT_EVENTS 300
#define BATCH 32

/* Whose bytes are taken out of frames. */
#define TRACE_ID 1

static struct hf_run runs[2]; /* without and with Zcmp, Zcmt and their table */

/* place: also what stores the stream, framing in its lowest two bits, then words. */
static void describe(uint8_t byte, uint8_t place, size_t n, char *text, size_t size)
{
	static const char *const framings[] = {"raw", "coresight", "coresight_sync", "dstream_coresight"};
	static const char *const dialects[] = {"standard", "sifive", "tt-dfd"};

	snprintf(text, size,
		 "srcbits=%d,implicit_return=%d,sequential_jump=%d,all_jumps=%d,addr_msb_ext=%d,wrapped=%d,zcmp=%d,zcmt=%d,"
		 "jvt=0x%llx,framing=%s,word_bytes=%u,wrap_offset=%zu,trace_id=%d,dialect=%s,address_width=%d,compare_returns=%d", byte & 1 ? 3 : 0, byte >> 1 & 1,
		 byte >> 2 & 1, byte >> 3 & 1, byte >> 4 & 1, byte >> 5 & 1, byte >> 7, byte >> 7,
		 (unsigned long long)(runs[1].base + HF_RUN_TABLE), framings[place & 3], 1u << (place >> 2 & 3),
		 byte & 32 && place & 12 ? n / 3 : 0, TRACE_ID, dialects[(place >> 5) % 3], place >> 7 ? 32 : 64,
		 !(place >> 6 & 1));
}

/* Events as they come, and the state before one of them. */
struct pass {
	struct hf_event ev[EVENTS_MAX + BATCH];
	size_t n;
	int err;
	uint8_t blob[HF_STATE_MAX];
	size_t size, at; /* of blob; the event before which it was saved, 0: none */
	uint64_t discard;
};

static struct pass pass;

static void run(struct hf_dec *dec, size_t at)
{
	size_t got;

	pass.n = pass.at = 0;
	for (pass.err = 0; !pass.err && pass.n < EVENTS_MAX; pass.n += got) {
		if (pass.n && pass.n >= at && !pass.at) {
			pass.size = hf_dec_save(dec, pass.blob, &pass.discard);
			pass.at = pass.n;
		}
		pass.err = hf_dec_next(dec, pass.ev + pass.n, pass.n < at && at - pass.n < BATCH ? at - pass.n : BATCH, &got);
	}
	MUST(pass.err == HF_NOTE_END || pass.n >= EVENTS_MAX);
}

/* Another decoder goes on from there. */
static void enter(struct hf_dec *dec)
{
	struct hf_event ev[BATCH];
	size_t got;

	MUST(hf_dec_load(dec, pass.blob, pass.size, pass.discard) == 0);
	for (size_t i = pass.at; i < pass.n && i < pass.at + CUT_EVENTS; i += got) {
		MUST(hf_dec_next(dec, ev, pass.n - i < BATCH ? pass.n - i : BATCH, &got) == 0);
		MUST(memcmp(ev, pass.ev + i, got * sizeof *ev) == 0);
	}
}

/* Decodes bytes into pass, and from event `at` on again. */
static void decode(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart, size_t at)
{
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	struct hf_dec *dec;

	MUST(hf_src_memory_new(bytes, n, &src) == 0);
	MUST(hf_stream_open(hf_codec_by_name("ntrace"), src, &t->setup, &stream, &diag) == 0);
	MUST(hf_dec_new(stream, src, hart, &dec) == 0);
	run(dec, at);
	hf_dec_free(dec);
	if (pass.at) {
		MUST(hf_dec_new(stream, src, hart, &dec) == 0);
		enter(dec);
		hf_dec_free(dec);
	}
	hf_stream_close(stream);
	hf_src_free(src);
}

static void check_view(const struct hf_ntt *t, uint8_t params)
{
	const struct hf_ntt_events events = {.ev = pass.ev, .n = pass.n};
	struct hf_walk_bytes view;
	char ini[512];

	view = hf_ntt_encode_described(&t->setup, &events, 64, 0,
				       params & 0x40 ? "mode=btm,repeat_branch=1" :
						       "repeat_branch=1,repeat_history=1,sequential_jump=1", ini,
				       sizeof ini);
	hf_bytes_free(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct hf_run *run = &runs[n && bytes[0] >> 7];
	const uint32_t hart = n > 1 && bytes[1] & 3 && !(bytes[0] & 1) ? TRACE_ID : 0;
	char text[384];
	struct hf_ntt t;

	if (n < 2 || n > BYTES_MAX)
		return 0;
	for (unsigned i = 0; i < 2 && !runs[i].code_size; i++)
		hf_run_make(&runs[i], 0x10000, 64, HF_RUN_ALL | (i ? HF_RUN_CODE_SIZE : 0), 10, 3);
	describe(bytes[0], bytes[1], n - 2, text, sizeof text);
	hf_ntt_init(&t, text);
	hf_ntt_add_code(&t, run->base, run->code, run->code_size);
	hf_ntt_add_code(&t, run->base + HF_RUN_TABLE, run->table, run->table_size);
	/* Each costs two decoders: an input tries one of the two. */
	decode(&t, bytes + 2, n - 2, bytes[1] & 0x10 ? HF_HART_RECORDS : hart, 1 + (bytes[1] >> 5) * bytes[1] / 4u);
	if (!(bytes[1] & 0x10))
		check_view(&t, bytes[0]);
	hf_ntt_fini(&t);
	return 0;
}
