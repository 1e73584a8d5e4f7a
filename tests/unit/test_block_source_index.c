/* SPDX-License-Identifier: Apache-2.0 */
/* The block source over real indexes: one stream in every container, as indexing finds it, is that stream again. */
#include "fs/stream/block_source.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"

#include <fcntl.h>
#include <ftw.h>
#include <lzma.h>
#include <unistd.h>

#define KIB ((size_t)1024)

static char dir[] = "/tmp/hartfs-test-XXXXXX";
static struct hf_store_dir of_index;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void compare(struct hf_src *src, const struct hf_walk_bytes *stream)
{
	uint8_t *buf = malloc(stream->n + 1);
	uint64_t random = 3;
	size_t got;

	CHECK_EQ(src->size, stream->n);
	CHECK_EQ(hf_src_read_at(src, 0, buf, stream->n + 1, &got, NULL), 0);
	CHECK_EQ(got, stream->n);
	CHECK(memcmp(buf, stream->p, got) == 0);
	for (int i = 0; i < 200; i++) {
		size_t n = hf_rand_next(&random) % 5000 + 1;
		uint64_t at = hf_rand_next(&random) % stream->n;
		size_t want = n < stream->n - at ? n : (size_t)(stream->n - at);
		int err = i % 2 ? hf_src_read_at(src, at, buf, n, &got, NULL)
				: hf_block_source_read_once(src, at, buf, n, &got, NULL);

		CHECK_EQ(err, 0);
		CHECK_EQ(got, want);
		CHECK(memcmp(buf, stream->p + at, got) == 0);
	}
	free(buf);
}

/* Frees file. */
static void check_container(const struct hf_box *box, struct hf_walk_bytes *file, const struct hf_walk_bytes *stream)
{
	struct hf_build build = {.dir = &of_index};
	struct hf_diag diag = {0};
	struct hf_index *index;
	struct hf_cache *cache;
	struct hf_src *base, *src;

	CHECK_EQ(hf_src_memory_new(file->p, file->n, &base), 0);
	build.file = base;
	CHECK_EQ(hf_identity_of(base, 1, &build.identity, &diag), 0);
	CHECK_EQ(hf_build_run(&build, &diag), 0);
	CHECK_EQ(hf_index_open(&of_index, &build.identity, &index), 0);
	CHECK(hf_index_box(index) == box);
	CHECK_EQ(hf_cache_new(16 << 20, &cache), 0);
	CHECK_EQ(hf_block_source_new(base, index, cache, &src), 0);
	compare(src, stream);
	hf_src_free(src);
	hf_cache_free(cache);
	hf_index_close(index);
	hf_src_free(base);
	hf_bytes_free(file);
	*file = (struct hf_walk_bytes){0};
}

/* The decompressed capture of the test data. */
static struct hf_walk_bytes load_stream(void)
{
	const char *data = getenv("HARTFS_DATA");
	struct hf_walk_bytes gz = hf_bytes_load(data ? data : "tests/data", "archive/boot/rv-sys.stf.gz"), stream = {0};
	struct hf_walk walk;

	hf_walk_memory(&walk, &hf_box_gzip, gz.p, gz.n);
	CHECK_EQ(walk.err, HF_NOTE_END);
	hf_bytes_add(&stream, walk.out.p, walk.out.n);
	hf_walk_free(&walk);
	hf_bytes_free(&gz);
	return stream;
}

int main(void)
{
	struct hf_walk_bytes stream = load_stream(), file = {0};

	CHECK(mkdtemp(dir));
	atexit(clean_up);
	of_index.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(of_index.fd >= 0);
	printf("stream of %zu bytes\n", stream.n);

	hf_pack_gzip(&file, stream.p, stream.n, 6, 0);
	check_container(&hf_box_gzip, &file, &stream);
	hf_pack_xz(&file, stream.p, stream.n, LZMA_CHECK_CRC64, 100 * KIB);
	check_container(&hf_box_xz, &file, &stream);
	hf_pack_xz(&file, stream.p, stream.n, LZMA_CHECK_CRC64, 0);
	check_container(&hf_box_xz, &file, &stream);
	hf_pack_lzma(&file, stream.p, stream.n);
	check_container(&hf_box_lzma, &file, &stream);
	hf_pack_zstd(&file, stream.p, stream.n, HF_PACK_SIZE, 0);
	check_container(&hf_box_zstd, &file, &stream);
	hf_pack_zstf(&file, stream.p, stream.n, 100 * KIB);
	check_container(&hf_box_zstf, &file, &stream);
	hf_bytes_free(&stream);
	close(of_index.fd);
	return 0;
}
