/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/stf/encoder.h"

/* The state as it is stored: addresses as their distance from the one before. */
static const struct hf_state_field fields[] = {
	HF_STATE_FIELD(struct hf_stf_enc_state, flags, HF_STF_ENC_ALL),
	HF_STATE_FIELD(struct hf_stf_enc_state, said_mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, held_mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, after_mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, isa, HF_ISA_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, size, 4),
	HF_STATE_FIELD(struct hf_stf_enc_state, head, HF_EVENT_KINDS - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, opcode, UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, left, UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, take, UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, fill, 16 * UINT8_MAX + HF_STF_VLEN_MAX / 8),
	HF_STATE_FIELD(struct hf_stf_enc_state, ids[0], UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, ids[1], UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, ids[2], UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, pc, UINT64_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, next, UINT64_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, handler, UINT64_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, base, UINT64_MAX),
};

static const struct hf_state_table table = {
	.version = 2,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

size_t hf_stf_enc_save(const struct hf_enc *enc, uint8_t *blob)
{
	struct hf_stf_enc_state s = ((const struct hf_stf_enc *)enc)->s;

	s.pc = s.flags & HF_STF_ENC_GROUP ? hf_zigzag(s.pc - s.next) : 0;
	s.handler = s.flags & HF_STF_ENC_TARGET ? hf_zigzag(s.handler - s.next) : 0;
	s.next = hf_zigzag(s.next);
	return hf_state_save(&table, &s, blob);
}

int hf_stf_enc_load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	struct hf_stf_enc_state s = {0};
	int err = hf_state_load(&table, &s, blob, size);

	if (err)
		return err;
	s.next = hf_unzigzag(s.next);
	s.pc = s.flags & HF_STF_ENC_GROUP ? s.next + hf_unzigzag(s.pc) : 0;
	s.handler = s.flags & HF_STF_ENC_TARGET ? s.next + hf_unzigzag(s.handler) : 0;
	((struct hf_stf_enc *)enc)->s = s;
	return 0;
}
