/* SPDX-License-Identifier: Apache-2.0 */
/* What the option bits of a support packet mean: implementation-defined before 2.1, hence by parameter. */
#include "codecs/etrace/packet.h"

struct option {
	uint32_t mode; /* 0 ends a table */
	unsigned bit;
};

static const struct option reference[] = {
	{HF_ETRACE_IMPLICIT_RETURN, 0},   {HF_ETRACE_IMPLICIT_EXCEPTION, 1}, {HF_ETRACE_FULL_ADDRESS, 2},
	{HF_ETRACE_JUMP_TARGET_CACHE, 3}, {HF_ETRACE_BRANCH_PREDICTION, 4},  {0, 0},
};

/* Bit 6, delta_address, is the opposite of bit 5. */
static const struct option pulp[] = {
	{HF_ETRACE_JUMP_TARGET_CACHE, 0}, {HF_ETRACE_BRANCH_PREDICTION, 1},  {HF_ETRACE_IMPLICIT_RETURN, 2},
	{HF_ETRACE_SIJUMP, 3},            {HF_ETRACE_IMPLICIT_EXCEPTION, 4}, {HF_ETRACE_FULL_ADDRESS, 5},
	{0, 0},
};
#define PULP_DELTA_ADDRESS 64u

static const struct option standard[] = {
	{HF_ETRACE_SIJUMP, 0},            {HF_ETRACE_IMPLICIT_RETURN, 1},    {HF_ETRACE_BRANCH_PREDICTION, 2},
	{HF_ETRACE_JUMP_TARGET_CACHE, 3}, {HF_ETRACE_IMPLICIT_EXCEPTION, 4}, {HF_ETRACE_FULL_ADDRESS, 5},
	{HF_ETRACE_RESYNC_DISABLED, 6},   {HF_ETRACE_IRET_EXT, 7},           {0, 0},
};

static const struct option reference_data[] = {
	{HF_ETRACE_NO_ADDRESS, 0}, {HF_ETRACE_NO_DATA, 1}, {HF_ETRACE_FULL_DADDRESS, 2}, {HF_ETRACE_FULL_DATA, 3},
	{0, 0},
};

static const struct option standard_data[] = {
	{HF_ETRACE_MMACAS, 0},        {HF_ETRACE_NO_ADDRESS, 1}, {HF_ETRACE_NO_DATA, 2},
	{HF_ETRACE_FULL_DADDRESS, 3}, {HF_ETRACE_FULL_DATA, 4},  {0, 0},
};

static const struct option none[] = {{0, 0}};

static const struct option *options_of(const struct hf_etrace_params *params)
{
	switch (params->support) {
	case HF_ETRACE_SUPPORT_REFERENCE:
		return reference;
	case HF_ETRACE_SUPPORT_PULP:
		return pulp;
	case HF_ETRACE_SUPPORT_STANDARD:
		return standard;
	default:
		return none;
	}
}

static const struct option *data_options_of(const struct hf_etrace_params *params)
{
	if (params->support == HF_ETRACE_SUPPORT_STANDARD)
		return standard_data;
	return params->support == HF_ETRACE_SUPPORT_REFERENCE && params->version != HF_ETRACE_1_1_1 ? reference_data
												   : none;
}

static uint32_t take(const struct option *table, uint32_t bits, uint32_t modes)
{
	for (; table->mode; table++)
		modes = bits >> table->bit & 1 ? modes | table->mode : modes & ~table->mode;
	return modes;
}

static uint32_t give(const struct option *table, uint32_t modes)
{
	uint32_t bits = 0;

	for (; table->mode; table++)
		bits |= modes & table->mode ? 1u << table->bit : 0;
	return bits;
}

uint32_t hf_etrace_support_modes(const struct hf_etrace_params *params, const struct hf_etrace_packet *pkt)
{
	return take(data_options_of(params), pkt->doptions, take(options_of(params), pkt->options, params->modes));
}

/* ---- sizes, in 2.1 ---- */

/* Positions in options of the standard layout; time_width counts 16 bits. */
enum { TIME_WIDTH = 8, F0S_WIDTH = 11, RETURN_STACK = 13, CALL_COUNTER = 16, BPRED = 20, CACHE = 23 };

static uint8_t size_at(const struct hf_etrace_packet *pkt, unsigned bit, unsigned width)
{
	return (uint8_t)(pkt->options >> bit & ((1u << width) - 1));
}

void hf_etrace_support_params(struct hf_etrace_params *params, const struct hf_etrace_packet *pkt)
{
	const uint8_t time_units = size_at(pkt, TIME_WIDTH, 3);

	if (params->support != HF_ETRACE_SUPPORT_STANDARD)
		return;
	/* The description may know the width better than units of 16 bits can say it. */
	if ((params->time_width + 15) / 16 != time_units)
		params->time_width = (uint8_t)(time_units > 4 ? 64 : 16 * time_units);
	params->f0s_width = size_at(pkt, F0S_WIDTH, 2);
	params->return_stack_size = size_at(pkt, RETURN_STACK, 3);
	params->call_counter_size = size_at(pkt, CALL_COUNTER, 4);
	params->bpred_size = size_at(pkt, BPRED, 3);
	params->cache_size = size_at(pkt, CACHE, 3);
}

void hf_etrace_support_options(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_packet *pkt)
{
	pkt->options = give(options_of(params), modes);
	pkt->doptions = give(data_options_of(params), modes);
	if (params->support == HF_ETRACE_SUPPORT_PULP && !(modes & HF_ETRACE_FULL_ADDRESS))
		pkt->options |= PULP_DELTA_ADDRESS;
	if (params->support == HF_ETRACE_SUPPORT_STANDARD)
		pkt->options |= (params->time_width + 15u) / 16 << TIME_WIDTH | (uint32_t)params->f0s_width << F0S_WIDTH |
				(uint32_t)params->return_stack_size << RETURN_STACK |
				(uint32_t)params->call_counter_size << CALL_COUNTER |
				(uint32_t)params->bpred_size << BPRED | (uint32_t)params->cache_size << CACHE;
}
