/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder as codec.h wants it: the way between fast.c and group.c, its state, its list of harts. */
#include "codecs/stf/decoder.h"

#include <stdlib.h>

/* When less than this is left in the window it is moved on: no usual group is longer. */
#define LOW_WATER 1024

static void forget_harts(struct hf_stf_dec *d)
{
	memset(d->hart_slots, 0, sizeof d->hart_slots);
	d->hart_count = 0;
	hf_stf_dec_note_hart(d, d->dec.hart);
}

/* Places up to offset have been dealt with. */
static void look_from(struct hf_stf_dec *d, uint64_t offset)
{
	d->place.offset = HF_NOWHERE;
	d->looked = offset;
}

static int create(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, struct hf_dec **ret_dec)
{
	const struct hf_stf_header *h = stream->info.header;
	struct hf_stf_dec *d;
	int err;

	if (!(stream->info.flags & HF_STREAM_MANY) && hart != 0)
		return HF_ERR_NOT_FOUND;
	d = calloc(1, sizeof *d);
	if (!d)
		return HF_ERR_NOMEM;
	err = hf_reader_init(&d->reader, src, HF_READER_CAP);
	if (err) {
		free(d);
		return err;
	}
	d->dec.stream = stream;
	d->dec.hart = hart;
	d->header = h;
	d->many = stream->info.flags & HF_STREAM_MANY;
	d->sync = (struct hf_stf_sync){.offset = h->body,
				       .next = h->force_pc,
				       .expected = h->force_pc,
				       .isa = stream->info.isa,
				       .has_ids = h->has[HF_STF_PROCESS_ID_EXT]};
	memcpy(d->sync.ids, h->ids, sizeof d->sync.ids);
	look_from(d, h->body);
	forget_harts(d);
	hf_stf_group_begin(d);
	*ret_dec = &d->dec;
	return 0;
}

static void destroy(struct hf_dec *dec)
{
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;

	hf_reader_fini(&d->reader);
	free(d);
}

/* Makes the window hold some groups from the sync point on, if there are any. */
static int refill(struct hf_stf_dec *d)
{
	const int err = hf_reader_need(&d->reader, d->sync.offset, LOW_WATER, HF_READER_CAP);

	return err < 0 ? err : 0;
}

/* The group that ends at the next place, or behind it, is for group.c: no marker before it may reach there. */
static size_t fast_len(const struct hf_stf_dec *d)
{
	const struct hf_reader *r = &d->reader;
	const uint64_t len = d->place.offset - r->start + HF_STF_FAST_REACH - HF_STF_SIZE_INST_OPCODE32 - 1;

	return d->place.offset != HF_NOWHERE && len < r->len ? (size_t)len : r->len;
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;
	struct hf_stf_out out = {.ev = ev, .max = max};
	int err = 0;

	while (!err && out.n < max && d->group.phase != HF_STF_PHASE_END) {
		if (!d->group.open) {
			err = refill(d);
			if (!err)
				err = hf_stf_dec_look(d, d->reader.start + d->reader.len);
			if (err)
				break;
			if (!hf_stf_dec_owes_header(d))
				hf_stf_fast_run(d, &out, fast_len(d));
			hf_stf_group_begin(d);
		}
		err = hf_stf_group_run(d, &out);
	}
	*ret_n = out.n;
	if (out.n)
		return 0;
	if (err) {
		dec->diag = d->reader.diag;
		dec->diag.code = err;
		return err;
	}
	return HF_NOTE_END;
}

/* ---- state ---- */

/* The sync point as it is stored: what is usually equal or near to something else becomes a small number. */
struct stored {
	uint64_t offset, index, next, expected, drift;
	uint32_t ids[3], said[3];
	uint8_t flags, mode, isa;
};

enum { FLAG_BEGUN = 1, FLAG_IDS = 2, FLAG_SAID = 4, FLAGS_ALL = 7 };

static const struct hf_state_field fields[] = {
	HF_STATE_FIELD(struct stored, offset, INT64_MAX),     HF_STATE_FIELD(struct stored, index, INT64_MAX),
	HF_STATE_FIELD(struct stored, next, UINT64_MAX),      HF_STATE_FIELD(struct stored, expected, UINT64_MAX),
	HF_STATE_FIELD(struct stored, ids[0], UINT32_MAX),    HF_STATE_FIELD(struct stored, ids[1], UINT32_MAX),
	HF_STATE_FIELD(struct stored, ids[2], UINT32_MAX),    HF_STATE_FIELD(struct stored, said[0], UINT32_MAX),
	HF_STATE_FIELD(struct stored, said[1], UINT32_MAX),   HF_STATE_FIELD(struct stored, said[2], UINT32_MAX),
	HF_STATE_FIELD(struct stored, flags, FLAGS_ALL),      HF_STATE_FIELD(struct stored, mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct stored, isa, HF_ISA_COUNT - 1), HF_STATE_FIELD(struct stored, drift, UINT64_MAX),
};

static const struct hf_state_table table = {
	.version = 2,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

static size_t save(const struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;
	const struct hf_stf_sync *s = &d->sync;
	struct stored st = {
		.offset = s->offset,
		.index = s->index,
		.next = hf_zigzag(s->next),
		.expected = hf_zigzag(s->expected - s->next),
		.drift = hf_zigzag(s->drift),
		.flags = (uint8_t)((s->begun ? FLAG_BEGUN : 0) | (s->has_ids ? FLAG_IDS : 0) |
				   (s->has_said ? FLAG_SAID : 0)),
		.mode = s->mode,
		.isa = s->isa,
	};

	for (unsigned i = 0; i < 3; i++) {
		st.ids[i] = s->ids[i];
		st.said[i] = s->has_said ? s->said[i] ^ s->ids[i] : 0;
	}
	*ret_discard = d->done;
	return hf_state_save(&table, &st, blob);
}

static int load(struct hf_dec *dec, const uint8_t *blob, size_t size)
{
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;
	struct hf_stf_sync *s = &d->sync;
	struct stored st = {0};
	int err = hf_state_load(&table, &st, blob, size);

	if (err)
		return err;
	if (st.offset < d->header->body || (st.isa == HF_ISA_NONE) != (d->dec.stream->info.isa == HF_ISA_NONE))
		return HF_ERR_STATE;
	*s = (struct hf_stf_sync){
		.offset = st.offset,
		.index = st.index,
		.next = hf_unzigzag(st.next),
		.drift = hf_unzigzag(st.drift),
		.mode = st.mode,
		.isa = st.isa,
		.begun = st.flags & FLAG_BEGUN,
		.has_ids = st.flags & FLAG_IDS,
		.has_said = st.flags & FLAG_SAID,
	};
	s->expected = s->next + hf_unzigzag(st.expected);
	for (unsigned i = 0; i < 3; i++) {
		s->ids[i] = st.ids[i];
		s->said[i] = s->has_said ? st.said[i] ^ st.ids[i] : 0;
	}
	d->done = 0;
	look_from(d, s->offset);
	forget_harts(d);
	hf_stf_group_begin(d);
	return 0;
}

static uint64_t offset(const struct hf_dec *dec)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;

	return d->group.at > d->sync.offset ? d->group.at : d->sync.offset;
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;

	*ret_n = d->hart_count;
	return d->harts;
}

static void begin(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;
	const struct hf_stf_sync *s = &d->group.now;

	if (s->has_said) {
		ret_context->size = HF_CONTEXT_HW | HF_CONTEXT_PID | HF_CONTEXT_TID;
		ret_context->context =
			(struct hf_ev_context){.hw = s->said[0], .pid = s->said[1], .tid = s->said[2]};
	}
	/* its group is done, or its attachments are still to come */
	*ret_record = s->index - (d->group.phase < HF_STF_PHASE_ATTACH);
}

const struct hf_dec_ops hf_stf_dec_ops = {
	.create = create,
	.destroy = destroy,
	.next = next,
	.save = save,
	.load = load,
	.offset = offset,
	.harts = harts,
	.harts_max = HF_STF_HARTS_MAX,
	.begin = begin,
};
