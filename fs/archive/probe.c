/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/probe.h"

#include "fs/archive/names.h"

#include <stdlib.h>
#include <unistd.h>

/* How much of a container is tried, one after the other, until it gives enough: most do from the first. */
static const size_t amounts[] = {4u << 10, 16u << 10, 256u << 10, 5u << 20};

/* What is looked at of a container, and what comes out of it, where the first bytes do not tell. */
enum { PACKED_SIZE = 1 << 20, UNPACKED_SIZE = 1 << 20 };

/* The first decompressed bytes, head[size] at the most, of the container whose first n bytes are given; *ret_n is 0 if
 * there are not enough. */
static int unpack_head(const struct hf_box *box, const uint8_t *bytes, size_t n, uint8_t *head, size_t size,
		       size_t *ret_n)
{
	struct hf_src *src;
	struct hf_scan *scan;
	struct hf_point point = {.out_size = size};
	const uint8_t *out, *window;
	int err = hf_src_memory_new(bytes, n, &src);

	*ret_n = 0;
	if (err)
		return err;
	/* A scan would make a whole block, of 1 MiB, or say why the stream has fewer bytes. */
	if (box->read_block && !box->read_block(box, src, &point, NULL, 0, head, size, NULL)) {
		*ret_n = size;
		hf_src_free(src);
		return 0;
	}
	err = box->scan_new(box, src, NULL, NULL, &scan, NULL);
	if (!err) {
		while (*ret_n < size && !(err = box->scan_next(scan, &point, &out, &window, NULL)) && out) {
			size_t room = size - *ret_n;
			size_t piece = point.out_size < room ? (size_t)point.out_size : room;

			memcpy(head + *ret_n, out, piece);
			*ret_n += piece;
		}
		box->scan_free(scan);
	}
	hf_src_free(src);
	/* Anything else is the content's, and the index will say so. */
	return err == HF_ERR_NOMEM && !*ret_n ? err : 0;
}

/* The head of the stream in the container, head[size] at the most, with as little reading as will do. */
static int stream_head(int fd, const struct hf_box *box, uint8_t *head, size_t size, size_t *ret_n)
{
	int err = 0;

	*ret_n = 0;
	for (size_t i = 0; *ret_n < size && i < sizeof amounts / sizeof *amounts && !err; i++) {
		uint8_t *bytes = malloc(amounts[i]);
		size_t n;

		if (!bytes)
			return HF_ERR_NOMEM;
		err = hf_archive_pread(fd, bytes, amounts[i], 0, &n);
		if (!err)
			err = unpack_head(box, bytes, n, head, size, ret_n);
		free(bytes);
		if (n < amounts[i])
			break;
	}
	return err;
}

/* Whether what such a container begins with is a capture of that codec. */
static int confirm_packed(int fd, const struct hf_box *box, const struct hf_codec *codec, bool *ret_ours)
{
	uint8_t *bytes = malloc(PACKED_SIZE + UNPACKED_SIZE), *stream = bytes + PACKED_SIZE;
	struct hf_src *src = NULL;
	size_t n;
	int err = bytes ? hf_archive_pread(fd, bytes, PACKED_SIZE, 0, &n) : HF_ERR_NOMEM;

	if (!err)
		err = unpack_head(box, bytes, n, stream, UNPACKED_SIZE, &n);
	if (!err)
		err = hf_src_memory_new(stream, n, &src);
	if (!err)
		err = codec->confirm(src, ret_ours);
	hf_src_free(src);
	free(bytes);
	return err;
}

/* The same of a plain file; takes fd. */
static int confirm_plain(const struct hf_archive *archive, int fd, const struct hf_codec *codec, bool *ret_ours)
{
	struct hf_src *src;
	int err = hf_archive_source(archive, fd, &src, NULL);

	if (err)
		return err;
	err = codec->confirm(src, ret_ours);
	hf_src_free(src);
	return err;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int hf_probe_file(const struct hf_archive *archive, const char *path, const struct hf_box **ret_box,
		  const struct hf_codec **ret_codec, struct hf_stamp *ret_stamp)
{
	uint8_t head[HF_PROBE_SIZE];
	struct stat st;
	bool ours = true;
	size_t n;
	int fd, err = hf_archive_open_file(archive, path, &fd, &st);

	if (err)
		return err;
	*ret_stamp = hf_stamp_of(&st);
	err = hf_archive_pread(fd, head, sizeof head, 0, &n);
	*ret_box = hf_box_probe(head, n, (uint64_t)st.st_size);
	if (*ret_box && !err)
		err = stream_head(fd, *ret_box, head, sizeof head, &n);
	*ret_codec = n ? hf_codec_probe(head, n) : NULL;
	if (!err && *ret_codec && (*ret_codec)->confirm && *ret_box) {
		err = confirm_packed(fd, *ret_box, *ret_codec, &ours);
	} else if (!err && *ret_codec && (*ret_codec)->confirm) {
		err = confirm_plain(archive, fd, *ret_codec, &ours);
		fd = -1;
	}
	if (!ours)
		*ret_codec = NULL;
	/* The index will say what is wrong with it. */
	if (!*ret_codec)
		*ret_codec = hf_name_claim(base_of(path));
	if (fd >= 0)
		close(fd);
	return err;
}

int hf_probe_head(const struct hf_archive *archive, const char *path, uint8_t *head, size_t size, size_t *ret_n)
{
	const struct hf_box *box;
	struct stat st;
	int fd, err = hf_archive_open_file(archive, path, &fd, &st);

	*ret_n = 0;
	if (err)
		return err;
	err = hf_archive_pread(fd, head, size, 0, ret_n);
	box = err ? NULL : hf_box_probe(head, *ret_n < HF_PROBE_SIZE ? *ret_n : HF_PROBE_SIZE, (uint64_t)st.st_size);
	if (box)
		err = stream_head(fd, box, head, size, ret_n);
	close(fd);
	return err;
}
