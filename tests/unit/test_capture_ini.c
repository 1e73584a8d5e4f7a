/* SPDX-License-Identifier: Apache-2.0 */
/* capture.ini as text: what it may say, and what is wrong with the rest, line by line. */
#include "codecs/base/errors.h"
#include "codecs/setup/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/files.h"
#include "tests/lib/setuptest.h"
#include "tests/lib/toy_codec.h"

static struct hf_setup_error error;

/* Reads the texts and, unless that fails, the files. */
static int load(const char *text, struct hf_setup **ret_setup, struct hf_src **ret_stream)
{
	struct hf_files files = {text, strlen(text)};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_setup_codecs);
	int err = hf_setup_read(&opener, "capture.ini", ret_setup, &error);

	*ret_stream = NULL;
	if (err)
		return err;
	err = hf_setup_load(*ret_setup, &opener, ret_stream, &error);
	if (err) {
		hf_setup_free(*ret_setup);
		*ret_setup = NULL;
	}
	return err;
}

static void must_fail(const char *text, int code, uint32_t line, const char *what)
{
	struct hf_setup *setup;
	struct hf_src *stream;
	int err = load(text, &setup, &stream);

	CHECK(err < 0);
	if (err != code || error.line != line || !strstr(error.text, what)) {
		fprintf(stderr, "%s\ngives %s, line %u: %s\n", text, hf_err_name(err), (unsigned)error.line, error.text);
		exit(1);
	}
	CHECK_STR(error.file, "capture.ini");
}

static void test_all(void)
{
	static const char text[] =
		"@capture.ini\n"
		"\xef\xbb\xbf; everything it may have\r\n"
		"[capture]\r\n"
		"  format =\ttoy   # the format\n"
		"trace=a;b.bin ; a name with a semicolon\n"
		"trace = \"second one, with a comma\"\n"
		"framing = encap\n"
		"width = 3\n"
		"[program]\n"
		"raw = rom, address = 0x1000\n"
		"raw = rom , address=8192, offset = 2, size=2\n"
		"raw = rom, address = 0x1000, context = 7\n"
		"[program 0x11]\n"
		"raw = \"rom\", address = 010\n"
		"[parameters]\n"
		"step = 1\n"
		"[parameters 17]\n"
		"step = two words\n"
		"[parameters 018]\n"
		"step = 012\n"
		"@a;b.bin\nabcde\n"
		"@second one, with a comma\nxyz\n"
		"@rom\n01234567\n";
	struct hf_setup *setup;
	struct hf_src *stream;
	const struct hf_program *program;
	char bytes[16];
	uint64_t n;
	size_t got;

	CHECK_EQ(load(text, &setup, &stream), 0);
	CHECK_STR(setup->format, "toy");
	CHECK_EQ(setup->part_count, 2);
	CHECK_STR(setup->parts[0].name, "a;b.bin");
	CHECK_STR(setup->parts[1].framing, "encap");
	CHECK_EQ(setup->parts[1].offset, 6);
	CHECK_EQ(setup->parts[1].size, 4);
	CHECK_EQ(setup->parts[1].hart, HF_SETUP_ANY);
	CHECK_EQ(stream->size, 10);
	CHECK_EQ(hf_src_read_at(stream, 4, bytes, sizeof bytes, &got, NULL), 0);
	CHECK_EQ(got, 6);
	CHECK(memcmp(bytes, "e\nxyz\n", 6) == 0);
	CHECK_STR(hf_setup_get(setup, 0, "width")->value, "3");
	CHECK_STR(hf_setup_get(setup, 0, "step")->value, "1");
	CHECK_STR(hf_setup_get(setup, 17, "step")->value, "two words");
	CHECK_EQ(hf_setup_get(setup, 17, "step")->line, 17);
	CHECK_EQ(hf_setup_number(setup, 18, "step", 0, 100, 0, &n, NULL), 0);
	CHECK_EQ(n, 12);
	program = hf_setup_program(setup, 0, 0, HF_MEMORY_EL1N);
	CHECK(program);
	CHECK_EQ(program->count, 2);
	CHECK(memcmp(hf_program_at(program, 8192, &n), "23", 2) == 0);
	CHECK_EQ(n, 2);
	program = hf_setup_program(setup, 0, 7, HF_MEMORY_EL1N);
	CHECK_EQ(program->count, 1);
	CHECK(hf_program_at(program, 0x1000, &n));
	program = hf_setup_program(setup, 17, 7, HF_MEMORY_EL3);
	CHECK_EQ(program->pieces[0].address, 10);
	CHECK_EQ(setup->warning_count, 0);
	hf_src_free(stream);
	hf_setup_free(setup);
}

#define INI "@capture.ini\n[capture]\nformat = toy\ntrace = t\n"
#define T "\n@t\nbytes"

/* Where programs overlap the last one has the bytes, and that they differ is told; where they are the same nothing is. */
static void test_overlap(void)
{
	static const char text[] = "@capture.ini\n[capture]\nformat = toy\ntrace = t\n[program]\n"
				   "raw = rom, address = 0x1000, size = 8\n"
				   "raw = rom, address = 0x1004, offset = 4, size = 4\n"
				   "raw = rom, address = 0x1002, size = 2\n"
				   "raw = rom, address = 0x1006, size = 8\n"
				   "@t\nabcde\n@rom\n01234567\n";
	struct hf_setup *setup;
	struct hf_src *stream;
	const struct hf_program *program;
	char bytes[15] = "";
	uint64_t n;

	CHECK_EQ(load(text, &setup, &stream), 0);
	program = hf_setup_program(setup, 0, HF_SETUP_NO_CONTEXT, HF_MEMORY_ANY);
	for (size_t i = 0; i < 14; i++)
		bytes[i] = (char)*hf_program_at(program, 0x1000 + i, &n);
	CHECK_STR(bytes, "01014501234567");
	CHECK_EQ(program->bytes, 14);
	CHECK_EQ(setup->warning_count, 2);
	CHECK_EQ(setup->warnings[0].line, 7);
	CHECK_STR(setup->warnings[0].text,
		  "'rom' and 'rom' of capture.ini:5 differ at 0x1002, where they overlap: 'rom' holds there");
	CHECK_EQ(setup->warnings[1].line, 8);
	CHECK_STR(setup->warnings[1].text,
		  "'rom' and 'rom' of capture.ini:6 differ at 0x1006, where they overlap: 'rom' holds there");
	hf_src_free(stream);
	hf_setup_free(setup);
}

/* A program of a context does not hide those of every context where it has no bytes. */
static void test_below(void)
{
	static const char text[] = "@capture.ini\n[capture]\nformat = toy\ntrace = t\n[program]\n"
				   "raw = rom, address = 0x1000, size = 8\n"
				   "raw = rom, address = 0x1004, offset = 2, size = 2, context = 7\n"
				   "raw = rom, address = 0x2000, size = 8, context = 8\n"
				   "[program 3]\nraw = rom, address = 0x1002, size = 2\n"
				   "@t\nabcde\n@rom\n01234567\n";
	static const struct {
		uint32_t hart;
		uint64_t context, address, n;
		const char *bytes; /* NULL: none */
	} rows[] = {
		{0, 7, 0x1000, 4, "0123"}, {0, 7, 0x1003, 1, "3"}, {0, 7, 0x1004, 2, "23"}, {0, 7, 0x1006, 2, "67"},
		{0, 7, 0x1008, 0, NULL}, {0, 7, 0xfff, 0, NULL}, {0, 7, 0x2000, 0, NULL},
		{0, 8, 0x1004, 4, "4567"}, {0, 8, 0x2000, 8, "01234567"}, {0, 9, 0x1000, 8, "01234567"},
		{0, HF_SETUP_NO_CONTEXT, 0x1000, 8, "01234567"}, {3, 9, 0x1000, 0, NULL}, {3, 9, 0x1002, 2, "01"},
	};
	struct hf_setup *setup;
	struct hf_src *stream;

	CHECK_EQ(load(text, &setup, &stream), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct hf_program *program =
			hf_setup_program(setup, rows[i].hart, rows[i].context, HF_MEMORY_ANY);
		uint64_t n;
		const uint8_t *p = hf_program_at(program, rows[i].address, &n);

		CHECK_EQ(n, rows[i].n);
		CHECK_EQ(p != NULL, rows[i].bytes != NULL);
		CHECK(!p || memcmp(p, rows[i].bytes, n) == 0);
	}
	hf_src_free(stream);
	hf_setup_free(setup);
}

static void test_syntax(void)
{
	must_fail("@capture.ini\n" T, HF_ERR_SETUP_MISSING, 0, "no 'format'");
	must_fail("@capture.ini\nnonsense" T, HF_ERR_SETUP_SYNTAX, 1, "no section");
	must_fail(INI "[open" T, HF_ERR_SETUP_SYNTAX, 4, "no section");
	must_fail(INI "[program] x" T, HF_ERR_SETUP_SYNTAX, 4, "no section");
	must_fail(INI "= 4" T, HF_ERR_SETUP_SYNTAX, 4, "no section");
	must_fail(INI "\n\nwidth\n" T, HF_ERR_SETUP_SYNTAX, 6, "no section");
	must_fail(INI "wi\033dth = 3\n" T, HF_ERR_SETUP_SYNTAX, 4, "no section");
	must_fail(INI "[program]\nraw = \"t, address = 3\n" T, HF_ERR_SETUP_SYNTAX, 5, "quotes");
	must_fail(INI "[program]\nraw = \"t\" address = 3\n" T, HF_ERR_SETUP_SYNTAX, 5, "comma");
}

static void test_keys(void)
{
	must_fail("@capture.ini\nwidth = 1\n[capture]\nformat = toy\n", HF_ERR_SETUP_KEY, 1, "before the first section");
	must_fail(INI "tarce = x" T, HF_ERR_SETUP_KEY, 4, "unknown key 'tarce'");
	must_fail(INI "format = toy" T, HF_ERR_SETUP_KEY, 4, "'format' stands in line 2 already");
	must_fail(INI "[capture]\n" T, HF_ERR_SETUP_KEY, 4, "twice");
	must_fail(INI "[program]\n[program 1]\n[program 0x1]\n" T, HF_ERR_SETUP_KEY, 6, "twice");
	must_fail(INI "[parameters]\nstep = 1\nstep = 2\n" T, HF_ERR_SETUP_KEY, 6, "'step' stands in line 5");
	must_fail(INI "[parameters]\nstep = 1\nframing = x\n" T, HF_ERR_SETUP_KEY, 6, "unknown key 'framing'");
	must_fail(INI "[paramters]\n" T, HF_ERR_SETUP_KEY, 4, "unknown section [paramters]");
	must_fail(INI "[capture 1]\n" T, HF_ERR_SETUP_KEY, 4, "unknown section");
	must_fail(INI "[program]\nimage = x\n" T, HF_ERR_SETUP_KEY, 5, "unknown key 'image'");
	must_fail(INI "[program]\nelf = t, address = 1\n" T, HF_ERR_SETUP_KEY, 5, "unknown key 'address'");
	must_fail(INI "[program]\nraw = t, bias = 1\n" T, HF_ERR_SETUP_KEY, 5, "unknown key 'bias'");
	must_fail(INI "[program]\nmap = t, bias = 1\n" T, HF_ERR_SETUP_KEY, 5, "there are context and root");
	must_fail(INI "[program]\nmap = none\n" T, HF_ERR_SETUP_FILE, 5, "no file within");
	must_fail(INI "[program]\nmap = t, root = /\n" T, HF_ERR_SETUP_VALUE, 5, "relative to this file");
	must_fail(INI "[program]\nvdso = t\nvdso = t\n" T, HF_ERR_SETUP_KEY, 6, "in line 5 already");
	must_fail(INI "[program]\nraw = t, address = 1, address = 2\n" T, HF_ERR_SETUP_KEY, 5, "twice");
}

static void test_values(void)
{
	must_fail("@capture.ini\n[capture]\nformat = no\ntrace = t\n" T, HF_ERR_SETUP_VALUE, 2, "unknown format 'no'");
	must_fail("@capture.ini\n[capture]\nformat = toy\n" T, HF_ERR_SETUP_MISSING, 2, "no 'trace'");
	must_fail(INI "trace =\n" T, HF_ERR_SETUP_VALUE, 4, "name of a file");
	must_fail(INI "trace = /etc/passwd\n" T, HF_ERR_SETUP_VALUE, 4, "relative");
	must_fail(INI "trace = a, b\n" T, HF_ERR_SETUP_VALUE, 4, "one file a line");
	must_fail(INI "[program x]\n" T, HF_ERR_SETUP_VALUE, 4, "no source id");
	must_fail(INI "[program 0xffffffff]\n" T, HF_ERR_SETUP_VALUE, 4, "no source id");
	must_fail(INI "[program -1]\n" T, HF_ERR_SETUP_VALUE, 4, "no source id");
	must_fail(INI "[program]\nraw = t\n" T, HF_ERR_SETUP_VALUE, 5, "needs an address");
	must_fail(INI "[program]\nraw = t, address = 0xg\n" T, HF_ERR_SETUP_VALUE, 5, "needs a number");
	must_fail(INI "[program]\nraw = t, address = 0x10000000000000000\n" T, HF_ERR_SETUP_VALUE, 5, "needs a number");
	must_fail(INI "trace = u.gz\n" T "\n@u.gz\nx", HF_ERR_SETUP_VALUE, 4, "none may be compressed");
}

static void test_files(void)
{
	must_fail(INI "[program]\nraw = none, address = 1\n" T, HF_ERR_SETUP_FILE, 5, "no file within");
	must_fail(INI "[program]\nelf = t\n" T, HF_ERR_SETUP_FILE, 5, "no ELF");
	must_fail(INI "[program]\nraw = t, address = 1, offset = 6\n" T, HF_ERR_SETUP_FILE, 5, "shorter");
	must_fail(INI "[program]\nraw = t, address = 0xffffffffffffffff\n" T, HF_ERR_SETUP_FILE, 5, "cannot be used");
	must_fail("@capture.ini\n[capture]\nformat = toy\ntrace = none\n", HF_ERR_SETUP_FILE, 3, "no file within");
	must_fail("@other\n", HF_ERR_NOT_FOUND, 0, "cannot be read");
}

/* The header of an ELF with nothing to load. */
static void elf(uint8_t bytes[120], uint8_t type, uint8_t machine)
{
	static const uint8_t start[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	memset(bytes, 0, 120);
	memcpy(bytes, start, sizeof start);
	bytes[16] = type;
	bytes[18] = machine;
	bytes[20] = 1;
	bytes[32] = 64; /* e_phoff */
	bytes[52] = 64; /* e_ehsize */
	bytes[54] = 56; /* e_phentsize */
	bytes[56] = 1;  /* e_phnum */
}

static int load_elf(const char *format, const char *line, uint8_t type, uint8_t machine, struct hf_setup **ret_setup)
{
	char text[512];
	uint8_t bytes[120];
	struct hf_src *stream;
	int n = snprintf(text, sizeof text, "@capture.ini\n[capture]\nformat = %s\ntrace = t\n[program]\nelf = e%s\n@t\n\n@e\n",
			 format, line);
	struct hf_files files = {text, (size_t)n + sizeof bytes};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_setup_codecs);
	int err;

	elf(bytes, type, machine);
	memcpy(text + n, bytes, sizeof bytes);
	err = hf_setup_read(&opener, "capture.ini", ret_setup, &error);
	if (err)
		return err;
	err = hf_setup_load(*ret_setup, &opener, &stream, &error);
	if (err)
		hf_setup_free(*ret_setup);
	else
		hf_src_free(stream);
	return err;
}

static void test_elf(void)
{
	struct hf_setup *setup;

	CHECK_EQ(load_elf("rv", "", 2, 243, &setup), 0);
	CHECK_EQ(setup->warning_count, 0);
	hf_setup_free(setup);
	CHECK_EQ(load_elf("rv", "", 3, 243, &setup), 0);
	CHECK_EQ(setup->warning_count, 1);
	CHECK(strstr(setup->warnings[0].text, "position-independent"));
	CHECK_EQ(setup->warnings[0].line, 5);
	hf_setup_free(setup);
	CHECK_EQ(load_elf("rv", ", bias = 0x4000", 3, 243, &setup), 0);
	CHECK_EQ(setup->warning_count, 0);
	CHECK_EQ(setup->images[0].program.entry, 0x4000);
	hf_setup_free(setup);
	CHECK_EQ(load_elf("rv", "", 2, 183, &setup), HF_ERR_SETUP_FILE);
	CHECK(strstr(error.text, "another machine"));
	CHECK_EQ(load_elf("ete", "", 2, 243, &setup), HF_ERR_SETUP_FILE);
	CHECK_EQ(load_elf("ete", "", 2, 40, &setup), 0);
	hf_setup_free(setup);
}

/* A text that is too long, one with a byte that is none, and very many lines. */
static void test_hostile(void)
{
	static char text[2 << 20];
	struct hf_setup *setup;
	struct hf_files files = {text, 0};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_setup_codecs);
	int n = snprintf(text, sizeof text, INI);

	memset(text + n, ' ', sizeof text - (size_t)n);
	files.size = sizeof text;
	CHECK_EQ(hf_setup_read(&opener, "capture.ini", &setup, &error), HF_ERR_INI_LIMIT);
	files.size = (size_t)n + 10;
	text[n + 4] = '\0';
	CHECK_EQ(hf_setup_read(&opener, "capture.ini", &setup, &error), HF_ERR_SETUP_SYNTAX);
	CHECK_EQ(error.line, 4);
	for (unsigned i = 0; i < 5000; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "trace = t%u\n", i);
	files.size = (size_t)n;
	CHECK_EQ(hf_setup_read(&opener, "capture.ini", &setup, &error), HF_ERR_LIMIT);
	n = snprintf(text, sizeof text, INI);
	for (unsigned i = 0; i < 2000; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "[program %u]\n", i);
	files.size = (size_t)n;
	CHECK_EQ(hf_setup_read(&opener, "capture.ini", &setup, &error), HF_ERR_LIMIT);
}

/* More problems than are kept, and a text that is too long: both say so. */
static void test_many_warnings(void)
{
	struct hf_setup *setup = calloc(1, sizeof *setup);
	static char name[1000];

	CHECK(setup);
	memset(name, 'x', sizeof name - 1);
	CHECK_EQ(hf_setup_warn(setup, "capture.ini", 1, "'%s' is not there", name), 0);
	for (uint32_t i = 2; i <= 5000; i++)
		CHECK_EQ(hf_setup_warn(setup, "capture.ini", i, "short"), 0);
	CHECK(strstr(setup->warnings[0].text, "xxx [cut here]"));
	CHECK_EQ(setup->warning_count, HF_SETUP_ROWS_MAX);
	CHECK_STR(setup->warnings[HF_SETUP_ROWS_MAX - 2].text, "short");
	CHECK(strstr(setup->warnings[HF_SETUP_ROWS_MAX - 1].text, "more problems"));
	hf_setup_free(setup);
}

int main(void)
{
	test_all();
	test_overlap();
	test_below();
	test_syntax();
	test_keys();
	test_values();
	test_files();
	test_elf();
	test_hostile();
	test_many_warnings();
	return 0;
}
