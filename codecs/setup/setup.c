/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/read.h"

#include "codecs/base/errors.h"
#include "codecs/base/number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hf_setup_free_parts(struct hf_setup *setup)
{
	for (size_t i = 0; i < setup->part_count; i++) {
		if (setup->parts[i].shared)
			continue;
		free((char *)setup->parts[i].name);
		free((char *)setup->parts[i].framing);
	}
	free(setup->parts);
	setup->parts = NULL;
	setup->part_count = 0;
}

void hf_setup_free(struct hf_setup *setup)
{
	if (!setup)
		return;
	free((char *)setup->format);
	for (size_t i = 0; i < setup->value_count; i++) {
		free((char *)setup->values[i].key);
		free((char *)setup->values[i].value);
		free((char *)setup->values[i].file);
	}
	for (size_t i = 0; i < setup->image_count; i++) {
		hf_program_fini(&setup->images[i].program);
		free(setup->images[i].below);
	}
	for (size_t i = 0; i < setup->elf_count; i++) {
		hf_program_fini(&setup->elfs[i].program);
		hf_elf_file_close(&setup->elfs[i].file);
	}
	hf_setup_free_parts(setup);
	for (size_t i = 0; i < setup->file_count; i++) {
		free((char *)setup->files[i].name);
		free((char *)setup->files[i].said_in);
	}
	for (size_t i = 0; i < setup->warning_count; i++) {
		free((char *)setup->warnings[i].file);
		free((char *)setup->warnings[i].text);
	}
	for (size_t i = 0; i < setup->fact_count; i++) {
		free((char *)setup->facts[i].name);
		free((char *)setup->facts[i].value);
	}
	free(setup->facts);
	hf_processes_free(setup->processes);
	free(setup->values);
	free(setup->images);
	free(setup->elfs);
	free(setup->files);
	free(setup->warnings);
	free(setup->buffers);
	free(setup);
}

const struct hf_setup_value *hf_setup_get(const struct hf_setup *setup, uint32_t hart, const char *key)
{
	const struct hf_setup_value *common = NULL;

	for (size_t i = 0; setup && i < setup->value_count; i++) {
		const struct hf_setup_value *value = &setup->values[i];

		if (*value->key != *key || strcmp(value->key, key) != 0)
			continue;
		if (value->hart == hart)
			return value;
		if (value->hart == HF_SETUP_ANY)
			common = value;
	}
	return common;
}

int hf_setup_refuse(struct hf_setup_error *error, const struct hf_setup_value *value, const char *format, ...)
{
	char must[200];
	va_list args;

	va_start(args, format);
	vsnprintf(must, sizeof must, format, args);
	va_end(args);
	return hf_setup_fail(error, HF_ERR_SETUP_VALUE, value->file ? value->file : "", value->line,
			     "'%.40s = %.60s': it must be %s", value->key, value->value, must);
}

int hf_setup_number(const struct hf_setup *setup, uint32_t hart, const char *key, uint64_t min, uint64_t max,
		    uint64_t fallback, uint64_t *ret_number, struct hf_setup_error *error)
{
	const struct hf_setup_value *value = hf_setup_get(setup, hart, key);
	const char *end;

	*ret_number = fallback;
	if (!value)
		return 0;
	if (hf_number_parse(value->value, ret_number, &end) && !*end && *ret_number >= min && *ret_number <= max)
		return 0;
	if (max == 1)
		return hf_setup_refuse(error, value, "0 or 1");
	if (max == UINT64_MAX)
		return hf_setup_refuse(error, value, "a number of up to 64 bits");
	return hf_setup_refuse(error, value, "a number from %" PRIu64 " to %" PRIu64, min, max);
}

/* "a, b or c". */
static void join_words(const char *const *words, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; words[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

int hf_setup_word(const struct hf_setup *setup, uint32_t hart, const char *key, const char *const *words,
		  unsigned fallback, unsigned *ret_word, struct hf_setup_error *error)
{
	const struct hf_setup_value *value = hf_setup_get(setup, hart, key);
	char text[160];

	*ret_word = fallback;
	if (!value)
		return 0;
	for (unsigned i = 0; words[i]; i++)
		if (strcmp(words[i], value->value) == 0) {
			*ret_word = i;
			return 0;
		}
	join_words(words, text, sizeof text);
	return hf_setup_refuse(error, value, "%s", text);
}

const struct hf_program *hf_setup_program(const struct hf_setup *setup, uint32_t hart, uint64_t context,
					  uint32_t space)
{
	const struct hf_setup_image *best = NULL;
	int best_score = -1;

	for (size_t i = 0; setup && i < setup->image_count; i++) {
		const struct hf_setup_image *image = &setup->images[i];
		int score = 0;

		if ((image->hart != HF_SETUP_ANY && image->hart != hart) ||
		    (image->context != HF_SETUP_NO_CONTEXT && image->context != context) || !(image->spaces & space))
			continue;
		score += image->hart != HF_SETUP_ANY ? 4 : 0;
		score += image->context != HF_SETUP_NO_CONTEXT ? 2 : 0;
		score += image->spaces != HF_MEMORY_ANY ? 1 : 0;
		if (score > best_score) {
			best = image;
			best_score = score;
		}
	}
	return best ? &best->program : NULL;
}

bool hf_setup_runs(const struct hf_setup *setup, uint32_t hart, const struct hf_setup_image *image)
{
	return hart == HF_SETUP_ANY ||
	       hf_setup_program(setup, hart, image->context, image->spaces) == &image->program;
}

unsigned hf_setup_xlen(const struct hf_setup *setup, uint32_t hart)
{
	for (size_t i = 0; setup && i < setup->image_count; i++)
		if (setup->images[i].program.xlen && hf_setup_runs(setup, hart, &setup->images[i]))
			return setup->images[i].program.xlen;
	return 0;
}

/* One more range, or how many more there are. */
struct ranges {
	char *buf;
	size_t size, used, left_out;
};

static void add_range(struct ranges *r, uint64_t first, uint64_t last)
{
	const size_t room = r->size - r->used;
	const int n = snprintf(r->buf + r->used, room, "%s%llx-%llx", r->used ? ", " : "", (unsigned long long)first,
			       (unsigned long long)last);

	if (r->left_out || (size_t)n + sizeof ", and 18446744073709551615 more" > room) {
		r->buf[r->used] = '\0';
		r->left_out++;
		return;
	}
	r->used += (size_t)n;
}

const char *hf_setup_code_text(const struct hf_setup *setup, uint32_t hart, char *buf, size_t size)
{
	struct ranges r = {.buf = buf, .size = size};

	*buf = '\0';
	for (size_t i = 0; setup && i < setup->image_count; i++) {
		const struct hf_program *program = &setup->images[i].program;

		for (size_t k = 0; k < program->count && hf_setup_runs(setup, hart, &setup->images[i]); k++) {
			const uint64_t first = program->pieces[k].address;

			while (k + 1 < program->count &&
			       program->pieces[k].address + program->pieces[k].size == program->pieces[k + 1].address)
				k++;
			add_range(&r, first, program->pieces[k].address + (program->pieces[k].size - 1));
		}
	}
	if (r.left_out)
		snprintf(buf + r.used, size - r.used, ", and %zu more", r.left_out);
	return buf;
}

uint64_t hf_setup_code_size(const struct hf_setup *setup)
{
	uint64_t size = setup && setup->processes ? setup->processes->bytes : 0;

	for (size_t i = 0; setup && i < setup->image_count; i++)
		size += setup->images[i].program.bytes;
	return size;
}
