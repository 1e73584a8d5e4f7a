/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a question of hartfs find: lines with the name of an option, and perhaps '=' and its text. What is refused is
 * refused with words and adds nothing; what is taken is a term with bounds in order.
 */
#include "codecs/base/errors.h"
#include "fs/find/question.h"
#include "tests/lib/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_term(const struct hf_find_term *term)
{
	const bool named = term->kind == HF_ASK_MNEMONIC || term->kind == HF_ASK_REGISTER;

	MUST(term->kind < HF_ASK_KINDS && term->mode < HF_MODE_COUNT && term->value.count <= HF_FIND_WORDS);
	MUST(term->text || term->range.first <= term->range.last);
	MUST(!named || (term->text && *term->text));
	MUST(term->kind != HF_ASK_VALUE || term->value.count);
	MUST(term->kind != HF_ASK_CONTEXT || term->context.fields);
}

static void add(struct hf_question *question, char *line)
{
	const size_t before = hf_question_terms(question);
	char *text = strchr(line, '='), why[320] = "";
	int err;

	if (text)
		*text++ = 0;
	err = hf_question_add(question, line, text, why, sizeof why);
	MUST(hf_question_terms(question) == before + !err && before + !err <= HF_QUESTION_TERMS);
	MUST(err || !*why);
	if (!err)
		check_term(&question->term[before]);
	else
		MUST(err == HF_ERR_NOT_FOUND || ((err == HF_ERR_SETUP_VALUE || err == HF_ERR_LIMIT) && *why));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *all = strndup((const char *)bytes, n), *save = NULL;
	struct hf_question *question;

	MUST(all && hf_question_new(&question) == 0);
	for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add(question, line);
	hf_question_free(question);
	free(all);
	return 0;
}
