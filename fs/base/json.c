/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/json.h"

#include "codecs/base/json_text.h"

static void put_string(struct hf_sink *sink, const char *value)
{
	hf_put_json_text(sink, value, strlen(value), HF_JSON_LONE);
}

/* The comma, the line break, and the name before a value. */
static void lead(struct hf_json *json, const char *name)
{
	if (json->depth) {
		hf_sink_printf(json->sink, "%s", json->first ? "\n" : ",\n");
		for (unsigned i = 0; i < json->depth; i++)
			hf_sink_printf(json->sink, "  ");
	}
	json->first = false;
	if (name) {
		put_string(json->sink, name);
		hf_sink_printf(json->sink, ": ");
	}
}

void hf_json_begin(struct hf_json *json, struct hf_sink *sink)
{
	*json = (struct hf_json){.sink = sink, .first = true};
}

void hf_json_end(struct hf_json *json)
{
	hf_sink_printf(json->sink, "\n");
}

void hf_json_open(struct hf_json *json, const char *name, char bracket)
{
	lead(json, name);
	hf_sink_printf(json->sink, "%c", bracket);
	json->depth++;
	json->first = true;
}

void hf_json_close(struct hf_json *json, char bracket)
{
	bool empty = json->first;

	json->depth--;
	json->first = false;
	if (!empty) {
		hf_sink_printf(json->sink, "\n");
		for (unsigned i = 0; i < json->depth; i++)
			hf_sink_printf(json->sink, "  ");
	}
	hf_sink_printf(json->sink, "%c", bracket);
}

void hf_json_string(struct hf_json *json, const char *name, const char *value)
{
	lead(json, name);
	put_string(json->sink, value);
}

void hf_json_u64(struct hf_json *json, const char *name, uint64_t value)
{
	lead(json, name);
	hf_sink_printf(json->sink, "%llu", (unsigned long long)value);
}

void hf_json_bool(struct hf_json *json, const char *name, bool value)
{
	lead(json, name);
	hf_sink_printf(json->sink, "%s", value ? "true" : "false");
}

void hf_json_raw(struct hf_json *json, const char *members)
{
	if (!*members)
		return;
	lead(json, NULL);
	hf_sink_write(json->sink, members, strlen(members));
}
