/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/stf/header.h"

#include "codecs/image/elf_riscv.h"
#include "codecs/source/reader.h"
#include "codecs/stf/errors.h"

#include <stdio.h>
#include <stdlib.h>

static_assert(HF_STF_STRINGS_MAX <= HF_STREAM_HEAD, "the window is no more than an opening may read");

/* So much of a stream is read first: a usual header, and accesses enough to show their unit. */
#define HEAD (UINT64_C(32) << 10)

/* The walk over the records of the header. */
struct walk {
	struct hf_reader reader;
	uint64_t at; /* stream offset of the record */
	unsigned records;
	struct hf_stf_header *h;
	uint64_t isa_at, iem_at;
	struct hf_diag *diag;
};

static int fail(struct walk *w, int code, uint64_t offset, uint64_t detail)
{
	return hf_diag_set(w->diag, code, HF_SPACE_STREAM, offset, detail);
}

/* Nothing follows where a record should: the source's own error if it has one. */
static int fail_end(struct walk *w, int code, uint64_t offset, uint64_t detail)
{
	if (!w->reader.err)
		return fail(w, code, offset, detail);
	if (w->diag)
		*w->diag = w->reader.diag;
	return hf_diag_set(w->diag, w->reader.err, w->reader.diag.space, w->reader.diag.offset, w->reader.diag.detail);
}

/* Brings n bytes at the record into the window; HF_NOTE_END if the stream is shorter. */
static int need(struct walk *w, uint64_t n)
{
	const int err = hf_reader_need(&w->reader, w->at, n, w->reader.cap);
	const struct hf_diag *diag = &w->reader.diag;

	return err < 0 ? hf_diag_set(w->diag, err, diag->space, diag->offset, diag->detail) : err;
}

static const uint8_t *here(const struct walk *w)
{
	return hf_reader_at(&w->reader, w->at);
}

/* Keeps the last n bytes of the record (or the part of them the limit allows) for good. */
static int keep(struct walk *w, struct hf_stf_bytes *to, uint64_t skip, uint64_t n, bool whole)
{
	const struct hf_stf_header *h = w->h;
	size_t used = h->infos.n + h->comments.n + h->clocks.n + h->extended.n;
	uint64_t room = HF_STF_STRINGS_MAX - used;
	uint8_t *bigger;

	if (n > room || n > w->reader.cap - skip) {
		w->h->cut = true;
		if (whole)
			return 0;
		n = room < 4096 ? room : 4096;
	}
	if (n == 0)
		return 0;
	if (need(w, skip + n))
		return fail_end(w, HF_ERR_STF_RECORD_CUT, w->at, 0);
	bigger = realloc(to->p, to->n + n);
	if (!bigger)
		return fail(w, HF_ERR_NOMEM, HF_NOWHERE, 0);
	memcpy(bigger + to->n, here(w) + skip, n);
	to->p = bigger;
	to->n += n;
	return 0;
}

/* A comment is kept as its record, with the length that was kept. */
static int keep_comment(struct walk *w, const struct hf_stf_record *rec)
{
	struct hf_stf_bytes *to = &w->h->comments;
	size_t before = to->n;
	int err;

	if (w->h->infos.n + to->n + w->h->clocks.n + w->h->extended.n + 5 + 4096 > HF_STF_STRINGS_MAX) {
		w->h->cut = true;
		return 0;
	}
	err = keep(w, to, 0, 5 + (uint64_t)rec->count, false);
	if (!err)
		hf_put32(to->p + before + 1, (uint32_t)(to->n - before - 5));
	return err;
}

static int take_version(struct walk *w, const struct hf_stf_record *rec)
{
	w->h->major = rec->major;
	w->h->minor = rec->minor;
	/* 1.2 changed the numbers of the records (seed, Changelog); nothing says what a 2.0 would look like. */
	return rec->major == 1 && rec->minor >= 2 ? 0 : fail(w, HF_ERR_STF_VERSION, w->at, 0);
}

static int take_vlen(struct walk *w, const struct hf_stf_record *rec)
{
	if (rec->code > HF_STF_VLEN_MAX)
		return fail(w, HF_ERR_STF_VALUE, w->at, HF_STF_VLEN_CONFIG);
	w->h->vlen = rec->code;
	w->h->layout.vector_words = (rec->code + 63) / 64;
	return 0;
}

static int take(struct walk *w, const struct hf_stf_record *rec, uint64_t size)
{
	struct hf_stf_header *h = w->h;

	switch (rec->descriptor) {
	case HF_STF_VERSION:
		return take_version(w, rec);
	case HF_STF_COMMENT:
		return keep_comment(w, rec);
	case HF_STF_ISA:
		h->isa = (uint16_t)rec->code;
		w->isa_at = w->at;
		return 0;
	case HF_STF_INST_IEM:
		h->iem = (uint16_t)rec->code;
		w->iem_at = w->at;
		return 0;
	case HF_STF_TRACE_INFO:
		if (!h->has[HF_STF_TRACE_INFO])
			h->bits = rec->code == HF_STF_GENERATOR_DROMAJO;
		return keep(w, &h->infos, 0, size, true);
	case HF_STF_TRACE_INFO_FEATURE:
		h->features = rec->value;
		h->layout.event64 = rec->value & HF_STF_FEATURE_EVENT64;
		return 0;
	case HF_STF_PROCESS_ID_EXT:
		h->ids[0] = rec->hw;
		h->ids[1] = rec->pid;
		h->ids[2] = rec->tid;
		return 0;
	case HF_STF_FORCE_PC:
		h->force_pc = rec->address;
		return 0;
	case HF_STF_VLEN_CONFIG:
		return take_vlen(w, rec);
	case HF_STF_PROTOCOL_ID:
		h->layout.protocol = (uint8_t)rec->code;
		return 0;
	case HF_STF_CLOCK_ID:
		return keep(w, &h->clocks, 0, size, true);
	case HF_STF_ISA_EXTENDED:
		return keep(w, &h->extended, HF_STF_SIZE_ISA_EXTENDED, rec->count, false);
	default:
		return 0;
	}
}

/* The size of the record here, with all of it in the window, or at least the head of one that is longer than that. */
static int measure(struct walk *w, uint64_t *ret_size)
{
	uint64_t size;
	int err;

	if (hf_stf_places[*here(w)] == HF_STF_PLACE_nowhere)
		return fail(w, HF_ERR_STF_DESCRIPTOR, w->at, *here(w));
	if (hf_stf_places[*here(w)] == HF_STF_PLACE_body)
		return fail(w, HF_ERR_STF_HEADER, w->at, 0);
	for (;;) {
		size_t there = hf_reader_there(&w->reader, w->at);

		err = hf_stf_record_size(&w->h->layout, here(w), there, &size);
		if (err < 0)
			return fail(w, err, w->at, *here(w));
		if (err == 0 && (size <= there || size > w->reader.cap))
			break;
		err = need(w, size);
		if (err)
			return err < 0 ? err : fail_end(w, HF_ERR_STF_RECORD_CUT, w->at, 0);
	}
	*ret_size = size;
	return 0;
}

/* Steps to the next record. Of one longer than the window the last byte shows whether all of it is there. */
static int pass(struct walk *w, uint64_t size)
{
	uint64_t begin = w->at;
	int err;

	if (size > w->reader.cap) {
		w->at = begin + size - 1;
		err = need(w, 1);
		if (err)
			return err < 0 ? err : fail_end(w, HF_ERR_STF_RECORD_CUT, begin, 0);
	}
	w->at = begin + size;
	return 0;
}

/* One record; HF_NOTE_END behind END_HEADER. */
static int step(struct walk *w)
{
	struct hf_stf_record rec = {0};
	struct hf_stf_header *h = w->h;
	uint64_t size = 0;
	uint8_t kind;
	int err = need(w, 1);

	if (err < 0)
		return err;
	if (err)
		return fail_end(w, w->records ? HF_ERR_STF_HEADER : HF_ERR_STF_MAGIC, w->at, 0);
	kind = *here(w);
	if (w->records == 0 && (need(w, 4) || memcmp(here(w), "\1STF", 4) != 0))
		return fail_end(w, HF_ERR_STF_MAGIC, w->at, 0);
	if (w->records == 1 && kind != HF_STF_VERSION)
		return fail(w, HF_ERR_STF_NO_VERSION, w->at, 0);
	if (w->records++ > HF_STF_HEADER_RECORDS_MAX)
		return fail(w, HF_ERR_STF_HEADER_LIMIT, w->at, 0);
	err = measure(w, &size);
	if (err)
		return err;
	if (h->has[kind] && kind != HF_STF_COMMENT && kind != HF_STF_TRACE_INFO && kind != HF_STF_CLOCK_ID)
		return fail(w, HF_ERR_STF_HEADER_TWICE, w->at, kind);
	hf_stf_record_parse(&h->layout, here(w), &rec);
	err = take(w, &rec, size);
	if (err)
		return err;
	h->has[kind] = true;
	if (kind == HF_STF_END_HEADER)
		return HF_NOTE_END;
	return pass(w, size);
}

/* What must be there at END_HEADER, where w->at stands. A header with a protocol or clocks is that of transactions. */
static int check(struct walk *w)
{
	static const uint8_t mandatory[] = {HF_STF_ISA, HF_STF_INST_IEM, HF_STF_FORCE_PC, HF_STF_TRACE_INFO,
					    HF_STF_TRACE_INFO_FEATURE};
	const struct hf_stf_header *h = w->h;

	if (!h->has[HF_STF_ISA] && (h->has[HF_STF_PROTOCOL_ID] || h->has[HF_STF_CLOCK_ID]))
		return 0;
	for (size_t i = 0; i < sizeof mandatory; i++)
		if (!h->has[mandatory[i]])
			return fail(w, HF_ERR_STF_HEADER_MISSING, w->at, mandatory[i]);
	if (h->isa == HF_STF_ISA_X86 || h->isa == HF_STF_ISA_POWER)
		return fail(w, HF_ERR_STF_ISA, w->isa_at, h->isa);
	if (h->isa != HF_STF_ISA_RISCV && h->isa != HF_STF_ISA_ARM)
		return fail(w, HF_ERR_STF_VALUE, w->isa_at, HF_STF_ISA);
	if (hf_stf_isa_of_iem(h->isa, h->iem) == HF_ISA_NONE)
		return fail(w, HF_ERR_STF_VALUE, w->iem_at, HF_STF_INST_IEM);
	return 0;
}

/* The hart of the first instruction: a PROCESS_ID_EXT right behind the header counts more than the header's. */
static uint32_t first_hart(struct walk *w)
{
	uint32_t hart = w->h->ids[0];
	uint64_t size;

	while (w->records++ < HF_STF_HEADER_RECORDS_MAX && need(w, HF_STF_SIZE_PROCESS_ID_EXT) == 0 &&
	       hf_stf_places[*here(w)] == HF_STF_PLACE_both) {
		if (*here(w) == HF_STF_PROCESS_ID_EXT)
			hart = hf_get32(here(w) + 1);
		if (hf_stf_record_size(&w->h->layout, here(w), HF_STF_SIZE_PROCESS_ID_EXT, &size) ||
		    size > w->reader.cap)
			break;
		w->at += size;
	}
	return hart;
}

static void fill_info(struct hf_stf_stream *s, uint32_t hart)
{
	const struct hf_stf_header *h = &s->header;
	struct hf_stream_info *info = &s->stream.info;
	uint8_t isa = hf_stf_isa_of_iem(h->isa, h->iem);

	snprintf(s->version, sizeof s->version, "%u.%u", h->major, h->minor);
	info->version = s->version;
	info->json = s->json;
	info->header = h;
	info->vlen = h->vlen;
	if (!h->has[HF_STF_ISA])
		return;
	info->arch = h->isa == HF_STF_ISA_ARM ? HF_ARCH_ARM : HF_ARCH_RISCV;
	info->isa = isa;
	info->extensions = h->extensions;
	info->xlen = isa == HF_ISA_RV64 || isa == HF_ISA_A64 ? 64 : 32;
	info->flags = HF_STREAM_HARTS | HF_STREAM_NO_TEXTS | HF_STREAM_ORIGINAL;
	/* as ours say it of a Basic ASTF trace */
	if (info->arch == HF_ARCH_ARM && !(h->features & HF_STF_FEATURE_EVENT))
		info->flags |= HF_STREAM_ONE_LEVEL;
	if (h->features & HF_STF_FEATURE_MULTI_CORE) {
		info->flags |= HF_STREAM_MANY;
		info->first_hart = hf_stf_hart_of_thread(hart);
	}
}

/* Looks at more and more of the body until it shows in which unit it has sizes of accesses. */
static int find_unit(struct walk *w)
{
	const uint64_t most = w->at + HF_STF_UNIT_BYTES < HF_STF_STRINGS_MAX ? HF_STF_STRINGS_MAX - w->at : HF_STF_UNIT_BYTES;
	uint64_t bytes = w->at < HEAD / 2 ? HEAD - w->at : HEAD;

	for (;;) {
		uint64_t there;
		int err;

		w->reader.src->until = w->at + bytes;
		err = need(w, bytes);
		if (err < 0)
			return err;
		there = hf_reader_there(&w->reader, w->at);
		if (hf_stf_header_find_unit(w->h, here(w), (size_t)(there < bytes ? there : bytes)) || err || bytes == most)
			return 0;
		bytes = 2 * bytes < most ? 2 * bytes : most;
	}
}

static int read_header(struct hf_stf_stream *s, struct walk *w)
{
	uint32_t hart;
	int err;

	while ((err = step(w)) == 0)
		;
	if (err == HF_NOTE_END)
		err = check(w);
	if (err)
		return err;
	w->at += HF_STF_SIZE_END_HEADER;
	s->header.body = w->at;
	if (s->header.isa == HF_STF_ISA_RISCV)
		s->header.extensions =
			hf_riscv_arch_extensions((const char *)s->header.extended.p, s->header.extended.n);
	err = s->header.has[HF_STF_ISA] ? find_unit(w) : 0;
	if (err)
		return err;
	hart = s->header.features & HF_STF_FEATURE_MULTI_CORE ? first_hart(w) : 0;
	s->json = hf_stf_header_json(&s->header);
	if (!s->json)
		return fail(w, HF_ERR_NOMEM, HF_NOWHERE, 0);
	fill_info(s, hart);
	return 0;
}

int hf_stf_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag)
{
	struct hf_stf_stream *s = calloc(1, sizeof *s);
	struct walk w = {.diag = diag};
	const uint64_t until = src->until;
	int err;

	(void)setup;
	if (!s)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	w.h = &s->header;
	src->until = HEAD;
	err = hf_reader_init(&w.reader, src, HF_STF_STRINGS_MAX);
	if (err)
		hf_diag_set(diag, err, HF_SPACE_STREAM, HF_NOWHERE, 0);
	else
		err = read_header(s, &w);
	hf_reader_fini(&w.reader);
	src->until = until;
	if (err)
		hf_stf_close(&s->stream);
	else
		*ret_stream = &s->stream;
	return err;
}

void hf_stf_close(struct hf_stream *stream)
{
	struct hf_stf_stream *s = (struct hf_stf_stream *)stream;

	free(s->header.infos.p);
	free(s->header.comments.p);
	free(s->header.clocks.p);
	free(s->header.extended.p);
	free(s->json);
	free(s);
}
