/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/json.h"

/* The length of the UTF-8 character at s, 0 if it is none. The terminator ends every check. */
static unsigned utf8_length(const uint8_t *s)
{
	unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void put_string(struct hf_sink *sink, const char *value)
{
	hf_sink_printf(sink, "\"");
	for (const uint8_t *s = (const uint8_t *)value; *s;) {
		unsigned n = utf8_length(s);

		if (!n) {
			hf_sink_printf(sink, "\\udc%02x", *s++);
		} else if (*s < 0x20 || *s == 0x7f) {
			hf_sink_printf(sink, "\\u%04x", *s++);
		} else {
			if (*s == '"' || *s == '\\')
				hf_sink_printf(sink, "\\");
			hf_sink_write(sink, s, n);
			s += n;
		}
	}
	hf_sink_printf(sink, "\"");
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

void hf_json_fixed(struct hf_json *json, const char *name, double value, int digits)
{
	lead(json, name);
	hf_sink_printf(json->sink, "%.*f", digits, value);
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
