/* SPDX-License-Identifier: Apache-2.0 */
/* The STF header: what it must hold, where its errors are, and what info.json says of it. */
#include "codecs/stf/errors.h"
#include "tests/lib/stftest.h"

extern const struct hf_codec hf_codec_stf;

#define FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)

static int try(const struct hf_walk_bytes *b, struct hf_diag *diag)
{
	struct hf_stream *stream;
	struct hf_src *src;
	int err;

	*diag = (struct hf_diag){0};
	CHECK_EQ(hf_src_memory_new(b->p, b->n, &src), 0);
	err = hf_stream_open(&hf_codec_stf, src, NULL, &stream, diag);
	if (!err)
		hf_stream_close(stream);
	else
		CHECK_EQ(diag->code, err);
	hf_src_free(src);
	return err;
}

static void check_fails(struct hf_walk_bytes *b, int code, uint64_t offset, uint64_t detail)
{
	struct hf_diag diag;

	CHECK_EQ(try(b, &diag), code);
	CHECK_EQ(diag.offset, offset);
	CHECK_EQ(diag.detail, detail);
	hf_bytes_free(b);
}

static struct hf_walk_bytes begin(uint32_t major, uint32_t minor)
{
	struct hf_walk_bytes b = {0};

	PUT(&b, IDENTIFIER);
	PUT(&b, VERSION, .major = major, .minor = minor);
	return b;
}

static void test_versions(void)
{
	static const struct {
		uint32_t major, minor;
		bool good;
	} versions[] = {{1, 1, false}, {1, 2, true},  {1, 3, true}, {1, 6, true},
			{1, 99, true}, {2, 0, false}, {0, 9, false}};

	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		struct hf_walk_bytes b = {0};
		struct hf_diag diag;
		int err;

		hf_stft_header(&b, FEATURES, 0);
		hf_put32(b.p + 5, versions[i].major);
		hf_put32(b.p + 9, versions[i].minor);
		err = try(&b, &diag);
		CHECK_EQ(err, versions[i].good ? 0 : HF_ERR_STF_VERSION);
		CHECK(versions[i].good || diag.offset == 4);
		hf_bytes_free(&b);
	}
}

/* Each mandatory record left out, and each single one twice. */
static void test_missing_and_twice(void)
{
	static const struct hf_stf_record parts[] = {
		{.descriptor = HF_STF_ISA, .code = HF_STF_ISA_RISCV},
		{.descriptor = HF_STF_INST_IEM, .code = HF_STF_IEM_RV64},
		{.descriptor = HF_STF_TRACE_INFO, .code = 1},
		{.descriptor = HF_STF_TRACE_INFO_FEATURE},
		{.descriptor = HF_STF_FORCE_PC},
	};
	const size_t n = sizeof parts / sizeof parts[0];

	for (size_t special = 0; special < n; special++) {
		struct hf_walk_bytes missing = begin(1, 6), twice = begin(1, 6);
		size_t second;

		for (size_t i = 0; i < n; i++) {
			if (i != special)
				hf_stft_put(&missing, &hf_stft_layout, &parts[i]);
			hf_stft_put(&twice, &hf_stft_layout, &parts[i]);
		}
		second = twice.n;
		hf_stft_put(&twice, &hf_stft_layout, &parts[special]);
		PUT(&missing, END_HEADER);
		PUT(&twice, END_HEADER);
		check_fails(&missing, HF_ERR_STF_HEADER_MISSING, missing.n - 1, parts[special].descriptor);
		if (parts[special].descriptor == HF_STF_TRACE_INFO)
			hf_bytes_free(&twice);
		else
			check_fails(&twice, HF_ERR_STF_HEADER_TWICE, second, parts[special].descriptor);
	}
}

static void test_isa(void)
{
	static const struct {
		uint16_t isa, iem;
		int err;
		uint8_t hf_isa;
	} cases[] = {
		{1, 1, 0, HF_ISA_RV32},	     {1, 2, 0, HF_ISA_RV64},	   {1, 3, HF_ERR_STF_VALUE, 0},
		{1, 0, HF_ERR_STF_VALUE, 0}, {2, 1, 0, HF_ISA_A32},	   {2, 2, 0, HF_ISA_A64},
		{2, 3, 0, HF_ISA_T32},	     {3, 1, HF_ERR_STF_ISA, 0},	   {4, 2, HF_ERR_STF_ISA, 0},
		{0, 2, HF_ERR_STF_VALUE, 0}, {77, 2, HF_ERR_STF_VALUE, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct hf_walk_bytes b = {0};
		struct hf_diag diag;

		hf_stft_header(&b, FEATURES, 0);
		hf_put16(b.p + 14, cases[i].isa);
		hf_put16(b.p + 17, cases[i].iem);
		CHECK_EQ(try(&b, &diag), cases[i].err);
		if (cases[i].err) {
			CHECK_EQ(diag.offset, cases[i].err == HF_ERR_STF_VALUE && cases[i].isa == 1 ? 16 : 13);
		} else {
			struct hf_stft t;

			hf_stft_open(&t, &b);
			CHECK_EQ(t.stream->info.isa, cases[i].hf_isa);
			CHECK_EQ(t.stream->info.arch, cases[i].isa == 1 ? HF_ARCH_RISCV : HF_ARCH_ARM);
			CHECK_EQ(t.stream->info.xlen,
				 cases[i].hf_isa == HF_ISA_RV64 || cases[i].hf_isa == HF_ISA_A64 ? 64 : 32);
			/* without the feature EVENT, which of ARM means that there are no exceptions */
			CHECK_EQ(t.stream->info.flags, HF_STREAM_HARTS | HF_STREAM_ORIGINAL | HF_STREAM_NO_TEXTS |
							       (cases[i].isa == 1 ? 0 : HF_STREAM_ONE_LEVEL));
			hf_stft_close(&t);
		}
		hf_bytes_free(&b);
	}
}

/* Every cut of a good header is an error at a record of it, never a crash. */
static void test_cuts(void)
{
	struct hf_walk_bytes b = {0};

	hf_stft_header(&b, FEATURES, 0);
	for (size_t n = 0; n < b.n; n++) {
		uint8_t *copy = malloc(n + 1);
		struct hf_walk_bytes part = {.p = copy, .n = n};
		struct hf_diag diag;

		memcpy(copy, b.p, n);
		CHECK(try(&part, &diag) < 0);
		CHECK(diag.offset <= n);
		free(copy);
	}
	hf_bytes_free(&b);
}

static void test_strange(void)
{
	struct hf_walk_bytes b = {0};

	check_fails(&b, HF_ERR_STF_MAGIC, 0, 0);
	hf_bytes_add(&b, "\1STX", 4);
	check_fails(&b, HF_ERR_STF_MAGIC, 0, 0);
	PUT(&b, IDENTIFIER);
	PUT(&b, ISA, .code = 1);
	check_fails(&b, HF_ERR_STF_NO_VERSION, 4, 0);
	b = begin(1, 6);
	PUT(&b, COMMENT, .count = UINT32_MAX);
	check_fails(&b, HF_ERR_STF_RECORD_CUT, 13, 0);
	b = begin(1, 6);
	PUT(&b, INST_OPCODE32);
	check_fails(&b, HF_ERR_STF_HEADER, 13, 0);
	b = begin(1, 6);
	hf_bytes_add(&b, "\16", 1);
	check_fails(&b, HF_ERR_STF_DESCRIPTOR, 13, 14);
	b = begin(1, 6);
	PUT(&b, VLEN_CONFIG, .code = HF_STF_VLEN_MAX + 1);
	check_fails(&b, HF_ERR_STF_VALUE, 13, HF_STF_VLEN_CONFIG);
	b = begin(1, 6);
	PUT(&b, CLOCK_ID, .clock = 1);
	PUT(&b, END_HEADER);
	struct hf_diag diag;
	CHECK_EQ(try(&b, &diag), 0);
	hf_bytes_free(&b);
}

static void test_json(void)
{
	struct hf_walk_bytes b = begin(1, 5);
	struct hf_stft t;
	const struct hf_stf_header *h;

	PUT(&b, COMMENT, .count = 9);
	hf_bytes_add(&b, "a\"\\\n\xc3\xa4\xff\x7f.", 9);
	PUT(&b, ISA, .code = 1);
	PUT(&b, INST_IEM, .code = 2);
	PUT(&b, TRACE_INFO, .code = 12, .major = 1, .minor = 2, .patch = 3, .count = 3);
	hf_bytes_add(&b, "drm", 3);
	PUT(&b, TRACE_INFO, .code = 99);
	PUT(&b, TRACE_INFO_FEATURE, .value = 0x8000000000080021);
	PUT(&b, PROCESS_ID_EXT, .hw = 1, .pid = 2, .tid = 3);
	PUT(&b, FORCE_PC, .address = 0x80000000);
	PUT(&b, VLEN_CONFIG, .code = 200);
	PUT(&b, ISA_EXTENDED, .count = 6);
	hf_bytes_add(&b, "rv64gc", 6);
	PUT(&b, END_HEADER);
	hf_stft_open(&t, &b);
	CHECK_STR(t.stream->info.version, "1.5");
	CHECK_STR(t.stream->info.json,
		  "\"stf_version\":\"1.5\",\"isa\":\"RISC-V\",\"encoding\":\"RV64\",\"first_pc\":\"0000000080000000\","
		  "\"access_sizes\":\"bits (assumed)\",\"isa_extended\":\"rv64gc\","
		  "\"generators\":[{\"name\":\"Dromajo\",\"version\":\"1.2.3\",\"comment\":\"drm\"},"
		  "{\"name\":\"generator 99\",\"version\":\"0.0.0\",\"comment\":\"\"}],"
		  "\"comments\":[\"a\\\"\\\\\\u000a\xc3\xa4\\u00ff\\u007f.\"],\"vlen\":200,"
		  "\"first_hw_thread\":1,\"first_pid\":2,\"first_tid\":3,"
		  "\"features\":[\"PHYSICAL_ADDRESS\",\"RV64\",\"EVENT64\",\"bit 63\"],\"header_bytes\":98");
	h = t.stream->info.header;
	CHECK(h->bits && h->layout.event64);
	CHECK_EQ(h->layout.vector_words, 4);
	CHECK_EQ(h->body, b.n);
	CHECK_EQ(t.stream->info.vlen, 200);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* Comments without end cost no memory and no error. */
static void test_large_comments(void)
{
	struct hf_walk_bytes b = begin(1, 6), good = {0};
	static char text[300000];
	struct hf_stft t;

	memset(text, 'x', sizeof text);
	for (int i = 0; i < 4; i++) {
		PUT(&b, COMMENT, .count = sizeof text);
		hf_bytes_add(&b, text, sizeof text);
	}
	hf_stft_header(&good, FEATURES, 0x1234);
	hf_bytes_add(&b, good.p + 13, good.n - 13);
	hf_stft_open(&t, &b);
	CHECK_EQ(((const struct hf_stf_header *)t.stream->info.header)->force_pc, 0x1234);
	CHECK_EQ(((const struct hf_stf_header *)t.stream->info.header)->body, b.n);
	CHECK(strlen(t.stream->info.json) < 2 * HF_STF_STRINGS_MAX);
	CHECK(strstr(t.stream->info.json, "\"strings_cut\":true"));
	hf_stft_close(&t);
	hf_bytes_free(&b);
	hf_bytes_free(&good);
}

/* The first hart is the one that the body begins with. */
static void test_first_hart(void)
{
	struct hf_walk_bytes b = {0};
	struct hf_stft t;

	hf_stft_header(&b, FEATURES | HF_STF_FEATURE_MULTI_CORE, 0);
	PUT(&b, COMMENT, .count = 1);
	hf_bytes_add(&b, "c", 1);
	PUT(&b, PROCESS_ID_EXT, .hw = 5);
	PUT(&b, INST_OPCODE32, .size = 0x13);
	hf_stft_open(&t, &b);
	CHECK_EQ(t.stream->info.first_hart, 5);
	CHECK_EQ(t.stream->info.flags, HF_STREAM_HARTS | HF_STREAM_MANY | HF_STREAM_NO_TEXTS | HF_STREAM_ORIGINAL);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

int main(void)
{
	CHECK_EQ(hf_codec_stf.probe((const uint8_t *)"\1STF", 4), 100);
	CHECK_EQ(hf_codec_stf.probe((const uint8_t *)"\1ST", 3), 0);
	test_versions();
	test_missing_and_twice();
	test_isa();
	test_cuts();
	test_strange();
	test_json();
	test_large_comments();
	test_first_hart();
	return 0;
}
