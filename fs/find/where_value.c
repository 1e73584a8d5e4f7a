/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/where_value.h"
#include "fs/find/question.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Digits of the base, small letters, no 0 before them. */
static bool is_number(const char *text, size_t n, unsigned base)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";

	return n && strspn(text, digits) >= n && (*text != '0' || n == 1);
}

/* The same, or as the listing has it: so many digits, with 0 before them. */
static bool is_listed(const char *text, size_t n, size_t digits)
{
	return is_number(text, n, 16) || (n == digits && strspn(text, "0123456789abcdef") >= n);
}

static int add(struct hf_question *question, const char *name, const char *text)
{
	char why[256];
	int err = hf_question_add(question, name, text, why, sizeof why);

	return err && err != HF_ERR_NOMEM ? HF_ERR_NOT_FOUND : err;
}

/* A or A-B */
static int ask_range(struct hf_question *question, const char *name, const char *value)
{
	const char *dash = strchr(value, '-');
	const size_t first = dash ? (size_t)(dash - value) : strlen(value);
	char text[2 * 20];

	if (!is_listed(value, first, 16) || first > 16)
		return HF_ERR_NOT_FOUND;
	if (!dash) {
		snprintf(text, sizeof text, "0x%s", value);
		return add(question, name, text);
	}
	/* A range of one is spelled without the dash. */
	if (!is_listed(dash + 1, strlen(dash + 1), 16) || strlen(dash + 1) > 16 ||
	    (strlen(dash + 1) == first && memcmp(value, dash + 1, first) == 0))
		return HF_ERR_NOT_FOUND;
	snprintf(text, sizeof text, "0x%.*s-0x%s", (int)first, value, dash + 1);
	return add(question, name, text);
}

/* What hartfs find takes for an address. */
static bool is_address(const char *value)
{
	return (*value >= '0' && *value <= '9') ||
	       (strlen(value) == 16 && strspn(value, "0123456789abcdefABCDEF") == 16);
}

/* Whether what is behind the last mark is a number in another spelling than the one. */
static bool is_misspelled(const char *value, char mark, const char *prefix)
{
	const char *at = strrchr(value, mark);
	const size_t n = strlen(prefix);
	uint64_t number;

	if (!at || at == value || !hf_find_hex(at + 1, strlen(at + 1), &number))
		return false;
	return strncmp(at + 1, prefix, n) != 0 || !is_number(at + 1 + n, strlen(at + 1 + n), 16);
}

/* NAME[@A][+0xN] */
static int ask_symbol(struct hf_question *question, const char *name, const char *value)
{
	char head[NAME_MAX + 1];
	const char *plus = strrchr(value, '+');

	if (is_address(value) || is_misspelled(value, '+', "0x") || (plus && strcmp(plus, "+0x0") == 0))
		return HF_ERR_NOT_FOUND;
	snprintf(head, sizeof head, "%.*s", plus ? (int)(plus - value) : NAME_MAX, value);
	return is_misspelled(head, '@', "") ? HF_ERR_NOT_FOUND : add(question, name, value);
}

/* A symbol, or an address as hartfs find takes it: one that begins with a letter and has fewer than 16 digits has 0x.
 */
static int ask_place(struct hf_question *question, const char *name, const char *value)
{
	const bool prefixed = strncmp(value, "0x", 2) == 0;
	const char *digits = value + (prefixed ? 2 : 0);
	const size_t n = strlen(digits);

	if (!is_address(value))
		return ask_symbol(question, name, value);
	if (!is_listed(digits, n, prefixed ? 0 : 16) || n > 16 || prefixed != (*digits >= 'a' && n < 16))
		return HF_ERR_NOT_FOUND;
	return add(question, name, value);
}

static int ask_branch(struct hf_question *question, const char *name, const char *value)
{
	int err = ask_range(question, "pc", value);

	return err ? err : add(question, name, NULL);
}

static int ask_opcode(struct hf_question *question, const char *name, const char *value)
{
	const size_t n = strlen(value);

	/* Of instructions of two bytes four digits. */
	return is_listed(value, n, n == 4 ? 4 : 8) ? add(question, name, value) : HF_ERR_NOT_FOUND;
}

static int ask_word(struct hf_question *question, const char *name, const char *value)
{
	return add(question, name, value);
}

static int ask_mnemonic(struct hf_question *question, const char *name, const char *value)
{
	const bool fits =
		*value >= 'a' && *value <= 'z' && !value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789._")];

	return fits ? add(question, name, value) : HF_ERR_NOT_FOUND;
}

static int ask_any(struct hf_question *question, const char *name, const char *value)
{
	return strcmp(value, "any") == 0 ? add(question, name, NULL) : HF_ERR_NOT_FOUND;
}

static int ask_trap(struct hf_question *question, const char *name, const char *value)
{
	const bool number = *value >= '0' && *value <= '9';

	if (strcmp(value, "any") == 0)
		return add(question, name, NULL);
	return number && !is_number(value, strlen(value), 10) ? HF_ERR_NOT_FOUND : add(question, name, value);
}

static const struct {
	const char *name, *question;
	int (*ask)(struct hf_question *question, const char *name, const char *value);
} kinds[] = {
#define HF_WHERE(id, name, question, ask, values) {name, question, ask},
#include "fs/find/where.def"
#undef HF_WHERE
};

static const char readme[] =
	"Which instructions? hartfs-where(5), or: hartfs help where\n"
	"KIND/VALUE has the ordinals of those that fit, one a line of 21 bytes: tail -n 1 write/80005360-80005367\n"
	"No directory lists KIND or VALUE. A and B are hexadecimal addresses without 0x.\n"
	"What happened there: ../at/N-N/listing.txt and ../at/N-N/state.txt, N being an ordinal.\n"
	"\n"
#define HF_WHERE(id, name, question, ask, values) name "/\n    " values "\n"
#include "fs/find/where.def"
#undef HF_WHERE
	;

const char *hf_where_readme(void)
{
	return readme;
}

const char *hf_where_name(enum hf_where_kind kind)
{
	return kinds[kind].name;
}

int hf_where_ask(enum hf_where_kind kind, const char *value, struct hf_question **ret_question)
{
	int err = hf_question_new(ret_question);

	if (err)
		return err;
	err = kinds[kind].ask(*ret_question, kinds[kind].question, value);
	if (err) {
		hf_question_free(*ret_question);
		*ret_question = NULL;
	}
	return err;
}
