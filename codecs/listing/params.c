/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the listing: which names and places of the source it shows. */
#include "codecs/listing/listing.h"

enum { INLINED, LINES, NAMES, ROWS };

static const struct hf_param rows[] = {
	[INLINED] = HF_PARAM_NUMBER("inlined", 1),
	[LINES] = HF_PARAM_NUMBER("lines", 1),
	[NAMES] = HF_PARAM_WORD("names", ((const char *const[]){"raw", "demangled", NULL})),
	[ROWS] = HF_PARAM_END,
};

int hf_listing_check_params(const char *params, char *why, size_t size)
{
	uint64_t value[ROWS] = {0};

	return hf_params_parse(params, rows, "listing", value, why, size);
}

unsigned hf_listing_symbols(const char *params)
{
	uint64_t value[ROWS] = {[LINES] = 1, [NAMES] = 1};

	hf_params_parse(params, rows, "listing", value, NULL, 0);
	return (value[NAMES] ? HF_SYMBOLS_DEMANGLE : 0) | (value[LINES] ? HF_SYMBOLS_LINES : 0) |
	       (value[INLINED] ? HF_SYMBOLS_INLINED : 0);
}
