/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/units.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"

enum { INFO_AT = 16, VERSION_MAX = 2, ETMV3_PARAMS = 4, ETMV4_PARAMS = 7 };

#define MAGIC_ETMV3 UINT64_C(0x3030303030303030)
#define MAGIC_ETMV4 UINT64_C(0x4040404040404040)
#define MAGIC_ETE UINT64_C(0x5050505050505050)

const char *const hf_perf_param_names[HF_PERF_PARAMS] = {"TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0",       "TRCIDR1",
							 "TRCIDR2",    "TRCIDR8",     "TRCAUTHSTATUS", "TRCDEVARCH"};

/* Words of the record that are not read yet. */
struct words {
	const uint8_t *p;
	size_t left;
};

static bool take(struct words *words, uint64_t *ret)
{
	if (!words->left)
		return false;
	*ret = hf_get64(words->p);
	words->p += 8;
	words->left--;
	return true;
}

static bool kind_of(uint64_t magic, uint8_t *ret_kind)
{
	*ret_kind = magic == MAGIC_ETE ? HF_PERF_ETE : magic == MAGIC_ETMV4 ? HF_PERF_ETMV4 : HF_PERF_ETMV3;
	return magic == MAGIC_ETE || magic == MAGIC_ETMV4 || magic == MAGIC_ETMV3;
}

/* The next block; false: it makes no sense. Of an ETMv4 there is no TRCDEVARCH. What follows is the source of timestamps. */
static bool take_block(struct words *words, uint64_t version, struct hf_perf_unit *ret)
{
	uint64_t magic, count;

	*ret = (struct hf_perf_unit){.cpu = 0};
	if (!take(words, &magic) || !take(words, &ret->cpu) || !kind_of(magic, &ret->kind) || ret->cpu >= UINT32_MAX)
		return false;
	count = ret->kind == HF_PERF_ETMV3 ? ETMV3_PARAMS : ETMV4_PARAMS;
	if (version && !take(words, &count))
		return false;
	if (count > words->left)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t params = ret->kind == HF_PERF_ETE ? HF_PERF_PARAMS : ETMV4_PARAMS;
		uint64_t value = 0;

		take(words, &value);
		if (i < params)
			ret->param[ret->count++] = value;
		else if (i == params)
			ret->clock = value;
	}
	return true;
}

int hf_perf_units_read(const struct hf_perf_record *record, struct hf_perf_units *ret_units)
{
	struct words words = {record->bytes + INFO_AT, record->size < INFO_AT ? 0 : (record->size - INFO_AT) / 8};
	struct hf_perf_units units = {.row = NULL};
	uint64_t counts, snapshot;
	struct hf_perf_unit unit;

	*ret_units = units;
	if (!take(&words, &units.version) || !take(&words, &counts) || !take(&words, &snapshot))
		return HF_ERR_CORRUPT;
	if (units.version > VERSION_MAX)
		return HF_ERR_UNSUPPORTED;
	units.pmu = (uint32_t)(counts >> 32);
	units.said = counts & UINT32_MAX;
	units.snapshot = snapshot == 1;
	while (units.count < units.said && take_block(&words, units.version, &unit)) {
		if (hf_perf_unit_of(&units, unit.cpu))
			continue;
		if (hf_array_room(&units.row, units.count, sizeof unit)) {
			hf_perf_units_free(&units);
			return HF_ERR_NOMEM;
		}
		units.row[units.count++] = unit;
	}
	*ret_units = units;
	return 0;
}

void hf_perf_units_free(struct hf_perf_units *units)
{
	free(units->row);
	*units = (struct hf_perf_units){.row = NULL};
}

const struct hf_perf_unit *hf_perf_unit_of(const struct hf_perf_units *units, uint64_t cpu)
{
	for (size_t i = 0; i < units->count; i++)
		if (units->row[i].cpu == cpu)
			return &units->row[i];
	return NULL;
}
