/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountinfo of the kernel: first, as any bytes, a line; then a line that has the input for its mount point, source and
 * options, written as the kernel writes them, where what was put in must come out again, and nothing of one in another.
 */
#include "mountd/mounts.c"

#include "tests/lib/fuzz.h"

/* As seq_escape does: blanks and the backslash in octal digits. */
HF_NO_COVERAGE static size_t escape(const char *from, char *to)
{
	char *p = to;

	for (; *from; from++)
		p += strchr(" \t\n\\", *from) ? sprintf(p, "\\%03o", (unsigned char)*from) : (*p = *from, 1);
	*p = 0;
	return (size_t)(p - to);
}

static void take_any(const uint8_t *bytes, size_t n, const char *path)
{
	struct hf_mount_entry entry = {.dev = 77};
	char *line = malloc(n + 1);
	bool found;

	MUST(line);
	memcpy(line, bytes, n);
	line[n] = 0;
	found = parse_line(line, path, &entry);
	MUST(found ? memchr(entry.type, 0, sizeof entry.type) != NULL : entry.dev == 77);
	free(line);
}

/* The first byte says how far which part goes, the second and the third are numbers. */
static void take_spelled(const uint8_t *bytes, size_t n)
{
	char point[256], source[256], text[1100], escaped[1100], line[4096];
	struct hf_mount_entry entry;
	const size_t at = bytes[0] % (n - 2);
	const unsigned a = bytes[1], b = bytes[2];
	const bool ours = a & 1;

	snprintf(point, sizeof point, "/%.*s", (int)at, (const char *)bytes + 3);
	snprintf(source, sizeof source, "%.*s", (int)(n - 3 - at), (const char *)bytes + 3 + at);
	escape(point, text);
	escape(source, escaped);
	snprintf(line, sizeof line,
		 "36 35 %u:%u / %s rw,nosuid shared:1 - %s %s rw,user_id=%u,group_id=%u,allow_other\n", a, b, text,
		 ours ? "fuse.hartfs" : "fuse.hartfsx", *escaped ? escaped : "none", 7 * a, 3 * b);
	MUST(parse_line(line, point, &entry));
	MUST(entry.dev == makedev(a, b) && entry.uid == 7 * a && entry.gid == 3 * b);
	MUST(hf_mounts_is_ours(&entry) == ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n > 200)
		return 0;
	take_any(bytes, n, "/m");
	take_any(bytes, n, "/a b");
	if (n >= 3)
		take_spelled(bytes, n);
	return 0;
}
