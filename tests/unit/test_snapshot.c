/* SPDX-License-Identifier: Apache-2.0 */
/* CoreSight snapshots as text: devices, sources, dumps, buffers, and what is missing or odd in them. */
#include "tests/lib/check.h"
#include "tests/lib/files.h"
#include "tests/lib/setuptest.h"

static struct hf_setup_error error;
static struct hf_setup *setup;
static struct hf_src *stream;

static int load(const char *text)
{
	struct hf_files files = {text, strlen(text)};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_setup_codecs);
	int err = hf_setup_read(&opener, "snapshot.ini", &setup, &error);

	if (err)
		return err;
	err = hf_setup_load(setup, &opener, &stream, &error);
	if (err)
		hf_setup_free(setup);
	return err;
}

static void drop(void)
{
	hf_src_free(stream);
	hf_setup_free(setup);
}

static void must_warn(const char *file, uint32_t line, const char *what)
{
	for (size_t i = 0; i < setup->warning_count; i++)
		if (strcmp(setup->warnings[i].file, file) == 0 && setup->warnings[i].line == line &&
		    strstr(setup->warnings[i].text, what))
			return;
	fprintf(stderr, "no warning %s:%u: %s\n", file, (unsigned)line, what);
	for (size_t i = 0; i < setup->warning_count; i++)
		fprintf(stderr, "%s:%u: %s\n", setup->warnings[i].file, (unsigned)setup->warnings[i].line,
			setup->warnings[i].text);
	exit(1);
}

#define SNAPSHOT \
	"@snapshot.ini\n[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu_0.ini\ndevice1=ETE_0.ini\n" \
	"device2=ETE_1.ini ; a comment\n[trace]\nmetadata=trace.ini\n"
#define CPU "@cpu_0.ini\n[device]\nname=cpu_0\nclass=core\ntype=ARM-AA64\n[regs]\nPC(size:64)=0\n"
#define ETE(n, id, config) \
	"@ETE_" n ".ini\n[device]\nname=ETE_" n "\nclass=trace_source\ntype='ETE'\n[regs]\nTRCTRACEIDR=" id \
	"\ntrcconfigr(0x004)=" config "\n"
#define TRACE \
	"@trace.ini\n[trace_buffers]\nbuffers=b2,b1,\n[b1]\nname=ETB_1\nfile=one\nformat=source_data\n" \
	"[b2]\nname=ETB_2\nfile=two,three\nformat=coresight\n" \
	"[source_buffers]\nETE_0=ETB_1\nETE_1=ETB_2(stream:1)\n[core_trace_sources]\ncpu_0=ETE_0\ncpu_0=ETE_1\n"
#define BUFFERS "@one\n12345\n@two\nab\n@three\n\n"

static void test_all(void)
{
	uint64_t id;

	CHECK_EQ(load(SNAPSHOT CPU "[dump1]\nfile=dir\\code\naddress=0x10000\nlength=4\noffset=1\n"
		      ETE("0", "0x82", "1") ETE("1", "3", "0x1001") TRACE BUFFERS "@dir/code\n01234567\n"), 0);
	CHECK_STR(setup->format, "ete");
	CHECK_EQ(setup->warning_count, 1);
	must_warn("ETE_1.ini", 6, "TRCTRACEIDR is not as that of ETE_0, which traces the same core: they are harts 3 and 2");
	CHECK_EQ(setup->part_count, 2);
	CHECK_STR(setup->parts[0].name, "ETB_2");
	CHECK_STR(setup->parts[0].framing, "coresight");
	CHECK_EQ(setup->parts[0].hart, HF_SETUP_ANY);
	CHECK_EQ(setup->parts[0].size, 4);
	CHECK_STR(setup->parts[1].framing, "source_data");
	CHECK_EQ(setup->parts[1].hart, 2);
	CHECK_EQ(setup->parts[1].offset, 4);
	CHECK_EQ(stream->size, 10);
	CHECK_STR(hf_setup_get(setup, 2, "type")->value, "ETE");
	CHECK_STR(hf_setup_get(setup, 2, "core")->value, "cpu_0");
	CHECK_STR(hf_setup_get(setup, 3, "core_type")->value, "ARM-AA64");
	CHECK_STR(hf_setup_get(setup, 3, "TRCCONFIGR")->file, "ETE_1.ini");
	CHECK_EQ(hf_setup_get(setup, 3, "TRCCONFIGR")->line, 7);
	CHECK_EQ(hf_setup_number(setup, 3, "TRCCONFIGR", 0, UINT32_MAX, 0, &id, NULL), 0);
	CHECK_EQ(id, 0x1001);
	CHECK_EQ(setup->image_count, 2);
	CHECK_EQ(setup->images[0].hart, 2);
	CHECK_EQ(setup->images[0].spaces, HF_MEMORY_ANY);
	CHECK_EQ(setup->images[1].program.pieces[0].address, 0x10000);
	CHECK_EQ(setup->images[1].program.bytes, 4);
	drop();
}

/* Two recordings of one core are one hart, unless its registers differ; another core is another hart. */
static void test_ids(void)
{
	CHECK_EQ(load(SNAPSHOT CPU ETE("0", "1", "1") ETE("1", "1", "1") TRACE BUFFERS), 0);
	CHECK_EQ(setup->value_count, 6);
	CHECK_EQ(setup->warning_count, 0);
	CHECK_EQ(setup->parts[1].hart, 1);
	drop();
	CHECK_EQ(load(SNAPSHOT CPU ETE("0", "1", "1") ETE("1", "1", "5") TRACE BUFFERS), 0);
	CHECK_EQ(setup->value_count, 12);
	CHECK_STR(hf_setup_get(setup, 0x81, "TRCCONFIGR")->value, "5");
	CHECK_STR(hf_setup_get(setup, 1, "TRCCONFIGR")->value, "1");
	CHECK_EQ(setup->warning_count, 1);
	must_warn("ETE_1.ini", 7, "they are harts 129 and 1");
	drop();
}

static void test_spaces(void)
{
	const struct hf_program *program;
	uint64_t n;

	CHECK_EQ(load(SNAPSHOT CPU "[dump1]\nfile=any\naddress=0\n[dump2]\nfile=n\naddress=0x100\nspace=N\n"
		      "[dump3]\nfile=el2\naddress=0x200\nspace=EL2\n[dump3]\nfile=n\naddress=0\nspace=EL3\n"
		      "[dump]\nfile=any\naddress=0x300\nspace=ELF\n"
		      ETE("0", "1", "1") ETE("1", "1", "1") TRACE BUFFERS "@any\n0123\n@n\nnnnn\n@el2\n2222\n"), 0);
	program = hf_setup_program(setup, 1, 0, HF_MEMORY_EL1S);
	CHECK(hf_program_at(program, 0, &n) && !hf_program_at(program, 0x100, &n));
	program = hf_setup_program(setup, 1, 0, HF_MEMORY_EL1N);
	CHECK(hf_program_at(program, 0x100, &n) && !hf_program_at(program, 0x200, &n));
	program = hf_setup_program(setup, 1, 0, HF_MEMORY_EL2N);
	CHECK(hf_program_at(program, 0x100, &n) && hf_program_at(program, 0x200, &n));
	CHECK(hf_program_at(program, 0x300, &n));
	program = hf_setup_program(setup, 1, 0, HF_MEMORY_EL3);
	CHECK(*hf_program_at(program, 0, &n) == 'n');
	must_warn("cpu_0.ini", 18, "'n' and 'any' of cpu_0.ini:7 differ at 0x0, where they overlap: 'n' holds there");
	must_warn("cpu_0.ini", 25, "'ELF' is no memory space");
	drop();
}

/* What is missing is told, and the rest is of use. */
static void test_missing(void)
{
	CHECK_EQ(load(SNAPSHOT CPU "[dump1]\nfile=none\naddress=0\n[dump2]\nfile=x\n[dump3]\nfile=x\naddress=q\n"
		      "[dump4]\nfile=/x\naddress=1\n[dump5]\nfile=one\naddress=1\noffset=100\n" ETE("0", "1", "1")
		      TRACE "@one\n1\n@three\n3\n"), 0);
	must_warn("snapshot.ini", 6, "'ETE_1.ini' is not there");
	must_warn("cpu_0.ini", 7, "'none' is no file within the archive");
	must_warn("cpu_0.ini", 10, "needs 'file' and 'address'");
	must_warn("cpu_0.ini", 12, "needs 'file' and 'address'");
	must_warn("cpu_0.ini", 16, "is no name of a file");
	must_warn("cpu_0.ini", 18, "shorter than its offset");
	must_warn("trace.ini", 9, "'two' is no file within");
	CHECK_EQ(setup->parts[0].size, 2);
	CHECK_EQ(setup->parts[1].offset, 2);
	CHECK_EQ(stream->size, 4);
	drop();
	/* No id, no core, raw bytes of nobody, a buffer of an unknown kind. */
	CHECK_EQ(load("@snapshot.ini\n[device_list]\na=ETE_0.ini\nb=ETE_1.ini\n[trace]\nmetadata=trace.ini\n"
		      "@ETE_0.ini\n[device]\nclass=trace_source\ntype=ETM4.x\n" ETE("1", "1", "1")
		      "@trace.ini\n[trace_buffers]\nbuffers = b1, b2, b3, b4, b5\n[b1]\nfile=one\nformat=source_data\n"
		      "[b2]\nfile=one\nformat=odd\n\n[b4]\nfile = ,\nformat=coresight\n"
		      "[b5]\nfile=one\nformat=coresight\n[source_buffers]\nETE_1=other\n@one\n1\n"), 0);
	must_warn("ETE_0.ini", 0, "no register tells the trace id");
	must_warn("ETE_0.ini", 0, "no core is named");
	must_warn("trace.ini", 4, "no source is named for buffer b1: it is left out");
	must_warn("trace.ini", 8, "format 'odd' is none of source_data, coresight, dstream_coresight: buffer b2 cannot be read: it is left out");
	must_warn("trace.ini", 2, "buffer b3 has no file");
	must_warn("trace.ini", 11, "buffer b4 has no file");
	CHECK_EQ(setup->part_count, 1);
	CHECK_EQ(setup->parts[0].hart, HF_SETUP_ANY);
	drop();
	/* Of the only source they are, though a word is said of it. */
	CHECK_EQ(load("@snapshot.ini\n[device_list]\nb=ETE_1.ini\n[trace]\nmetadata=trace.ini\n" ETE("1", "1", "1")
		      "@trace.ini\n[trace_buffers]\nbuffers = b1\n[b1]\nfile=one\nformat=source_data\n"
		      "[source_buffers]\nETE_1=other\n@one\n1\n"), 0);
	must_warn("trace.ini", 4, "no source is named for buffer b1: ETE_1 is taken");
	CHECK_EQ(setup->parts[0].hart, 1);
	drop();
}

/* Sources of other kinds have numbers behind those that may be decoded, and nothing is missed of them. */
static void test_others(void)
{
	CHECK_EQ(load("@snapshot.ini\n[device_list]\na=STM_0.ini\nb=ETE_1.ini\n[trace]\nmetadata=trace.ini\n"
		      "@STM_0.ini\n[device]\nname=STM_0\nclass=trace_source\ntype=STM\n" CPU ETE("1", "0", "1")
		      "@trace.ini\n[trace_buffers]\nbuffers = b1\n[b1]\nfile=one\nformat=coresight\n@one\n1\n"), 0);
	CHECK_EQ(setup->warning_count, 1);
	must_warn("ETE_1.ini", 0, "no core is named");
	CHECK_STR(hf_setup_get(setup, 0, "source")->value, "ETE_1");
	CHECK_STR(hf_setup_get(setup, 0x80, "source")->value, "STM_0");
	CHECK_STR(hf_setup_get(setup, 0x80, "type")->file, "STM_0.ini");
	CHECK_EQ(hf_setup_get(setup, 0x80, "type")->line, 4);
	drop();
}

static void must_fail(const char *text, const char *file, uint32_t line, const char *what)
{
	CHECK(load(text) < 0);
	if (strcmp(error.file, file) != 0 || error.line != line || !strstr(error.text, what)) {
		fprintf(stderr, "%s:%u: %s\n", error.file, (unsigned)error.line, error.text);
		exit(1);
	}
}

static void test_wrong(void)
{
	must_fail("@snapshot.ini\n", "snapshot.ini", 0, "no 'metadata'");
	must_fail("@snapshot.ini\n[trace]\nmetadata=none\n", "snapshot.ini", 2, "'none' is not there");
	must_fail("@snapshot.ini\n[trace]\nmetadata=/etc/passwd\n", "snapshot.ini", 2, "is no name of a file");
	must_fail("@snapshot.ini\n[trace]\nmetadata=t\n@t\n", "t", 0, "names no trace buffer");
	must_fail("@snapshot.ini\n[trace]\nmetadata=t\n@t\n[trace_buffers]\nbuffers=b\n[b]\nfile=f\nformat=odd\n", "t", 5,
		  "format 'odd' is none of source_data, coresight, dstream_coresight");
	must_fail("@snapshot.ini\n[trace]\nmetadata=t\n@t\n[trace_buffers]\nbuffers=,,\n", "t", 2, "names no trace buffer");
	must_fail("@snapshot.ini\n[device_list]\na=cpu_0.ini\n[trace]\nmetadata=t\n" CPU
		  "@t\n[trace_buffers]\nbuffers=b\n[b]\nfile=x\nformat=source_data\n@x\nx\n", "snapshot.ini", 0,
		  "has class = trace_source");
	must_fail("@snapshot.ini\n[trace]\nmetadata=t\n@t\n\001\n", "t", 1, "this is no text");
}

/* Cores and sources by where they are, a list with one source, a file without a line break at its end. */
static void test_odd(void)
{
	uint64_t n;

	CHECK_EQ(load("@snapshot.ini\n[device_list]\na=cpu\nb=etm\n[trace]\nmetadata=t\n"
		      "@cpu\n[device]\nname=cpu_0\nclass=core\nlocation=cluster0/cpu0\n[dump]\nfile=x\naddress=0\n"
		      "@etm\n[device]\nname=ETM\nclass=trace_source\ntype=ETM4\n[regs]\nTRCTRACEIDR = 020 ; octal\nTRCIDR0 = 017\n"
		      "@x\nx\n@t\nwhatever\n[trace_buffers]\nbuffers=b\n[b]\nfile=x\nformat=source_data\n"
		      "[core_trace_sources]\n@cluster0/cpu0=ETM"), 0);
	CHECK_EQ(setup->warning_count, 1);
	must_warn("t", 1, "this is neither [section] nor key = value");
	CHECK_EQ(setup->parts[0].hart, 16);
	CHECK_EQ(setup->images[0].hart, 16);
	CHECK_EQ(hf_setup_number(setup, 16, "TRCIDR0", 0, UINT32_MAX, 0, &n, NULL), 0);
	CHECK_EQ(n, 15);
	drop();
}

int main(void)
{
	test_all();
	test_ids();
	test_spaces();
	test_missing();
	test_others();
	test_wrong();
	test_odd();
	return 0;
}
