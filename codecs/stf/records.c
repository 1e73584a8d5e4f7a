/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/stf/records.h"

#include "codecs/stf/errors.h"

const uint8_t hf_stf_places[256] = {
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) [number] = HF_STF_PLACE_##place,
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
};

static inline uint8_t hf_get8(const uint8_t *p)
{
	return *p;
}

static inline void hf_put8(uint8_t *p, uint8_t v)
{
	*p = v;
}

/* A transaction's variable part: the caller walks a cursor over it; false when more bytes are wanted. */
struct walk {
	const uint8_t *p;
	size_t n;
	uint64_t at; /* where the cursor stands; what must be there when it is beyond n */
};

static bool pass(struct walk *w, uint64_t bytes)
{
	w->at += bytes;
	return w->at <= w->n;
}

/* u16 count of unit bits, then as many, rounded up to bytes */
static bool pass_counted(struct walk *w, unsigned unit)
{
	uint64_t here = w->at;

	return pass(w, 2) && pass(w, ((uint64_t)hf_get16(w->p + here) * unit + 7) / 8);
}

static int pass_meta(struct walk *w, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t here = w->at;

		if (!pass(w, 1))
			return HF_STF_MORE;
		if (w->p[here] > 3)
			return HF_ERR_STF_VALUE;
		if (!pass(w, UINT64_C(1) << w->p[here]))
			return HF_STF_MORE;
	}
	return 0;
}

/* STF Transaction Protocols, TileLink: channels A and B have a mask, C has none, D ends with a sink, E is one. */
static int pass_tilelink(struct walk *w)
{
	uint64_t here = w->at;
	uint8_t channel;

	if (!pass(w, 1))
		return HF_STF_MORE;
	channel = w->p[here];
	if (channel < 1 || channel > 5)
		return HF_ERR_STF_VALUE;
	if (channel == 5)
		return pass(w, 8) ? 0 : HF_STF_MORE;
	/* code, param, size, source; data; address or sink */
	if (!pass(w, 11) || !pass_counted(w, 8) || !pass(w, 8))
		return HF_STF_MORE;
	if (channel <= 2 && !pass_counted(w, 1))
		return HF_STF_MORE;
	return 0;
}

static int transaction_size(const struct hf_stf_layout *layout, const uint8_t *p, size_t n, uint64_t *ret_size)
{
	struct walk w = {.p = p, .n = n, .at = HF_STF_SIZE_TRANSACTION};
	int err;

	if (layout->protocol != HF_STF_PROTOCOL_TILELINK)
		return HF_ERR_STF_PROTOCOL;
	err = w.at <= n ? pass_meta(&w, hf_get16(p + 18)) : HF_STF_MORE;
	if (!err)
		err = pass_tilelink(&w);
	*ret_size = w.at;
	return err;
}

uint32_t hf_stf_meta_size(const uint8_t *p, unsigned count)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < count; i++)
		at += 1 + (1u << p[at]);
	return at;
}

int hf_stf_record_size(const struct hf_stf_layout *layout, const uint8_t *p, size_t n, uint64_t *ret_size)
{
	struct hf_stf_record rec;
	uint64_t head, unit;

	switch (*p) {
#define none 0
#define count 1
#define HF_STF_RECORD(number, name, head_size, counted, unit_size, place, fields) \
	case number:                                                              \
		head = head_size;                                                 \
		unit = (counted) ? unit_size : 0;                                 \
		break;
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
#undef none
#undef count
	default:
		return HF_ERR_STF_DESCRIPTOR;
	}
	if (*p == HF_STF_TRANSACTION)
		return transaction_size(layout, p, n, ret_size);
	if (*p == HF_STF_EVENT && !layout->event64)
		head = HF_STF_SIZE_EVENT32;
	*ret_size = head;
	if (!unit && *p != HF_STF_INST_REG)
		return 0;
	if (n < head && !(*p == HF_STF_INST_REG && n >= 4))
		return HF_STF_MORE;
	if (*p == HF_STF_INST_REG) {
		if ((p[3] & 0xf) != HF_STF_REG_VECTOR)
			return 0;
		*ret_size = 4 + 8 * (uint64_t)layout->vector_words;
		return layout->vector_words ? 0 : HF_ERR_STF_NO_VLEN;
	}
	hf_stf_record_parse(layout, p, &rec);
	*ret_size = head + unit * rec.count;
	return 0;
}

/* 32-bit event ids carry the two flags of the 64-bit ones at their own top. */
static void parse_event32(const uint8_t *p, struct hf_stf_record *rec)
{
	uint64_t id = hf_get32(p + 1);

	rec->value = (id & 0x3fffffff) | (id >> 30) << 62;
	rec->count = p[5];
}

static size_t emit_event32(const struct hf_stf_record *rec, uint8_t *p)
{
	p[0] = HF_STF_EVENT;
	hf_put32(p + 1, (uint32_t)(rec->value & 0x3fffffff) | (uint32_t)(rec->value >> 62) << 30);
	p[5] = (uint8_t)rec->count;
	return HF_STF_SIZE_EVENT32;
}

void hf_stf_record_parse(const struct hf_stf_layout *layout, const uint8_t *p, struct hf_stf_record *ret_rec)
{
	ret_rec->descriptor = *p;
	if (*p == HF_STF_EVENT && !layout->event64) {
		parse_event32(p, ret_rec);
		return;
	}
	switch (*p) {
#define F(offset, bits, member, shown) ret_rec->member = hf_get##bits(p + (offset));
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) \
	case number:                                                  \
		fields break;
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
#undef F
	default:
		break;
	}
}

size_t hf_stf_record_emit(const struct hf_stf_layout *layout, const struct hf_stf_record *rec, uint8_t *p)
{
	if (rec->descriptor == HF_STF_EVENT && !layout->event64)
		return emit_event32(rec, p);
	*p = rec->descriptor;
	switch (rec->descriptor) {
#define F(offset, bits, member, shown) hf_put##bits(p + (offset), (uint##bits##_t)rec->member);
#define HF_STF_RECORD(number, name, head, count, unit, place, fields)            \
	case number:                                                             \
		fields if (number == HF_STF_IDENTIFIER) memcpy(p + 1, "STF", 3); \
		return head;
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
#undef F
	default:
		return 0;
	}
}
