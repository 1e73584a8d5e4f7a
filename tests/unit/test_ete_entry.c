/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of the ETE decoder: entered at any event boundary it goes on with exactly the same events. */
#include "codecs/ete/stream.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#include <dirent.h>

static size_t blobs, blob_bytes, blob_most;

static void check_from(struct hf_dec *other, const struct hf_event *all, size_t n, size_t at, size_t count,
		       size_t batch)
{
	struct hf_event ev[64];
	size_t got;

	while (count && at < n) {
		CHECK_EQ(hf_dec_next(other, ev, batch, &got), 0);
		for (size_t i = 0; i < got; i++, at++)
			if (at >= n || memcmp(&ev[i], &all[at], sizeof *ev) != 0) {
				fprintf(stderr, "event %zu of %zu: kind %u, not %u\n", at, n, ev[i].kind,
					at < n ? all[at].kind : 0);
				exit(1);
			}
		count -= got < count ? got : count;
	}
	if (at == n)
		CHECK_EQ(hf_dec_next(other, ev, 1, &got), HF_NOTE_END);
}

static void check_hart(const struct ete_capture *c, uint32_t hart)
{
	struct hf_dec *dec, *other;
	uint8_t blob[HF_STATE_MAX];
	struct hf_event ev, *all;
	uint64_t discard;
	size_t n, got, size;

	all = ete_events(c, hart, 61, &n);
	CHECK_EQ(hf_dec_new(c->stream, c->src, hart, &dec), 0);
	CHECK_EQ(hf_dec_new(c->stream, c->src, hart, &other), 0);
	for (size_t i = 0; i <= n; i++) {
		if (n < 4000 || i % 23 == 0) {
			size = hf_dec_save(dec, blob, &discard);
			CHECK(size <= HF_STATE_MAX);
			CHECK_EQ(discard, 0);
			CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
			/* what was entered can be left at once */
			size = hf_dec_save(other, blob, &discard);
			CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
			check_from(other, all, n, i, i % 301 == 0 ? n : 50, 1 + i % 64);
			blobs++;
			blob_bytes += size;
			blob_most = size > blob_most ? size : blob_most;
		}
		if (i < n) {
			CHECK_EQ(hf_dec_next(dec, &ev, 1, &got), 0);
			CHECK(memcmp(&ev, &all[i], sizeof ev) == 0);
		}
	}
	hf_dec_free(dec);
	hf_dec_free(other);
	free(all);
}

static void check_capture(const char *path)
{
	struct ete_capture c;
	const struct hf_ete_stream *s;

	ete_open(&c, path);
	s = (const struct hf_ete_stream *)c.stream;
	for (size_t h = 0; h < s->hart_count; h++)
		check_hart(&c, s->harts[h].id);
	ete_close(&c);
}

int main(void)
{
	static const char *const folders[] = {"crafted", "snapshots"};
	const char *corpus = ete_corpus();
	char path[4096];

	for (unsigned f = 0; f < 2; f++) {
		struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof path, "%s/%s", corpus, folders[f]);
		dir = opendir(path);
		CHECK(dir);
		while ((entry = readdir(dir))) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s/%s", corpus, folders[f], entry->d_name);
			check_capture(path);
		}
		closedir(dir);
	}
	printf("%zu entries, %zu bytes each, %zu at most\n", blobs, blob_bytes / blobs, blob_most);
	return 0;
}
