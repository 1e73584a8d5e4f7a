/* SPDX-License-Identifier: Apache-2.0 */
/* What a user asks, read term by term. */
#include "fs/find/question.h"

#include "codecs/base/errors.h"
#include "codecs/base/nearest.h"
#include "codecs/isa/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where to say what is wrong. */
struct words {
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int wrong(const struct words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words->why, words->size, format, args);
	va_end(args);
	return HF_ERR_SETUP_VALUE;
}

/* ---- numbers ---- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool read_number(const char *text, size_t n, unsigned base, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned digit = (unsigned)digit_of(text[i]);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret_value = value;
	return n > 0;
}

bool hf_find_hex(const char *text, size_t n, uint64_t *ret_value)
{
	const size_t prefix = n > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 2 : 0;

	return read_number(text + prefix, n - prefix, 16, ret_value);
}

bool hf_find_dec(const char *text, size_t n, uint64_t *ret_value)
{
	return read_number(text, n, 10, ret_value);
}

/* ---- the texts of terms ---- */

/* What begins with a digit is an address, and 16 digits as in a listing are: "ffffffff80001844". All else is a symbol. */
static bool is_address(const char *text, size_t n)
{
	if (n && *text >= '0' && *text <= '9')
		return true;
	for (size_t i = 0; i < n; i++)
		if (digit_of(text[i]) > 15)
			return false;
	return n == 16;
}

static int parse_nothing(struct hf_find_term *term, const char *text, const struct words *words)
{
	(void)term;
	return text ? wrong(words, "it takes no value") : 0;
}

static int parse_word(struct hf_find_term *term, const char *text, const struct words *words)
{
	if (!text || !*text)
		return wrong(words, "a name is missing");
	term->text = strdup(text);
	return term->text ? 0 : HF_ERR_NOMEM;
}

/* n bytes of text: A, A-B or SYMBOL[+N]. */
static int parse_range(struct hf_find_term *term, const char *text, size_t n, const struct words *words)
{
	const char *dash = memchr(text, '-', n);
	const size_t first = dash ? (size_t)(dash - text) : n;

	if (!is_address(text, first)) {
		term->text = n ? strndup(text, n) : NULL;
		return n && !term->text ? HF_ERR_NOMEM : n ? 0 : wrong(words, "an address or a symbol is missing");
	}
	if (!hf_find_hex(text, first, &term->range.first))
		return wrong(words, "'%.*s' is no address of up to 16 hexadecimal digits", (int)first, text);
	term->range.last = term->range.first;
	if (!dash)
		return 0;
	if (!hf_find_hex(dash + 1, n - first - 1, &term->range.last))
		return wrong(words, "'%.*s' is no address of up to 16 hexadecimal digits", (int)(n - first - 1), dash + 1);
	return term->range.first <= term->range.last ? 0 : wrong(words, "the range ends before it begins");
}

static int parse_place(struct hf_find_term *term, const char *text, const struct words *words)
{
	return parse_range(term, text ? text : "", text ? strlen(text) : 0, words);
}

/* PLACE[/SIZE] */
static int parse_access(struct hf_find_term *term, const char *text, const struct words *words)
{
	const char *slash = text ? strrchr(text, '/') : NULL;
	uint64_t size = 1;
	int err = parse_range(term, text ? text : "", slash ? (size_t)(slash - text) : text ? strlen(text) : 0, words);

	if (err)
		return err;
	if (slash && (!hf_find_dec(slash + 1, strlen(slash + 1), &size) || !size))
		return wrong(words, "'%s' is no size in bytes", slash + 1);
	if (slash && !term->text && term->range.last != term->range.first)
		return wrong(words, "a range has a size already");
	if (term->text)
		term->range.last = size - 1;
	else if (__builtin_add_overflow(term->range.last, size - 1, &term->range.last))
		return wrong(words, "it goes beyond the last address");
	return 0;
}

/* WORD[/MASK] */
static int parse_opcode(struct hf_find_term *term, const char *text, const struct words *words)
{
	const size_t n = text ? strcspn(text, "/") : 0;
	uint64_t opcode, mask = UINT32_MAX;

	if (!n || !hf_find_hex(text, n, &opcode) || opcode > UINT32_MAX)
		return wrong(words, "'%.*s' is no opcode of up to 8 hexadecimal digits; --mnemonic takes names", (int)n,
			     text ? text : "");
	if (text[n] && (!hf_find_hex(text + n + 1, strlen(text + n + 1), &mask) || mask > UINT32_MAX))
		return wrong(words, "'%s' is no mask of up to 8 hexadecimal digits", text + n + 1);
	term->opcode = (uint32_t)opcode;
	term->mask = (uint32_t)mask;
	return 0;
}

static int parse_mode(struct hf_find_term *term, const char *text, const struct words *words)
{
	for (term->mode = 0; text && term->mode < HF_MODE_COUNT; term->mode++)
		if (strcmp(hf_mode_name(term->mode), text) == 0)
			return 0;
	return wrong(words, "'%s' is no mode as listings have them (U, S, M, EL0t, EL1h, svc ...)", text ? text : "");
}

/* comm=NAME, of text[n]. False: it is something else. */
static bool take_comm(struct hf_find_term *term, const char *text, size_t n)
{
	static const char key[] = "comm=";
	const size_t begin = sizeof key - 1;

	if (n <= begin || n - begin >= sizeof term->comm || memcmp(text, key, begin) != 0 || *term->comm)
		return false;
	memcpy(term->comm, text + begin, n - begin);
	return true;
}

/* KEY=VALUE[,KEY=VALUE...] */
static int parse_context(struct hf_find_term *term, const char *text, const struct words *words)
{
	struct hf_run_context *context = &term->context;
	const struct {
		const char *key;
		uint32_t field, *value;
	} keys[] = {{"hw", HF_CONTEXT_HW, &context->hw},
		    {"pid", HF_CONTEXT_PID, &context->pid},
		    {"tid", HF_CONTEXT_TID, &context->tid},
		    {"asid", HF_CONTEXT_ASID, &context->asid},
		    {"vmid", HF_CONTEXT_VMID, &context->vmid}};

	do {
		const size_t n = text ? strcspn(text, ",") : 0, key = text ? strcspn(text, "=,") : 0;
		uint64_t value = 0;
		size_t i = 0;

		if (text && take_comm(term, text, n)) {
			text += n;
			continue;
		}
		while (i < 5 && (strlen(keys[i].key) != key || memcmp(keys[i].key, text, key) != 0))
			i++;
		if (i == 5 || key == n || !hf_find_dec(text + key + 1, n - key - 1, &value) || value > UINT32_MAX)
			return wrong(words, "'%.*s' is not hw, pid, tid, asid or vmid, '=' and a decimal number, nor comm=NAME", (int)n,
				     text ? text : "");
		if (context->fields & keys[i].field)
			return wrong(words, "%s is given twice", keys[i].key);
		context->fields |= keys[i].field;
		*keys[i].value = (uint32_t)value;
		text += n;
	} while (*text++);
	return 0;
}

static bool is_cause_name(const char *text)
{
	for (unsigned i = 0; i < 4 * HF_FIND_NAMED_CAUSES; i++) {
		const char *name = hf_cause_name(i & 1, i & 2, i >> 2);

		if (name && strcmp(name, text) == 0)
			return true;
	}
	return false;
}

static const char *hint_cause(const char *text, char hint[HF_NEAREST_SIZE])
{
	struct hf_nearest nearest = {.word = text, .n = strlen(text)};

	hf_nearest_offer(&nearest, "exception", strlen("exception"));
	hf_nearest_offer(&nearest, "interrupt", strlen("interrupt"));
	for (unsigned i = 0; i < 4 * HF_FIND_NAMED_CAUSES; i++) {
		const char *name = hf_cause_name(i & 1, i & 2, i >> 2);

		if (name)
			hf_nearest_offer(&nearest, name, strlen(name));
	}
	return hf_nearest_text(&nearest, hint);
}

static int parse_trap(struct hf_find_term *term, const char *text, const struct words *words)
{
	char hint[HF_NEAREST_SIZE];

	if (!text)
		term->trap = HF_TRAP_ANY;
	else if (hf_find_dec(text, strlen(text), &term->cause))
		term->trap = HF_TRAP_CAUSE;
	else if (strcmp(text, "exception") == 0)
		term->trap = HF_TRAP_EXCEPTION;
	else if (strcmp(text, "interrupt") == 0)
		term->trap = HF_TRAP_INTERRUPT;
	else if (is_cause_name(text))
		term->trap = HF_TRAP_NAME;
	else
		return wrong(words, "'%s' is no cause%s: a decimal number, 'interrupt', 'exception', or a name as in listings",
			     text, hint_cause(text, hint));
	return term->trap == HF_TRAP_NAME ? parse_word(term, text, words) : 0;
}

/* KIND, KIND:N or N. */
static int parse_marker(struct hf_find_term *term, const char *text, const struct words *words)
{
	const char *colon = text ? strchr(text, ':') : NULL, *number = colon ? colon + 1 : text;
	const size_t n = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;
	const char *known[HF_MARKERS + 1] = {NULL};
	char hint[HF_NEAREST_SIZE];

	term->what = HF_MARKERS;
	if (!text)
		return 0;
	for (unsigned i = 0; i < HF_MARKERS; i++) {
		known[i] = hf_marker_name(i);
		if (strlen(known[i]) == n && memcmp(known[i], text, n) == 0)
			term->what = (uint8_t)i;
	}
	term->numbered = term->what == HF_MARKERS || colon;
	if (!term->numbered || ((!colon || term->what < HF_MARKERS) && hf_find_dec(number, strlen(number), &term->number)))
		return 0;
	hf_nearest_hint(text, n, known, hint);
	return wrong(words, "'%s' is no marker%s: a kind as in listings, KIND:N, or a decimal number", text, hint);
}

/* WORD[_WORD...], the lowest one first, as listings have it. */
static int parse_value(struct hf_find_term *term, const char *text, const struct words *words)
{
	struct hf_find_value *value = &term->value;

	do {
		const size_t n = text ? strcspn(text, "_") : 0;

		if (value->count == HF_FIND_WORDS)
			return wrong(words, "a value has more than %d words", HF_FIND_WORDS);
		if (!n || !hf_find_hex(text, n, &value->word[value->count++]))
			return wrong(words, "'%.*s' is no value of up to 16 hexadecimal digits", (int)n, text ? text : "");
		text += n;
	} while (*text++);
	return 0;
}

/* ---- questions ---- */

static const struct {
	const char *name;
	int (*parse)(struct hf_find_term *term, const char *text, const struct words *words);
} questions[HF_ASK_KINDS] = {
#define HF_QUESTION(id, name, parse) {name, parse},
#include "fs/find/questions.def"
#undef HF_QUESTION
};

int hf_question_new(struct hf_question **ret_question)
{
	*ret_question = calloc(1, sizeof **ret_question);
	return *ret_question ? 0 : HF_ERR_NOMEM;
}

void hf_question_free(struct hf_question *question)
{
	for (size_t i = 0; question && i < question->count; i++)
		free(question->term[i].text);
	free(question);
}

int hf_question_add(struct hf_question *question, const char *name, const char *text, char *why, size_t size)
{
	const struct words words = {why, size};
	struct hf_find_term term = {0};
	size_t i = 0;
	int err;

	while (i < HF_ASK_KINDS && strcmp(questions[i].name, name) != 0)
		i++;
	if (i == HF_ASK_KINDS)
		return HF_ERR_NOT_FOUND;
	term.kind = (enum hf_question_kind)i;
	if (question->count == HF_QUESTION_TERMS) {
		wrong(&words, "there are more than %d questions", HF_QUESTION_TERMS);
		return HF_ERR_LIMIT;
	}
	for (i = 0; term.kind == HF_ASK_VALUE && i < question->count; i++)
		if (question->term[i].kind == HF_ASK_VALUE)
			return wrong(&words, "there is a value already");
	err = questions[term.kind].parse(&term, text, &words);
	if (err)
		free(term.text);
	else
		question->term[question->count++] = term;
	return err;
}

void hf_question_drop(struct hf_question *question)
{
	free(question->term[--question->count].text);
}

size_t hf_question_terms(const struct hf_question *question)
{
	return question->count;
}
