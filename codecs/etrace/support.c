/* SPDX-License-Identifier: Apache-2.0 */
/* What the option bits of a support packet mean: implementation-defined before 2.1, hence by parameter. */
#include "codecs/etrace/packet.h"

#include <stddef.h>

#define NO (-1)

/* Which bit says which mode, by enum hf_etrace_support. */
struct option {
	uint32_t mode;
	int8_t bit[4];
};

static const struct option options[] = {
	{HF_ETRACE_IMPLICIT_RETURN, {0, 2, NO, 1}},
	{HF_ETRACE_IMPLICIT_EXCEPTION, {1, 4, NO, 4}},
	{HF_ETRACE_FULL_ADDRESS, {2, 5, NO, 5}},
	{HF_ETRACE_JUMP_TARGET_CACHE, {3, 0, NO, 3}},
	{HF_ETRACE_BRANCH_PREDICTION, {4, 1, NO, 2}},
	{HF_ETRACE_SIJUMP, {NO, 3, NO, 0}},
	{HF_ETRACE_RESYNC_DISABLED, {NO, NO, NO, 6}},
	{HF_ETRACE_IRET_EXT, {NO, NO, NO, 7}},
	{0, {0}},
};

/* The same of data_options. */
static const struct option data_options[] = {
	{HF_ETRACE_NO_ADDRESS, {0, NO, NO, 1}},
	{HF_ETRACE_NO_DATA, {1, NO, NO, 2}},
	{HF_ETRACE_FULL_DADDRESS, {2, NO, NO, 3}},
	{HF_ETRACE_FULL_DATA, {3, NO, NO, 4}},
	{HF_ETRACE_MMACAS, {NO, NO, NO, 0}},
	{0, {0}},
};

/* PULP's delta_address is the opposite of its full_address. */
#define PULP_DELTA_ADDRESS 64u

static uint32_t take(const struct option *table, unsigned layout, uint32_t bits, uint32_t modes)
{
	for (; table->mode; table++)
		if (table->bit[layout] != NO)
			modes = bits >> table->bit[layout] & 1 ? modes | table->mode : modes & ~table->mode;
	return modes;
}

static uint32_t give(const struct option *table, unsigned layout, uint32_t modes)
{
	uint32_t bits = 0;

	for (; table->mode; table++)
		if (table->bit[layout] != NO && (modes & table->mode))
			bits |= 1u << table->bit[layout];
	return bits;
}

static bool has_data_options(const struct hf_etrace_params *params)
{
	return params->support == HF_ETRACE_SUPPORT_STANDARD || hf_etrace_support_has_data(params);
}

uint32_t hf_etrace_support_modes(const struct hf_etrace_params *params, const struct hf_etrace_packet *pkt)
{
	const uint32_t modes = take(options, params->support, pkt->options, params->modes);

	return has_data_options(params) ? take(data_options, params->support, pkt->doptions, modes) : modes;
}

/* ---- sizes, in 2.1 ---- */

/* Behind the bits of the standard layout; time_width, the first, counts 16 bits. */
enum { TIME_WIDTH = 8, TIME_BITS = 3, SIZES_END = 26 };

static const struct {
	uint8_t at, width;
	size_t offset;
} sizes[] = {
	{11, 2, offsetof(struct hf_etrace_params, f0s_width)},
	{13, 3, offsetof(struct hf_etrace_params, return_stack_size)},
	{16, 4, offsetof(struct hf_etrace_params, call_counter_size)},
	{20, 3, offsetof(struct hf_etrace_params, bpred_size)},
	{23, 3, offsetof(struct hf_etrace_params, cache_size)},
};
#define SIZES (sizeof sizes / sizeof sizes[0])

static uint8_t size_at(const struct hf_etrace_packet *pkt, unsigned bit, unsigned width)
{
	return (uint8_t)(pkt->options >> bit & ((1u << width) - 1));
}

void hf_etrace_support_params(struct hf_etrace_params *params, const struct hf_etrace_packet *pkt)
{
	const uint8_t time_units = size_at(pkt, TIME_WIDTH, TIME_BITS);

	/* A unit with fewer options has no sizes behind them. */
	if (params->support != HF_ETRACE_SUPPORT_STANDARD || params->ioptions_width < SIZES_END)
		return;
	/* The description may know the width better than units of 16 bits can say it. */
	if ((params->time_width + 15) / 16 != time_units)
		params->time_width = (uint8_t)(time_units > 4 ? 64 : 16 * time_units);
	for (size_t i = 0; i < SIZES; i++)
		((uint8_t *)params)[sizes[i].offset] = size_at(pkt, sizes[i].at, sizes[i].width);
}

void hf_etrace_support_options(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_packet *pkt)
{
	pkt->options = give(options, params->support, modes);
	pkt->doptions = has_data_options(params) ? give(data_options, params->support, modes) : 0;
	if (params->support == HF_ETRACE_SUPPORT_PULP && !(modes & HF_ETRACE_FULL_ADDRESS))
		pkt->options |= PULP_DELTA_ADDRESS;
	if (params->support != HF_ETRACE_SUPPORT_STANDARD)
		return;
	pkt->options |= (params->time_width + 15u) / 16 << TIME_WIDTH;
	for (size_t i = 0; i < SIZES; i++)
		pkt->options |= (uint32_t)((const uint8_t *)params)[sizes[i].offset] << sizes[i].at;
}
