/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/json_text.h"

#include "codecs/base/json_text.h"

#include <stdio.h>
#include <string.h>

static int flush(struct hf_sink *sink)
{
	fwrite(sink->start, 1, (size_t)(sink->p - sink->start), stdout);
	sink->p = sink->start;
	return 0;
}

void hf_print_json_text(const char *text, size_t size)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink = {.start = buf, .p = buf, .end = buf + sizeof buf, .flush = flush};

	hf_put_json_text(&sink, text, size, HF_JSON_AS_IT_IS);
	flush(&sink);
}

void hf_print_json_member(const char *name, const char *text, bool first)
{
	printf("%s\"%s\":", first ? "" : ",", name);
	hf_print_json_text(text, strlen(text));
}
