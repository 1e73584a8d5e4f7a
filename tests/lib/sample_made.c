/* SPDX-License-Identifier: Apache-2.0 */
/* Samples out of the recorded captures of tests/data: a slice of one, as the view of a format, is a capture of it. */
#include "tests/lib/sample_made.h"

#include "tests/lib/rvtrace.h"

/* So much of a recorded capture is enough for every slice that is asked for. */
#define STREAM_MOST (600u << 10)
#define FILE_MOST (100u << 10) /* of one that is packed in itself; of a packed file, more than that unpacked */
#define PCS_MOST (128u << 10) /* of what was logged */

static const char *data_dir(void)
{
	const char *dir = getenv("HARTFS_DATA");

	CHECK(dir);
	return dir;
}

/* "rv-sys" of "archive/boot/rv-sys.stf.gz"; *ret_format: "stf". */
static void split(const char *capture, char *stem, size_t size, char *format)
{
	const char *name = strrchr(capture, '/') + 1, *dot = strchr(name, '.');

	snprintf(stem, size, "%.*s", (int)(dot - name), name);
	snprintf(format, size, "%.*s", (int)strcspn(dot + 1, "."), dot + 1);
}

/* The beginning of the capture, as a file of its own. */
static void put_beginning(struct hf_fst *from, const char *capture, const char *name)
{
	struct hf_walk_bytes file = hf_bytes_load(data_dir(), capture);
	size_t most = FILE_MOST;

	if (strstr(capture, ".gz")) {
		struct hf_walk w;

		hf_walk_memory(&w, &hf_box_gzip, file.p, file.n < FILE_MOST ? file.n : FILE_MOST);
		CHECK(w.err == HF_NOTE_END || w.out.n >= STREAM_MOST);
		hf_bytes_free(&file);
		file = w.out;
		w.out = (struct hf_walk_bytes){0};
		hf_walk_free(&w);
	}
	if (!strstr(capture, ".astf"))
		most = STREAM_MOST;
	hf_fst_write(from, name, file.p, file.n < most ? file.n : most);
	hf_bytes_free(&file);
}

/* golden/STEM/FILE, or NULL. */
static char *golden(const char *stem, const char *file)
{
	char path[4096];
	size_t size;

	snprintf(path, sizeof path, "%s/golden/%s/%s", data_dir(), stem, file);
	return hf_rvtrace_read_file(path, PCS_MOST, &size);
}

/* The first line of the events that is behind instruction first; *line goes there. */
static bool next_trap(char **line, size_t first, size_t *ret_at)
{
	char kind[16];

	for (char *text; *line && (text = strsep(line, "\n"));)
		if (sscanf(text, "%zu %*u %15s", ret_at, kind) == 2 && *ret_at > first &&
		    (strcmp(kind, "exc") == 0 || strcmp(kind, "int") == 0))
			return true;
	return false;
}

/* What the emulator logged of the slice. */
static void expect_slice(struct sample *s, const char *stem, size_t first, size_t last)
{
	char *pcs = golden(stem, "pcs.txt.xz"), *events = golden(stem, "events.txt"), *line = pcs, *rest = events;
	struct hf_walk_bytes text = {0};
	size_t trap = SIZE_MAX;

	CHECK(pcs);
	if (!next_trap(&rest, first, &trap))
		trap = SIZE_MAX;
	for (size_t i = 0; i <= last; i++) {
		const char *pc = strsep(&line, "\n");

		CHECK(pc);
		for (; trap == i; trap = next_trap(&rest, first, &trap) ? trap : SIZE_MAX)
			hf_bytes_add(&text, "trap\n", 5);
		if (i >= first) {
			hf_bytes_add(&text, pc, strlen(pc));
			hf_bytes_add(&text, "\n", 1);
		}
	}
	hf_bytes_add(&text, "", 1);
	sample_expect(s, (char *)text.p);
	hf_bytes_free(&text);
	free(pcs);
	free(events);
}

/* Copies from/dir/file to the sample. */
static void copy_file(struct samples *all, const struct sample *s, struct hf_fst *from, const char *dir, const char *file)
{
	struct hf_walk_bytes bytes;
	char path[512];

	snprintf(path, sizeof path, "%s/%s", dir, file);
	bytes = hf_fst_read(from, path, 1 << 16);
	snprintf(path, sizeof path, "%s/%s", s->name, file);
	hf_fst_write(&all->fst, path, bytes.p, bytes.n);
	hf_bytes_free(&bytes);
}

/* The view of the codec's name. */
static const char *view_of(const struct hf_codec *codec)
{
	for (size_t i = 0; hf_views[i]; i++)
		if (strcmp(hf_views[i]->name, codec->name) == 0)
			return hf_views[i]->view;
	fprintf(stderr, "no view has the name of the codec\n");
	exit(1);
}

static void copy_view(struct samples *all, const struct sample *s, struct hf_fst *from, char *dir, size_t size)
{
	const char *view = view_of(s->codec), *slash = strchr(view, '/');
	char *names, *rest;

	if (!slash) {
		copy_file(all, s, from, dir, view);
		return;
	}
	snprintf(dir + strlen(dir), size - strlen(dir), "/%.*s", (int)(slash - view), view);
	rest = names = hf_fst_list(from, dir);
	for (char *name; (name = strsep(&rest, "\n")) && *name;)
		copy_file(all, s, from, dir, name);
	free(names);
}

static void make_one(struct samples *all, const struct hf_codec *codec, const char *line)
{
	char name[64], capture[128], params[256] = "", stem[64], format[64], dir[300];
	unsigned first, last;
	struct hf_fs_options options = {.params = params};
	struct hf_fst from;
	struct sample *s;

	CHECK(sscanf(line, "%63s %127s %u-%u %255s", name, capture, &first, &last, params) >= 4);
	s = samples_add(all, codec, name);
	split(capture, stem, sizeof stem, format);
	hf_fst_begin_quick(&from);
	snprintf(dir, sizeof dir, "%s.%s", stem, format);
	put_beginning(&from, capture, dir);
	hf_fst_open(&from, &options);
	snprintf(dir, sizeof dir, "%s@%s/hart0/at/%u-%u", stem, format, first, last);
	copy_view(all, s, &from, dir, sizeof dir);
	hf_fst_end(&from);
	expect_slice(s, stem, first, last);
}

void samples_make(struct samples *all, const struct hf_codec *codec, const char *dir)
{
	struct hf_walk_bytes text = hf_bytes_load(dir, "made");
	char *rest;

	hf_bytes_add(&text, "", 1);
	rest = (char *)text.p;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line && *line != '#')
			make_one(all, codec, line);
	hf_bytes_free(&text);
}
