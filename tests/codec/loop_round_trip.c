/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every view of every sample that is a capture itself, taken out of the file system and opened again, gives the
 * instructions and traps that are known of the sample.
 */
#include "tests/codec/loops.h"

static struct samples *samples;
static struct hf_fst out; /* the views */
static size_t count;

/* Copies what lies at dir/name, which may be a directory, to the views' archive as to/name. */
static void copy(const char *dir, const char *name, const char *to)
{
	struct hf_walk_bytes bytes;
	char from[512], path[512];

	snprintf(from, sizeof from, "%s/%s", dir, name);
	snprintf(path, sizeof path, "%s/%s", to, name);
	bytes = hf_fst_read(&samples->fst, from, 1 << 16);
	hf_fst_write(&out, path, bytes.p, bytes.n);
	hf_bytes_free(&bytes);
}

static void check_view(const struct sample *s, size_t n, const char *hart_dir, const struct hf_enc_ops *ops,
		       const struct hf_codec *codec)
{
	struct sample again = {.codec = codec};
	const char *slash = strchr(ops->view, '/');
	char dir[512], to[64];
	struct hf_events list;

	sample_about("%s: the view %s of %s", s->name, ops->name, hart_dir);
	snprintf(to, sizeof to, "%zu", count++);
	snprintf(again.name, sizeof again.name, "%s", s->name);
	again.expected[n] = s->expected[n];
	if (slash) {
		char *names, *rest;

		snprintf(dir, sizeof dir, "%s/%.*s", hart_dir, (int)(slash - ops->view), ops->view);
		rest = names = hf_fst_list(&samples->fst, dir);
		for (char *name; (name = strsep(&rest, "\n")) && *name;)
			copy(dir, name, to);
		free(names);
	} else {
		copy(hart_dir, ops->view, to);
	}
	sample_load(&again, samples->codecs, hf_fst_path(&out, to));
	list = sample_all(&again, again.stream->info.first_hart, 256);
	sample_check_expected(&again, n, &list);
	hf_events_free(&list);
	sample_unload(&again);
}

static const struct hf_codec *codec_of(const struct hf_enc_ops *ops)
{
	for (size_t i = 0; samples->codecs[i]; i++)
		if (samples->codecs[i]->dec && strcmp(samples->codecs[i]->name, ops->name) == 0)
			return samples->codecs[i];
	return NULL;
}

/* The directory of the capture's views: beside its directory, or in it. */
static void find(const struct sample *s, char *path, size_t size)
{
	const char *name = strchr(s->name, '/') + 1;
	char *names, *rest;
	char dir[128];
	bool found = false;

	for (int inside = 0; inside < 2 && !found; inside++) {
		snprintf(dir, sizeof dir, "%.*s", inside ? (int)strlen(s->name) : (int)(name - s->name - 1), s->name);
		rest = names = hf_fst_list(&samples->fst, dir);
		for (char *entry; !found && (entry = strsep(&rest, "\n")) && *entry;) {
			const size_t n = strcspn(entry, "@");

			found = entry[n] && (inside || (n == strlen(name) && memcmp(entry, name, n) == 0));
			if (found)
				snprintf(path, size, "%s/%s", dir, entry);
		}
		free(names);
	}
	CHECK(found);
}

static void check(struct sample *s)
{
	char capture[256], dir[300], file[400];

	find(s, capture, sizeof capture);
	for (size_t n = 0; n < s->expected_count; n++) {
		const uint32_t hart = s->expected[n].hart;

		snprintf(dir, sizeof dir, "%s/hart%u", capture, hart == UINT32_MAX ? s->stream->info.first_hart : hart);
		for (size_t i = 0; hf_views[i]; i++) {
			const struct hf_codec *codec = codec_of(hf_views[i]);

			snprintf(file, sizeof file, "%s/%s", dir, hf_views[i]->view);
			if (!codec || hf_enc_refusal(hf_views[i], &s->stream->info))
				continue;
			sample_about("%s", file);
			CHECK(hf_fst_comes(&samples->fst, file));
			check_view(s, n, dir, hf_views[i], codec);
		}
	}
}

void loop_round_trip(struct samples *all)
{
	samples = all;
	hf_fst_begin_quick(&out);
	hf_fst_open(&all->fst, NULL);
	samples_each(all, check);
	hf_fst_end(&out);
}
