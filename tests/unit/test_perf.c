/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data in every form: which are captures, which recordings and programs they have, and who runs. */
#include "codecs/base/bytes.h"
#include "codecs/codec.h"
#include "codecs/perf/errors.h"
#include "codecs/setup/read.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"
#include "tests/lib/perfdata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { RAW = 0x100, TRACE = 26, HART = 1 };

static const uint8_t id_a[20] = {0xaa, 1, 2, 3}, id_b[20] = {0xbb, 1, 2, 3}, id_c[20] = {0xcc, 9}, id_d[20] = {0xdd, 7};
static uint8_t elf_a[8192], elf_b[8192];
static size_t elf_size;

/* b.eq .+0x1000, and b.eq .+8: which of them ran shows by where it went. */
static void make_programs(void)
{
	static const uint32_t far = 0x54008000, near = 0x54000040;

	elf_size = perf_elf(id_a, &far, 4, elf_a);
	perf_elf(id_b, &near, 4, elf_b);
}

/* A recording: thread tid takes the branch at address. Returns its size. */
static size_t trace(uint8_t *to, uint32_t tid, uint32_t address)
{
	const uint8_t bytes[TRACE] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 4, 0x82, address >> 2 & 0x7f, address >> 9 & 0x7f,
				      (uint8_t)(address >> 16), (uint8_t)(address >> 24), 0xb0, (uint8_t)tid,
				      (uint8_t)(tid >> 8), (uint8_t)(tid >> 16), (uint8_t)(tid >> 24), 0xf7};

	memcpy(to, bytes, TRACE);
	return TRACE;
}

/* The same at any address, in exception level el, with atoms[n] packets. */
static size_t trace_at(uint8_t *to, uint32_t tid, uint64_t address, unsigned el, const uint8_t *atoms, size_t n)
{
	uint8_t *at = to + 15;

	memset(to, 0, 11);
	memcpy(to + 11, (const uint8_t[]){0x80, 1, 0, 4}, 4);
	*at++ = 0x85;
	*at++ = address >> 2 & 0x7f;
	*at++ = address >> 9 & 0x7f;
	for (unsigned bit = 16; bit < 64; bit += 8)
		*at++ = (uint8_t)(address >> bit);
	*at++ = (uint8_t)(0xb0 | el);
	for (unsigned bit = 0; bit < 32; bit += 8)
		*at++ = (uint8_t)(tid >> bit);
	memcpy(at, atoms, n);
	return (size_t)(at - to) + n;
}

/* ---- a file and what comes out of it ---- */

struct opened {
	struct perf_files files;
	struct ete_capture c;
	struct hf_setup_error error;
	int err;
};

/* Files that are there besides, if any. */
static const struct perf_files *others;
static const char *name_of_data = "perf.data";

static void open_perf(struct opened *o, const struct perf_data *p)
{
	struct hf_setup_opener opener;

	*o = (struct opened){.files = {.name = {name_of_data, "perf.data.d/a", "perf.data.d/b"},
				       .bytes = {p->bytes, elf_a, elf_b},
				       .size = {p->n, elf_size, elf_size},
				       .count = 3}};
	for (size_t i = 0; others && i < others->count; i++, o->files.count++) {
		o->files.name[o->files.count] = others->name[i];
		o->files.bytes[o->files.count] = others->bytes[i];
		o->files.size[o->files.count] = others->size[i];
	}
	opener = perf_opener(&o->files, hf_codecs);
	o->err = hf_setup_read(&opener, name_of_data, &o->c.setup, &o->error);
	if (!o->err)
		o->err = hf_setup_load(o->c.setup, &opener, &o->c.src, &o->error);
	if (!o->err)
		o->err = hf_stream_open(hf_codec_by_name(o->c.setup->format), o->c.src, o->c.setup, &o->c.stream, NULL);
}

static void close_perf(struct opened *o)
{
	hf_stream_close(o->c.stream);
	hf_src_free(o->c.src);
	hf_setup_free(o->c.setup);
}

/* The instructions, who executed them, and what is wrong: "pid/tid 1000>2000". Static. */
static const char *words(const struct opened *o)
{
	static char text[4096];
	size_t n, used = 0;
	struct hf_event *ev = ete_events(&o->c, HART, 3, &n);

	text[0] = '\0';
	for (size_t i = 0; i < n && used < sizeof text - 64; i++) {
		char *t = text + used;
		const size_t room = sizeof text - used;

		if (ev[i].kind == HF_EVENT_CONTEXT && ev[i].fields & HF_CONTEXT_PID)
			used += (size_t)snprintf(t, room, "%u/%u ", ev[i].context.pid, ev[i].context.tid);
		else if (ev[i].kind == HF_EVENT_CONTEXT)
			used += (size_t)snprintf(t, room, "?/%u ", ev[i].context.tid);
		else if (ev[i].kind == HF_EVENT_INSN)
			used += (size_t)snprintf(t, room, "%" PRIx64 ">%" PRIx64 " ", ev[i].insn.pc, ev[i].insn.target);
		else if (ev[i].kind == HF_EVENT_GAP || ev[i].kind == HF_EVENT_DOUBT || ev[i].kind == HF_EVENT_NOTE)
			used += (size_t)snprintf(t, room, "%s ", hf_err_name(-(int)ev[i].code));
	}
	free(ev);
	return text;
}

static void check_words(struct perf_data *p, const char *wanted, const char *what)
{
	struct opened o;

	perf_end(p);
	open_perf(&o, p);
	if (o.err || strcmp(words(&o), wanted) != 0) {
		fprintf(stderr, "%s: %d %s: %s\nis not %s\n", what, o.err, o.error.text, o.err ? "" : words(&o), wanted);
		exit(1);
	}
	close_perf(&o);
	perf_free(p);
}

/* The events, what is told of code that is missing (NULL: nothing asked) at an address, and a warning (NULL: none). */
static void check_found(struct perf_data *p, const char *wanted, uint64_t address, const char *missing, const char *what)
{
	struct opened o;
	const struct hf_processes *processes;
	size_t row;

	perf_end(p);
	open_perf(&o, p);
	CHECK_EQ(o.err, 0);
	if (strcmp(words(&o), wanted) != 0) {
		fprintf(stderr, "%s: %s\nis not %s\n", what, words(&o), wanted);
		exit(1);
	}
	processes = o.c.setup->processes;
	row = hf_processes_missing(processes, address);
	if (!missing) {
		CHECK_EQ(row, processes->missing_count);
	} else {
		CHECK(row < processes->missing_count);
		if (!strstr(processes->missing[row].why, missing)) {
			fprintf(stderr, "%s: %s: %s\nis not %s\n", what, processes->missing[row].name,
				processes->missing[row].why, missing);
			exit(1);
		}
	}
	close_perf(&o);
	perf_free(p);
}

static const struct perf_who zero = {10, 10, 0, 0};

/* A process 10 with file a at 0x1000. */
static void begin(struct perf_data *p, unsigned form)
{
	perf_begin(p, form);
	perf_info(p, 1, 2);
	perf_comm(p, &zero, "one", false);
	perf_map(p, &zero, 0x1000, 0x1000, 0x1000, 5, "/bin/a", id_a);
}

/* One recording of CPU 1 behind offset of its buffer, and its trace. */
static void record(struct perf_data *p, uint64_t time, uint32_t tid, uint32_t address, uint64_t *offset)
{
	const struct perf_who who = {tid, tid, 1, time};
	uint8_t bytes[TRACE];

	perf_aux(p, &who, *offset, trace(bytes, tid, address), RAW);
	perf_auxtrace(p, 1, tid, *offset, bytes, TRACE);
	*offset += 64;
}

/* ---- which are captures ---- */

static int try(const struct perf_data *p, char *why, size_t room)
{
	struct opened o;
	int err;

	open_perf(&o, p);
	snprintf(why, room, "%s", o.error.text);
	err = o.err;
	close_perf(&o);
	return err;
}

static void test_kinds(void)
{
	static const struct {
		unsigned type, version, form;
		int err;
		const char *text;
	} kinds[] = {
		{1, 0, 0, HF_ERR_PERF_KIND, "no CoreSight trace but Intel PT (AUXTRACE_INFO type 1)"},
		{4, 0, PERF_PIPE, HF_ERR_PERF_KIND, "no CoreSight trace but Arm SPE (AUXTRACE_INFO type 4)"},
		{2, 0, PERF_KILLED, HF_ERR_PERF_KIND, "perf script does"},
		{99, 0, 0, HF_ERR_PERF_KIND, "another kind (AUXTRACE_INFO type 99)"},
		{3, 3, 0, HF_ERR_PERF_VERSION, "version 3"},
	};
	char why[256];

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct perf_data p;
		uint8_t body[32] = {(uint8_t)kinds[i].type};

		body[8] = (uint8_t)kinds[i].version;
		perf_begin(&p, kinds[i].form);
		perf_comm(&p, &zero, "x", false);
		perf_record(&p, 70, 0, body, sizeof body, NULL);
		perf_end(&p);
		CHECK_EQ(try(&p, why, sizeof why), kinds[i].err);
		CHECK(strstr(why, kinds[i].text));
		perf_free(&p);
	}
}

/* No trace in it: an ordinary file, whatever is wrong with it. */
static void test_ordinary(void)
{
	struct perf_data p;
	char why[256];

	for (unsigned form = 0; form < PERF_ZSTD; form++) {
		perf_begin(&p, form);
		perf_comm(&p, &zero, "x", false);
		p.features = 4;
		perf_end(&p);
		CHECK_EQ(try(&p, why, sizeof why), HF_ERR_NOT_FOUND);
		memcpy(p.bytes, "PERFFILE", 8);
		CHECK_EQ(try(&p, why, sizeof why), HF_ERR_NOT_FOUND);
		perf_free(&p);
	}
}

/* A big-endian file, whose AUXTRACE_INFO is found all the same. */
static void test_swapped(void)
{
	static const uint8_t bytes[] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P', 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 70, 0, 0, 0, 16,
					0,   0,	  0,   3,   0,	 0,   0,   0};
	struct perf_data p = {.bytes = (uint8_t *)(uintptr_t)bytes, .n = sizeof bytes};
	char why[256];

	CHECK_EQ(try(&p, why, sizeof why), HF_ERR_PERF_ENDIAN);
	CHECK(strstr(why, "big-endian"));
}

/* ---- forms ---- */

static void test_forms(void)
{
	static const unsigned forms[] = {PERF_FILE, PERF_PIPE,		   PERF_KILLED,		PERF_ZSTD,
					 PERF_THREADS, PERF_PIPE | PERF_ZSTD, PERF_KILLED | PERF_ZSTD, PERF_THREADS | PERF_ZSTD};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		for (unsigned version = 1; version < 3; version++) {
			struct perf_data p;
			uint64_t offset = 0x123456780;
			char what[64];

			snprintf(what, sizeof what, "form %u, version %u", forms[i], version);
			perf_begin(&p, forms[i]);
			perf_comm(&p, &zero, "one", false);
			perf_info(&p, version, 2);
			perf_map(&p, &zero, 0x1000, 0x1000, 0x1000, 5, "/bin/a", id_a);
			record(&p, 5, 10, 0x1000, &offset);
			/* another CPU, of which nothing is asked */
			perf_aux(&p, &(struct perf_who){11, 11, 0, 6}, 0, 8, RAW);
			record(&p, 7, 10, 0x1000, &offset);
			check_words(&p, "10/10 1000>2000 10/10 1000>2000 ", what);
		}
}

/* Trace comes before or behind what tells of it, one piece has several recordings, and what is padding is none. */
static void test_pieces(void)
{
	struct perf_data p;
	uint8_t bytes[256] = {0};
	const struct perf_who who = {10, 10, 1, 5}, later = {10, 10, 1, 9};

	begin(&p, PERF_FILE);
	trace(bytes, 10, 0x1000);
	trace(bytes + 0x70, 10, 0x1000);
	perf_auxtrace(&p, 1, 0, 0x1000, bytes, sizeof bytes);
	perf_aux(&p, &later, 0x1070, TRACE, RAW);
	perf_aux(&p, &who, 0x1000, TRACE, RAW | 1);
	/* nothing was recorded; no piece has that, or all of it */
	perf_aux(&p, &who, 0x1000, 0, RAW);
	perf_aux(&p, &who, 0x900, TRACE, RAW);
	perf_aux(&p, &who, 0x10f0, TRACE, RAW);
	check_words(&p, "PERF_LOSS 10/10 1000>2000 10/10 1000>2000 ", "two recordings in one piece");

	/* a ring that was written over: the offset is the end, and the size may be more than there is */
	begin(&p, PERF_FILE);
	perf_auxtrace(&p, 1, 0, 0x1000, bytes, 0x20);
	perf_aux(&p, &who, 0x1020, 0x500, RAW | 2);
	check_words(&p, "10/10 1000>2000 ETE_CUT ", "overwritten");

	/* no AUX record */
	begin(&p, PERF_FILE);
	perf_auxtrace(&p, 1, 0, 0, bytes, TRACE);
	perf_aux(&p, &later, 0x9000, 0x100, RAW);
	check_words(&p, "PERF_STRAY 10/10 1000>2000 ETE_CUT ", "nobody tells of it");
}

/* Frames of one id each, in the buffer of one CPU: the ids of AUX_OUTPUT_HW_ID count, in their sink. */
static void test_frames(void)
{
	uint8_t plain[TRACE], frames[64] = {0};
	const struct perf_who who = {10, 10, 1, 5}, other = {10, 10, 0, 5};
	size_t n = 0;

	trace(plain, 10, 0x1000);
	for (size_t i = 0; i < TRACE; i += 14) {
		uint8_t *frame = frames + n;

		frame[0] = 0x44 << 1 | 1;
		for (size_t k = 1; k < 15; k++) {
			const uint8_t byte = i + k - 1 < TRACE ? plain[i + k - 1] : 0;

			frame[k] = k & 1 ? byte : byte & 0xfe;
			frame[15] |= (uint8_t)(k & 1 ? 0 : (byte & 1) << (k / 2));
		}
		n += 16;
	}
	for (unsigned ids = 0; ids < 3; ids++) {
		struct perf_data p;

		perf_begin(&p, PERF_FILE);
		perf_info(&p, 2, 2);
		perf_comm(&p, &zero, "one", false);
		perf_map(&p, &zero, 0x1000, 0x1000, 0x1000, 5, "/bin/a", id_a);
		if (ids)
			perf_hw_id(&p, &who, 0x44, 7);
		/* the same id, of another CPU in another sink */
		if (ids > 1)
			perf_hw_id(&p, &other, 0x44, 9);
		perf_auxtrace(&p, 1, 0, 0, frames, n);
		perf_aux(&p, &who, 0, n, 0);
		if (ids) {
			check_words(&p, "10/10 1000>2000 ETE_CUT ", "frames, and zeros that fill the last");
		} else {
			/* nobody has the id: no CPU has trace, and all are there */
			check_words(&p, "", "an id that nobody has");
		}
	}
}

/* ---- who runs, and what ---- */

static void test_reuse(void)
{
	struct perf_data p;
	uint64_t offset = 0;

	/* b lies where a did; what lay elsewhere stays */
	begin(&p, PERF_FILE);
	perf_map(&p, &zero, 0x40000, 0x1000, 0x1000, 5, "/bin/b", id_b);
	record(&p, 100, 10, 0x1000, &offset);
	perf_map(&p, &(struct perf_who){10, 10, 1, 200}, 0x1000, 0x1000, 0x1000, 5, "/bin/b", id_b);
	record(&p, 300, 10, 0x1000, &offset);
	record(&p, 310, 10, 0x40000, &offset);
	check_words(&p, "10/10 1000>2000 10/10 1000>1008 10/10 40000>40008 ", "address reuse");

	/* data lies where code did */
	begin(&p, PERF_FILE);
	record(&p, 100, 10, 0x1000, &offset);
	perf_map(&p, &(struct perf_who){10, 10, 1, 200}, 0x1000, 0x1000, 0, 3, "//anon", NULL);
	perf_map(&p, &(struct perf_who){10, 10, 1, 200}, 0x2000, 0x1000, 0x1000, 4, "/bin/b", id_b);
	record(&p, 300, 10, 0x2000, &offset);
	check_words(&p, "10/10 1000>2000 10/10 2000>2008 ", "execute-only code, and data over code");
}

static void test_fork_exec(void)
{
	struct perf_data p;
	const struct perf_who child = {20, 20, 1, 200}, thread = {10, 12, 1, 150};
	uint64_t offset = 0;

	/* a thread has its process's code; a child that of its parent, until it executes another */
	begin(&p, PERF_FILE);
	perf_fork(&p, &thread, 10);
	record(&p, 160, 12, 0x1000, &offset);
	perf_fork(&p, &child, 10);
	record(&p, 210, 20, 0x1000, &offset);
	perf_comm(&p, &(struct perf_who){20, 20, 1, 300}, "two", true);
	perf_map(&p, &(struct perf_who){20, 20, 1, 310}, 0x1000, 0x1000, 0x1000, 5, "/bin/b", id_b);
	record(&p, 400, 20, 0x1000, &offset);
	record(&p, 410, 10, 0x1000, &offset);
	check_words(&p, "10/12 1000>2000 20/20 1000>2000 20/20 1000>1008 10/10 1000>2000 ", "fork and exec");

	/* records are not in the order of time, and the number of a thread is given again */
	begin(&p, PERF_FILE);
	record(&p, 400, 20, 0x1000, &offset);
	perf_fork(&p, &(struct perf_who){30, 20, 1, 350}, 30);
	perf_map(&p, &(struct perf_who){30, 30, 1, 310}, 0x1000, 0x1000, 0x1000, 5, "/bin/b", id_b);
	perf_fork(&p, &child, 10);
	record(&p, 210, 20, 0x1000, &offset);
	check_words(&p, "20/20 1000>2000 30/20 1000>1008 ", "a number that is given again");
}

/* ---- which files ---- */

/* A process 10 with a file of that name at 0x1000. */
static void begin_with(struct perf_data *p, const char *name, const uint8_t *id)
{
	perf_begin(p, PERF_FILE);
	perf_info(p, 1, 2);
	perf_map(p, &zero, 0x1000, 0x1000, 0x1000, 5, name, id);
}

/* A recording of CPU 1 with other bytes than those of trace. */
static void record_bytes(struct perf_data *p, uint64_t time, uint32_t tid, const uint8_t *bytes, size_t n)
{
	const struct perf_who who = {tid, tid, 1, time};

	perf_aux(p, &who, time * 0x1000, n, RAW);
	perf_auxtrace(p, 1, tid, time * 0x1000, bytes, n);
}

/* Only the build that was recorded is taken. */
static void test_build_ids(void)
{
	struct perf_data p;
	uint64_t offset = 0;

	begin_with(&p, "/bin/a", id_c);
	record(&p, 5, 10, 0x1000, &offset);
	check_found(&p, "10/10 ETE_NO_IMAGE ", 0x1ffc,
		    "no file has its build id cc09000000000000000000000000000000000000: copy it into perf.data.d", "another build");
	begin_with(&p, "//anon", NULL);
	record(&p, 5, 10, 0x1000, &offset);
	check_found(&p, "10/10 ETE_NO_IMAGE ", 0x1000, "it is no file", "code that a program made");
}

/* What runs at 0x1000 in file x: a branch to itself, as often as it is taken; and what runs in one of the same name. */
static void test_names(void)
{
	static const uint32_t loop = 0x54000000, jump = 0x14000000;
	static const uint8_t taken[] = {0xf7, 0xf7, 0xf7, 0xf7, 0xf6}, once[] = {0xf7};
	static uint8_t right[8192], wrong[8192];
	struct perf_files more = {.name = {"perf.data.d/x"}, .bytes = {right}, .count = 1};
	struct perf_data p;
	uint8_t bytes[64];
	size_t n = trace_at(bytes, 10, 0x1000, 0, taken, sizeof taken);

	more.size[0] = perf_elf(id_b, &loop, 4, right);
	perf_elf(id_b, &jump, 4, wrong);
	others = &more;
	/* no build id was recorded, and the trace goes through it */
	begin_with(&p, "/usr/x", NULL);
	record_bytes(&p, 5, 10, bytes, n);
	check_found(&p, "10/10 1000>1000 1000>1000 1000>1000 1000>1000 1000>0 ", 0x1000, NULL, "proven by the trace");
	/* a branch that is always taken is not taken */
	more.bytes[0] = wrong;
	begin_with(&p, "/usr/x", NULL);
	record_bytes(&p, 5, 10, bytes, n);
	check_found(&p, "10/10 ETE_NO_IMAGE ETE_NO_ADDRESS ", 0x1000, "'perf.data.d/x' has its name, and the trace does not go through it",
		    "refuted by the trace");
	/* too little to tell */
	more.bytes[0] = right;
	begin_with(&p, "/usr/x", NULL);
	n = trace_at(bytes, 10, 0x1000, 0, once, sizeof once);
	record_bytes(&p, 5, 10, bytes, n);
	check_found(&p, "10/10 ETE_NO_IMAGE ", 0x1000, "too little of it ran", "not proven");
	/* another process had another file there */
	begin_with(&p, "/usr/x", NULL);
	perf_map(&p, &(struct perf_who){11, 11, 0, 0}, 0x1000, 0x1000, 0x1000, 5, "/bin/a", id_a);
	n = trace_at(bytes, 10, 0x1000, 0, taken, sizeof taken);
	record_bytes(&p, 5, 10, bytes, n);
	check_found(&p, "10/10 ETE_NO_IMAGE ETE_NO_ADDRESS ", 0x1000, "other files lay at its addresses", "not to be told");
	others = NULL;
}

/* perf's cache of files, that of distributions, and a vdso, which is no file; what has debug information alone is none. */
static void test_debug_dir(void)
{
	static const struct {
		const char *mapped, *file;
	} places[] = {
		{"/bin/c", "debug:bin/c/cc09000000000000000000000000000000000000/elf"},
		{"/bin/c", "debug:.build-id/cc/09000000000000000000000000000000000000/elf"},
		{"/bin/c", "debug:.build-id/cc/09000000000000000000000000000000000000.debug"},
		{"/bin/c", "debug:bin/c"},
		{"[vdso]", "debug:[vdso]/cc09000000000000000000000000000000000000/vdso"},
		{"[vdso]", "perf.data.d/vdso64.so"},
	};
	static uint8_t elf[8192];
	const uint32_t near = 0x54000040;
	struct perf_files more = {.bytes = {elf}, .size = {perf_elf(id_c, &near, 4, elf)}, .count = 1};
	struct perf_data p;
	uint64_t offset = 0;

	others = &more;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		more.name[0] = places[i].file;
		begin_with(&p, places[i].mapped, id_c);
		record(&p, 5, 10, 0x1000, &offset);
		check_found(&p, "10/10 1000>1008 ", 0x1000, NULL, places[i].file);
	}
	/* .symtab becomes .debug_info */
	hf_put32(elf + 0x200 + 64 * 3, 44);
	begin_with(&p, "/bin/c", id_c);
	record(&p, 5, 10, 0x1000, &offset);
	check_found(&p, "10/10 ETE_NO_IMAGE ", 0x1000, "no file has its build id", "debug information");
	others = NULL;
}

/* The kernel's file counts if its build id does, and where its mapping says; modules and what it made itself are missing. */
static void test_vmlinux(void)
{
	static const uint64_t at = 0xffff800010081000, module = 0xffff800008000000;
	static const uint8_t taken[] = {0xf7};
	static uint8_t elf[8192];
	const uint32_t near = 0x54000040;
	struct perf_files more = {.name = {"perf.data.d/vmlinux"}, .bytes = {elf}, .size = {perf_elf(id_c, &near, 4, elf)}, .count = 1};
	struct perf_data p;
	uint8_t bytes[64];
	size_t n = trace_at(bytes, 10, at, 1, taken, sizeof taken);

	others = &more;
	for (unsigned right = 0; right < 2; right++) {
		begin_with(&p, "/bin/a", id_a);
		perf_kernel(&p, "[kernel.kallsyms]_text", at - 0x1000, 0x2000, at, right ? id_c : id_d);
		perf_kernel(&p, "/lib/modules/x.ko", module, 0x1000, 0, id_b);
		perf_ksymbol(&p, &zero, "bpf_prog_1", module + 0x8000, 64);
		record_bytes(&p, 5, 10, bytes, n);
		record_bytes(&p, 6, 10, bytes, n);
		if (right)
			check_found(&p, "PERF_KERNEL_FILE 10/10 ffff800010081000>ffff800010081008 10/10 ffff800010081000>ffff800010081008 ",
				    module, "where the kernel put the sections of a module is known from kcore alone", "vmlinux");
		else
			check_found(&p, "10/10 ETE_NO_IMAGE 10/10 ETE_NO_IMAGE ", at,
				    "or copy the vmlinux with build id dd07000000", "another vmlinux");
	}
	/* where it lay is not known */
	begin_with(&p, "/bin/a", id_a);
	perf_kernel(&p, "[kernel.kallsyms]_text", 0, 0x2000, 0, id_c);
	perf_ksymbol(&p, &zero, "bpf_prog_1", at, 64);
	record_bytes(&p, 5, 10, bytes, n);
	check_found(&p, "10/10 ETE_NO_IMAGE ", at, "the kernel made it while it ran", "a hidden kernel");
	others = NULL;
}

/* A copy of the kernel's code, in a directory, which the kernel changes between two recordings. */
static void test_kcore(void)
{
	static const uint64_t at = 0xffff800010081000;
	static const uint8_t taken[] = {0xf7};
	static const uint8_t text[] = "ffff800010080000 T _text\nffff800010081000 t f\t[m]\n";
	static uint8_t kcore[8192], code[0x100];
	struct perf_files more = {.name = {"kcore_dir/kcore", "kcore_dir/kallsyms"}, .bytes = {kcore, text},
				  .size = {sizeof kcore, sizeof text}, .count = 2};
	struct perf_data p;
	uint8_t bytes[64];
	size_t n = trace_at(bytes, 10, at, 1, taken, sizeof taken);

	hf_put32(code + 0x10, 0x54008000);
	more.size[0] = perf_kcore(at - 0x10, code, sizeof code, kcore);
	others = &more;
	begin_with(&p, "/bin/a", id_a);
	perf_poke(&p, &(struct perf_who){10, 10, 1, 250}, at, 0x54000040, 0x54000080);
	perf_poke(&p, &(struct perf_who){10, 10, 1, 150}, at, 0x54008000, 0x54000040);
	/* not in the copy; behind the last recording */
	perf_poke(&p, &(struct perf_who){10, 10, 1, 160}, at + 0xef, 1, 2);
	perf_poke(&p, &(struct perf_who){10, 10, 1, 950}, at, 1, 2);
	for (uint64_t time = 100; time < 400; time += 100)
		record_bytes(&p, time, 10, bytes, n);
	name_of_data = "data";
	check_words(&p, "10/10 ffff800010081000>ffff800010082000 10/10 ffff800010081000>ffff800010081008 "
			"10/10 ffff800010081000>ffff800010081010 ", "code that the kernel changes");
	name_of_data = "perf.data";
	others = NULL;
}

/* A switch tells of a thread that nobody else does. */
static void test_switch(void)
{
	struct perf_data p;
	uint64_t offset = 0;

	begin(&p, PERF_FILE);
	perf_switch(&p, &(struct perf_who){10, 10, 1, 50}, 10, 12);
	record(&p, 100, 12, 0x1000, &offset);
	check_words(&p, "10/12 1000>2000 ", "a thread that is switched to");
}

static bool has_warning(const struct hf_setup *setup, const char *text)
{
	for (size_t i = 0; i < setup->warning_count; i++)
		if (strstr(setup->warnings[i].text, text))
			return true;
	return false;
}

/* Timestamps that count what the perf clock is made of: how they become its times. */
static void test_clock(void)
{
	static const uint8_t body[24] = {[0] = 1, [8] = 3, [16] = 9}, odd[24] = {[0] = 64};

	for (unsigned known = 0; known < 2; known++) {
		struct perf_data p;
		struct opened o;
		const char *clock = NULL;

		perf_begin(&p, PERF_FILE);
		p.clock = known;
		perf_info(&p, 2, 2);
		perf_record(&p, 79, 0, body, sizeof body, NULL);
		perf_record(&p, 79, 0, odd, sizeof odd, NULL);
		perf_end(&p);
		open_perf(&o, &p);
		CHECK_EQ(o.err, 0);
		for (size_t i = 0; i < o.c.setup->fact_count; i++)
			if (strcmp(o.c.setup->facts[i].name, "clock") == 0)
				clock = o.c.setup->facts[i].value;
		CHECK(!clock == !known);
		if (clock)
			CHECK_STR(clock, "a time T of the trace is 9 + T * 3 / 2^1 ns of perf");
		close_perf(&o);
		perf_free(&p);
	}
}

/* Whoever ran was traced if the event of the trace is of CPUs; others are so in any recording. */
static void test_wide(void)
{
	static const struct {
		uint64_t id, cpu, tid;
		bool wide;
	} rows[] = {{77, 1, UINT64_MAX, true}, {77, 1, 10, false}, {78, 1, UINT64_MAX, false}, {77, UINT64_MAX, UINT64_MAX, false}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const uint64_t body[5] = {1, rows[i].id, 0, rows[i].cpu, rows[i].tid};
		struct perf_data p;
		struct opened o;
		uint64_t offset = 0;

		perf_begin(&p, PERF_EVENTS);
		p.registers[0] = 0x801;
		perf_info(&p, 1, 2);
		perf_record(&p, 69, 0, body, sizeof body, NULL);
		perf_comm(&p, &zero, "one", false);
		perf_map(&p, &zero, 0x1000, 0x1000, 0x1000, 5, "/bin/a", id_a);
		record(&p, 100, 10, 0x1000, &offset);
		perf_end(&p);
		open_perf(&o, &p);
		CHECK_EQ(o.err, 0);
		CHECK_EQ(has_warning(o.c.setup, "all processes were traced"), rows[i].wide);
		CHECK(!has_warning(o.c.setup, "no record can be read"));
		CHECK_EQ(o.c.setup->parts[0].thread, rows[i].wide ? HF_SETUP_NO_THREAD : 10);
		close_perf(&o);
		perf_free(&p);
	}
}

/* The trace has the number that a thread has outside of its namespace, and the records the one inside. */
static void test_namespace(void)
{
	static const struct perf_who inside = {10, 10, 1, 100};
	struct perf_data p;
	uint8_t bytes[TRACE];

	begin(&p, PERF_EVENTS);
	perf_aux(&p, &inside, 0, trace(bytes, 4711, 0x1000), RAW);
	perf_auxtrace(&p, 1, 10, 0, bytes, TRACE);
	check_words(&p, "10/10 1000>2000 ", "a thread by another number");
}

/* An older perf does not say on which CPU a thread ran: raw bytes do not, either. */
static void test_no_cpu(void)
{
	struct perf_data p;
	struct opened o;
	uint64_t offset = 0;

	begin(&p, PERF_EVENTS | PERF_THREADS | PERF_NO_CPU);
	record(&p, 100, 10, 0x1000, &offset);
	perf_end(&p);
	open_perf(&o, &p);
	CHECK_EQ(o.err, 0);
	CHECK(has_warning(o.c.setup, "1 recordings do not say their CPU, and are shown as those of CPU 0"));
	close_perf(&o);
	perf_free(&p);
}

/* Trace of RISC-V is split: the recordings of a CPU follow each other, in the order of time. */
static void test_split(void)
{
	static const struct perf_who who[] = {{10, 10, 3, 50}, {10, 10, 1, 20}, {10, 11, 3, 40}};
	static const uint8_t bytes[] = "abcdefgh";
	struct perf_data p;
	struct opened o;

	perf_begin(&p, PERF_FILE);
	perf_riscv(&p);
	for (size_t i = 0; i < 3; i++) {
		perf_aux(&p, &who[i], 64 * i, 2, 0);
		perf_auxtrace(&p, who[i].cpu, 10, 64 * i, bytes + 2 * i, 2);
	}
	perf_aux(&p, &who[0], 500, 2, 0);
	perf_end(&p);
	open_perf(&o, &p);
	CHECK_EQ(o.err, 0);
	CHECK_STR(o.c.setup->format, "perf");
	CHECK_EQ(o.c.setup->part_count, 3);
	for (size_t i = 0; i < 3; i++) {
		static const uint32_t hart[] = {1, 3, 3}, thread[] = {10, 11, 10};
		static const char *const wanted[] = {"cd", "ef", "ab"};
		const struct hf_setup_part *part = &o.c.setup->parts[i];
		char got[3] = "";
		size_t n;

		CHECK_EQ(hf_src_read_all(o.c.src, part->offset, got, part->size, &n, NULL), 0);
		CHECK_STR(got, wanted[i]);
		CHECK_EQ(part->hart, hart[i]);
		CHECK_EQ(part->thread, thread[i]);
	}
	CHECK(has_warning(o.c.setup, "is only split"));
	CHECK(has_warning(o.c.setup, "1 recordings have no bytes"));
	close_perf(&o);
	perf_free(&p);
}

/* The thread's name is the last that it told, or that of who made it. */
static void test_comm(void)
{
	struct perf_data p;
	struct opened o;

	begin(&p, PERF_FILE);
	perf_fork(&p, &(struct perf_who){10, 12, 1, 10}, 10);
	perf_fork(&p, &(struct perf_who){20, 20, 1, 20}, 10);
	perf_comm(&p, &(struct perf_who){20, 20, 1, 30}, "perf-exec", false);
	perf_comm(&p, &(struct perf_who){20, 20, 1, 40}, "two", true);
	perf_end(&p);
	open_perf(&o, &p);
	CHECK_EQ(o.err, 0);
	CHECK_STR(hf_processes_name(o.c.setup->processes, 10, 10), "one");
	CHECK_STR(hf_processes_name(o.c.setup->processes, 10, 12), "one");
	CHECK_STR(hf_processes_name(o.c.setup->processes, 20, 20), "two");
	CHECK_STR(hf_processes_name(o.c.setup->processes, 20, 21), "two");
	CHECK(!hf_processes_name(o.c.setup->processes, 30, 30));
	close_perf(&o);
	perf_free(&p);
}

/* ---- limits ---- */

static void test_many(void)
{
	enum { MANY = 100000 };
	struct perf_data p;
	struct opened o;
	uint8_t bytes[TRACE];

	begin(&p, PERF_FILE);
	trace(bytes, 10, 0x1000);
	/* behind all that tells of it, and the last comes first */
	for (uint64_t i = 0; i < MANY; i++)
		perf_aux(&p, &(struct perf_who){10, 10, 1, 10 + i}, i * 64, TRACE, RAW);
	for (uint64_t i = MANY; i-- > 0;)
		perf_auxtrace(&p, 1, 0, i * 64, bytes, TRACE);
	perf_end(&p);
	open_perf(&o, &p);
	CHECK_EQ(o.err, 0);
	CHECK_EQ(o.c.setup->part_count, MANY);
	CHECK_EQ(o.c.src->size, (uint64_t)MANY * TRACE);
	close_perf(&o);
	perf_free(&p);
}

/* Parents that are their own children; names that do not end; ranges that do. */
static void test_hostile(void)
{
	struct perf_data p;
	uint8_t body[64 + 4000];
	uint64_t offset = 0;

	begin(&p, PERF_FILE);
	perf_fork(&p, &(struct perf_who){20, 20, 1, 10}, 10);
	perf_fork(&p, &(struct perf_who){10, 10, 1, 11}, 20);
	perf_fork(&p, &(struct perf_who){20, 20, 1, 12}, 20);
	memset(body, 'x', sizeof body);
	hf_put32(body, 10);
	hf_put32(body + 4, 10);
	hf_put64(body + 8, 0x900000);
	hf_put64(body + 16, 0x1000);
	perf_record(&p, 10, 2, body, sizeof body, &zero);
	perf_record(&p, 1, 2, body, sizeof body, &zero);
	perf_record(&p, 3, 2, body, sizeof body, &zero);
	perf_record(&p, 17, 1, body, sizeof body, &zero);
	hf_put64(body + 16, UINT64_MAX);
	perf_record(&p, 10, 2, body, sizeof body, &zero);
	record(&p, 100, 10, 0x1000, &offset);
	check_words(&p, "10/10 1000>2000 ", "hostile records");
}

/* A record of 60 KB that stands for 200 MB: what came before it counts. */
static void test_bomb(void)
{
	enum { SIZE = 65528, COUNT = 3200 };
	static uint8_t one[SIZE] = {2, [6] = SIZE & 0xff, SIZE >> 8}, packed[65536] = {81};
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_outBuffer out = {packed + 8, sizeof packed - 64, 0};
	struct perf_data p;
	struct opened o;
	uint64_t offset = 0;

	CHECK(zstd);
	begin(&p, PERF_KILLED);
	record(&p, 100, 10, 0x1000, &offset);
	perf_end(&p);
	for (unsigned i = 0; i < COUNT; i++) {
		ZSTD_inBuffer in = {one, SIZE, 0};

		while (in.pos < in.size)
			CHECK(!ZSTD_isError(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_continue)) && out.pos < out.size);
	}
	CHECK(!ZSTD_compressStream2(zstd, &out, &(ZSTD_inBuffer){0}, ZSTD_e_flush));
	hf_put16(packed + 6, (uint16_t)(8 + out.pos));
	p.bytes = realloc(p.bytes, p.n + 8 + out.pos);
	memcpy(p.bytes + p.n, packed, 8 + out.pos);
	p.n += 8 + out.pos;
	open_perf(&o, &p);
	CHECK_EQ(o.err, 0);
	CHECK(has_warning(o.c.setup, "no record can be read from offset"));
	CHECK(strcmp(words(&o), "10/10 1000>2000 ") == 0);
	close_perf(&o);
	perf_free(&p);
	ZSTD_freeCCtx(zstd);
}

/* ---- damage ---- */

/* Whatever it is, it comes to an end, and an error has a text. */
static void read_through(const struct perf_data *p)
{
	struct opened o;
	size_t n;

	open_perf(&o, p);
	CHECK(!o.err || o.err == HF_ERR_NOT_FOUND || *o.error.text);
	if (!o.err)
		for (uint64_t at = 0; at < o.c.src->size; at += 64) {
			uint8_t bytes[64];

			CHECK_EQ(hf_src_read_at(o.c.src, at, bytes, sizeof bytes, &n, NULL), 0);
		}
	close_perf(&o);
}

static void test_damage(void)
{
	static const unsigned forms[] = {PERF_FILE, PERF_PIPE, PERF_ZSTD, PERF_FILE};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct perf_data p, cut;
		uint64_t offset = 0;

		perf_begin(&p, forms[i]);
		if (i < 3)
			perf_info(&p, 1, 2);
		else
			perf_riscv(&p);
		perf_comm(&p, &zero, "one", false);
		perf_map(&p, &zero, 0x1000, 0x1000, 0x1000, 5, "/bin/a", id_a);
		record(&p, 5, 10, 0x1000, &offset);
		perf_hw_id(&p, &(struct perf_who){10, 10, 1, 5}, 0x12, 1);
		perf_end(&p);
		for (size_t n = 0; n < p.n; n++) {
			cut = p;
			cut.n = n;
			read_through(&cut);
		}
		for (size_t at = 0; at < p.n; at++)
			for (unsigned bit = 0; bit < 8; bit += at & 1 ? 2 : 1) {
				p.bytes[at] ^= (uint8_t)(1 << bit);
				read_through(&p);
				p.bytes[at] ^= (uint8_t)(1 << bit);
			}
		perf_free(&p);
	}
}

int main(void)
{
	make_programs();
	test_kinds();
	test_ordinary();
	test_swapped();
	test_forms();
	test_pieces();
	test_frames();
	test_reuse();
	test_fork_exec();
	test_build_ids();
	test_names();
	test_debug_dir();
	test_vmlinux();
	test_kcore();
	test_switch();
	test_clock();
	test_wide();
	test_no_cpu();
	test_namespace();
	test_split();
	test_comm();
	test_many();
	test_hostile();
	test_bomb();
	test_damage();
	return 0;
}
