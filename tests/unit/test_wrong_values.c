/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value of a description set wrongly: the first line of errors.txt names its key. Over all keys of all formats with a
 * description, on streams that our encoders make, and some of the corpus if it is there; a key is in one of the streams' lists, or among those that nothing can
 * tell, with the reason.
 */
#include "codecs/codec.h"
#include "tests/lib/fstest.h"

#include <ctype.h>
#include <stdio.h>

/* A sanitizer sees one wrong value of a key; the others take the same way. */
#define VALUES_MAX (HF_TEST_SANITIZED ? 1 : SIZE_MAX)
#define FILES_MAX 6
#define TEXT 256

struct stream {
	const char *format;
	const char *source; /* under HARTFS_DATA, or a capture of the corpus */
	const char *views;  /* its view directory; NULL: it is a capture of the corpus */
	const char *range;
	const char *params; /* of the view */
	const char *keys;   /* that are set wrongly in it, with blanks around each; a field as REGISTER.FIELD */
};

static const struct stream streams[] = {
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000", "",
	 " privilege_width nocontext notime iaddress_lsb version ecause_width f0s_width sijump support_options "
	 "encoder_mode_width resync_disabled framing alignment "},
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000",
	 "etrace.options=jump_target_cache+branch_prediction,etrace.cache_size=6,etrace.bpred_size=6,etrace.f0s_width="
	 "1",
	 " bpred_size cache_size f0s_width "},
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000",
	 "etrace.framing=encap,etrace.srcid_bits=8,etrace.timestamp_bytes=2,etrace.type_bits=2,etrace.data=1",
	 " iaddress_width daddress_width data_width data_format_width lrid_width mmacas srcid_bits timestamp_bytes "
	 "type_bits "},
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000",
	 "etrace.notime=0,etrace.time_width=16,etrace.nocontext=0,etrace.context_width=16",
	 " context_width time_width privilege_width "},
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000",
	 "etrace.version=2.1,etrace.data=1,etrace.framing=smi,etrace.srcid_bits=4", " irreport version srcid_bits "},
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-5000",
	 "etrace.alignment=blocks,etrace.block_bytes=256,etrace.data=1", " block_bytes "},
	{"etrace", "archive/mini/rv32-mini.stf", "rv32-mini@stf", "0-20000",
	 "etrace.version=1.1.1,etrace.options=implicit_return,etrace.call_counter_size=6", " return_stack_size "},
	{"etrace", "archive/mini/rv32-mini.stf", "rv32-mini@stf", "0-20000", "", " widths "},
	{"ntrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000", "",
	 " srcbits framing addr_msb_ext implicit_return all_jumps wrapped "},
	{"ntrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000", "ntrace.srcbits=3",
	 " srcbits word_bytes "},
	{"ntrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000", "ntrace.address_width=33", " address_width "},
	{"ntrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000",
	 "ntrace.sequential_jump=1,ntrace.all_jumps=1", " sequential_jump all_jumps "},
	{"ete", "astf/a64-sys.astf", "a64-sys@astf", "0-30000", "", " TRCCONFIGR.RS TRCIDR2.CIDSIZE "},
	{"etrace", "etrace/corner/safe_all_rs16", NULL, "", "",
	 " privilege_width nocontext context_width iaddress_lsb iaddress_width ecause_width f0s_width "
	 "return_stack_size "
	 "cache_size support_options link_registers resync_disabled framing "},
	{"etrace", "etrace/corner/strict_basic", NULL, "", "", " privilege_width context_width ecause_width version "},
	{"etrace", "etrace/corner/c111_full_rs16", NULL, "", "", " iaddress_width sijump "},
	/* for test_other_build */
	{"etrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000", "etrace.sync_instructions=500", ""},
	{"ntrace", "archive/boot/rv-sys.stf.gz", "rv-sys@stf@gz", "0-30000", "ntrace.sync_instructions=500", ""},
};

#define STREAMS (sizeof streams / sizeof *streams)

/* What no decoder can tell from the stream, and why. */
static const struct {
	const char *format, *keys, *why;
} untold[] = {
	{"etrace", " sync_instructions compression ", "decoding does not need it"},
	{"etrace", " options no_address no_data full_daddress full_data irets ",
	 "the support packets of the stream say it before anything depends on it"},
	{"etrace", " ioptions_width doptions_width ", "what is behind the options of a support packet changes nothing that is decoded"},
	{"etrace", " call_counter_size ",
	 "with compression the field repeats the bit before it, and reads the same in any width"},
	{"etrace", " ecall_retires trap_reporting jtc_policy data_order ",
	 "a habit that shows only with code that these programs do not have: an ecall without a trap, ambiguous traps, a cached jump that is no target, a late access"},
	{"etrace", " data_diff data_diff_width ", "the values of accesses alone differ, and nothing contradicts them"},
	{"etrace", " mtvec stvec vstvec jvt unknown_cause discovery_info_0 discovery_info_1 ",
	 "an address or a word of 64 bits: there is no list of values to try"},
	{"etrace", " zcmp zcmt text ", "the ELF, or the characters of the file, say it; what is written is for those that do not"},
	{"ntrace", " dialect timestamps timestamp_width trap_values compare_returns ",
	 "times and traps alone differ, and what is doubtful: the problem itself names timestamps"},
	{"ntrace", " xlen ", "refused where it contradicts the ELF"},
	{"ntrace", " implicit_return_depth ", "whether it is 0 implicit_return says too; above 32 it is of units that our encoder is none of"},
	{"ntrace", " trace_id ", "the encoder writes no frames"},
	{"ntrace", " jvt wrap_offset ", "an address or an offset: there is no list of values to try"},
	{"ntrace", " zcmp zcmt text ", "the ELF, or the characters of the file, say it; what is written is for those that do not"},
	{"ete", " TRCIDR0.COMMOPT TRCIDR0.COMMTRANS TRCIDR0.TSMARK TRCIDR2.VMIDSIZE TRCIDR2.WFXMODE ",
	 "the encoder writes no cycle counts, transactions, markers, VMIDs, or WFI as a P0 instruction"},
	{"ete", " framing TRCTRACEIDR TRCAUTHSTATUS failed_transactions ",
	 "not of the trace: how the snapshot is stored, an id in frames, what is to be shown"},
	{"ete", " TRCIDR8 ", "what is too much looks as a trace that ends before its elements are committed"},
	{"ete", " TRCIDR1.TRCARCHMAJ TRCDEVARCH type ",
	 "an ETMv4 differs in packets that this stream does not have, or the source is refused"},
	{"ete", " profile ", "the snapshot names the core; what is written is for descriptions that do not"},
	{"mtb", " position wrap_offset size ", "addresses and offsets: there is no list of values to try"},
};

static struct hf_fst t;

/* The files of one stream, the description first. */
struct files {
	char name[FILES_MAX][32];
	struct hf_walk_bytes bytes[FILES_MAX];
	size_t count;
};

static struct files made[STREAMS];

static const char *const of_capture[] = {"capture.ini", "trace.bin", "program.elf", NULL};
static const char *const of_snapshot[] = {"ETE_0.ini", "trace.bin", "program.elf", "snapshot.ini", "trace.ini", "cpu_0.ini", NULL};

static bool is_snapshot(size_t i)
{
	return strcmp(streams[i].format, "ete") == 0;
}

/* A file of the corpus, in its place beside the description. */
static void add_corpus(struct files *f, const char *dir, const char *name)
{
	const char *base = strrchr(name, '/');

	snprintf(f->name[f->count], sizeof f->name[0], "%s", base ? base + 1 : name);
	f->bytes[f->count++] = hf_bytes_load(dir, name);
}

static void make_corpus(size_t i)
{
	struct files *f = &made[i];
	char dir[2 * TEXT], *text, *up;

	if (!getenv("HARTFS_CORPUS"))
		return;
	snprintf(dir, sizeof dir, "%s/%s", getenv("HARTFS_CORPUS"), streams[i].source);
	add_corpus(f, dir, "capture.ini");
	add_corpus(f, dir, "packets.te_inst_raw");
	add_corpus(f, dir, "../program.elf");
	add_corpus(f, dir, "../../bootrom64.bin");
	text = strndup((const char *)f->bytes[0].p, f->bytes[0].n);
	while ((up = strstr(text, "../")))
		memmove(up, up + 3, strlen(up + 3) + 1);
	hf_bytes_free(&f->bytes[0]);
	f->bytes[0] = (struct hf_walk_bytes){0};
	hf_bytes_add(&f->bytes[0], text, strlen(text));
	free(text);
}

static void make_stream(size_t i)
{
	const struct stream *s = &streams[i];
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2, .params = *s->params ? s->params : NULL};
	const char *const *names = is_snapshot(i) ? of_snapshot : of_capture, *slash = strrchr(s->source, '/');
	struct hf_walk_bytes source = hf_bytes_load(getenv("HARTFS_DATA"), s->source);
	struct files *f = &made[i];
	char path[TEXT];

	hf_fst_begin(&t);
	hf_fst_write(&t, slash + 1, source.p, source.n);
	hf_fst_open(&t, &options);
	for (; names[f->count]; f->count++) {
		snprintf(path, sizeof path, "%s/hart0/at/%s/%s/%s", s->views, s->range, s->format, names[f->count]);
		snprintf(f->name[f->count], sizeof f->name[0], "%s", names[f->count]);
		CHECK_COMES(hf_fst_exists(&t, path));
		f->bytes[f->count] = hf_fst_read(&t, path, 65536);
	}
	/* Idle bytes, so that it may be words of any size. */
	while (strcmp(s->format, "ntrace") == 0 && f->bytes[1].n % 8)
		hf_bytes_add(&f->bytes[1], "\xff", 1);
	hf_fst_close(&t);
	hf_fst_end(&t);
	hf_bytes_free(&source);
}

/* ---- a value in the text of a description ---- */

/* Where the line of that key begins, or NULL. */
static char *find_line(char *text, const char *key)
{
	const size_t n = strlen(key);

	for (char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (strncmp(p, key, n) == 0 && p[n + strspn(p + n, " ")] == '=')
			return p;
	return NULL;
}

/* Of a key, without blanks; false: it is not written. */
static bool written(const char *text, const char *key, char *value, size_t size)
{
	const char *line = find_line((char *)text, key);

	if (!line)
		return false;
	line = strchr(line, '=') + 1;
	line += strspn(line, " ");
	snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

/* text with that value, malloc'ed: in the place of the other, or behind the line of section. */
static char *set(const char *text, const char *section, const char *key, const char *value)
{
	char *line = find_line((char *)text, key), *ret;
	const char *rest;

	if (line) {
		rest = line + strcspn(line, "\n");
	} else {
		line = strstr(text, section);
		CHECK(line);
		line += strcspn(line, "\n") + 1;
		rest = line;
	}
	CHECK(asprintf(&ret, "%.*s%s=%s%s%s", (int)(line - text), text, key, value, *rest == '\n' ? "" : "\n", rest) > 0);
	return ret;
}

/* ---- the captures with a wrong value ---- */

struct wrong {
	size_t stream;
	const struct hf_setup_key *key; /* NULL: it is the right one */
	char value[TEXT];
	char views[TEXT];
};

static struct wrong *wrongs;
static size_t wrong_count;

static void name_of(const struct hf_setup_key *key, char *name, size_t size)
{
	snprintf(name, size, " %s%s%s ", key->key, key->field ? "." : "", key->field ? key->field : "");
}

static void write_wrong(size_t i, const struct hf_setup_key *key, const char *value)
{
	const struct files *f = &made[i];
	struct wrong *w;
	char path[2 * TEXT], *text = strndup((const char *)f->bytes[0].p, f->bytes[0].n);

	wrongs = realloc(wrongs, (wrong_count + 1) * sizeof *wrongs);
	CHECK(wrongs && text);
	w = &wrongs[wrong_count];
	*w = (struct wrong){.stream = i, .key = key};
	snprintf(w->value, sizeof w->value, "%s", value);
	if (key) {
		const bool framing = strcmp(key->key, "framing") == 0;
		char *changed = set(text, is_snapshot(i) ? "[regs]" : framing ? "[capture]" : "[parameters]", key->key, value);

		free(text);
		text = changed;
	}
	for (size_t k = 0; k < f->count; k++) {
		snprintf(path, sizeof path, "w%zu/%s", wrong_count, f->name[k]);
		hf_fst_write(&t, path, k ? (const void *)f->bytes[k].p : text, k ? f->bytes[k].n : strlen(text));
	}
	snprintf(w->views, sizeof w->views, "w%zu@%s", wrong_count++, streams[i].format);
	free(text);
}

/* The values beside the right one of a number with many, and all others of another key. */
static void write_key(size_t i, const struct hf_setup_key *key)
{
	const size_t n = hf_key_values(key);
	char *text = strndup((const char *)made[i].bytes[0].p, made[i].bytes[0].n), value[TEXT], right[TEXT] = "";
	const bool has = written(text, key->key, right, sizeof right);
	size_t at = 0;

	while (has && at < n) {
		hf_key_value(key, at, right, value, sizeof value);
		if (strcmp(value, right) == 0)
			break;
		at++;
	}
	for (size_t k = 0, most = VALUES_MAX; k < n && most; k++) {
		hf_key_value(key, k, has ? right : NULL, value, sizeof value);
		if (has ? k == at || (n > 8 && k != at + 1 && k + 1 != at) : n > 8 && k > 2)
			continue;
		write_wrong(i, key, value);
		most--;
	}
	free(text);
}

static void write_all(size_t i)
{
	char name[TEXT];

	write_wrong(i, NULL, "");
	for (const struct hf_setup_key *key = hf_codec_by_name(streams[i].format)->keys; key->key; key++) {
		name_of(key, name, sizeof name);
		if (strstr(streams[i].keys, name))
			write_key(i, key);
	}
}

/* ---- what is shown of them ---- */

/* Stands for the instructions that all harts have retired; *ret_n: how many. */
static uint64_t instructions(const char *views, size_t *ret_n)
{
	char *names = hf_fst_list(&t, views), *save = NULL, path[2 * TEXT];
	uint64_t hash = 0;

	*ret_n = 0;
	for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		char *text;

		if (strncmp(name, "hart", 4) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s/listing.txt", views, name);
		text = hf_fst_text(&t, path);
		for (char *p = text; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0)) {
			if (*p == '#')
				continue;
			++*ret_n;
			for (const char *c = p; *c && *c != '\n'; c++)
				hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
		}
		free(text);
	}
	free(names);
	return hash;
}

struct count {
	unsigned named, unnamed;
};

/* Refused with file and line, as good as right, named, or not. */
static void look(const struct wrong *w, uint64_t right, struct count *count)
{
	char path[2 * TEXT], name[TEXT], *errors, *line;
	const bool field = w->key->field;
	size_t n;

	snprintf(path, sizeof path, "%s/errors.txt", w->views);
	errors = hf_fst_text(&t, path);
	line = strndup(errors, strcspn(errors, "\n"));
	name_of(w->key, name, sizeof name);
	name[strlen(name) - 1] = '\0';
	if (strstr(line, ".ini:")) {
		printf("%s%s = %s: refused: %s\n", streams[w->stream].format, name, w->value, line);
	} else if (strstr(line, "likely cause:") && strstr(line, name)) {
		count->named++;
	} else if (instructions(w->views, &n) != right) {
		printf("stream %zu, %s%s = %s: not named%s: %s\n", w->stream, streams[w->stream].format, name, w->value,
		       field ? " (a field)" : "", line);
		count->unnamed++;
	}
	free(line);
	free(errors);
}

/* Whether the right description shows everything without a problem. */
static uint64_t look_right(const struct wrong *w)
{
	char path[2 * TEXT], *errors;
	uint64_t hash;
	size_t n;

	snprintf(path, sizeof path, "%s/errors.txt", w->views);
	errors = hf_fst_text(&t, path);
	CHECK_STR(errors, "");
	free(errors);
	hash = instructions(w->views, &n);
	CHECK(n > 4000);
	return hash;
}

static void test_named(void)
{
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2, .views = "listing.txt"};
	uint64_t right = 0;
	unsigned bad = 0;

	for (size_t i = 0; i < STREAMS; i++)
		if (streams[i].views)
			make_stream(i);
		else
			make_corpus(i);
	hf_fst_begin(&t);
	for (size_t i = 0; i < STREAMS; i++)
		if (made[i].count)
			write_all(i);
	hf_fst_open(&t, &options);
	for (size_t i = 0; i < wrong_count; i++) {
		struct hf_diag diag;
		char path[TEXT];

		/* On a slow machine a look-up does not wait as long. */
		snprintf(path, sizeof path, "w%zu", i);
		hf_fs_index(t.fs, path, NULL, NULL, &diag);
	}
	for (size_t i = 0; i < wrong_count;) {
		const struct hf_setup_key *key = wrongs[i].key;
		struct count count = {0};
		char name[TEXT];

		if (!key) {
			right = look_right(&wrongs[i++]);
			continue;
		}
		for (; i < wrong_count && wrongs[i].key == key; i++)
			look(&wrongs[i], right, &count);
		name_of(key, name, sizeof name);
		printf("%s%s: named %u times\n", streams[wrongs[i - 1].stream].format, name, count.named);
		bad += count.unnamed || (!count.named && VALUES_MAX > 1);
	}
	hf_fst_close(&t);
	hf_fst_end(&t);
	CHECK_EQ(bad, 0);
}

/* ---- what is no sign of a wrong value ---- */

/* The directory of the first hart below views, malloc'ed. */
static char *first_hart(const char *views)
{
	char *names = hf_fst_list(&t, views), *at = strstr(names, "hart"), *ret;

	CHECK(at);
	CHECK(asprintf(&ret, "%s/%.*s", views, (int)strcspn(at, "\n"), at) > 0);
	free(names);
	return ret;
}

static void index_now(const char *capture)
{
	struct hf_diag diag;

	hf_fs_index(t.fs, capture, NULL, NULL, &diag);
}

/* The description fits: damage, and what the trace unit says itself that it lost, are no reason to doubt it. */
static void check_no_cause(const char *views, const char *want)
{
	char path[2 * TEXT], *errors;

	snprintf(path, sizeof path, "%s/errors.txt", views);
	errors = hf_fst_text(&t, path);
	if (strstr(errors, "likely cause") || !strstr(errors, want))
		fprintf(stderr, "%s: %.300s\n", views, errors);
	CHECK(!strstr(errors, "likely cause") && strstr(errors, want));
	free(errors);
}

static void write_files(const struct files *f, const char *dir)
{
	char path[TEXT];

	for (size_t k = 0; k < f->count; k++) {
		snprintf(path, sizeof path, "%s/%s", dir, f->name[k]);
		hf_fst_write(&t, path, f->bytes[k].p, f->bytes[k].n);
	}
}

static struct files read_view(const char *hart, const char *format)
{
	const char *const *names = strcmp(format, "ete") == 0 ? of_snapshot : of_capture;
	struct files f = {.count = 0};
	char path[2 * TEXT];

	for (; names[f.count]; f.count++) {
		snprintf(path, sizeof path, "%s/%s/%s", hart, format, names[f.count]);
		snprintf(f.name[f.count], sizeof f.name[0], "%s", names[f.count]);
		CHECK_COMES(hf_fst_exists(&t, path));
		f.bytes[f.count] = hf_fst_read(&t, path, 65536);
	}
	return f;
}

/* Our views of a damaged capture of each format, mounted again: they have its gaps as the unit says them. */
static void test_losses(void)
{
	static const struct {
		size_t stream;
		const char *format, *said;
	} views[] = {
		{0, "etrace", "the trace unit lost packets"},
		{0, "ntrace", "the trace encoder lost messages"},
		{8, "etrace", "the trace unit lost packets"},
		{8, "ntrace", "the trace encoder lost messages"},
		{11, "ete", ""},
	};
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2};

	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		const struct stream *s = &streams[views[i].stream];
		struct files damaged = made[views[i].stream], view;
		char *hart, dir[TEXT];
		struct hf_walk_bytes trace = {0};

		hf_bytes_add(&trace, damaged.bytes[1].p, damaged.bytes[1].n);
		memset((uint8_t *)trace.p + trace.n / 3, 0x55, 40);
		damaged.bytes[1] = trace;
		snprintf(dir, sizeof dir, "bad@%s", s->format);
		hf_fst_begin(&t);
		write_files(&damaged, "bad");
		hf_fst_open(&t, &options);
		index_now("bad");
		hart = first_hart(dir);
		check_no_cause(dir, "offset");
		view = read_view(hart, views[i].format);
		hf_fst_close(&t);
		hf_fst_end(&t);
		hf_fst_begin(&t);
		write_files(&view, "view");
		hf_fst_open(&t, &options);
		index_now("view");
		snprintf(dir, sizeof dir, "view@%s", views[i].format);
		check_no_cause(dir, views[i].said);
		hf_fst_close(&t);
		hf_fst_end(&t);
		for (size_t k = 0; k < view.count; k++)
			hf_bytes_free(&view.bytes[k]);
		hf_bytes_free(&trace);
		free(hart);
	}
}

/* Another build of the program, with its code somewhat further on: no value is to blame. */
static void test_other_build(void)
{
	static const size_t of[] = {15, 16};
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct files f = made[of[i]];
		struct hf_walk_bytes elf = {0};
		char path[TEXT], *errors;

		CHECK_STR(f.name[2], "program.elf");
		hf_bytes_add(&elf, f.bytes[2].p, f.bytes[2].n);
		memmove((uint8_t *)elf.p + 1024 + 0x120, f.bytes[2].p + 1024, elf.n - 1024 - 0x120);
		f.bytes[2] = elf;
		hf_fst_begin(&t);
		write_files(&f, "other");
		hf_fst_open(&t, &options);
		index_now("other");
		snprintf(path, sizeof path, "other@%s/errors.txt", streams[of[i]].format);
		errors = hf_fst_text(&t, path);
		if (!strstr(errors, "likely cause: the program: "))
			fprintf(stderr, "%.300s\n", errors);
		CHECK(strstr(errors, "likely cause: the program: "));
		hf_fst_close(&t);
		hf_fst_end(&t);
		free(errors);
		hf_bytes_free(&elf);
	}
}

/* The words of a snapshot, which says the framing in another file. */
static void test_snapshot(void)
{
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2};
	char *text = strndup((const char *)made[11].bytes[4].p, made[11].bytes[4].n), *errors, *wrong;
	struct files f = made[11];

	CHECK_STR(f.name[4], "trace.ini");
	wrong = set(text, "[buffer", "format", "coresight");
	f.bytes[4] = (struct hf_walk_bytes){0};
	hf_bytes_add(&f.bytes[4], wrong, strlen(wrong));
	hf_fst_begin(&t);
	write_files(&f, "s");
	hf_fst_open(&t, &options);
	index_now("s");
	errors = hf_fst_text(&t, "s@ete/errors.txt");
	if (!strstr(errors, "likely cause: format = source_data fits in trace.ini (coresight is written)"))
		fprintf(stderr, "%.300s\n", errors);
	CHECK(strstr(errors, "likely cause: format = source_data fits in trace.ini (coresight is written)"));
	hf_fst_close(&t);
	hf_fst_end(&t);
	free(errors);
	free(wrong);
	free(text);
	hf_bytes_free(&f.bytes[4]);
}

/* No key of a format is forgotten, and none is here that there is not. */
static void test_complete(void)
{
	char name[TEXT];

	for (size_t c = 0; hf_codecs[c]; c++)
		for (const struct hf_setup_key *key = hf_codecs[c]->keys; key && key->key; key++) {
			bool known = false;

			name_of(key, name, sizeof name);
			for (size_t i = 0; i < STREAMS; i++)
				known |= !strcmp(streams[i].format, hf_codecs[c]->name) && strstr(streams[i].keys, name);
			for (size_t i = 0; i < sizeof untold / sizeof *untold; i++) {
				const bool here = !strcmp(untold[i].format, hf_codecs[c]->name) && strstr(untold[i].keys, name);

				if (here)
					printf("%s%s: cannot be told: %s\n", untold[i].format, name, untold[i].why);
				known |= here;
			}
			if (!known)
				fprintf(stderr, "%s:%sis in no list\n", hf_codecs[c]->name, name);
			CHECK(known);
		}
}

/* What the table says a key may have is what the reader takes: no more and no less. */
static void test_ranges(void)
{
	for (size_t c = 0; hf_codecs[c]; c++)
		for (const struct hf_setup_key *key = hf_codecs[c]->keys; key && key->key; key++) {
			struct hf_setup_value value = {.hart = HF_SETUP_ANY, .key = key->key, .file = ""};
			struct hf_setup setup = {.format = hf_codecs[c]->name, .values = &value, .value_count = 1};
			struct hf_setup_error error;
			char text[TEXT];

			for (size_t i = 0; i < hf_key_values(key); i++) {
				hf_key_value(key, i, NULL, text, sizeof text);
				value.value = text;
				*error.text = '\0';
				hf_codecs[c]->check(&setup, &error);
				/* The other keys may want something, and a unit be refused. */
				if (strstr(error.text, key->key) && !key->field && !isupper((unsigned char)*key->key))
					fprintf(stderr, "%s = %s: %s\n", key->key, text, error.text);
				CHECK(!strstr(error.text, key->key) || key->field || isupper((unsigned char)*key->key));
			}
		}
}

int main(void)
{
	if (!getenv("HARTFS_DATA")) {
		printf("SKIP: HARTFS_DATA is not set\n");
		return 77;
	}
	test_complete();
	test_ranges();
	test_named();
	test_losses();
	test_other_build();
	test_snapshot();
	free(wrongs);
	for (size_t i = 0; i < STREAMS; i++)
		for (size_t k = 0; k < made[i].count; k++)
			hf_bytes_free(&made[i].bytes[k]);
	return 0;
}
