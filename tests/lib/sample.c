/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/sample.h"

#include "tests/lib/sample_made.h"
#include "tests/lib/files.h"

#include <dirent.h>
#include <glob.h>
#include <stdarg.h>
#include <unistd.h>

#define EVENTS_MAX 2000000

/* ---- what a failure is about ---- */

static char about[256];

static void say_about(void)
{
	if (*about)
		fprintf(stderr, "%s\n", about);
}

void sample_about(const char *format, ...)
{
	static bool ready;
	va_list args;

	if (!ready)
		atexit(say_about);
	ready = true;
	*about = 0;
	if (!format)
		return;
	va_start(args, format);
	vsnprintf(about, sizeof about, format, args);
	va_end(args);
}

/* ---- the text of a sample ---- */

/* The line at *text without its end; *text goes behind it. */
static char *take_line(char **text)
{
	return strsep(text, "\n");
}

static void add_item(struct expected *e, const char *line)
{
	char *rest;

	if (e->n == e->cap) {
		e->cap = 2 * e->cap + 64;
		e->item = realloc(e->item, e->cap * sizeof *e->item);
		CHECK(e->item);
	}
	memset(&e->item[e->n], 0, sizeof *e->item);
	if (strcmp(line, "trap") == 0) {
		e->item[e->n++].trap = true;
		return;
	}
	e->item[e->n].pc = strtoull(line, &rest, 16);
	CHECK(rest != line);
	e->item[e->n].has_opcode = *rest;
	e->item[e->n++].opcode = (uint32_t)strtoul(rest, NULL, 16);
}

void sample_expect(struct sample *s, char *text)
{
	struct expected *e = &s->expected[0];
	unsigned hart;

	s->expected_count = 1;
	e->hart = UINT32_MAX;
	for (char *line; (line = take_line(&text));) {
		if (!*line || *line == '#')
			continue;
		if (sscanf(line, "markers %u", &e->markers) == 1)
			continue;
		if (sscanf(line, "hart %u", &hart) != 1) {
			add_item(e, line);
			continue;
		}
		if (e->hart != UINT32_MAX)
			e = &s->expected[s->expected_count++];
		CHECK(s->expected_count <= SAMPLE_HARTS);
		e->hart = hart;
	}
}

/* Bytes out of their hexadecimal text. */
static struct hf_walk_bytes from_hex(const struct hf_box *box, const char *text)
{
	struct hf_walk w;
	struct hf_walk_bytes out;

	hf_walk_memory(&w, box, text, strlen(text));
	CHECK_EQ(w.err, HF_NOTE_END);
	out = w.out;
	w.out = (struct hf_walk_bytes){0};
	hf_walk_free(&w);
	return out;
}

/* "FILE [hex|hex_words]" and its text. */
static void put_file(struct samples *all, const struct sample *s, char *head, const char *text)
{
	const char *name = strsep(&head, " ");
	const struct hf_box *box = !head ? NULL : strcmp(head, "hex") == 0 ? &hf_box_hex : &hf_box_hex_words;
	char path[256];

	snprintf(path, sizeof path, "%s/%s", s->name, name);
	if (box) {
		struct hf_walk_bytes bytes = from_hex(box, text);

		hf_fst_write(&all->fst, path, bytes.p, bytes.n);
		hf_bytes_free(&bytes);
	} else {
		hf_fst_write_text(&all->fst, path, text);
	}
}

static void put_text(struct samples *all, struct sample *s, char *text)
{
	char *at = *text == '@' ? text : strstr(text, "\n@");

	for (at += *at == '\n'; at;) {
		char *next = strstr(at + 1, "\n@"), *body = at + 1, *head = take_line(&body);

		if (next)
			next[1] = 0;
		if (strcmp(head, "expected") == 0)
			sample_expect(s, body);
		else
			put_file(all, s, head, body ? body : "");
		at = next ? next + 1 : NULL;
	}
}

/* ---- all of them ---- */

struct sample *samples_add(struct samples *all, const struct hf_codec *codec, const char *name)
{
	struct sample *s;

	if (all->n == all->cap) {
		all->cap = 2 * all->cap + 16;
		all->sample = realloc(all->sample, all->cap * sizeof *all->sample);
		CHECK(all->sample);
	}
	s = &all->sample[all->n++];
	*s = (struct sample){.codec = codec};
	snprintf(s->name, sizeof s->name, "%s/%s", codec->name, name);
	sample_about("%s", s->name);
	return s;
}

static void add_text(struct samples *all, const struct hf_codec *codec, const char *dir, const char *name)
{
	struct hf_walk_bytes text = hf_bytes_load(dir, name);
	struct sample *s;
	char stem[64];

	hf_bytes_add(&text, "", 1);
	snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "."), name);
	s = samples_add(all, codec, stem);
	put_text(all, s, (char *)text.p);
	hf_bytes_free(&text);
}

static int is_sample(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add_codec(struct samples *all, const struct hf_codec *codec, const char *dir)
{
	struct dirent **list;
	char path[4096];
	int n;

	snprintf(path, sizeof path, "%s/%s", dir, codec->name);
	n = scandir(path, &list, is_sample, alphasort);
	if (n <= 0) {
		fprintf(stderr, "the codec %s has no samples: there is nothing in %s\n", codec->name, path);
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, "made") == 0)
			samples_make(all, codec, path);
		else if (strcmp(list[i]->d_name, "corpus") != 0)
			add_text(all, codec, path, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

void samples_begin(struct samples *all, const struct hf_codec *const *codecs, const char *dir, const char *only)
{
	*all = (struct samples){.codecs = codecs};
	hf_fst_begin_quick(&all->fst);
	for (size_t i = 0; codecs[i]; i++)
		/* One that lists records and no more has nothing to compare. */
		if (codecs[i]->dec && codecs[i]->dec != codecs[i]->records && (!only || strcmp(codecs[i]->name, only) == 0))
			add_codec(all, codecs[i], dir);
	CHECK(all->n);
	sample_about(NULL);
}

/* line: "PATTERN [LOOP]". */
static void add_pattern(struct samples *all, const struct hf_codec *codec, const char *corpus, char *line,
			const char *loop)
{
	const char *pattern = strsep(&line, " ");
	char path[4096];
	glob_t g;

	if (line && strcmp(line, loop) == 0)
		return;
	snprintf(path, sizeof path, "%s/%s", corpus, pattern);
	sample_about("%s", path);
	CHECK_EQ(glob(path, 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		samples_add(all, codec, g.gl_pathv[i] + strlen(corpus) + 1)->path = strdup(g.gl_pathv[i]);
	globfree(&g);
}

void samples_add_corpus(struct samples *all, const char *dir, const char *loop)
{
	const char *corpus = getenv("HARTFS_CORPUS");

	for (size_t i = 0; all->codecs[i]; i++) {
		struct hf_walk_bytes list;
		char name[4096], *rest;

		snprintf(name, sizeof name, "%s/%s/corpus", dir, all->codecs[i]->name);
		if (access(name, R_OK))
			continue;
		if (!corpus || !*corpus) {
			printf("IN PART: HARTFS_CORPUS is not set, so what %s lists is left out\n", name);
			continue;
		}
		list = hf_bytes_load("", name);
		hf_bytes_add(&list, "", 1);
		rest = (char *)list.p;
		for (char *line; (line = take_line(&rest));)
			if (*line && *line != '#')
				add_pattern(all, all->codecs[i], corpus, line, loop);
		hf_bytes_free(&list);
	}
	sample_about(NULL);
}

void samples_end(struct samples *all)
{
	sample_about(NULL);
	for (size_t i = 0; i < all->n; i++)
		free(all->sample[i].path);
	for (size_t i = 0; i < all->n; i++)
		for (size_t h = 0; h < all->sample[i].expected_count; h++)
			free(all->sample[i].expected[h].item);
	free(all->sample);
	hf_fst_end(&all->fst);
}

void samples_each(struct samples *all, void (*fn)(struct sample *s))
{
	for (size_t i = 0; i < all->n; i++) {
		struct sample *s = &all->sample[i];

		sample_about("%s", s->name);
		sample_load(s, all->codecs, s->path ? s->path : hf_fst_path(&all->fst, s->name));
		fn(s);
		sample_unload(s);
		sample_about(NULL);
	}
}

/* ---- one of them ---- */

/* What is in a file that may be a container. */
static struct hf_walk_bytes load_stream(const char *dir, const char *name)
{
	struct hf_walk_bytes file = hf_bytes_load(dir, name);
	const struct hf_box *box = hf_box_probe(file.p, file.n < HF_PROBE_SIZE ? file.n : HF_PROBE_SIZE, file.n);
	struct hf_walk w;

	if (!box)
		return file;
	hf_walk_memory(&w, box, file.p, file.n);
	hf_bytes_free(&file);
	hf_bytes_add(&file, w.out.p, w.out.n);
	hf_walk_free(&w);
	return file;
}

static void load_described(struct sample *s, const struct hf_codec *const *codecs, const char *dir, const char *name)
{
	const struct hf_setup_opener opener = hf_files_in(dir, codecs);
	struct hf_setup_error error = {.line = 0};
	struct hf_src *src;
	size_t got;

	if (hf_setup_read(&opener, name, &s->setup, &error) || hf_setup_load(s->setup, &opener, &src, &error)) {
		fprintf(stderr, "%s/%s:%u: %s\n", dir, error.file, (unsigned)error.line, error.text);
		exit(1);
	}
	CHECK_STR(s->setup->format, s->codec->name);
	CHECK(src->size != HF_NOWHERE);
	s->bytes.p = malloc(src->size + 1);
	CHECK(s->bytes.p);
	CHECK_EQ(hf_src_read_at(src, 0, s->bytes.p, src->size, &got, NULL), 0);
	CHECK_EQ(got, src->size);
	s->bytes.n = s->bytes.cap = got;
	hf_src_free(src);
}

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_REG;
}

/* The name of the file in the directory that is to be opened. */
static void choose(const char *dir, char *name, size_t size)
{
	static const char *const descriptions[] = {"capture.ini", "snapshot.ini"};
	struct dirent **list;
	char path[4096 + 16];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, descriptions[i]);
		snprintf(name, size, "%s", descriptions[i]);
		if (access(path, R_OK) == 0)
			return;
	}
	CHECK_EQ(scandir(dir, &list, is_file, alphasort), 1);
	snprintf(name, size, "%s", list[0]->d_name);
	free(list[0]);
	free(list);
}

static void find_harts(struct sample *s)
{
	struct hf_event ev[64];
	struct hf_dec *dec;
	const uint32_t *ids;
	size_t n;

	CHECK_EQ(hf_dec_new(s->stream, s->src, s->stream->info.first_hart, &dec), 0);
	while (hf_dec_next(dec, ev, 64, &n) == 0)
		;
	ids = hf_dec_harts(dec, &s->hart_count);
	CHECK(s->hart_count < SAMPLE_HARTS);
	memcpy(s->harts, ids, s->hart_count * sizeof *ids);
	hf_dec_free(dec);
	if (hf_dec_new(s->stream, s->src, HF_HART_RECORDS, &dec))
		return;
	hf_dec_free(dec);
	s->harts[s->hart_count++] = HF_HART_RECORDS;
}

void sample_load(struct sample *s, const struct hf_codec *const *codecs, const char *path)
{
	char dir[4096], name[512];
	DIR *opened = opendir(path);

	s->setup = NULL;
	snprintf(dir, sizeof dir, "%s", path);
	if (opened) {
		closedir(opened);
		choose(dir, name, sizeof name);
	} else {
		*strrchr(dir, '/') = 0;
		snprintf(name, sizeof name, "%s", path + strlen(dir) + 1);
	}
	if (strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".ini") == 0)
		load_described(s, codecs, dir, name);
	else
		s->bytes = load_stream(dir, name);
	CHECK_EQ(sample_open(s, s->bytes.n, &s->src, &s->stream), 0);
	find_harts(s);
}

void sample_unload(struct sample *s)
{
	hf_stream_close(s->stream);
	hf_src_free(s->src);
	hf_setup_free(s->setup);
	hf_bytes_free(&s->bytes);
}

int sample_open(struct sample *s, size_t n, struct hf_src **ret_src, struct hf_stream **ret_stream)
{
	uint64_t offset = 0;
	struct hf_diag diag;
	int err;

	for (size_t i = 0; s->setup && i < s->setup->part_count; i++) {
		struct hf_setup_part *part = &s->setup->parts[i];
		const uint64_t end = i + 1 < s->setup->part_count ? part[1].offset : s->bytes.n;

		part->size = (end < n ? end : n < part->offset ? part->offset : n) - part->offset;
		offset = end;
	}
	CHECK(!s->setup || offset == s->bytes.n);
	CHECK_EQ(hf_src_memory_new(s->bytes.p, n, ret_src), 0);
	err = hf_stream_open(s->codec, *ret_src, s->setup, ret_stream, &diag);
	if (!err)
		return 0;
	CHECK(err < 0);
	CHECK(hf_err_class(err) != HF_CLASS_bug);
	hf_src_free(*ret_src);
	return err;
}

struct hf_events sample_events(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, size_t batch,
			       int *ret_err)
{
	struct hf_events list = {0};
	struct hf_event ev[512];
	struct hf_dec *dec;
	size_t n;

	CHECK(batch <= 512);
	*ret_err = hf_dec_new(stream, src, hart, &dec);
	if (*ret_err)
		return list;
	while ((*ret_err = hf_dec_next(dec, ev, batch, &n)) == 0) {
		CHECK(n >= 1 && n <= batch);
		hf_events_add(&list, ev, n);
		CHECK(list.n < EVENTS_MAX);
	}
	/* What ended stays so. */
	CHECK_EQ(hf_dec_next(dec, ev, batch, &n), *ret_err);
	CHECK_EQ(n, 0);
	CHECK(*ret_err > 0 || hf_err_class(*ret_err) != HF_CLASS_bug);
	hf_dec_free(dec);
	return list;
}

struct hf_events sample_all(const struct sample *s, uint32_t hart, size_t batch)
{
	int err;
	struct hf_events list = sample_events(s->stream, s->src, hart, batch, &err);

	CHECK_EQ(err, HF_NOTE_END);
	return list;
}

size_t sample_insns(const struct hf_events *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->ev[i].kind == HF_EVENT_INSN;
	return n;
}

void sample_check_expected(const struct sample *s, size_t n, const struct hf_events *list)
{
	const struct expected *e = &s->expected[n];
	size_t at = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (ev->kind != HF_EVENT_INSN && ev->kind != HF_EVENT_TRAP)
			continue;
		if (at == e->n || e->item[at].trap != (ev->kind == HF_EVENT_TRAP) ||
		    (ev->kind == HF_EVENT_INSN && (ev->insn.pc != e->item[at].pc ||
						   (e->item[at].has_opcode && ev->insn.opcode != e->item[at].opcode)))) {
			fprintf(stderr, "%s: item %zu of %zu: %s %" PRIx64 " %08x is not %s %" PRIx64 " %08x\n", s->name,
				at, e->n, ev->kind == HF_EVENT_TRAP ? "trap" : "instruction",
				ev->kind == HF_EVENT_TRAP ? 0 : ev->insn.pc,
				ev->kind == HF_EVENT_TRAP ? 0 : ev->insn.opcode,
				at == e->n ? "the end" : e->item[at].trap ? "trap" : "instruction",
				at == e->n ? 0 : e->item[at].pc, at == e->n ? 0 : e->item[at].opcode);
			exit(1);
		}
		at++;
	}
	CHECK_EQ(at, e->n);
}
