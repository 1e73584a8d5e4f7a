/* Arbitrary bytes as the files of a CoreSight snapshot: an error has its text, and what is read can be asked. */
#include "tests/lib/files.h"
#include "tests/lib/setuptest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Parts lie end to end in the stream; programs have their pieces in order. */
static void check(const struct hf_setup *setup, const struct hf_src *stream)
{
	uint64_t end = 0;

	must(setup->format && setup->part_count > 0);
	for (size_t i = 0; i < setup->part_count; i++) {
		const struct hf_setup_part *part = &setup->parts[i];

		must(part->offset == end && (part->size != HF_NOWHERE || setup->packed));
		end += setup->packed ? stream->size : part->size;
	}
	must(end == stream->size);
	for (size_t i = 0; i < setup->image_count; i++) {
		const struct hf_program *program = &setup->images[i].program;

		must(hf_setup_program(setup, setup->images[i].hart, setup->images[i].context,
				      setup->images[i].spaces & -setup->images[i].spaces));
		for (size_t k = 1; k < program->count; k++)
			must(program->pieces[k].address > program->pieces[k - 1].address);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_files files = {(const char *)data, size};
	const struct hf_setup_opener opener = hf_files_opener(&files);
	struct hf_setup_error error;
	struct hf_setup *setup;
	struct hf_src *stream;

	hf_setup_test_codecs();
	if (hf_setup_read_snapshot(&opener, "snapshot.ini", &setup, &error)) {
		must(*error.text);
		return 0;
	}
	if (hf_setup_load(setup, &opener, &stream, &error)) {
		must(*error.text);
	} else {
		check(setup, stream);
		hf_src_free(stream);
	}
	hf_setup_free(setup);
	return 0;
}
