/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a long STF trace out of a short one with hartfs' own decoder and encoder:
 *   make_trace INSTRUCTIONS CHUNK IN.stf[.gz...] OUT
 * repeats the instructions of IN (its first hart) until there are enough. CHUNK > 0 writes a .zstf with that many
 * instructions a chunk, CHUNK = 0 a plain .stf.
 */
#include "codecs/base/bytes.h"
#include "codecs/codec.h"
#include "codecs/stf/records.h"
#include "codecs/views.h"
#include "tests/lib/zstfwriter.h"

#include <fcntl.h>
#include <stdlib.h>

#define BATCH 256

struct out {
	FILE *file;                 /* of a plain trace */
	struct hf_zstf_writer zstf; /* of the other; chunk 0: none */
	uint64_t markers;           /* in the open chunk */
	uint64_t next, target;
	bool jumps;                 /* target is where the next instruction is */
};

static struct hf_stf_layout layout = {.event64 = true};

static void die(const char *what)
{
	fprintf(stderr, "make_trace: %s\n", what);
	exit(1);
}

/* Where the instruction of this record leads, as the table wants it. */
static bool track(struct out *out, const uint8_t *p)
{
	switch (p[0]) {
	case HF_STF_FORCE_PC:
		out->next = hf_get64(p + 1);
		return false;
	case HF_STF_INST_PC_TARGET:
	case HF_STF_EVENT_PC_TARGET:
		out->target = hf_get64(p + 1);
		out->jumps = true;
		return false;
	case HF_STF_INST_OPCODE32:
	case HF_STF_INST_OPCODE16:
		out->next = out->jumps ? out->target : out->next + (p[0] == HF_STF_INST_OPCODE32 ? 4 : 2);
		out->jumps = false;
		return true;
	default:
		return false;
	}
}

static void append(struct out *out, const uint8_t *bytes, size_t n)
{
	if (out->zstf.chunk)
		hf_zstf_append(&out->zstf, bytes, n);
	else if (fwrite(bytes, 1, n, out->file) != n)
		die("writing failed");
}

/*
 * Passes the whole records in the sink on, ending chunks behind their last marker. What is left of the last one stays
 * there until the next events bring the rest: an encoder writes the head of an EVENT before the DATA that follows it.
 */
static void put_records(struct out *out, struct hf_sink *sink)
{
	const uint8_t *p = sink->start;
	size_t left = (size_t)(sink->p - p);

	while (left) {
		uint64_t size;
		int err = hf_stf_record_size(&layout, p, left, &size);

		if (err < 0)
			die("our own encoder wrote a record that cannot be read");
		if (err || size > left)
			break;
		append(out, p, (size_t)size);
		if (track(out, p) && out->zstf.chunk && ++out->markers == out->zstf.chunk) {
			hf_zstf_end_chunk(&out->zstf, out->next);
			out->markers = 0;
		}
		p += size;
		left -= (size_t)size;
	}
	memmove(sink->start, p, left);
	sink->p = sink->start + left;
}

/* The decompressed stream of a file as a source in memory. */
static struct hf_src *load(const char *path)
{
	struct hf_diag diag;
	struct hf_src *file, *memory;
	struct hf_scan *scan;
	struct hf_point point;
	const struct hf_box *box;
	const uint8_t *piece, *window;
	struct hf_sink sink;
	uint8_t head[HF_PROBE_SIZE];
	size_t n;

	if (hf_src_file_new(open(path, O_RDONLY | O_CLOEXEC), &file, &diag) ||
	    hf_src_read_at(file, 0, head, sizeof head, &n, &diag))
		die("cannot read the input");
	box = hf_box_probe(head, n, file->size);
	if (!box)
		return file;
	if (hf_sink_init_memory(&sink, 1 << 20) || box->scan_new(box, file, NULL, NULL, &scan, &diag))
		die("cannot open the container");
	while (box->scan_next(scan, &point, &piece, &window, &diag) == 0)
		hf_sink_write(&sink, piece, point.out_size);
	box->scan_free(scan);
	if (sink.err || hf_src_memory_new(sink.start, (size_t)(sink.p - sink.start), &memory))
		die("out of memory");
	return memory;
}

/* One round over the input: its events into the encoder, what that writes into out. Returns instructions made. */
static uint64_t one_round(struct hf_stream *stream, struct hf_src *src, struct hf_enc *enc, struct hf_sink *sink,
			  struct out *out, uint64_t want)
{
	struct hf_dec *dec;
	struct hf_event ev[BATCH];
	uint64_t made = 0;
	size_t n;

	if (hf_dec_new(stream, src, stream->info.first_hart, &dec))
		die("cannot open the decoder");
	while (made < want && hf_dec_next(dec, ev, BATCH, &n) == 0) {
		size_t use = 0;

		for (; use < n && made < want; use++)
			made += ev[use].kind == HF_EVENT_INSN;
		hf_enc_put(enc, ev, use, sink);
		put_records(out, sink);
	}
	hf_dec_free(dec);
	return made;
}

int main(int argc, char **argv)
{
	uint8_t head[HF_PROBE_SIZE];
	struct hf_enc_env env = {0};
	struct hf_stream *stream;
	struct hf_enc *enc;
	struct hf_sink sink;
	struct hf_diag diag;
	struct hf_src *src;
	struct out out = {0};
	uint64_t want, chunk, made = 0;
	const struct hf_codec *codec;
	size_t n;

	if (argc != 5)
		die("usage: make_trace INSTRUCTIONS CHUNK IN OUT");
	want = strtoull(argv[1], NULL, 10);
	chunk = strtoull(argv[2], NULL, 10);
	src = load(argv[3]);
	out.file = fopen(argv[4], "wb");
	if (!out.file || hf_sink_init_memory(&sink, 1 << 20))
		die("cannot write the output");
	hf_src_read_at(src, 0, head, sizeof head, &n, &diag);
	codec = hf_codec_probe(head, n);
	if (!codec || hf_stream_open(codec, src, NULL, &stream, &diag) ||
	    hf_enc_new(&hf_view_stf, stream, stream->info.first_hart, &env, &enc))
		die("the input is no trace");
	layout.vector_words = (stream->info.vlen + 63) / 64;
	if (chunk)
		hf_zstf_begin(&out.zstf, out.file, chunk, 3);
	while (made < want) {
		uint64_t round = one_round(stream, src, enc, &sink, &out, want - made);

		if (!round)
			die("the input has no instructions");
		made += round;
	}
	hf_enc_end(enc, &sink);
	put_records(&out, &sink);
	if (sink.p != sink.start)
		die("our own encoder left its last record without an end");
	if (chunk)
		hf_zstf_end(&out.zstf);
	return fclose(out.file) ? 1 : 0;
}
