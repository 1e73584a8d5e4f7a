/* SPDX-License-Identifier: Apache-2.0 */
/* Spools: what was written can be read at any place, what is not whole or not ours is never used, and room is made. */
#include "index/store/spool.h"
#include "index/store/spool_room.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"
#include "tests/lib/pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE ((size_t)3 << 20 | 12345)

static struct hf_ixtest t;
static struct hf_walk_bytes stream;

/* A capture: an .lzma of the first size bytes of the stream, at a time. */
struct subject {
	struct hf_walk_bytes file;
	struct hf_src *src;
	struct hf_spool_build build;
	struct hf_identity identity;
};

static void set_up(struct subject *s, size_t size, int64_t mtime)
{
	*s = (struct subject){0};
	hf_pack_lzma(&s->file, stream.p, size);
	CHECK_EQ(hf_src_memory_new(s->file.p, s->file.n, &s->src), 0);
	CHECK_EQ(hf_identity_of(s->src, mtime, &s->identity, NULL), 0);
	s->build = (struct hf_spool_build){.dir = &t.at,
					   .identity = &s->identity,
					   .box = &hf_box_lzma,
					   .file = s->src,
					   .stream_size = size,
					   .limit = UINT64_C(1) << 30};
}

static void tear_down(struct subject *s)
{
	hf_src_free(s->src);
	hf_bytes_free(&s->file);
}

static int look(const struct subject *s)
{
	struct hf_spool *spool;
	int err = hf_spool_open(&t.at, &s->identity, s->build.stream_size, &spool);

	CHECK(!err == !!spool);
	hf_spool_unref(spool);
	return err;
}

static void check_bytes(struct hf_spool *spool, size_t size)
{
	static uint8_t buf[600000];
	uint64_t seed = 3;

	for (size_t at = 0, n; at < size; at += n) {
		n = 1 + hf_rand_next(&seed) % sizeof buf;
		n = n < size - at ? n : size - at;
		CHECK_EQ(hf_spool_read(spool, at, buf, n), 0);
		CHECK(memcmp(buf, stream.p + at, n) == 0);
	}
	for (unsigned i = 0; i < 200; i++) {
		size_t at = hf_rand_next(&seed) % size, n = 1 + hf_rand_next(&seed) % 5000;

		n = n < size - at ? n : size - at;
		CHECK_EQ(hf_spool_read(spool, at, buf, n), 0);
		CHECK(memcmp(buf, stream.p + at, n) == 0);
	}
	CHECK_EQ(hf_spool_read(spool, size - 1, buf, 2), HF_ERR_STATE);
}

static void test_read(void)
{
	static const size_t sizes[] = {1, HF_SPOOL_FRAME - 1, HF_SPOOL_FRAME, HF_SPOOL_FRAME + 1, 4 * HF_SPOOL_FRAME, SIZE};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct hf_spool *spool;
		struct subject s;

		set_up(&s, sizes[i], (int64_t)i);
		CHECK_EQ(look(&s), HF_ERR_NOT_FOUND);
		CHECK_EQ(hf_spool_build(&s.build), 0);
		CHECK_EQ(hf_ixtest_count(&t, ".part"), 0);
		CHECK_EQ(hf_spool_open(&t.at, &s.identity, sizes[i], &spool), 0);
		check_bytes(spool, sizes[i]);
		/* Made again over the one that is there, which stays readable. */
		CHECK_EQ(hf_spool_build(&s.build), 0);
		check_bytes(spool, sizes[i]);
		hf_spool_unref(spool);
		CHECK_EQ(look(&s), 0);
		tear_down(&s);
	}
	hf_ixtest_clear(&t);
}

/* The one spool's name. */
static const char *name_of_spool(void)
{
	static char name[300];
	DIR *dir = opendir(t.dir);
	struct dirent *entry;

	*name = 0;
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".hfs"))
			snprintf(name, sizeof name, "%s", entry->d_name);
	closedir(dir);
	CHECK(*name);
	return name;
}

/* Any tool that reads zstd files gives the stream. */
static void test_format(void)
{
	struct subject s;
	struct hf_walk w;
	struct hf_walk_bytes file;

	set_up(&s, SIZE, 1);
	CHECK_EQ(hf_spool_build(&s.build), 0);
	file = hf_bytes_load(t.dir, name_of_spool());
	hf_walk_memory(&w, &hf_box_zstd, file.p, file.n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.out.n, SIZE);
	CHECK(memcmp(w.out.p, stream.p, SIZE) == 0);
	hf_walk_free(&w);
	hf_bytes_free(&file);
	tear_down(&s);
	hf_ixtest_clear(&t);
}

static void spoil(off_t at)
{
	int fd = openat(t.dirfd, name_of_spool(), O_RDWR);
	struct stat st;
	uint8_t byte;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	if (at < 0)
		at += st.st_size;
	CHECK(pread(fd, &byte, 1, at) == 1);
	byte ^= 0x10;
	CHECK(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

/* Damage in the tables is met when it is opened, in a frame when that is read: then it goes. */
static void test_damage(void)
{
	static const off_t tables[] = {-1, -7, -9, -30, -9 - 14 * 8 - 8 - 1, -9 - 14 * 8 - 8 - 72, -9 - 14 * 8 - 8 - 40};
	struct hf_spool *spool;
	struct subject s;
	uint8_t buf[100];

	set_up(&s, SIZE, 1);
	CHECK_EQ(SIZE / HF_SPOOL_FRAME + 1 + 1, 14);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		CHECK_EQ(hf_spool_build(&s.build), 0);
		spoil(tables[i]);
		CHECK_EQ(look(&s), HF_ERR_NOT_FOUND);
		CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 0);
	}
	CHECK_EQ(hf_spool_build(&s.build), 0);
	spoil(3000);
	CHECK_EQ(hf_spool_open(&t.at, &s.identity, SIZE, &spool), 0);
	CHECK_EQ(hf_spool_read(spool, SIZE - 100, buf, 100), 0);
	CHECK_EQ(hf_spool_read(spool, 0, buf, 100), HF_ERR_STATE);
	CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 0);
	/* One that took its place stays. */
	CHECK_EQ(hf_spool_build(&s.build), 0);
	CHECK_EQ(hf_spool_read(spool, 0, buf, 100), HF_ERR_STATE);
	hf_spool_unref(spool);
	CHECK_EQ(look(&s), 0);
	/* Cut short anywhere. */
	for (off_t size = 0; size < 20000; size += 4 + size / 2) {
		int fd;

		CHECK_EQ(hf_spool_build(&s.build), 0);
		fd = openat(t.dirfd, name_of_spool(), O_RDWR);
		CHECK(fd >= 0 && ftruncate(fd, size) == 0);
		close(fd);
		CHECK_EQ(look(&s), HF_ERR_NOT_FOUND);
	}
	tear_down(&s);
	hf_ixtest_clear(&t);
}

/* Another capture's, another size's: not used, whatever the name says. */
static void test_identity(void)
{
	struct subject a, b;
	char from[300], to[300];

	set_up(&a, SIZE, 1);
	set_up(&b, SIZE - 5, 2);
	CHECK_EQ(hf_spool_build(&b.build), 0);
	snprintf(to, sizeof to, "%s", name_of_spool());
	hf_ixtest_clear(&t);
	CHECK_EQ(hf_spool_build(&a.build), 0);
	snprintf(from, sizeof from, "%s", name_of_spool());
	CHECK_EQ(look(&b), HF_ERR_NOT_FOUND);
	CHECK_EQ(renameat(t.dirfd, from, t.dirfd, to), 0);
	CHECK_EQ(look(&b), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 0);
	/* A stream that is longer or shorter than it was. */
	a.build.stream_size--;
	CHECK_EQ(hf_spool_build(&a.build), HF_ERR_MISMATCH);
	a.build.stream_size += 2;
	CHECK_EQ(hf_spool_build(&a.build), HF_ERR_MISMATCH);
	CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 0);
	tear_down(&a);
	tear_down(&b);
}

static bool now(void *ctx)
{
	(void)ctx;
	return true;
}

/* Nothing that is not ours is lost; an interrupted making leaves nothing. */
static void test_others(void)
{
	static const char text[] = "something else";
	struct subject s;
	char name[300];
	int fd;

	set_up(&s, SIZE, 1);
	s.build.cancelled = now;
	CHECK_EQ(hf_spool_build(&s.build), HF_ERR_CANCELLED);
	CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 0);
	s.build.cancelled = NULL;
	CHECK_EQ(hf_spool_build(&s.build), 0);
	snprintf(name, sizeof name, "%s", name_of_spool());
	fd = openat(t.dirfd, name, O_RDWR | O_TRUNC);
	CHECK(write(fd, text, sizeof text) == sizeof text);
	close(fd);
	CHECK_EQ(look(&s), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 1);
	CHECK_EQ(hf_spool_build(&s.build), 0);
	CHECK_EQ(look(&s), 0);
	CHECK_EQ(hf_ixtest_count(&t, ".hfs"), 1);
	tear_down(&s);
	hf_ixtest_clear(&t);
}

/* What was used longest ago goes first; what is larger than all room is not made. */
static void test_limit(void)
{
	struct subject s[4];
	uint64_t count, one;

	for (int i = 0; i < 4; i++)
		set_up(&s[i], SIZE / 8, i + 1);
	CHECK_EQ(hf_spool_build(&s[0].build), 0);
	hf_spool_count(t.dirfd, &count, &one);
	CHECK_EQ(count, 1);
	CHECK_EQ(hf_spool_build(&s[1].build), 0);
	CHECK_EQ(hf_spool_build(&s[2].build), 0);
	CHECK_EQ(look(&s[0]), 0); /* used just now */
	/* room is made in steps of one MiB: one of the three has to go */
	CHECK(one < 1 << 20);
	s[3].build.limit = 2 * one + one / 2 + (1 << 20);
	CHECK_EQ(hf_spool_build(&s[3].build), 0);
	CHECK_EQ(look(&s[1]), HF_ERR_NOT_FOUND);
	CHECK_EQ(look(&s[0]), 0);
	CHECK_EQ(look(&s[2]), 0);
	CHECK_EQ(look(&s[3]), 0);
	s[1].build.limit = one / 2;
	CHECK_EQ(hf_spool_build(&s[1].build), HF_ERR_LIMIT);
	CHECK_EQ(look(&s[1]), HF_ERR_NOT_FOUND);
	for (int i = 0; i < 4; i++)
		tear_down(&s[i]);
	hf_ixtest_clear(&t);
}

int main(void)
{
	hf_ixtest_init(&t);
	stream = hf_pack_trace(SIZE);
	test_read();
	test_format();
	test_damage();
	test_identity();
	test_others();
	test_limit();
	hf_bytes_free(&stream);
	hf_ixtest_fini(&t);
	return 0;
}
