/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/config.h"

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

/* The kind of source that a snapshot says it is, "ETE", "ETM4.2"; "" if nothing is said. */
static const char *source_type(const struct hf_setup *setup, uint32_t id)
{
	const struct hf_setup_value *type = hf_setup_get(setup, id, "type");

	return type ? type->value : "";
}

/* value (NULL: nothing in particular) is what tells that the source is not ours. */
static int refuse_source(struct hf_setup_error *error, const struct hf_setup_value *value, const char *what)
{
	return hf_setup_fail(error, HF_ERR_ETE_SOURCE, value ? value->file : "", value ? value->line : 0,
			     "%s%s%s: %s is not supported, the instruction flow of ETE and ETMv4 is",
			     value ? value->key : "", value ? " = " : "", value ? value->value : "a source", what);
}

/* TRCDEVARCH.ARCHID: 5A13 is ETE, 4A13 ETMv4 (K10.5.9). Without it TRCIDR1.TRCARCHMAJ: 4, or F where DEVARCH says. */
static int check_architecture(const struct registers *r, const struct hf_setup *setup, uint32_t id,
			      struct hf_ete_config *config, struct hf_setup_error *error)
{
	const char *type = source_type(setup, id);
	const unsigned archid = r->devarch & 0xffff, major = r->idr1 >> 8 & 15;

	config->etm = archid == 0x4a13 || (archid == 0 && (major == 4 || strncmp(type, "ETM", 3) == 0));
	if (archid != 0 && archid != 0x5a13 && archid != 0x4a13)
		return refuse_source(error, find_register(setup, id, "TRCDEVARCH"), "this trace unit");
	/* ETMv4's TRCCONFIGR: INSTP0 2:1, COND 10:8, DA 16, DV 17; bit 18 is ETE's ITO */
	if (config->etm && (r->configr & 0x30706) != 0)
		return refuse_source(error, find_register(setup, id, "TRCCONFIGR"), "data or conditional tracing");
	return 0;
}

static uint8_t id_bytes(uint64_t field)
{
	return field >= 4 ? 4 : (uint8_t)field;
}

bool hf_ete_config_is_source(const struct hf_setup *setup, uint32_t id)
{
	static const char *const registers[] = {"TRCCONFIGR", "TRCIDR0", "TRCIDR2", "TRCIDR8", "TRCDEVARCH"};

	if (strncmp(source_type(setup, id), "ET", 2) == 0)
		return true;
	for (size_t i = 0; i < setup->value_count; i++)
		for (size_t k = 0; k < sizeof registers / sizeof registers[0]; k++)
			if (setup->values[i].hart == id && strcasecmp(setup->values[i].key, registers[k]) == 0)
				return true;
	return false;
}

int hf_ete_config_read(struct hf_ete_config *config, const struct hf_setup *setup, uint32_t id, bool *ret_missing,
		       struct hf_setup_error *error)
{
	struct registers r;
	bool optional = false;
	const struct {
		const char *name;
		uint64_t *value;
		uint64_t fallback;
		bool *missing;
	} wanted[] = {
		{"TRCCONFIGR", &r.configr, 0, ret_missing},
		{"TRCIDR0", &r.idr0, 0, ret_missing},
		{"TRCIDR1", &r.idr1, 0, &optional},
		{"TRCIDR2", &r.idr2, 4 << 5 | 4 << 10, ret_missing},
		{"TRCIDR8", &r.idr8, 0, ret_missing},
		{"TRCDEVARCH", &r.devarch, 0, &optional},
	};
	const struct hf_setup_value *failed = hf_setup_get(setup, id, "failed_transactions");
	bool drop;

	/* Among the registers of a snapshot names are in upper case. */
	if (!failed)
		failed = hf_setup_get(setup, id, "FAILED_TRANSACTIONS");
	drop = failed && strcmp(failed->value, "drop") == 0;
	*ret_missing = false;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		int err = read_register(setup, id, wanted[i].name, wanted[i].fallback, wanted[i].value,
					wanted[i].missing, error);

		if (err)
			return err;
	}
	*config = (struct hf_ete_config){
		.max_spec = (uint32_t)r.idr8,
		.cid_bytes = id_bytes(r.idr2 >> 5 & 31),
		.vmid_bytes = id_bytes(r.idr2 >> 10 & 31),
		.commopt = r.idr0 >> 29 & 1,
		.commtrans = r.idr0 >> 30 & 1,
		.wfx = r.idr2 >> 31 & 1,
		.return_stack = r.configr >> 12 & 1,
		.ts_marker = r.idr0 >> 23 & 1,
		.keep_failed = !drop,
	};
	if (failed && !drop && strcmp(failed->value, "keep") != 0)
		return hf_setup_refuse(error, failed, "keep or drop");
	return check_architecture(&r, setup, id, config, error);
}
