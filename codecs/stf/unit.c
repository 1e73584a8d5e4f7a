/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a stream counts the sizes of its accesses in bits or in bytes, by those whose opcode says (stf.md 1.5). */
#include "codecs/isa/access.h"
#include "codecs/stf/header.h"

/* Accesses of one group that are looked at, */
#define NUMBERS_MAX 16
/* and those of the stream that are enough. */
#define SHOWN_MAX 256

struct votes {
	uint16_t numbers[NUMBERS_MAX]; /* what the records of this group have for a size */
	unsigned count;
	unsigned bits, bytes;
};

static void vote(struct votes *v, const struct hf_stf_record *marker, enum hf_isa isa)
{
	const unsigned size = marker->descriptor == HF_STF_INST_OPCODE32 ? 4 : 2;
	const unsigned sizes = hf_riscv_access_sizes(marker->size, size, isa);

	for (unsigned i = 0; i < v->count; i++) {
		if (hf_stf_is_one_size(v->numbers[i], sizes))
			v->bytes++;
		else if (v->numbers[i] % 8 == 0 && hf_stf_is_one_size(v->numbers[i] / 8u, sizes))
			v->bits++;
	}
	v->count = 0;
}

/* One record that is there to its end. */
static void take(struct votes *v, const struct hf_stf_record *rec, enum hf_isa *isa)
{
	switch (rec->descriptor) {
	case HF_STF_INST_MEM_ACCESS:
		if (v->count < NUMBERS_MAX)
			v->numbers[v->count++] = (uint16_t)rec->size;
		break;
	case HF_STF_INST_IEM:
		*isa = hf_stf_isa_of_iem(HF_STF_ISA_RISCV, rec->code);
		break;
	case HF_STF_INST_OPCODE16:
	case HF_STF_INST_OPCODE32:
		vote(v, rec, *isa);
		break;
	default:
		break;
	}
}

bool hf_stf_header_find_unit(struct hf_stf_header *h, const uint8_t *p, size_t n)
{
	enum hf_isa isa = hf_stf_isa_of_iem(h->isa, h->iem);
	struct votes v = {.count = 0};

	if (h->isa != HF_STF_ISA_RISCV) { /* under ARM it is ours to say: bytes (hartfs-stf(5)) */
		h->bits = false;
		h->unit_shown = true;
		return true;
	}
	while (n && v.bits + v.bytes < SHOWN_MAX) {
		struct hf_stf_record rec = {0};
		uint64_t size;

		if (hf_stf_places[*p] == HF_STF_PLACE_nowhere || hf_stf_record_size(&h->layout, p, n, &size) ||
		    size > n)
			break;
		hf_stf_record_parse(&h->layout, p, &rec);
		take(&v, &rec, &isa);
		p += size;
		n -= (size_t)size;
	}
	h->unit_shown = v.bits + v.bytes != 0;
	if (v.bits != v.bytes)
		h->bits = v.bits > v.bytes;
	return v.bits + v.bytes >= SHOWN_MAX;
}
