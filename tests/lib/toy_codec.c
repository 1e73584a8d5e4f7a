/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/toy_codec.h"

#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "codecs/source/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORD sizeof(struct hf_toy_record)
#define HEADER sizeof(struct hf_toy_header)
/* A decoder can be entered at every so many records of the stream. */
#define SYNC 16
#define HARTS 256
#define WINDOW 4096

static_assert(sizeof(struct hf_toy_record) == 8 && sizeof(struct hf_toy_header) == 16, "as they are stored");

struct toy_stream {
	struct hf_stream stream;
	char json[64];
};

struct place {
	uint64_t offset; /* of the next record */
	uint64_t pc;
};

struct toy_dec {
	struct hf_dec dec;
	struct hf_reader reader;
	struct place at, sync;
	uint64_t since;        /* events since sync */
	unsigned step;         /* events of the record at hand that are done */
	uint32_t ids[HARTS];
	size_t id_count;
	bool seen[HARTS];
};

static int toy_probe(const uint8_t *head, size_t n)
{
	return n >= 7 && memcmp(head, HF_TOY_MAGIC, 7) == 0 ? 100 : 0;
}

static int toy_check(const struct hf_setup *setup, struct hf_setup_error *error)
{
	uint64_t step;

	return hf_setup_number(setup, HF_SETUP_ANY, "step", 0, 100, 0, &step, error);
}

static int toy_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		    struct hf_diag *diag)
{
	struct hf_toy_header header;
	struct toy_stream *s;
	uint64_t step;
	size_t n;
	int err = hf_src_read_at(src, 0, &header, HEADER, &n, diag);

	if (!err)
		err = hf_setup_number(setup, HF_SETUP_ANY, "step", 0, 100, 0, &step, NULL);
	if (err)
		return err;
	if (n < HEADER)
		return hf_diag_set(diag, HF_ERR_TRUNCATED, HF_SPACE_STREAM, n, 0);
	s = calloc(1, sizeof *s);
	if (!s)
		return HF_ERR_NOMEM;
	s->stream.codec = &hf_codec_toy;
	snprintf(s->json, sizeof s->json, "\"step\":%llu,\"parts\":%zu", (unsigned long long)step,
		 setup ? setup->part_count : 0);
	s->stream.info = (struct hf_stream_info){
		.arch = HF_ARCH_RISCV,
		.xlen = 64,
		.flags = header.flags & (HF_STREAM_HARTS | HF_STREAM_MANY | HF_STREAM_ORIGINAL),
		.first_hart = header.first_hart,
		.version = "1",
		.json = s->json,
	};
	*ret_stream = &s->stream;
	return 0;
}

static void toy_close(struct hf_stream *stream)
{
	free(stream);
}

static int dec_init(struct hf_dec *dec, struct hf_src *src)
{
	struct toy_dec *d = (struct toy_dec *)dec;

	if (hf_reader_init(&d->reader, src, WINDOW))
		return HF_ERR_NOMEM;
	d->at = d->sync = (struct place){.offset = HEADER, .pc = 0x1000};
	d->ids[d->id_count++] = dec->hart;
	if (dec->hart < HARTS)
		d->seen[dec->hart] = true;
	return 0;
}

static void dec_fini(struct hf_dec *dec)
{
	hf_reader_fini(&((struct toy_dec *)dec)->reader);
}

/* The record at d->at, or HF_NOTE_END, or an error. */
static int fetch(struct toy_dec *d, struct hf_toy_record *ret_record)
{
	struct hf_reader *r = &d->reader;

	if (d->at.offset < r->start || d->at.offset + RECORD > r->start + r->len) {
		int err = hf_reader_seek(r, d->at.offset);

		if (err)
			return err;
	}
	if (r->len < RECORD) {
		if (!r->len && !r->err)
			return HF_NOTE_END;
		return hf_diag_set(&d->dec.diag, r->err ? r->err : HF_ERR_TRUNCATED, HF_SPACE_STREAM, d->at.offset, 0);
	}
	memcpy(ret_record, r->buf + (d->at.offset - r->start), RECORD);
	return 0;
}

static void see_hart(struct toy_dec *d, uint8_t hart)
{
	if (d->seen[hart])
		return;
	d->seen[hart] = true;
	d->ids[d->id_count++] = hart;
}

static unsigned count_of(const struct hf_toy_record *r)
{
	return r->kind == HF_TOY_GROUP ? 1u + r->arg : r->kind == HF_TOY_RUN ? r->arg : 1;
}

static void make_event(struct toy_dec *d, const struct hf_toy_record *r, struct hf_event *ev)
{
	memset(ev, 0, sizeof *ev);
	if (r->kind == HF_TOY_GROUP && d->step) {
		ev->kind = HF_EVENT_MEM;
		ev->mem = (struct hf_ev_mem){.address = d->at.pc + d->step, .size = 8};
		return;
	}
	if (r->kind == HF_TOY_GAP) {
		ev->kind = HF_EVENT_GAP;
		ev->code = -HF_ERR_CORRUPT;
		ev->loss = (struct hf_ev_loss){.offset = d->at.offset, .bytes = r->value, .detail = r->arg};
		return;
	}
	ev->kind = r->kind == HF_TOY_ATTEMPT ? HF_EVENT_ATTEMPT : HF_EVENT_INSN;
	d->at.pc += r->kind == HF_TOY_GROUP ? r->value : 4;
	ev->insn = (struct hf_ev_insn){.pc = d->at.pc, .opcode = 0x13, .size = 4, .isa = HF_ISA_RV64};
}

/* Goes to the next record. */
static void pass_record(struct toy_dec *d)
{
	d->at.offset += RECORD;
	d->step = 0;
	if ((d->at.offset - HEADER) / RECORD % SYNC == 0) {
		d->sync = d->at;
		d->since = 0;
	}
}

static int dec_next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct toy_dec *d = (struct toy_dec *)dec;
	size_t n = 0;
	int err = 0;

	while (n < max) {
		struct hf_toy_record r;
		unsigned count;

		err = fetch(d, &r);
		if (!err)
			see_hart(d, r.hart);
		if (!err && r.hart != dec->hart) {
			pass_record(d);
			continue;
		}
		if (!err && (r.kind < HF_TOY_GROUP || r.kind >= HF_TOY_BAD))
			err = hf_diag_set(&dec->diag, HF_ERR_CORRUPT, HF_SPACE_STREAM, d->at.offset, r.kind);
		if (err)
			break;
		count = count_of(&r);
		for (; d->step < count && n < max; d->step++, d->since++)
			make_event(d, &r, &ev[n++]);
		if (d->step == count)
			pass_record(d);
	}
	*ret_n = n;
	return n ? 0 : err;
}

static uint64_t dec_state(struct hf_dec *dec, struct hf_fields *f)
{
	struct toy_dec *d = (struct toy_dec *)dec;

	HF_FIELD(f, d->sync.offset, INT64_MAX);
	HF_FIELD(f, d->sync.pc, UINT64_MAX);
	if (!f->loading)
		return d->since;
	hf_fields_require(f, d->sync.offset >= HEADER && (d->sync.offset - HEADER) % RECORD == 0);
	d->at = d->sync;
	d->since = d->step = 0;
	return 0;
}

static uint64_t dec_offset(const struct hf_dec *dec)
{
	return ((const struct toy_dec *)dec)->at.offset;
}

static const uint32_t *dec_harts(const struct hf_dec *dec, size_t *ret_n)
{
	const struct toy_dec *d = (const struct toy_dec *)dec;

	*ret_n = d->id_count;
	return d->ids;
}

static const struct hf_dec_ops dec_ops = {
	.size = sizeof(struct toy_dec),
	.init = dec_init,
	.fini = dec_fini,
	.next = dec_next,
	.state = dec_state,
	.offset = dec_offset,
	.harts = dec_harts,
};

/* ---- records.txt: a line a record, entered at any record, a byte of it at a time if need be ---- */

struct toy_records {
	struct hf_dec dec;
	struct hf_src *src;
	uint64_t offset;
};

static int records_init(struct hf_dec *dec, struct hf_src *src)
{
	struct toy_records *d = (struct toy_records *)dec;

	d->src = src;
	d->offset = HEADER;
	return 0;
}

static void records_fini(struct hf_dec *dec)
{
	(void)dec;
}

static int records_next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct toy_records *d = (struct toy_records *)dec;
	struct hf_toy_record r;
	char line[48];
	size_t got;
	int err = hf_src_read_at(d->src, d->offset, &r, RECORD, &got, &dec->diag);

	(void)max;
	if (err || got < RECORD)
		return err ? err : HF_NOTE_END;
	snprintf(line, sizeof line, "%8" PRIu64 " %3u %3u %5u\n", d->offset, r.hart, r.kind, r.arg);
	memset(ev, 0, sizeof *ev);
	ev->kind = HF_EVENT_DATA;
	ev->used = 23;
	memcpy(ev->data.bytes, line, 23);
	d->offset += RECORD;
	*ret_n = 1;
	return 0;
}

static uint64_t records_state(struct hf_dec *dec, struct hf_fields *f)
{
	HF_FIELD(f, ((struct toy_records *)dec)->offset, INT64_MAX);
	return 0;
}

static uint64_t records_offset(const struct hf_dec *dec)
{
	return ((const struct toy_records *)dec)->offset;
}

static const struct hf_dec_ops records_ops = {
	.size = sizeof(struct toy_records),
	.init = records_init,
	.fini = records_fini,
	.next = records_next,
	.state = records_state,
	.offset = records_offset,
};

/* ---- views ---- */

struct toy_enc {
	struct hf_enc enc;
	uint64_t ordinal, pc, mems;
	uint8_t open; /* an instruction is held back */
};

static const struct hf_field_row text_fields[] = {
	HF_FIELD_ROW(struct toy_enc, ordinal, UINT64_MAX),
	HF_FIELD_ROW(struct toy_enc, pc, UINT64_MAX),
	HF_FIELD_ROW(struct toy_enc, mems, UINT64_MAX),
	HF_FIELD_ROW(struct toy_enc, open, 1),
};
static const char *never(const struct hf_stream_info *info)
{
	(void)info;
	return "a test said so";
}

static void flush_line(struct toy_enc *e, struct hf_sink *sink)
{
	char line[64];
	int n;

	if (!e->open)
		return;
	n = snprintf(line, sizeof line, "%" PRIu64 " %" PRIx64 " m%" PRIu64 "\n", e->ordinal, e->pc, e->mems);
	hf_sink_write(sink, line, (size_t)n);
	e->ordinal++;
	e->open = 0;
	e->mems = 0;
}

static void text_put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct toy_enc *e = (struct toy_enc *)enc;

	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind == HF_EVENT_MEM) {
			e->mems++;
			continue;
		}
		flush_line(e, sink);
		if (ev[i].kind == HF_EVENT_INSN) {
			e->pc = ev[i].insn.pc;
			e->open = 1;
		} else {
			hf_sink_write(sink, "#\n", 2);
		}
	}
}

static void text_end(struct hf_enc *enc, struct hf_sink *sink)
{
	flush_line((struct toy_enc *)enc, sink);
	hf_sink_write(sink, "end\n", 4);
}

static void text_state(struct hf_enc *enc, struct hf_fields *f)
{
	HF_FIELD_ROWS(f, text_fields, (struct toy_enc *)enc);
}

static void binary_put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	(void)enc;
	while (n) {
		size_t piece = n < HF_SINK_ROOM ? n : HF_SINK_ROOM;
		uint8_t *p = hf_sink_room(sink, piece);

		for (size_t i = 0; i < piece; i++)
			p[i] = (uint8_t)(ev[i].kind + ev[i].word[0]);
		sink->p += piece;
		ev += piece;
		n -= piece;
	}
}

const struct hf_enc_ops hf_toy_text = {
	.name = "text",
	.view = "toy.txt",
	.version = 1,
	.size = sizeof(struct toy_enc),
	.put = text_put,
	.end = text_end,
	.state = text_state,
};

const struct hf_enc_ops hf_toy_binary = {
	.name = "binary",
	.view = "toy.bin",
	.version = 1,
	.put = binary_put,
};

const struct hf_enc_ops hf_toy_refused = {.name = "never", .view = "never", .version = 1, .refuses = never};

static const char *const suffixes[] = {".toy", NULL};

/* ---- a view that is a directory ---- */

struct dir_enc {
	struct hf_enc enc;
	uint64_t pc;
	uint8_t begun;
};

static const struct hf_field_row dir_fields[] = {
	HF_FIELD_ROW(struct dir_enc, pc, UINT64_MAX),
	HF_FIELD_ROW(struct dir_enc, begun, 1),
};
static int dir_init(struct hf_enc *enc)
{
	((struct dir_enc *)enc)->pc = 0x1000;
	return 0;
}

static void dir_begin(struct dir_enc *e, struct hf_sink *sink)
{
	struct hf_toy_header header = {.magic = "HFTOY1", .flags = HF_STREAM_HARTS};

	header.magic[6] = '\n';
	if (!e->begun)
		hf_sink_write(sink, &header, sizeof header);
	e->begun = 1;
}

static void dir_put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct dir_enc *e = (struct dir_enc *)enc;

	for (size_t i = 0; i < n; i++) {
		struct hf_toy_record r = {.kind = HF_TOY_GROUP};

		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		dir_begin(e, sink);
		r.value = (uint32_t)(ev[i].insn.pc - e->pc);
		e->pc = ev[i].insn.pc;
		hf_sink_write(sink, &r, sizeof r);
	}
}

static void dir_end(struct hf_enc *enc, struct hf_sink *sink)
{
	dir_begin((struct dir_enc *)enc, sink);
}

static void dir_state(struct hf_enc *enc, struct hf_fields *f)
{
	HF_FIELD_ROWS(f, dir_fields, (struct dir_enc *)enc);
}

static void write_ini(const struct hf_side *side, struct hf_sink *sink)
{
	char text[400];
	size_t size;
	const char *pad = hf_params_get(side->env->params, "pad", &size);
	int n = snprintf(text, sizeof text,
			 "[capture]\nformat = toy\ntrace = trace.bin\n[program]\nelf = program.elf\n"
			 "[parameters]\nstep = 3 ; hart %u, %zu segments, entry %llx, pad %.*s\n",
			 (unsigned)side->hart, side->segment_count, (unsigned long long)side->entry, (int)size,
			 pad ? pad : "");

	hf_sink_write(sink, text, (size_t)n);
}

static const struct hf_side_file dir_side[] = {{"toy/capture.ini", write_ini}, {NULL, NULL}};

static int dir_check(const char *params, char *why, size_t size)
{
	size_t n;
	const char *pad = hf_params_get(params, "pad", &n);

	if (pad == params + 4 && n == strlen(pad) && strspn(pad, "0123456789") == n)
		return 0;
	snprintf(why, size, "'%s': it has only 'pad', a number", params);
	return HF_ERR_SETUP_VALUE;
}

const struct hf_enc_ops hf_toy_dir = {
	.name = "toy",
	.view = "toy/trace.bin",
	.version = 1,
	.size = sizeof(struct dir_enc),
	.init = dir_init,
	.put = dir_put,
	.end = dir_end,
	.state = dir_state,
	.side = dir_side,
	.check_params = dir_check,
};

static const struct hf_setup_key dir_keys[] = {HF_KEY_NUMBER("step", 0, 100), HF_KEY_END};

const struct hf_codec hf_codec_toy = {
	.name = "toy",
	.title = "Toy",
	.version = 1,
	.suffixes = suffixes,
	.probe = toy_probe,
	.check = toy_check,
	.open = toy_open,
	.close = toy_close,
	.dec = &dec_ops,
	.original = &hf_toy_dir,
	.records = &records_ops,
	.keys = dir_keys,
	.program_arch = HF_ARCH_RISCV,
};

void hf_toy_fill(struct hf_toy_record *records, size_t n, unsigned harts, uint64_t seed)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t r;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		r = (uint32_t)(seed >> 33);
		records[i] = (struct hf_toy_record){
			.kind = HF_TOY_GROUP, .hart = (uint8_t)(r >> 8 & 0xff) % (uint8_t)harts, .arg = r & 3, .value = 4};
		if (r % 19 == 0) {
			records[i].kind = HF_TOY_RUN;
			records[i].arg = (uint16_t)(1 + r % 40);
		} else if (r % 23 == 0) {
			records[i].kind = HF_TOY_ATTEMPT;
		} else if (r % 101 == 0) {
			records[i].kind = HF_TOY_GAP;
			records[i].value = r % 1000;
		}
	}
}
