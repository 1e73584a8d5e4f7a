/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every input that a fuzzer ever kept, of whatever target, in the place of bytes of every sample: at its beginning, in its
 * middle, at its end. The capture is refused or decodes to some end, of that many events at most, and no defect of ours.
 */
#include "tests/codec/loops.h"

#include <dirent.h>

#define INPUT_MAX 8192
#define EVENTS 5000

/* A few bytes can stand for very many events. */
static void decode_hart(const struct hf_stream *stream, struct hf_src *src, uint32_t hart)
{
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n;
	int err = hf_dec_new(stream, src, hart, &dec);

	for (size_t done = 0; !err && done < EVENTS; done += n)
		err = hf_dec_next(dec, ev, 64, &n);
	CHECK(err >= 0 || hf_err_class(err) != HF_CLASS_bug);
	hf_dec_free(dec);
}

static void decode(struct sample *s)
{
	struct hf_stream *stream;
	struct hf_src *src;

	if (sample_open(s, s->bytes.n, &src, &stream))
		return;
	for (size_t h = 0; h < s->hart_count; h++)
		decode_hart(stream, src, s->harts[h]);
	hf_stream_close(stream);
	hf_src_free(src);
}

static void replay(struct sample *s, const char *path)
{
	const struct hf_walk_bytes whole = s->bytes;
	uint8_t input[INPUT_MAX];
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		return; /* a directory */
	n = fread(input, 1, sizeof input, file);
	fclose(file);
	for (unsigned i = 0; n && i < 3; i++) {
		const size_t put = n < whole.n ? n : whole.n, room = whole.n - put;

		s->bytes.p = malloc(whole.n + 1);
		CHECK(s->bytes.p);
		memcpy(s->bytes.p, whole.p, whole.n);
		memcpy(s->bytes.p + room * i / 2, input, put);
		sample_about("%s with %s at %zu of %zu", s->name, path, room * i / 2, whole.n);
		decode(s);
		free(s->bytes.p);
	}
	s->bytes = whole;
}

static void check(struct sample *s)
{
	char dir[4096], path[8192 + 256];
	const struct dirent *target, *input;
	DIR *targets, *inputs;

	snprintf(dir, sizeof dir, "%s/../fuzz/corpus", getenv("HARTFS_DATA"));
	targets = opendir(dir);
	CHECK(targets);
	while ((target = readdir(targets))) {
		if (*target->d_name == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, target->d_name);
		inputs = opendir(path);
		CHECK(inputs);
		while ((input = readdir(inputs))) {
			snprintf(path, sizeof path, "%s/%s/%s", dir, target->d_name, input->d_name);
			if (*input->d_name != '.')
				replay(s, path);
		}
		closedir(inputs);
	}
	closedir(targets);
}

void loop_replay(struct samples *all)
{
	samples_each(all, check);
}
