/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhartfs by its header alone: the instructions of every hart of every sample are those of its listing, from every
 * ordinal, across chunks, of every view and of a range; a byte of a listing belongs to the instruction of its line; and
 * many threads may do all of it with one view.
 */
#include "fs/hartfs.h"
#include "tests/lib/sample.h"
#include "tests/lib/zstftest.h"

#include <pthread.h>

enum { BATCH = 64, THREADS = 4 };

/* A line of a listing as an event, as far as a line says it. */
struct line {
	struct hartfs_event ev;
	char mode[16], symbol[128];
	size_t offset; /* of the line in the text */
};

struct listing {
	char *text;
	size_t size;
	struct line *line;
	size_t n, cap;
};

static struct hartfs_archive *archive;
static struct hartfs_diag diag;
static size_t harts, formats, lost;

static void must(int error)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s (%s)\n", diag.capture, diag.text, hartfs_error_text(error));
	exit(1);
}

/* ---- a listing, read and understood ---- */

static char *read_all(struct hartfs_view *view, size_t step)
{
	const size_t size = (size_t)hartfs_view_size(view);
	char *text = malloc(size + 1);
	size_t n;

	CHECK(text);
	for (size_t at = 0; at < size; at += n) {
		must(hartfs_view_read(view, at, text + at, size - at < step ? size - at : step, &n, &diag));
		CHECK(n);
	}
	text[size] = 0;
	return text;
}

/* "R8", "W4", "RW16" */
static bool is_access(const char *word, struct hartfs_event *ev)
{
	char *end;
	const bool reads = *word == 'R', writes = word[reads] == 'W';
	const unsigned long size = strtoul(word + reads + writes, &end, 10);

	if ((!reads && !writes) || *end || end == word + reads + writes)
		return false;
	if (ev->accesses++)
		return true;
	ev->flags |= (reads ? HARTFS_EVENT_READ : 0u) | (writes ? HARTFS_EVENT_WRITE : 0u);
	ev->access_size = (uint32_t)size;
	return true;
}

/* What follows the size of the first access: ADDRESS[{...}][=DATA], or "?" for the address. */
static void take_address(const char *word, struct hartfs_event *ev)
{
	const char *data = strchr(word, '=');

	while (data && strchr(data + 1, '}'))
		data = strchr(data + 1, '=');
	if (*word != '?') {
		ev->flags |= HARTFS_EVENT_ADDRESS;
		ev->address = strtoull(word, NULL, 16);
	}
	if (data && ev->access_size <= 8) {
		ev->flags |= HARTFS_EVENT_DATA;
		ev->data = strtoull(data + 1, NULL, 16);
	}
}

static void take_words(char *words, struct line *line)
{
	struct hartfs_event *ev = &line->ev;

	for (char *word; (word = strsep(&words, " "));) {
		const bool first = !ev->accesses;

		if (*word == '<' && word[strlen(word) - 1] == '>') {
			word[strlen(word) - 1] = 0;
			snprintf(line->symbol, sizeof line->symbol, "%.*s", (int)strcspn(word + 1, "+"), word + 1);
			ev->symbol_offset = strchr(word, '+') ? strtoull(strchr(word, '+') + 1, NULL, 16) : 0;
		} else if (strcmp(word, "->") == 0 && words) {
			ev->flags |= HARTFS_EVENT_TAKEN;
			ev->target = strtoull(strsep(&words, " "), NULL, 16);
		} else if (is_access(word, ev) && first && words) {
			take_address(strsep(&words, " "), ev);
		}
	}
}

static void take_note(const char *note, struct hartfs_event *ev)
{
	const bool trap = strncmp(note, "# trap ", 7) == 0, async = trap && strncmp(note + 7, "interrupt", 9) == 0;
	const char *cause = trap ? strstr(note, " cause=") : NULL;

	if (cause && !(ev->flags & (HARTFS_EVENT_EXCEPTION | HARTFS_EVENT_INTERRUPT)) && cause[7] != '?') {
		ev->flags |= HARTFS_EVENT_CAUSE;
		ev->cause = strtoull(cause + 7, NULL, 10);
	}
	if (trap)
		ev->flags |= async ? HARTFS_EVENT_INTERRUPT : HARTFS_EVENT_EXCEPTION;
	ev->flags |= strncmp(note, "# attempt ", 10) == 0 ? HARTFS_EVENT_ATTEMPT : 0u;
	ev->flags |= strncmp(note, "# discontinuity ", 16) == 0 ? HARTFS_EVENT_JUMP : 0u;
	ev->flags |= strncmp(note, "# gap ", 6) == 0 ? HARTFS_EVENT_LOST : 0u;
	ev->flags |= strncmp(note, "# doubt ", 8) == 0 ? HARTFS_EVENT_DOUBT : 0u;
}

static void take_line(struct listing *l, char *text, size_t offset)
{
	struct line line = {.offset = offset};
	char opcode[16];
	int n = 0;

	if (*text == '#') {
		if (l->n)
			take_note(text, &l->line[l->n - 1].ev);
		return;
	}
	CHECK_EQ(sscanf(text, "%" SCNu64 " %15s %" SCNx64 " %15s%n", &line.ev.ordinal, line.mode, &line.ev.pc, opcode,
			&n),
		 4);
	line.ev.opcode = (uint32_t)strtoul(opcode, NULL, 16);
	line.ev.size = (uint8_t)(strlen(opcode) / 2);
	take_words(text + n, &line);
	if (l->n == l->cap) {
		l->cap = 2 * l->cap + 256;
		l->line = realloc(l->line, l->cap * sizeof *l->line);
		CHECK(l->line);
	}
	l->line[l->n++] = line;
}

static struct listing read_listing(struct hartfs_view *view)
{
	struct listing l = {.text = read_all(view, 997), .size = (size_t)hartfs_view_size(view)};
	char *copy = strdup(l.text), *rest = copy;

	for (char *text; (text = strsep(&rest, "\n"));)
		if (*text)
			take_line(&l, text, (size_t)(text - copy));
	free(copy);
	return l;
}

static void free_listing(struct listing *l)
{
	free(l->text);
	free(l->line);
}

/* ---- events against it ---- */

static void check_event(const struct hartfs_event *ev, const struct line *line)
{
	const struct hartfs_event *want = &line->ev;
	const unsigned unsaid = HARTFS_EVENT_OPEN; /* a line leaves it out */

	CHECK_EQ(ev->ordinal, want->ordinal);
	CHECK_EQ(ev->pc, want->pc);
	CHECK_EQ(ev->opcode, want->opcode);
	CHECK_EQ(ev->size, want->size);
	CHECK_STR(ev->mode, line->mode);
	CHECK_EQ(ev->flags & ~unsaid, want->flags);
	CHECK_EQ(ev->target, want->target);
	CHECK_EQ(ev->accesses, want->accesses);
	CHECK_EQ(ev->access_size, want->access_size);
	CHECK_EQ(ev->address, want->address);
	CHECK_EQ(ev->data, want->data);
	CHECK_EQ(ev->cause, want->cause);
	CHECK_STR(ev->symbol ? ev->symbol : "", line->symbol);
	CHECK_EQ(ev->symbol_offset, want->symbol_offset);
}

/* count instructions from the place at on, batch at a time. */
static void check_from(struct hartfs_view *view, const struct listing *l, size_t at, size_t count, size_t batch)
{
	const size_t end = count < l->n - at ? at + count : l->n;
	uint64_t next = at < l->n ? l->line[at].ev.ordinal : l->line[l->n - 1].ev.ordinal + 1;
	struct hartfs_event ev[BATCH];
	struct hartfs_diag own = {0};
	size_t n;

	while (at < end) {
		if (hartfs_view_events(view, next, ev, batch, &n, &own)) {
			fprintf(stderr, "%s\n", own.text);
			exit(1);
		}
		CHECK(n && n <= l->n - at);
		for (size_t i = 0; i < n; i++)
			check_event(&ev[i], &l->line[at + i]);
		at += n;
		next += n;
	}
	if (at == l->n) {
		CHECK_EQ(hartfs_view_events(view, next, ev, batch, &n, &own), 0);
		CHECK_EQ(n, 0);
	}
}

static void check_ordinals(struct hartfs_view *view, const struct listing *l)
{
	const size_t step = sample_step(l->n, 200, 20);
	uint64_t ordinal;

	for (size_t i = 0; i < l->n; i += step) {
		must(hartfs_view_ordinal(view, l->line[i].offset, &ordinal, &diag));
		CHECK_EQ(ordinal, l->line[i].ev.ordinal);
		must(hartfs_view_ordinal(view, l->line[i].offset + 3, &ordinal, &diag));
		CHECK_EQ(ordinal, l->line[i].ev.ordinal);
	}
	CHECK_EQ(hartfs_view_ordinal(view, l->size, &ordinal, &diag), HARTFS_ERROR_MISUSE);
}

/* A range in the middle: "DIR/at/FIRST-LAST/listing.txt". */
static void check_range(const char *dir, const struct listing *whole)
{
	const size_t first = whole->n / 3, last = whole->n - 1 - whole->n / 4;
	struct hartfs_event ev;
	struct hartfs_view *view;
	struct listing l;
	char path[512];
	size_t n;

	snprintf(path, sizeof path, "%s/at/%zu-%zu/listing.txt", dir, first, last);
	must(hartfs_view_open(archive, path, &view, &diag));
	l = read_listing(view);
	CHECK_EQ(l.n, last - first + 1);
	check_from(view, &l, 0, l.n, 5);
	check_from(view, &l, l.n / 2, 9, 3);
	check_ordinals(view, &l);
	/* Before its first means the first. */
	must(hartfs_view_events(view, 0, &ev, 1, &n, &diag));
	CHECK_EQ(n, 1);
	CHECK_EQ(ev.ordinal, first);
	must(hartfs_view_events(view, last + 1, &ev, 1, &n, &diag));
	CHECK_EQ(n, 0);
	hartfs_view_close(view);
	free_listing(&l);
}

/* ---- every sample ---- */

struct hart {
	uint32_t id;
	const struct listing *listing;
	unsigned files;
};

static bool check_file(void *ctx, const struct hartfs_file *file)
{
	struct hart *hart = ctx;
	struct hartfs_view *view;

	if (file->hart != hart->id)
		return true;
	CHECK_EQ(file->instructions, hart->listing->n);
	must(hartfs_view_open(archive, file->path, &view, &diag));
	CHECK_EQ(hartfs_view_size(view), file->size);
	check_from(view, hart->listing, hart->listing->n / 2, 20, 7);
	hartfs_view_close(view);
	hart->files++;
	return true;
}

static void check_hart(const char *capture, const struct hartfs_file *file)
{
	const struct hartfs_file own = *file;
	struct hartfs_view *view;
	struct listing l;
	struct hart hart = {own.hart, &l, 0};
	char *dir = strdup(own.path);
	size_t step;

	*strrchr(dir, '/') = 0;
	must(hartfs_view_open(archive, own.path, &view, &diag));
	l = read_listing(view);
	CHECK_EQ(l.n, own.instructions);
	check_from(view, &l, 0, l.n, BATCH);
	check_from(view, &l, 0, l.n, 1);
	step = sample_step(l.n, 300, 100);
	for (size_t i = 0; i < l.n; i += step)
		check_from(view, &l, i, 12, 5);
	check_ordinals(view, &l);
	hartfs_view_close(view);
	if (l.n > 1)
		check_range(dir, &l);
	must(hartfs_each_file(archive, capture, check_file, &hart, &diag));
	CHECK(hart.files >= 2);
	harts++;
	for (size_t i = 0; i < l.n; i++)
		lost += (l.line[i].ev.flags & HARTFS_EVENT_LOST) != 0;
	free_listing(&l);
	free(dir);
}

static bool check_listing(void *ctx, const struct hartfs_file *file)
{
	const size_t n = strlen(file->path);

	if (file->hart == HARTFS_NO_HART) {
		CHECK_EQ(file->instructions, 0);
	} else if (n > 12 && strcmp(file->path + n - 12, "/listing.txt") == 0 && file->instructions) {
		sample_about("%s", file->path);
		check_hart(ctx, file);
	}
	return true;
}

static bool check_capture(void *ctx, const char *path, const char *view_dir)
{
	char own[512];

	(void)ctx, (void)view_dir;
	snprintf(own, sizeof own, "%s", path);
	must(hartfs_each_file(archive, own, check_listing, own, &diag));
	return true;
}

static void open_archive(const char *dir, const char *index)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;

	options.archive = dir;
	options.index = index;
	options.chunk = 7;
	options.threads = options.index_threads = 2;
	must(hartfs_open(&options, &archive, &diag));
}

/* A container of which two chunks are damaged, and a stream with bytes of no record. */
static void write_damaged(struct hf_fst *t)
{
	struct hf_walk_bytes stf = hf_fst_stf(500, 4, false);
	struct hf_zt_cut cut = hf_zt_make(1);

	hf_zt_pack(&cut);
	cut.file.p[hf_zt_chunk_at(&cut, 3)] ^= 1;
	cut.file.p[hf_zt_chunk_at(&cut, 5)] ^= 1;
	hf_fst_write(t, "damaged/chunks.zstf", cut.file.p, cut.file.n);
	hf_zt_drop(&cut);
	memset(stf.p + stf.n / 2, 0xff, 9);
	hf_fst_write(t, "damaged/bytes.stf", stf.p, stf.n);
	hf_bytes_free(&stf);
}

/* Those of each format at least once, and what is damaged, with an index in memory. */
static void check_samples(struct samples *all)
{
	write_damaged(&all->fst);
	open_archive(all->fst.archive, NULL);
	must(hartfs_each_capture(archive, "damaged", check_capture, NULL, &diag));
	CHECK_EQ(harts, 2);
	CHECK(lost >= 3);
	for (size_t i = 0; all->codecs[i]; i++) {
		const size_t before = harts;

		if (!all->codecs[i]->dec || all->codecs[i]->dec == all->codecs[i]->records)
			continue;
		must(hartfs_each_capture(archive, all->codecs[i]->name, check_capture, NULL, &diag));
		/* An ITM has no instructions. */
		CHECK((harts > before) == (strcmp(all->codecs[i]->name, "itm") != 0));
		formats++;
	}
	CHECK(formats >= 5);
	hartfs_close(archive);
}

/* ---- many threads, one view ---- */

struct reader {
	pthread_t thread;
	struct hartfs_view *view;
	const struct listing *l;
	uint64_t seed;
};

static void *read_and_iterate(void *ctx)
{
	struct reader *r = ctx;
	uint8_t buf[5000];

	for (unsigned i = 0; i < (HF_TEST_SANITIZED ? 40 : 300); i++) {
		const size_t at = hf_rand_next(&r->seed) % r->l->size, want = hf_rand_next(&r->seed) % sizeof buf;
		const size_t left = r->l->size - at;
		size_t n;

		CHECK_EQ(hartfs_view_read(r->view, at, buf, want, &n, NULL), 0);
		CHECK_EQ(n, want < left ? want : left);
		CHECK(memcmp(buf, r->l->text + at, n) == 0);
		check_from(r->view, r->l, hf_rand_next(&r->seed) % r->l->n, 30, 1 + i % BATCH);
	}
	check_from(r->view, r->l, 0, r->l->n, BATCH);
	return NULL;
}

static void check_threads(struct hf_fst *t)
{
	struct hf_walk_bytes stf = hf_fst_stf(3000, 5, true);
	struct reader reader[THREADS];
	struct hartfs_view *view;
	struct listing l;

	hf_fst_write(t, "threads/run.stf", stf.p, stf.n);
	hf_bytes_free(&stf);
	open_archive(t->archive, t->index);
	must(hartfs_view_open(archive, "threads/run@stf/hart1/listing.txt", &view, &diag));
	l = read_listing(view);
	CHECK(l.n > 100);
	for (size_t i = 0; i < THREADS; i++) {
		reader[i] = (struct reader){.view = view, .l = &l, .seed = i};
		CHECK_EQ(pthread_create(&reader[i].thread, NULL, read_and_iterate, &reader[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(reader[i].thread, NULL);
	hartfs_view_close(view);
	hartfs_close(archive);
	free_listing(&l);
}

int main(void)
{
	const char *data = getenv("HARTFS_DATA");
	struct samples all;
	char dir[4096];

	CHECK(data);
	snprintf(dir, sizeof dir, "%s/../codec/samples", data);
	samples_begin(&all, hf_codecs, dir, NULL);
	check_samples(&all);
	check_threads(&all.fst);
	samples_end(&all);
	return 0;
}
