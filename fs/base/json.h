/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON writer into a sink: it places commas and line breaks and escapes strings. What is not UTF-8 in a string (file
 * names need not be) comes out as the characters U+DC80 to U+DCFF, as Python has it, so that nothing is lost.
 */
#ifndef HF_FS_JSON_H
#define HF_FS_JSON_H

#include "codecs/base/sink.h"

#include <stdbool.h>

struct hf_json {
	struct hf_sink *sink;
	unsigned depth;
	bool first; /* nothing stands in the innermost object or array yet */
};

void hf_json_begin(struct hf_json *json, struct hf_sink *sink);
/* Ends the document with a line break. */
void hf_json_end(struct hf_json *json);

/* name is NULL inside arrays and for the outermost value. */
void hf_json_open(struct hf_json *json, const char *name, char bracket);
void hf_json_close(struct hf_json *json, char bracket);
void hf_json_string(struct hf_json *json, const char *name, const char *value);
void hf_json_u64(struct hf_json *json, const char *name, uint64_t value);
void hf_json_bool(struct hf_json *json, const char *name, bool value);
/* Members that are JSON already: "\"a\":1,\"b\":2"; "" adds nothing. */
void hf_json_raw(struct hf_json *json, const char *members);

#endif
