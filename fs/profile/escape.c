/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/escape.h"

#include "codecs/base/utf8.h"

/* What stands for an ASCII character that cannot stand for itself; NULL: it can. */
typedef const char *(*stand_in_fn)(uint8_t c);

static const char *stand_in_xml(uint8_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static const char *stand_in_json(uint8_t c)
{
	switch (c) {
	case '<':
		return "\\u003c";
	case '>':
		return "\\u003e";
	case '&':
		return "\\u0026";
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	default:
		return NULL;
	}
}

/* C1 controls, U+FFFE and U+FFFF are no characters of XML, or are not shown. */
static bool is_shown(const uint8_t *p, size_t n)
{
	if (n == 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return false;
	return !(n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);
}

static void escape(struct hf_sink *sink, const char *s, size_t n, stand_in_fn stand_in)
{
	const uint8_t *p = (const uint8_t *)s;
	size_t length;

	for (size_t i = 0; i < n; i += length) {
		const bool ascii = p[i] >= 0x20 && p[i] < 0x7f;
		const char *other = ascii ? stand_in(p[i]) : NULL;

		if (i >= HF_ESCAPE_NAME) {
			hf_sink_printf(sink, "…");
			return;
		}
		length = ascii ? 1 : hf_utf8_length(p + i, n - i);
		if (other)
			hf_sink_printf(sink, "%s", other);
		else if (length && is_shown(p + i, length))
			hf_sink_write(sink, p + i, length);
		else
			hf_sink_printf(sink, "\xef\xbf\xbd");
		length = length ? length : 1;
	}
}

static const char *stand_in_nothing(uint8_t c)
{
	(void)c;
	return NULL;
}

void hf_escape_nothing(struct hf_sink *sink, const char *s, size_t n)
{
	escape(sink, s, n, stand_in_nothing);
}

void hf_escape_xml(struct hf_sink *sink, const char *s, size_t n)
{
	escape(sink, s, n, stand_in_xml);
}

void hf_escape_json(struct hf_sink *sink, const char *s, size_t n)
{
	escape(sink, s, n, stand_in_json);
}

void hf_put_grouped(struct hf_sink *sink, uint64_t n)
{
	if (n >= 1000) {
		hf_put_grouped(sink, n / 1000);
		hf_sink_printf(sink, ",%03u", (unsigned)(n % 1000));
	} else {
		hf_sink_printf(sink, "%u", (unsigned)n);
	}
}
