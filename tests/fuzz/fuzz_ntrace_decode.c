/*
 * Any bytes as an N-Trace stream over a small program: the decoder comes to its end, entered anywhere it gives the same
 * events, the encoder takes them, and records.txt accounts for all bytes. The first byte says the parameters, the
 * second how the stream is stored, whether it is the flow or records.txt that is tried, and where the decoder is cut.
 */
#include "tests/lib/fuzz.h"
#include "tests/lib/rvrun.h"

/* A few bytes can stand for as many events as one likes; long inputs find nothing that short ones do not. */
#define EVENTS_MAX 1500
#define BYTES_MAX 512
/* What a decoder entered somewhere is compared with. */
#define CUT_EVENTS 300

/* Whose bytes are taken out of frames. */
#define TRACE_ID 1

static struct hf_run runs[2]; /* without and with Zcmp, Zcmt and their table */

/* place: also what stores the stream, framing in its lowest two bits, then words. */
static void describe(uint8_t byte, uint8_t place, size_t n, char *text, size_t size)
{
	static const char *const framings[] = {"raw", "coresight", "coresight_sync", "dstream_coresight"};

	snprintf(text, size,
		 "srcbits=%d,implicit_return=%d,sequential_jump=%d,all_jumps=%d,addr_msb_ext=%d,wrapped=%d,zcmp=%d,zcmt=%d,"
		 "jvt=0x%llx,framing=%s,word_bytes=%u,wrap_offset=%zu,trace_id=%d", byte & 1 ? 3 : 0, byte >> 1 & 1,
		 byte >> 2 & 1, byte >> 3 & 1, byte >> 4 & 1, byte >> 5 & 1, byte >> 7, byte >> 7,
		 (unsigned long long)(runs[1].base + HF_RUN_TABLE), framings[place & 3], 1u << (place >> 2 & 3),
		 byte & 32 && place & 12 ? n / 3 : 0, TRACE_ID);
}

/* The state before event `at`, in another decoder. */
static void check_cut(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart,
		      const struct hf_ntt_events *all, size_t at)
{
	uint8_t blob[HF_STATE_MAX];
	struct hf_stream *stream;
	struct hf_event ev[32];
	struct hf_diag diag;
	struct hf_src *src;
	struct hf_dec *dec;
	uint64_t discard;
	size_t size, got;

	MUST(hf_src_memory_new(bytes, n, &src) == 0);
	MUST(hf_stream_open(hf_codec_by_name("ntrace"), src, &t->setup, &stream, &diag) == 0);
	MUST(hf_dec_new(stream, src, hart, &dec) == 0);
	for (size_t i = 0; i < at; i += got)
		MUST(hf_dec_next(dec, ev, at - i < 32 ? at - i : 32, &got) == 0);
	size = dec->ops->save(dec, blob, &discard);
	hf_dec_free(dec);
	MUST(hf_dec_new(stream, src, hart, &dec) == 0);
	MUST(hf_dec_load(dec, blob, size, discard) == 0);
	for (size_t i = at; i < all->n && i < at + CUT_EVENTS; i += got) {
		MUST(hf_dec_next(dec, ev, all->n - i < 32 ? all->n - i : 32, &got) == 0);
		MUST(memcmp(ev, all->ev + i, got * sizeof *ev) == 0);
	}
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
}

/* Either costs several decoders: an input tries one of the two. */
static void check_flow(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart)
{
	struct hf_ntt_events events = hf_ntt_decode(t, bytes + 2, n - 2, hart, EVENTS_MAX);
	struct hf_bytes view;
	char ini[512];

	MUST(events.err == HF_NOTE_END || events.n >= EVENTS_MAX);
	if (events.n)
		check_cut(t, bytes + 2, n - 2, hart, &events, bytes[1] * events.n / 256);
	view = hf_ntt_encode_described(&t->setup, &events, 64, 0,
				       bytes[0] & 0x40 ? "mode=btm,repeat_branch=1" :
							 "repeat_branch=1,repeat_history=1,sequential_jump=1", ini,
				       sizeof ini);
	hf_bytes_free(&view);
	hf_ntt_events_free(&events);
}

static void check_records(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint8_t place)
{
	struct hf_ntt_events records = hf_ntt_decode(t, bytes, n, HF_HART_RECORDS, EVENTS_MAX);

	MUST(records.err == HF_NOTE_END || records.n >= EVENTS_MAX);
	if (records.n)
		check_cut(t, bytes, n, HF_HART_RECORDS, &records, place * records.n / 256);
	hf_ntt_events_free(&records);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct hf_run *run = &runs[n && bytes[0] >> 7];
	const uint32_t hart = n > 1 && bytes[1] & 3 && !(bytes[0] & 1) ? TRACE_ID : 0;
	char text[256];
	struct hf_ntt t;

	if (n < 2 || n > BYTES_MAX)
		return 0;
	for (unsigned i = 0; i < 2 && !runs[i].code_size; i++)
		hf_run_make(&runs[i], 0x10000, 64, HF_RUN_ALL | (i ? HF_RUN_CODE_SIZE : 0), 10, 3);
	describe(bytes[0], bytes[1], n - 2, text, sizeof text);
	hf_ntt_init(&t, text);
	hf_ntt_add_code(&t, run->base, run->code, run->code_size);
	hf_ntt_add_code(&t, run->base + HF_RUN_TABLE, run->table, run->table_size);
	if (bytes[1] & 0x10)
		check_records(&t, bytes + 2, n - 2, bytes[1]);
	else
		check_flow(&t, bytes, n, hart);
	hf_ntt_fini(&t);
	return 0;
}
