/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.data of any bytes: whether it is a capture does not depend on how it is read; what it says of itself holds
 * together, and can be decoded.
 */
#include "codecs/codec.h"
#include "codecs/perf/load.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/perfdata.h"
#include "tests/lib/sliver.h"

#include <string.h>

static void check_setup(const struct hf_setup *setup, const struct hf_src *src)
{
	uint64_t end = 0;

	for (size_t i = 0; i < setup->part_count; i++) {
		MUST(setup->parts[i].offset == end && setup->parts[i].size);
		end += setup->parts[i].size;
	}
	MUST(end == src->size);
	for (size_t i = 0; setup->processes && i < setup->processes->program_count; i++) {
		const struct hf_program *program = &setup->processes->program[i];

		for (size_t k = 1; k < program->count; k++)
			MUST(program->pieces[k].address - program->pieces[k - 1].address >= program->pieces[k - 1].size);
	}
}

/* A line for each recording. */
static void list(const struct hf_setup *setup, struct hf_src *src)
{
	struct hf_stream *stream;
	struct hf_dec *dec;
	struct hf_event ev[8];
	size_t n, lines = 0;

	MUST(!hf_stream_open(&hf_codec_perf, src, setup, &stream, NULL));
	MUST(!hf_dec_new(stream, src, HF_HART_RECORDS, &dec));
	while (!hf_dec_next(dec, ev, 8, &n))
		for (size_t i = 0; i < n; i++)
			for (unsigned k = 0; k < ev[i].used; k++)
				lines += ev[i].data.bytes[k] == '\n';
	MUST(lines == setup->part_count && hf_dec_offset(dec) == src->size);
	hf_dec_free(dec);
	hf_stream_close(stream);
}

static void load(const uint8_t *data, size_t size)
{
	struct perf_files files = {.name = {"perf.data"}, .bytes = {data}, .size = {size}, .count = 1};
	const struct hf_setup_opener opener = perf_opener(&files, hf_codecs);
	struct hf_setup_error error = {.line = 0};
	struct hf_setup *setup = NULL;
	struct hf_src *src = NULL;
	int err = hf_setup_read(&opener, "perf.data", &setup, &error);

	MUST(!err == !!setup && (!err || err == HF_ERR_NOT_FOUND || *error.text));
	if (!err) {
		err = hf_setup_load(setup, &opener, &src, &error);
		MUST(!err || *error.text);
	}
	if (!err)
		check_setup(setup, src);
	if (!err && strcmp(setup->format, hf_codec_perf.name) == 0)
		list(setup, src);
	hf_src_free(src);
	hf_setup_free(setup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_src *src, *thin;
	bool ours, again;

	if (!hf_codec_perf.probe(data, size))
		return 0;
	MUST(!hf_src_memory_new(data, size, &src));
	MUST(!hf_codec_perf.confirm(src, &ours));
	MUST(!hf_sliver_new(src, 5, &thin));
	MUST(!hf_codec_perf.confirm(thin, &again) && ours == again);
	hf_src_free(thin);
	hf_src_free(src);
	load(data, size);
	return 0;
}
