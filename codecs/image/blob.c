/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image as bytes: the length of the facts, these as fields (codecs/base/fields.h) behind a version, then the runs in
 * ascending order, each as LEB128 numbers and bytes:
 *
 *	halfwords << 2 | changed << 1 | thumb      0 ends the runs
 *	unknown halfwords since the run before     of the first run: since address 0
 *	2 * halfwords bytes
 */
#include "codecs/image/collect.h"

#include "codecs/base/bytes.h"
#include "codecs/base/fields.h"
#include "codecs/image/pages.h"

#define RUN_THUMB 1u
#define RUN_CHANGED 2u
#define RUN_SHIFT 2

/* Halfwords of the address space, and of the largest image. */
#define SPACE_HALVES (UINT64_C(1) << 63)
#define IMAGE_HALVES (HF_IMAGE_PAGES_MAX * HF_IMAGE_HALVES)

/* Goes up when what is stored changes. */
#define VERSION 3

#define FIELD(member, max) HF_FIELD_ROW(struct hf_image_facts, member, max)

static const struct hf_field_row fields[] = {
	FIELD(ordinal, UINT64_MAX),
	FIELD(entry, UINT64_MAX),
	FIELD(conflict_address, UINT64_MAX),
	FIELD(conflict_ordinal, UINT64_MAX),
	FIELD(misfit_address, UINT64_MAX),
	FIELD(misfit_ordinal, UINT64_MAX),
	FIELD(pending_pc, UINT64_MAX),
	FIELD(pending_ordinal, UINT64_MAX),
	FIELD(pending_opcode, UINT32_MAX),
	FIELD(conflict_old, UINT32_MAX),
	FIELD(conflict_new, UINT32_MAX),
	FIELD(isas, UINT32_MAX),
	FIELD(pid, UINT32_MAX),
	FIELD(asid, UINT32_MAX),
	FIELD(vmid, UINT32_MAX),
	FIELD(spaces, UINT8_MAX),
	FIELD(sizes, UINT8_MAX),
	FIELD(conflict_size, 4),
	FIELD(misfit_size, UINT8_MAX),
	FIELD(pending_size, UINT8_MAX),
	FIELD(pending_isa, UINT8_MAX),
	FIELD(flags, HF_IMAGE_FLAGS_ALL),
};

static void put_varint(struct hf_sink *sink, uint64_t value)
{
	sink->p = hf_put_varint(hf_sink_room(sink, HF_VARINT_MAX), value);
}

static void save_run(const struct hf_image *image, const struct hf_image_run *run, uint64_t end, struct hf_sink *sink)
{
	uint8_t piece[1024];

	put_varint(sink, run->size / 2 << RUN_SHIFT | (run->changed ? RUN_CHANGED : 0) | (run->thumb ? RUN_THUMB : 0));
	put_varint(sink, (run->address - end) / 2);
	for (uint64_t at = 0; at < run->size; at += sizeof piece) {
		size_t n = run->size - at < sizeof piece ? (size_t)(run->size - at) : sizeof piece;

		hf_image_read(image, run->address + at, piece, n);
		hf_sink_write(sink, piece, n);
	}
}

/* Without what is over: equal images give equal bytes. */
static struct hf_image_facts settle(struct hf_image_facts facts)
{
	if (!hf_image_is_pending(&facts)) {
		facts.flags &= ~HF_IMAGE_PENDING;
		facts.pending_pc = facts.pending_ordinal = 0;
		facts.pending_opcode = facts.pending_size = facts.pending_isa = 0;
	}
	return facts;
}

static void visit_facts(struct hf_fields *f, struct hf_image_facts *facts)
{
	uint8_t version = VERSION;

	HF_FIELD(f, version, VERSION);
	hf_fields_require(f, version == VERSION);
	HF_FIELD_ROWS(f, fields, facts);
}

void hf_image_save(const struct hf_image *image, struct hf_sink *sink)
{
	struct hf_image_facts settled = settle(image->facts);
	uint8_t facts[HF_STATE_MAX];
	struct hf_fields f = hf_fields_save(facts, sizeof facts);
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	uint64_t end = 0;

	visit_facts(&f, &settled);
	put_varint(sink, (uint64_t)(f.to - facts));
	hf_sink_write(sink, facts, (size_t)(f.to - facts));
	while (hf_image_next_run(image, &cursor, &run)) {
		save_run(image, &run, end, sink);
		end = run.address + run.size;
	}
	put_varint(sink, 0);
}

/* ---- loading ---- */

/* n halfwords of one page, from half on, that are known from here on. */
static int load_piece(struct hf_image *image, uint64_t number, unsigned half, unsigned n, uint64_t head,
		      const uint8_t *bytes)
{
	struct hf_image_page *page = hf_image_page_make(image, number);

	if (!page)
		return image->err ? image->err : HF_ERR_STATE;
	if (head & RUN_CHANGED && !hf_image_page_track(image, page))
		return image->err;
	memcpy(page->bytes + 2 * half, bytes, 2 * n);
	for (unsigned end = half + n; half < end; half++) {
		hf_image_bit_set(&page->present, half);
		if (head & RUN_THUMB)
			hf_image_bit_set(&page->thumb, half);
		if (head & RUN_CHANGED)
			hf_image_bit_set(page->changed, half);
	}
	if (head & RUN_CHANGED)
		image->changes += n;
	return 0;
}

/* The run of n halfwords at halfword address start. */
static int load_run(struct hf_image *image, uint64_t start, uint64_t n, uint64_t head, const uint8_t *bytes)
{
	while (n) {
		unsigned half = start % HF_IMAGE_HALVES;
		unsigned piece = n < HF_IMAGE_HALVES - half ? (unsigned)n : (unsigned)HF_IMAGE_HALVES - half;
		int err = load_piece(image, start / HF_IMAGE_HALVES, half, piece, head, bytes);

		if (err)
			return err;
		bytes += 2 * piece;
		start += piece;
		n -= piece;
	}
	return 0;
}

/* All runs of [p, end). */
static int load_runs(struct hf_image *image, const uint8_t *p, const uint8_t *end)
{
	uint64_t start = 0; /* halfword address behind the run before */

	for (;;) {
		uint64_t head, gap, n;
		int err;

		p = hf_get_varint(p, end, &head);
		if (!p)
			return HF_ERR_STATE;
		if (head == 0)
			return p == end ? 0 : HF_ERR_STATE;
		n = head >> RUN_SHIFT;
		p = hf_get_varint(p, end, &gap);
		if (!p || n == 0 || n > IMAGE_HALVES || (size_t)(end - p) < 2 * n)
			return HF_ERR_STATE;
		if (gap > SPACE_HALVES - start || n > SPACE_HALVES - start - gap)
			return HF_ERR_STATE;
		start += gap;
		err = load_run(image, start, n, head, p);
		if (err)
			return err;
		p += 2 * n;
		start += n;
	}
}

/* What the flags promise of each other and of the pages. */
static int check(const struct hf_image *image)
{
	const struct hf_image_facts *facts = &image->facts;
	bool conflict = facts->flags & HF_IMAGE_CONFLICT, limit = facts->flags & HF_IMAGE_LIMIT;

	if (limit ? image->count != 0 : conflict != (image->changes != 0))
		return HF_ERR_STATE;
	return 0;
}

static int load(struct hf_image *image, const uint8_t *bytes, size_t size)
{
	const uint8_t *p = bytes, *end = bytes + size;
	struct hf_fields f;
	uint16_t flags;
	uint64_t n;
	int err;

	p = hf_get_varint(p, end, &n);
	if (!p || n > (size_t)(end - p))
		return HF_ERR_STATE;
	f = hf_fields_load(p, (size_t)n);
	visit_facts(&f, &image->facts);
	err = hf_fields_end(&f);
	if (err)
		return err;
	/* An image that was given up takes no pages; one that gives up while it is loaded is no image of ours. */
	flags = image->facts.flags;
	image->facts.flags &= ~HF_IMAGE_LIMIT;
	err = load_runs(image, p + n, end);
	if (err)
		return err;
	image->facts.flags = flags;
	return check(image);
}

int hf_image_load(const uint8_t *bytes, size_t size, struct hf_image **ret_image)
{
	int err = hf_image_new(ret_image);

	if (err)
		return err;
	err = load(*ret_image, bytes, size);
	if (err) {
		hf_image_free(*ret_image);
		*ret_image = NULL;
	}
	return err;
}
