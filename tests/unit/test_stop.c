/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever is decompressed or decoded, and however little comes of it: whether the work is still wanted is asked every few
 * megabytes, and nothing more is read once it is not.
 */
#include "codecs/codec.h"
#include "tests/lib/check.h"
#include "tests/lib/files.h"
#include "tests/lib/pack.h"

#define HUGE_SIZE (UINT64_C(1) << 40)
/* Bytes of the source, or of the stream, that may pass between two questions. */
#define BETWEEN (UINT64_C(5) << 20)

/* One byte over and over, without end. */
struct endless {
	struct hf_src src;
	uint8_t byte;
	uint64_t read, since; /* in all; since the last question */
	unsigned asked, until; /* how often it was asked; after so many it is enough */
	bool late;             /* something was read after that */
};

static bool is_enough(void *ctx)
{
	struct endless *e = ctx;

	CHECK(e->since <= BETWEEN);
	e->since = 0;
	return ++e->asked > e->until;
}

static int endless_read(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	struct endless *e = (struct endless *)src;

	(void)offset;
	(void)diag;
	memset(buf, e->byte, n);
	*ret_n = n;
	e->read += n;
	e->since += n;
	e->late |= e->asked > e->until;
	return 0;
}

static void endless_free(struct hf_src *src)
{
	(void)src;
}

static const struct hf_src_ops endless_ops = {.read_at = endless_read, .free = endless_free};

static void begin(struct endless *e, struct hf_stop *stop, uint8_t byte)
{
	*stop = (struct hf_stop){.wanted = is_enough, .ctx = e};
	*e = (struct endless){.src = {.ops = &endless_ops, .size = HUGE_SIZE, .stop = stop}, .byte = byte, .until = 60};
}

/* A stream of which no event, or nothing but problems, comes. */
static void decode(const struct hf_stream *stream, struct endless *e, uint32_t hart)
{
	struct hf_event ev[512];
	struct hf_dec *dec;
	size_t n;
	int err;

	err = hf_dec_new(stream, &e->src, hart, &dec);
	if (err == HF_ERR_NOT_FOUND)
		return;
	CHECK_EQ(err, 0);
	while (!(err = hf_dec_next(dec, ev, 512, &n)))
		;
	CHECK_EQ(err, HF_ERR_CANCELLED);
	CHECK(!e->late);
	/* Once it is over it stays over, and the decoder can be thrown away. */
	CHECK_EQ(hf_dec_next(dec, ev, 512, &n), HF_ERR_CANCELLED);
	hf_dec_free(dec);
}

static void check_stream(const char *ini, uint8_t byte)
{
	struct hf_files files = {.text = ini, .size = strlen(ini)};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_codecs);
	struct hf_setup_error error = {.line = 0};
	struct hf_setup *setup;
	struct hf_src *none;
	struct hf_stream *stream;
	struct hf_stop stop;
	struct endless e;
	uint32_t hart;
	int err;

	CHECK_EQ(hf_setup_read(&opener, "capture.ini", &setup, &error), 0);
	if (hf_setup_load(setup, &opener, &none, &error)) {
		fprintf(stderr, "%s: %s\n", ini, error.text);
		exit(1);
	}
	for (size_t i = 0; i < setup->part_count; i++)
		setup->parts[i].size = HF_NOWHERE;
	begin(&e, &stop, byte);
	e.until = UINT32_MAX;
	err = hf_stream_open(hf_codec_by_name(setup->format), &e.src, setup, &stream, NULL);
	CHECK_EQ(err, 0);
	/* To open one is no work without end. */
	CHECK(e.read <= BETWEEN);
	hart = stream->info.first_hart;
	for (int records = 0; records < 2; records++) {
		begin(&e, &stop, byte);
		decode(stream, &e, records ? HF_HART_RECORDS : hart);
	}
	hf_stream_close(stream);
	hf_src_free(none);
	hf_setup_free(setup);
}

#define INI "@capture.ini\n"
#define END "@t\n0123456\n"

static void check_codecs(void)
{
	static const uint8_t bytes[] = {0x00, 0xff, 0x80, 0x03, 0x40};
	static const char *const inis[] = {
		INI "[capture]\nformat = etrace\ntrace = t\nframing = encap\n" END,
		INI "[capture]\nformat = etrace\ntrace = t\nframing = smi\nsrcid_bits = 8\n" END,
		INI "[capture]\nformat = etrace\ntrace = t\nframing = te_inst_raw\n" END,
		INI "[capture]\nformat = etrace\ntrace = t\nframing = te_inst_raw\nalignment = zeros\n" END,
		INI "[capture]\nformat = etrace\ntrace = t\nframing = pulp\n" END,
		INI "[capture]\nformat = etrace\ntrace = t\nframing = esp32\n" END,
		INI "[capture]\nformat = etrace\ntrace = t\nframing = coresight\n" END,
		INI "[capture]\nformat = ntrace\ntrace = t\n" END,
		INI "[capture]\nformat = ntrace\ntrace = t\n[parameters]\nsrcbits = 4\n" END,
		INI "[capture]\nformat = ntrace\ntrace = t\n[parameters]\nword_bytes = 4\n" END,
	};

	for (size_t i = 0; i < sizeof inis / sizeof *inis; i++)
		for (size_t k = 0; k < sizeof bytes; k++)
			check_stream(inis[i], bytes[k]);
}

/* ---- containers ---- */

struct watch {
	unsigned asked, until;
};

static bool is_watched(void *ctx)
{
	struct watch *w = ctx;

	return ++w->asked > w->until;
}

#define PLAIN ((size_t)48 << 20)

/* A file that is all of zeros, to be skipped through to its end in one call, or block by block. */
static void check_box(const struct hf_box *box, const struct hf_walk_bytes *file)
{
	struct watch watch = {.until = UINT32_MAX};
	const struct hf_stop stop = {.wanted = is_watched, .ctx = &watch};
	const struct hf_point whole = {.out_size = PLAIN};
	const uint8_t *bytes, *window;
	struct hf_point point;
	struct hf_scan *scan;
	struct hf_src *src;
	uint64_t size = 0;
	uint8_t end;
	int err;

	CHECK_EQ(hf_src_memory_new(file->p, file->n, &src), 0);
	src->stop = &stop;
	CHECK_EQ(box->scan_new(box, src, NULL, NULL, &scan, NULL), 0);
	while (!(err = box->scan_next(scan, &point, &bytes, &window, NULL))) {
		size += point.out_size;
		CHECK(size <= (watch.asked + 1) * BETWEEN);
		/* Told to end in the middle. */
		if (size > PLAIN / 2)
			watch.until = watch.asked;
	}
	CHECK_EQ(err, HF_ERR_CANCELLED);
	CHECK(size <= PLAIN / 2 + 2 * BETWEEN);
	box->scan_free(scan);
	if (box->read_block && box->enterable) {
		watch = (struct watch){.until = UINT32_MAX};
		CHECK_EQ(box->read_block(box, src, &whole, NULL, PLAIN - 1, &end, 1, NULL), 0);
		CHECK((uint64_t)watch.asked * BETWEEN >= PLAIN);
		watch = (struct watch){.until = watch.asked / 2};
		CHECK_EQ(box->read_block(box, src, &whole, NULL, PLAIN - 1, &end, 1, NULL), HF_ERR_CANCELLED);
		CHECK_EQ(watch.asked, watch.until + 1);
	}
	hf_src_free(src);
}

static void check_boxes(void)
{
	uint8_t *zeros = calloc(1, PLAIN);
	struct hf_walk_bytes file = {.n = 0};

	CHECK(zeros);
	hf_pack_gzip(&file, zeros, PLAIN, 1, 0);
	check_box(&hf_box_gzip, &file);
	file.n = 0;
	hf_pack_zstd(&file, zeros, PLAIN, 0, 0);
	check_box(&hf_box_zstd, &file);
	file.n = 0;
	hf_pack_xz(&file, zeros, PLAIN, 0, 0);
	check_box(&hf_box_xz, &file);
	file.n = 0;
	hf_pack_lzma(&file, zeros, PLAIN);
	check_box(&hf_box_lzma, &file);
	free(file.p);
	free(zeros);
}

int main(void)
{
	check_codecs();
	check_boxes();
	return 0;
}
