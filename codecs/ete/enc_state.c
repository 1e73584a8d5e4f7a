/* SPDX-License-Identifier: Apache-2.0 */
/* The view's parameters, and the encoder's state as a blob. */
#include "codecs/ete/encoder.h"

enum { SYNC_INSTRUCTIONS, RETURN_STACK, TIMESTAMPS, CONTEXTID, Q_ELEMENTS, KEYS };

static const struct hf_param keys[KEYS + 1] = {
	[SYNC_INSTRUCTIONS] = HF_PARAM_NUMBER("sync_instructions", UINT32_MAX),
	[RETURN_STACK] = HF_PARAM_NUMBER("return_stack", 1),
	[TIMESTAMPS] = HF_PARAM_NUMBER("timestamps", 1),
	[CONTEXTID] = HF_PARAM_NUMBER("contextid", 1),
	[Q_ELEMENTS] = HF_PARAM_NUMBER("q_elements", 1),
	[KEYS] = HF_PARAM_END,
};

int hf_ete_enc_config_read(const char *params, struct hf_ete_enc_config *ret_config, char *why, size_t size)
{
	uint64_t v[KEYS] = {
		[SYNC_INSTRUCTIONS] = HF_ETE_SYNC_DEFAULT, [RETURN_STACK] = 1, [TIMESTAMPS] = 1, [CONTEXTID] = 1};
	int err = hf_params_parse(params, keys, "ete", v, why, size);

	if (err)
		return err;
	*ret_config = (struct hf_ete_enc_config){
		.sync_instructions = (uint32_t)v[SYNC_INSTRUCTIONS],
		.return_stack = v[RETURN_STACK],
		.timestamps = v[TIMESTAMPS],
		.contextid = v[CONTEXTID],
		.q_elements = v[Q_ELEMENTS],
	};
	return 0;
}

int hf_ete_enc_check(const char *params, char *why, size_t size)
{
	struct hf_ete_enc_config config;

	return hf_ete_enc_config_read(params, &config, why, size);
}

#define F(member, maximum) HF_FIELD_ROW(struct hf_ete_enc_state, member, maximum)

static const struct hf_field_row fields[] = {
	F(next, UINT64_MAX), F(next_is, 1), F(said_time, UINT64_MAX), F(time, UINT64_MAX),
	F(address[0], UINT64_MAX), F(address[1], UINT64_MAX), F(address[2], UINT64_MAX),
	F(is[0], 1), F(is[1], 1), F(is[2], 1),
	F(atoms, (1u << HF_ETE_ENC_ATOMS) - 1), F(atom_count, HF_ETE_ENC_ATOMS - 1), F(ran, UINT32_MAX),
	F(left, UINT32_MAX), F(cid, UINT32_MAX), F(said_cid, UINT32_MAX), F(flags, 511),
	F(context, HF_ETE_CONTEXT_STATE), F(next_context, HF_ETE_CONTEXT_STATE), F(secure, 1),
};

void hf_ete_enc_visit(struct hf_enc *enc, struct hf_fields *f)
{
	struct hf_ete_enc *e = (struct hf_ete_enc *)enc;
	struct hf_ete_enc_state *s = &e->s;

	if (f->loading)
		*s = (struct hf_ete_enc_state){0};
	HF_FIELD_ROWS(f, fields, s);
	hf_return_stack_visit(&e->links, f);
	hf_fields_require(f, s->atoms >> s->atom_count == 0);
}
