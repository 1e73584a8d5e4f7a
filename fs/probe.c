#include "fs/probe.h"

#include "fs/names.h"

#include <stdlib.h>
#include <unistd.h>

/* How much of a container is tried, one after the other, until it gives bytes: most give them from the first. */
static const size_t amounts[] = {16u << 10, 256u << 10, 5u << 20};

static size_t read_head(int fd, uint8_t *buf, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while (have < size && (n = pread(fd, buf + have, size - have, (off_t)have)) > 0)
		have += (size_t)n;
	return have;
}

/* The first decompressed bytes of the container whose first n bytes are given; 0 if there are not enough. */
static size_t unpack_head(const struct hf_box *box, const uint8_t *bytes, size_t n, uint8_t *head, size_t size)
{
	struct hf_src *src;
	struct hf_scan *scan;
	struct hf_point point;
	const uint8_t *out, *window;
	size_t have = 0;

	if (hf_src_memory_new(bytes, n, &src))
		return 0;
	if (box->scan_new(src, NULL, NULL, &scan, NULL) == 0) {
		while (have < size && box->scan_next(scan, &point, &out, &window, NULL) == 0) {
			size_t piece = point.out_size < size - have ? (size_t)point.out_size : size - have;

			if (!out)
				break;
			memcpy(head + have, out, piece);
			have += piece;
		}
		box->scan_free(scan);
	}
	hf_src_free(src);
	return have;
}

/* The head of the stream in the container, with as little reading as will do. */
static size_t stream_head(int fd, const struct hf_box *box, uint8_t *head)
{
	size_t have = 0;

	for (size_t i = 0; !have && i < sizeof amounts / sizeof *amounts; i++) {
		uint8_t *bytes = malloc(amounts[i]);
		size_t n;

		if (!bytes)
			break;
		n = read_head(fd, bytes, amounts[i]);
		have = unpack_head(box, bytes, n, head, HF_PROBE_SIZE);
		free(bytes);
		if (n < amounts[i])
			break;
	}
	return have;
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
	size_t n;
	int fd, err = hf_archive_open_file(archive, path, &fd, &st);

	if (err)
		return err;
	*ret_stamp = hf_stamp_of(&st);
	n = read_head(fd, head, sizeof head);
	*ret_box = hf_box_probe(head, n, (uint64_t)st.st_size);
	if (*ret_box)
		n = stream_head(fd, *ret_box, head);
	*ret_codec = n ? hf_codec_probe(head, n) : NULL;
	/* The index will say what is wrong with it. */
	if (!*ret_codec)
		*ret_codec = hf_name_claim(base_of(path));
	close(fd);
	return 0;
}
