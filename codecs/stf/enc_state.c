/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/stf/encoder.h"

/* All but addresses, which are stored as their distance from the next one. */
static const struct hf_field_row fields[] = {
	HF_FIELD_ROW(struct hf_stf_enc_state, flags, HF_STF_ENC_ALL),
	HF_FIELD_ROW(struct hf_stf_enc_state, said_mode, HF_MODE_COUNT - 1),
	HF_FIELD_ROW(struct hf_stf_enc_state, held_mode, HF_MODE_COUNT - 1),
	HF_FIELD_ROW(struct hf_stf_enc_state, after_mode, HF_MODE_COUNT - 1),
	HF_FIELD_ROW(struct hf_stf_enc_state, isa, HF_ISA_COUNT - 1),
	HF_FIELD_ROW(struct hf_stf_enc_state, size, 4),
	HF_FIELD_ROW(struct hf_stf_enc_state, head, HF_EVENT_KINDS - 1),
	HF_FIELD_ROW(struct hf_stf_enc_state, opcode, UINT32_MAX),
	HF_FIELD_ROW(struct hf_stf_enc_state, left, UINT32_MAX),
	HF_FIELD_ROW(struct hf_stf_enc_state, take, UINT32_MAX),
	HF_FIELD_ROW(struct hf_stf_enc_state, fill, 16 * UINT8_MAX + HF_STF_VLEN_MAX / 8),
	HF_FIELD_ROW(struct hf_stf_enc_state, ids[0], UINT32_MAX),
	HF_FIELD_ROW(struct hf_stf_enc_state, ids[1], UINT32_MAX),
	HF_FIELD_ROW(struct hf_stf_enc_state, ids[2], UINT32_MAX),
	HF_FIELD_ROW(struct hf_stf_enc_state, base, UINT64_MAX),
};

void hf_stf_enc_visit(struct hf_enc *enc, struct hf_fields *f)
{
	struct hf_stf_enc_state *s = &((struct hf_stf_enc *)enc)->s;

	if (f->loading)
		*s = (struct hf_stf_enc_state){0};
	HF_FIELD_ROWS(f, fields, s);
	HF_FIELD_NEAR(f, s->next, 0);
	s->pc = s->flags & HF_STF_ENC_GROUP ? hf_field_near(f, s->pc, s->next) : 0;
	s->handler = s->flags & HF_STF_ENC_TARGET ? hf_field_near(f, s->handler, s->next) : 0;
}
