/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/config.h"

#include "codecs/ete/errors.h"
#include "codecs/setup/trace_unit.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct registers {
	uint64_t configr, idr0, idr1, idr2, idr8, devarch;
};

/* The value of a register, or NULL. Snapshots write their names in any case. */
static const struct hf_setup_value *find_register(const struct hf_setup *setup, uint32_t id, const char *name)
{
	const struct hf_setup_value *common = NULL, *own = NULL;

	for (size_t i = 0; setup && i < setup->value_count; i++) {
		const struct hf_setup_value *value = &setup->values[i];

		if (strcasecmp(value->key, name) != 0)
			continue;
		if (value->hart == id)
			own = value;
		else if (value->hart == HF_SETUP_ANY)
			common = value;
	}
	return own ? own : common;
}

static int read_register(const struct hf_setup *setup, uint32_t id, const char *name, uint64_t fallback, uint64_t *ret,
			 bool *missing, struct hf_setup_error *error)
{
	const struct hf_setup_value *value = find_register(setup, id, name);

	*missing |= !value;
	return hf_setup_number(setup, id, value ? value->key : name, 0, UINT64_MAX, fallback, ret, error);
}

static const char *text_of(const struct hf_setup *setup, uint32_t id, const char *key)
{
	const struct hf_setup_value *value = hf_setup_get(setup, id, key);

	return value ? value->value : "";
}

void hf_ete_config_label(const struct hf_setup *setup, uint32_t id, char *buf, size_t size)
{
	const char *name = text_of(setup, id, "source"), *type = text_of(setup, id, "type");
	int n = *name ? snprintf(buf, size, "%.60s", name) : snprintf(buf, size, "source %u", (unsigned)id);

	if (*type && n < (int)size)
		snprintf(buf + n, size - (size_t)n, " (type %.24s)", type);
}

/* value (NULL: nothing in particular) is what tells that the source is not ours; what: why, without its subject. */
static int refuse_source(const struct hf_setup *setup, uint32_t id, const struct hf_setup_value *value,
			 const char *what, struct hf_setup_error *error)
{
	const struct hf_setup_value *place = value ? value : hf_setup_get(setup, id, "source");
	char label[128];

	hf_ete_config_label(setup, id, label, sizeof label);
	return hf_setup_fail(error, HF_ERR_ETE_SOURCE, place ? place->file : "", place ? place->line : 0, "%s %s",
			     label, what);
}

/* TRCDEVARCH.ARCHID: 5A13 is ETE, 4A13 ETMv4 (K10.5.9). Without it TRCIDR1.TRCARCHMAJ: 4, or F where DEVARCH says. */
static bool is_identified(const struct registers *r)
{
	const unsigned archid = r->devarch & 0xffff, major = r->idr1 >> 8 & 15;

	return archid == 0x5a13 || archid == 0x4a13 || (archid == 0 && major == 4);
}

/* What a snapshot says of the source and its core; a word that nobody knows is no matter if registers tell. */
static int check_unit(const struct registers *r, const struct hf_setup *setup, uint32_t id, bool any_register,
		      struct hf_setup_error *error)
{
	const struct hf_setup_value *type = hf_setup_get(setup, id, "type");
	static const char nothing_says[] =
		"is not decoded: neither its type nor TRCDEVARCH or TRCIDR1 says ETE or ETMv4";
	const char *name;
	char what[160];

	switch (hf_trace_unit_of(type ? type->value : "", &name)) {
	case HF_TRACE_UNIT_OTHER:
		snprintf(what, sizeof what,
			 "is not decoded: %s is none of the formats that are read, ETE and ETMv4 are", name);
		return refuse_source(setup, id, type, what, error);
	case HF_TRACE_UNIT_UNKNOWN:
		if (!is_identified(r) && ((type && *type->value) || (*text_of(setup, id, "source") && !any_register)))
			return refuse_source(setup, id, type, nothing_says, error);
		break;
	default:
		break;
	}
	return 0;
}

/* The profile of the core: what the description says, or else the core's type. */
static int read_profile(const struct hf_setup *setup, uint32_t id, struct hf_ete_config *config,
			struct hf_setup_error *error)
{
	const struct hf_setup_value *said = find_register(setup, id, "profile");
	const char *core = text_of(setup, id, "core_type");

	config->m = said ? strcasecmp(said->value, "M") == 0 : hf_trace_unit_is_m_profile(core);
	config->secure = config->m && hf_trace_unit_has_security(core);
	if (said && !config->m && strcasecmp(said->value, "A") != 0 && strcasecmp(said->value, "R") != 0)
		return hf_setup_refuse(error, said, "A, R or M");
	return 0;
}

/* The trace unit as its registers have it. */
static int check_architecture(const struct registers *r, const struct hf_setup *setup, uint32_t id,
			      struct hf_ete_config *config, struct hf_setup_error *error)
{
	const unsigned archid = r->devarch & 0xffff, major = r->idr1 >> 8 & 15;
	const struct hf_setup_value *value;
	const char *name;
	const enum hf_trace_unit unit = hf_trace_unit_of(text_of(setup, id, "type"), &name);
	char what[160];

	config->etm = archid == 0x4a13 || (archid == 0 && (major == 4 || unit == HF_TRACE_UNIT_ETM4));
	if (archid != 0 && archid != 0x5a13 && archid != 0x4a13) {
		value = find_register(setup, id, "TRCDEVARCH");
		snprintf(what, sizeof what, "is not decoded: TRCDEVARCH = %.20s is neither ETE nor ETMv4",
			 value->value);
		return refuse_source(setup, id, value, what, error);
	}
	/* ETMv4's TRCCONFIGR: INSTP0 2:1, COND 10:8, DA 16, DV 17; bit 18 is ETE's ITO. Of an M core what COND adds is passed
	 * over: packets about instructions that are no branches. */
	if (config->etm && (r->configr & (config->m ? 0x30006 : 0x30706)) != 0) {
		value = find_register(setup, id, "TRCCONFIGR");
		snprintf(what, sizeof what,
			 "is not decoded: TRCCONFIGR = %.20s turns on data%s tracing of an ETMv4", value->value,
			 config->m ? "" : " or conditional");
		return refuse_source(setup, id, value, what, error);
	}
	return 0;
}

static uint8_t id_bytes(uint64_t field)
{
	return field >= 4 ? 4 : (uint8_t)field;
}

void hf_ete_config_missing(const struct hf_setup *setup, uint32_t id, char *buf, size_t size)
{
	static const char *const needed[] = {"TRCCONFIGR", "TRCIDR0", "TRCIDR2", "TRCIDR8"};
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!find_register(setup, id, needed[i]) && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", needed[i]);
}

/* *ret_any: at least one of them is there; *ret_missing: one of those that every trace unit has is not. */
static int read_registers(const struct hf_setup *setup, uint32_t id, struct registers *r, bool *ret_any,
			  bool *ret_missing, struct hf_setup_error *error)
{
	bool optional = false;
	const struct {
		const char *name;
		uint64_t *value;
		uint64_t fallback;
		bool *missing;
	} wanted[] = {
		{"TRCCONFIGR", &r->configr, 0, ret_missing},
		{"TRCIDR0", &r->idr0, 0, ret_missing},
		{"TRCIDR1", &r->idr1, 0, &optional},
		{"TRCIDR2", &r->idr2, 4 << 5 | 4 << 10, ret_missing},
		{"TRCIDR8", &r->idr8, 0, ret_missing},
		{"TRCDEVARCH", &r->devarch, 0, &optional},
	};

	*ret_any = *ret_missing = false;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		int err = read_register(setup, id, wanted[i].name, wanted[i].fallback, wanted[i].value,
					wanted[i].missing, error);

		if (err)
			return err;
		*ret_any |= find_register(setup, id, wanted[i].name) != NULL;
	}
	return 0;
}

/* Values that only a perf.data gives: its harts are CPUs. */
static int read_place(struct hf_ete_config *config, const struct hf_setup *setup, uint32_t id, struct hf_setup_error *error)
{
	uint64_t trace_id, group;
	int err = hf_setup_number(setup, id, "trace_id", 0, 0x7f, HF_ETE_TRACE_ID(id), &trace_id, error);

	if (!err)
		err = hf_setup_number(setup, id, "trace_group", 0, UINT32_MAX, 0, &group, error);
	if (err)
		return err;
	config->trace_id = (uint8_t)trace_id;
	config->group = (uint32_t)group;
	return 0;
}

/* What an ITM has: the prescaler of its local times is in ITM_TCR. */
static int read_itm(struct hf_ete_config *config, const struct hf_setup *setup, uint32_t id, struct hf_setup_error *error)
{
	static const char *const words[] = {"1", "4", "16", "64", NULL};
	static const uint8_t prescalers[] = {1, 4, 16, 64};
	bool missing = false;
	uint64_t tcr;
	unsigned which;
	int err = read_register(setup, id, "ITMTCR", 0, &tcr, &missing, error);

	if (!err)
		err = hf_setup_word(setup, id, "prescaler", words, tcr >> 8 & 3, &which, error);
	if (err)
		return err;
	*config = (struct hf_ete_config){.itm = true, .prescaler = prescalers[which], .m = true};
	return read_place(config, setup, id, error);
}

bool hf_ete_config_is_itm(const struct hf_setup *setup, uint32_t id)
{
	const char *name;

	return (setup && setup->format && strcmp(setup->format, "itm") == 0) ||
	       hf_trace_unit_of(text_of(setup, id, "type"), &name) == HF_TRACE_UNIT_ITM;
}

int hf_ete_config_read(struct hf_ete_config *config, const struct hf_setup *setup, uint32_t id, bool *ret_missing,
		       struct hf_setup_error *error)
{
	const struct hf_setup_value *failed = hf_setup_get(setup, id, "failed_transactions");
	struct registers r;
	bool drop, any;
	int err;

	*ret_missing = false;
	if (hf_ete_config_is_itm(setup, id))
		return read_itm(config, setup, id, error);
	err = read_registers(setup, id, &r, &any, ret_missing, error);
	if (!err)
		err = check_unit(&r, setup, id, any, error);
	if (err)
		return err;
	/* Among the registers of a snapshot names are in upper case. */
	if (!failed)
		failed = hf_setup_get(setup, id, "FAILED_TRANSACTIONS");
	drop = failed && strcmp(failed->value, "drop") == 0;
	*config = (struct hf_ete_config){
		.max_spec = (uint32_t)r.idr8,
		.cid_bytes = id_bytes(r.idr2 >> 5 & 31),
		.vmid_bytes = id_bytes(r.idr2 >> 10 & 31),
		.commopt = r.idr0 >> 29 & 1,
		.commtrans = r.idr0 >> 30 & 1,
		.wfx = r.idr2 >> 31 & 1,
		.configr = find_register(setup, id, "TRCCONFIGR") ? (uint32_t)r.configr : UINT32_MAX,
		.return_stack = r.configr >> 12 & 1,
		.ts_marker = r.idr0 >> 23 & 1,
		.keep_failed = !drop,
	};
	if (failed && !drop && strcmp(failed->value, "keep") != 0)
		return hf_setup_refuse(error, failed, "keep or drop");
	err = read_profile(setup, id, config, error);
	if (!err)
		err = read_place(config, setup, id, error);
	return err ? err : check_architecture(&r, setup, id, config, error);
}
