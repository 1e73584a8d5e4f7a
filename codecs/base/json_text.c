/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/json_text.h"
#include "codecs/base/utf8.h"

void hf_put_json_text(struct hf_sink *sink, const char *text, size_t size, enum hf_json_odd odd)
{
	const uint8_t *p = (const uint8_t *)text, *const end = p + size;
	const uint8_t plain = odd == HF_JSON_AS_IT_IS ? UINT8_MAX : 0x7e;
	size_t n;

	hf_sink_write(sink, "\"", 1);
	for (; p < end; p += n) {
		n = 1;
		if (*p == '"' || *p == '\\')
			hf_sink_printf(sink, "\\%c", *p);
		else if (*p >= 0x20 && *p <= plain)
			hf_sink_write(sink, p, 1);
		else if ((n = hf_utf8_length(p, (size_t)(end - p))) != 0)
			hf_sink_write(sink, p, n);
		else
			hf_sink_printf(sink, "\\u%04x", *p >= 0x80 && odd == HF_JSON_LONE ? 0xdc00u | *p : *p);
		n = n ? n : 1;
	}
	hf_sink_write(sink, "\"", 1);
}
