/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/setuptest.h"

#include "tests/lib/files.h"
#include "tests/lib/fuzz.h"

#include <stdlib.h>

static const struct hf_setup_key keys[] = {HF_KEY_OPEN("step"), HF_KEY_OPEN("width"), HF_KEY_END};

/* What matters is that they decode, not how. */
static const struct hf_dec_ops dec;
static const struct hf_codec toy = {.name = "toy", .dec = &dec, .keys = keys};
static const struct hf_codec rv = {.name = "rv", .dec = &dec, .program_arch = HF_ARCH_RISCV};
static const struct hf_codec ete = {.name = "ete", .dec = &dec, .program_arch = HF_ARCH_ARM};

const struct hf_codec *const hf_setup_codecs[] = {&toy, &rv, &ete, NULL};

/* Parts lie end to end in the stream; programs have their pieces in order. */
static void check(const struct hf_setup *setup, const struct hf_src *stream)
{
	uint64_t end = 0;

	MUST(setup->format && setup->part_count > 0);
	for (size_t i = 0; i < setup->part_count; i++) {
		const struct hf_setup_part *part = &setup->parts[i];

		MUST(part->offset == end && (part->size != HF_NOWHERE || setup->packed));
		end += setup->packed ? stream->size : part->size;
	}
	MUST(end == stream->size);
	for (size_t i = 0; i < setup->image_count; i++) {
		const struct hf_program *program = &setup->images[i].program;

		MUST(hf_setup_program(setup, setup->images[i].hart, setup->images[i].context,
				      setup->images[i].spaces & -setup->images[i].spaces));
		for (size_t k = 1; k < program->count; k++)
			MUST(program->pieces[k].address > program->pieces[k - 1].address);
	}
}

void hf_setup_fuzz(hf_setup_reader read, const char *name, const void *data, size_t size)
{
	struct hf_files files = {data, size};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_setup_codecs);
	struct hf_setup_error error;
	struct hf_setup *setup;
	struct hf_src *stream;

	if (read(&opener, name, &setup, &error)) {
		MUST(*error.text);
		return;
	}
	if (hf_setup_load(setup, &opener, &stream, &error)) {
		MUST(*error.text);
	} else {
		check(setup, stream);
		hf_src_free(stream);
	}
	hf_setup_free(setup);
}
