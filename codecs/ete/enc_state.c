/* SPDX-License-Identifier: Apache-2.0 */
/* The view's parameters, and the encoder's state as a blob. */
#include "codecs/base/nearest.h"
#include "codecs/ete/encoder.h"

#include <stdio.h>

static const struct {
	const char *name;
	uint64_t max;
} keys[] = {
	{"sync_instructions", UINT32_MAX},
	{"return_stack", 1},
	{"timestamps", 1},
	{"contextid", 1},
	{"q_elements", 1},
};

enum { KEYS = sizeof keys / sizeof *keys };

/* "key=value" at item[size]. */
static bool read_item(const char *item, size_t size, uint64_t v[KEYS], char *why, size_t room)
{
	const char *equals = memchr(item, '=', size);
	const size_t n = equals ? (size_t)(equals - item) : size;
	const char *known[KEYS + 1] = {NULL};
	char hint[HF_NEAREST_SIZE];
	uint64_t number = 0;
	bool good = equals && n + 1 < size;

	for (size_t i = n + 1; i < size && good; i++) {
		good = item[i] >= '0' && item[i] <= '9' && number <= UINT32_MAX;
		number = number * 10 + (uint64_t)(item[i] - '0');
	}
	for (size_t k = 0; k < KEYS; k++) {
		if (strlen(keys[k].name) != n || memcmp(keys[k].name, item, n) != 0)
			continue;
		v[k] = number;
		if ((!good || number > keys[k].max) && why)
			snprintf(why, room, "%s must be a number from 0 to %llu", keys[k].name,
				 (unsigned long long)keys[k].max);
		return good && number <= keys[k].max;
	}
	for (size_t k = 0; k < KEYS; k++)
		known[k] = keys[k].name;
	if (why)
		snprintf(why, room, "ete has no parameter '%.*s'%s", (int)n, item, hf_nearest_hint(item, n, known, hint));
	return false;
}

int hf_ete_enc_config_read(const char *params, struct hf_ete_enc_config *ret_config, char *why, size_t size)
{
	uint64_t v[KEYS] = {HF_ETE_SYNC_DEFAULT, 1, 1, 1, 0};

	for (const char *p = params; p && *p;) {
		const size_t n = strcspn(p, ",");

		if (!read_item(p, n, v, why, size))
			return HF_ERR_SETUP_VALUE;
		p += n;
		p += *p == ',';
	}
	*ret_config = (struct hf_ete_enc_config){
		.sync_instructions = (uint32_t)v[0],
		.return_stack = v[1],
		.timestamps = v[2],
		.contextid = v[3],
		.q_elements = v[4],
	};
	return 0;
}

int hf_ete_enc_check(const char *params, char *why, size_t size)
{
	struct hf_ete_enc_config config;

	return hf_ete_enc_config_read(params, &config, why, size);
}

#define F(member, maximum) HF_STATE_FIELD(struct hf_ete_enc_state, member, maximum)
#define STACK(i) F(stack[i], UINT64_MAX), F(stack_is[i], 1)

static const struct hf_state_field fields[] = {
	F(next, UINT64_MAX), F(next_is, 1), F(said_time, UINT64_MAX), F(time, UINT64_MAX),
	F(address[0], UINT64_MAX), F(address[1], UINT64_MAX), F(address[2], UINT64_MAX),
	F(is[0], 1), F(is[1], 1), F(is[2], 1),
	F(atoms, (1u << HF_ETE_ENC_ATOMS) - 1), F(atom_count, HF_ETE_ENC_ATOMS - 1), F(ran, UINT32_MAX),
	F(left, UINT32_MAX), F(cid, UINT32_MAX), F(said_cid, UINT32_MAX), F(flags, 511),
	F(context, HF_ETE_CONTEXT_STATE), F(next_context, HF_ETE_CONTEXT_STATE), F(secure, 1), F(depth, HF_ETE_ENC_STACK),
	STACK(0), STACK(1), STACK(2), STACK(3), STACK(4), STACK(5), STACK(6), STACK(7), STACK(8), STACK(9), STACK(10),
	STACK(11), STACK(12), STACK(13), STACK(14),
};

static const struct hf_state_table table = {.version = 1, .count = sizeof fields / sizeof *fields, .fields = fields};

size_t hf_ete_enc_save(const struct hf_enc *enc, uint8_t *blob)
{
	struct hf_ete_enc_state s = ((const struct hf_ete_enc *)enc)->s;

	/* What is above the stack has no meaning. */
	memset(s.stack + s.depth, 0, (HF_ETE_ENC_STACK - s.depth) * sizeof *s.stack);
	memset(s.stack_is + s.depth, 0, HF_ETE_ENC_STACK - s.depth);
	return hf_state_save(&table, &s, blob);
}

int hf_ete_enc_load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	struct hf_ete_enc *e = (struct hf_ete_enc *)enc;
	int err = hf_state_load(&table, &e->s, blob, size);

	return !err && e->s.atoms >> e->s.atom_count ? HF_ERR_STATE : err;
}
