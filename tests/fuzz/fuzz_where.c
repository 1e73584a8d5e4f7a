/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as the name of a file in hartN/where/. The first byte says of which kind. What is accepted is the one spelling of
 * what it asks: spelled out again from the question it is the same text.
 */
#include "codecs/listing/listing.h"
#include "fs/find/question.h"
#include "fs/find/where_value.h"
#include "tests/lib/fuzz.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void spell_range(const struct hf_find_range *range, char *text, size_t size)
{
	const int n = snprintf(text, size, "%" PRIx64, range->first);

	if (range->last != range->first)
		snprintf(text + n, size - (size_t)n, "-%" PRIx64, range->last);
}

/* As hartfs find reads an address, which may also be a symbol. */
static void spell_place(uint64_t address, char *text, size_t size)
{
	const int n = snprintf(text, size, "%" PRIx64, address);

	if (*text >= 'a' && n < 16)
		snprintf(text, size, "0x%" PRIx64, address);
}

static void check(enum hf_where_kind kind, const char *name, const struct hf_question *question)
{
	const struct hf_find_term *term = &question->term[0];
	char text[64];

	MUST(question->count == (size_t)(kind == HF_WHERE_TAKEN || kind == HF_WHERE_NOT_TAKEN ? 2 : 1));
	switch (kind) {
	case HF_WHERE_CALL:
		if (term->text) {
			MUST(strcmp(term->text, name) == 0);
			return;
		}
		spell_place(term->range.first, text, sizeof text);
		break;
	case HF_WHERE_OPCODE:
		MUST(term->mask == UINT32_MAX);
		snprintf(text, sizeof text, "%" PRIx32, term->opcode);
		break;
	case HF_WHERE_TRAP:
		if (term->trap != HF_TRAP_CAUSE)
			return;
		snprintf(text, sizeof text, "%" PRIu64, term->cause);
		break;
	case HF_WHERE_REGISTER:
		/* Traces of Arm may have the classes of RISC-V too. */
		MUST(!hf_listing_is_register(name, false) || hf_listing_is_register(name, true));
		MUST(strcmp(term->text, name) == 0);
		return;
	case HF_WHERE_MNEMONIC:
	case HF_WHERE_SYMBOL:
		MUST(strcmp(term->text, name) == 0);
		return;
	case HF_WHERE_MODE:
	case HF_WHERE_GAP:
		return;
	default:
		MUST(!term->text && term->range.first <= term->range.last);
		spell_range(&term->range, text, sizeof text);
	}
	MUST(strcmp(text, name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_question *question;
	char name[NAME_MAX + 1];
	int err;

	if (size < 2 || size > NAME_MAX || memchr(data + 1, 0, size - 1) || memchr(data + 1, '/', size - 1))
		return 0;
	memcpy(name, data + 1, size - 1);
	name[size - 1] = 0;
	err = hf_where_ask((enum hf_where_kind)(data[0] % HF_WHERE_KINDS), name, &question);
	MUST(!err || err == HF_ERR_NOT_FOUND || err == HF_ERR_NOMEM);
	if (err)
		return 0;
	check((enum hf_where_kind)(data[0] % HF_WHERE_KINDS), name, question);
	hf_question_free(question);
	return 0;
}
