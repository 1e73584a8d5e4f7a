/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/demangle.h"

#include <demangle.h>

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* More names that were stopped within an identifier of Rust that is not ASCII are not tried. */
enum { STOPPED_MAX = 16 };

struct output {
	struct hf_demangler *demangler;
	size_t size;
	jmp_buf full;
};

/* libiberty's functions have no way to be stopped, and are plain C: this leaves them. */
static void put(const char *text, size_t size, void *ctx)
{
	struct output *output = ctx;

	if (size >= HF_DEMANGLE_MAX - output->size)
		longjmp(output->full, 1);
	/* Of an identifier without letters text is NULL. */
	if (size)
		memcpy(output->demangler->text + output->size, text, size);
	output->size += size;
}

/* A legacy name of Rust is one of C++ that ends with a hash: "_ZN...17h0123456789abcdefE". */
static bool is_rust(const char *name, size_t size)
{
	static const char hash[] = "17h0123456789abcdefE";

	if (name[0] == '_' && name[1] == 'R')
		return true;
	return size > sizeof hash && strncmp(name + size - (sizeof hash - 1), "17h", 3) == 0 && name[size - 1] == 'E';
}

/* An identifier "u5..." has an array of its own while it is written, which is lost if that is stopped. */
static bool may_hold_memory(const char *name)
{
	for (; (name = strchr(name, 'u')); name++)
		if (isdigit((unsigned char)name[1]))
			return true;
	return false;
}

static bool demangle(const char *name, size_t size, struct output *output)
{
	enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };

	if (is_rust(name, size)) {
		if (rust_demangle_callback(name, OPTIONS, put, output))
			return true;
		output->size = 0;
	}
	return name[1] == 'Z' && cplus_demangle_v3_callback(name, OPTIONS, put, output);
}

/* Whether all of it can be shown. */
static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return size > 0;
}

enum outcome { NO, YES, STOPPED };

static enum outcome try_to(const char *name, size_t size, struct output *output)
{
	if (setjmp(output->full))
		return STOPPED;
	return demangle(name, size, output) ? YES : NO;
}

size_t hf_demangle(struct hf_demangler *demangler, const char *name)
{
	struct output output = {.demangler = demangler};
	char copy[HF_DEMANGLE_MAX];
	const size_t all = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') ? strnlen(name, HF_DEMANGLE_MAX) : 0;
	const size_t size = all ? strcspn(name, "@") : 0;
	const bool risky = all && name[1] == 'R' && may_hold_memory(name);
	enum outcome outcome;

	if (!all || all == HF_DEMANGLE_MAX || (risky && demangler->stopped == STOPPED_MAX))
		return 0;
	memcpy(copy, name, size);
	copy[size] = '\0';
	outcome = try_to(copy, size, &output);
	demangler->stopped += risky && outcome == STOPPED;
	if (outcome != YES || all - size >= HF_DEMANGLE_MAX - output.size)
		return 0;
	memcpy(demangler->text + output.size, name + size, all - size + 1);
	output.size += all - size;
	return is_text(demangler->text, output.size) ? output.size : 0;
}
