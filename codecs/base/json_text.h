/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_BASE_JSON_TEXT_H
#define HF_BASE_JSON_TEXT_H

#include "codecs/base/sink.h"

/* What comes of bytes that are no UTF-8. */
enum hf_json_odd {
	HF_JSON_AS_IT_IS, /* nothing is looked at: the text is known to be UTF-8, or whoever reads it is to see what it is */
	HF_JSON_LATIN1,	  /* the character of that number */
	HF_JSON_LONE,	  /* U+DC80 to U+DCFF, as Python has it, so that nothing is lost */
};

/* text[size] as a string of JSON, with its quotes. */
void hf_put_json_text(struct hf_sink *sink, const char *text, size_t size, enum hf_json_odd odd);

#endif
