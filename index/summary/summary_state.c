/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/summary_state.h"

#include "codecs/base/bytes.h"
#include "index/base/fault.h"
#include "index/store/disk_file.h"
#include "index/summary/summary.h"
#include "index/table/row.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const uint8_t magic[8] = {'H', 'A', 'R', 'T', 'K', 'E', 'P', 'T'};
enum { SUM = 8 };

struct state {
	int fd;
	off_t at, end; /* end: of what is read */
	XXH3_state_t *hash;
	struct hf_keep keep;
};

static void make_name(const struct hf_identity *identity, const char *end, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE];

	hf_index_file_hex(identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, ".%s.hfq-%s.part", hex, end);
}

static void file_name(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE])
{
	make_name(identity, "state", name);
}

static void new_name(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE])
{
	make_name(identity, "new", name);
}

static int state_new(int fd, struct state **ret_state)
{
	struct state *s = calloc(1, sizeof *s);

	*ret_state = s;
	if (!s)
		return HF_ERR_NOMEM;
	s->fd = fd;
	s->hash = XXH3_createState();
	if (!s->hash)
		return HF_ERR_NOMEM;
	XXH3_64bits_reset(s->hash);
	return 0;
}

static void state_free(struct state *s)
{
	if (s)
		XXH3_freeState(s->hash);
	free(s);
}

/* ---- bytes ---- */

static int write_bytes(struct state *s, const uint8_t *p, size_t n)
{
	while (n) {
		const ssize_t done = pwrite(s->fd, p, n, s->at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return hf_fault_set_fd("writing", s->fd, errno);
		p += done;
		n -= (size_t)done;
		s->at += done;
	}
	return 0;
}

static int save(void *ctx, uint8_t *bytes, size_t n, size_t *ret_n)
{
	struct state *s = ctx;

	*ret_n = n;
	XXH3_64bits_update(s->hash, bytes, n);
	return write_bytes(s, bytes, n);
}

static int load(void *ctx, uint8_t *bytes, size_t n, size_t *ret_n)
{
	struct state *s = ctx;

	*ret_n = 0;
	if ((off_t)n > s->end - s->at)
		n = (size_t)(s->end - s->at);
	while (*ret_n < n) {
		const ssize_t done = pread(s->fd, bytes + *ret_n, n - *ret_n, s->at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return hf_fault_set_fd("reading", s->fd, errno);
		if (done == 0)
			return HF_ERR_STATE;
		*ret_n += (size_t)done;
		s->at += done;
	}
	return 0;
}

/* ---- all of it ---- */

static void keep_head(struct hf_summary_place *place, struct hf_keep *k)
{
	uint8_t bytes[sizeof magic];
	uint32_t version = HF_KEEP_VERSION, summary = HF_SUMMARY_VERSION;

	memcpy(bytes, magic, sizeof magic);
	hf_keep_bytes(k, bytes, sizeof bytes);
	HF_KEEP(k, version, UINT32_MAX);
	HF_KEEP(k, summary, UINT32_MAX);
	hf_keep_check(k, memcmp(bytes, magic, sizeof magic) == 0 && version == HF_KEEP_VERSION &&
				 summary == HF_SUMMARY_VERSION);
	HF_KEEP(k, place->slot, HF_SLOT_MAX);
	HF_KEEP(k, place->chunk, HF_NUMBER_MAX);
	HF_KEEP(k, place->events, HF_COUNT_MAX);
	HF_KEEP(k, place->before, HF_COUNT_MAX);
	HF_KEEP(k, place->rows, HF_COUNT_MAX);
	HF_KEEP(k, place->table, HF_TABLES_MOST - 1);
	HF_KEEP(k, place->key, HF_COUNT_MAX);
}

static int write_file(int fd, const struct hf_summary_place *place, hf_summary_keep_fn fn, void *ctx)
{
	struct hf_summary_place head = *place;
	struct state *s;
	uint8_t sum[SUM];
	int err = state_new(fd, &s);

	if (!err) {
		hf_keep_begin(&s->keep, false, save, s);
		keep_head(&head, &s->keep);
		fn(ctx, &s->keep);
		err = hf_keep_end(&s->keep);
	}
	if (!err) {
		hf_put64(sum, XXH3_64bits_digest(s->hash));
		err = write_bytes(s, sum, sizeof sum);
	}
	state_free(s);
	return err;
}

int hf_summary_state_write(int dirfd, const struct hf_identity *identity, const struct hf_summary_place *place,
			   hf_summary_keep_fn fn, void *ctx)
{
	char name[HF_FILE_NAME_SIZE];
	int fd, err;

	new_name(identity, name);
	unlinkat(dirfd, name, 0);
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return hf_fault_set("creating", name, errno);
	err = write_file(fd, place, fn, ctx);
	if (!err && fsync(fd) < 0)
		err = hf_fault_set("writing", name, errno);
	close(fd);
	if (err)
		unlinkat(dirfd, name, 0);
	return err;
}

int hf_summary_state_publish(int dirfd, const struct hf_identity *identity)
{
	char from[HF_FILE_NAME_SIZE], to[HF_FILE_NAME_SIZE];

	new_name(identity, from);
	file_name(identity, to);
	if (renameat(dirfd, from, dirfd, to) < 0)
		return hf_fault_set("writing", to, errno);
	/* Not every file system can sync a directory; the name is there all the same. */
	fsync(dirfd);
	return 0;
}

/* The sum is looked at before anything that it is of. */
static int check_sum(struct state *s)
{
	struct stat st;
	uint8_t sum[SUM];
	size_t n = 1;
	int err = fstat(s->fd, &st) < 0 ? hf_fault_set_fd("reading", s->fd, errno) : 0;

	if (!err && st.st_size < (off_t)sizeof magic + SUM)
		err = HF_ERR_STATE;
	s->end = err ? 0 : st.st_size - SUM;
	while (!err && n) {
		err = load(s, s->keep.buffer, sizeof s->keep.buffer, &n);
		if (!err)
			XXH3_64bits_update(s->hash, s->keep.buffer, n);
	}
	s->end += SUM;
	if (!err)
		err = load(s, sum, sizeof sum, &n);
	if (!err && hf_get64(sum) != XXH3_64bits_digest(s->hash))
		err = HF_ERR_STATE;
	s->end -= SUM;
	s->at = 0;
	return err;
}

static int read_file(int fd, struct hf_summary_place *place, hf_summary_keep_fn fn, void *ctx)
{
	struct state *s;
	int err = state_new(fd, &s);

	if (!err)
		err = check_sum(s);
	if (!err) {
		hf_keep_begin(&s->keep, true, load, s);
		keep_head(place, &s->keep);
		if (fn && !s->keep.err)
			fn(ctx, &s->keep);
		err = fn ? hf_keep_end(&s->keep) : s->keep.err;
	}
	state_free(s);
	return err;
}

int hf_summary_state_read(int dirfd, const struct hf_identity *identity, struct hf_summary_place *ret_place,
			  hf_summary_keep_fn fn, void *ctx)
{
	char name[HF_FILE_NAME_SIZE];
	int fd, err;

	*ret_place = (struct hf_summary_place){0};
	file_name(identity, name);
	err = hf_disk_file_open(dirfd, name, &fd);
	if (err)
		return err;
	err = read_file(fd, ret_place, fn, ctx);
	close(fd);
	return err;
}

void hf_summary_state_remove(int dirfd, const struct hf_identity *identity)
{
	char name[HF_FILE_NAME_SIZE];

	new_name(identity, name);
	unlinkat(dirfd, name, 0);
	file_name(identity, name);
	unlinkat(dirfd, name, 0);
}
