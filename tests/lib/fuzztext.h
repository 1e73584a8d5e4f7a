/* SPDX-License-Identifier: Apache-2.0 */
/* What fuzz targets ask of texts: that they can be shown, and that JSON is JSON. */
#ifndef HF_TEST_FUZZTEXT_H
#define HF_TEST_FUZZTEXT_H

#include "codecs/base/utf8.h"
#include "tests/lib/fuzz.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* UTF-8 without control characters but ends of lines and tabs. */
HF_NO_COVERAGE static inline void check_text(const char *text, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		const unsigned char c = (unsigned char)text[i];

		length = c < 0x80 ? 1 : hf_utf8_length((const uint8_t *)text + i, n - i);
		MUST(length && (c >= ' ' || c == '\n' || c == '\t') && c != 0x7f);
		MUST(length != 2 || c != 0xc2 || (unsigned char)text[i + 1] >= 0xa0);
	}
}

/* The value at p; what is behind it. in_script: it has none of what XML takes for its own. */
HF_NO_COVERAGE static inline const char *skip_json(const char *p, bool in_script, unsigned depth)
{
	MUST(depth < 100);
	p += strspn(p, " \n\t");
	if (*p == '"') {
		for (p++; *p != '"'; p++) {
			MUST((unsigned char)*p >= ' ' && (!in_script || !strchr("<>&", *p)));
			if (*p == '\\') {
				p++;
				MUST(*p && strchr("\"\\/bfnrtu", *p));
				for (unsigned i = 0; i < 4 && p[-1] == '\\' && *p == 'u'; i++)
					MUST(isxdigit((unsigned char)p[i + 1]));
			}
		}
		return p + 1;
	}
	if (*p == '{' || *p == '[') {
		const char end = *p == '{' ? '}' : ']';

		do {
			p++;
			p += strspn(p, " \n\t");
			if (*p == end)
				break;
			if (end == '}') {
				MUST(*p == '"');
				p = skip_json(p, in_script, depth + 1);
				p += strspn(p, " \n\t");
				MUST(*p++ == ':');
			}
			p = skip_json(p, in_script, depth + 1);
			p += strspn(p, " \n\t");
		} while (*p == ',');
		MUST(*p == end);
		return p + 1;
	}
	if (isalpha((unsigned char)*p)) {
		const size_t n = strspn(p, "truefalsn");

		MUST((n == 4 && (!memcmp(p, "true", 4) || !memcmp(p, "null", 4))) ||
		     (n == 5 && !memcmp(p, "false", 5)));
		return p + n;
	}
	MUST(strspn(p, "-0123456789.eE+"));
	return p + strspn(p, "-0123456789.eE+");
}

HF_NO_COVERAGE static inline void check_json(const char *text, bool in_script)
{
	text = skip_json(text, in_script, 0);
	MUST(!text[strspn(text, " \n\t")]);
}

#endif
