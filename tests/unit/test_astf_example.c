/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example of chapter 5 of the specification, in both readings: the description gives the file of tests/data, read
 * from RAW, LZMA (.xz and .lzma) and Zlib it gives the same stream, decoded and encoded the same bytes, and the lines
 * of records.txt and of the listing. With --write the files are written anew.
 */
#include "codecs/isa/disasm.h"
#include "codecs/views.h"
#include "tests/lib/astftest.h"
#include "tests/lib/pack.h"

#include <llvm/Config/llvm-config.h>
#include <zlib.h>

static struct hf_walk_bytes read_data(const char *name, const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/astf/%s.%s", getenv("HARTFS_DATA"), name, suffix);
	return hf_bytes_load("", path);
}

static void write_data(const char *name, const struct hf_walk_bytes *bytes)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/astf/%s.astf", getenv("HARTFS_DATA"), name);
	file = fopen(path, "wb");
	CHECK(file && fwrite(bytes->p, 1, bytes->n, file) == bytes->n && fclose(file) == 0);
}

static struct hf_walk_bytes build(const char *name)
{
	struct hf_walk_bytes text = read_data(name, "txt"), bytes;

	hf_bytes_add(&text, "", 1);
	bytes = hf_astft_build((const char *)text.p);
	hf_bytes_free(&text);
	return bytes;
}

/* The stream of the example stored so is the RAW file. */
static void check_storage(const struct hf_walk_bytes *raw, const struct hf_box *box, uint8_t format,
			  void (*pack)(struct hf_walk_bytes *to, const void *data, size_t n))
{
	struct hf_walk_bytes file = {0};
	struct hf_walk w;

	hf_bytes_add(&file, raw->p, HF_ASTF_SIZE);
	file.p[8] = format;
	pack(&file, raw->p + HF_ASTF_SIZE, raw->n - HF_ASTF_SIZE);
	CHECK(hf_box_probe(file.p, 64, file.n) == box);
	hf_walk_memory(&w, box, file.p, file.n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.out.n, raw->n);
	CHECK(memcmp(w.out.p, raw->p, raw->n) == 0);
	hf_walk_free(&w);
	hf_bytes_free(&file);
}

static void pack_xz(struct hf_walk_bytes *to, const void *data, size_t n)
{
	hf_pack_xz(to, data, n, 4, 0);
}

static void pack_zlib(struct hf_walk_bytes *to, const void *data, size_t n)
{
	uint8_t out[4096];
	uLongf size = sizeof out;

	CHECK(compress(out, &size, data, n) == Z_OK);
	hf_bytes_add(to, out, size);
}

static void check_back(const struct hf_walk_bytes *raw)
{
	struct hf_events list;
	struct hf_walk_bytes again;
	struct hf_stft t;

	hf_astft_open(&t, raw);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	again = hf_astft_encode(t.stream, &list);
	CHECK_EQ(again.n, raw->n);
	CHECK(memcmp(again.p, raw->p, raw->n) == 0);
	CHECK_EQ(hf_astft_count(&list, HF_EVENT_INSN, 0), 10);
	CHECK_EQ(hf_astft_count(&list, HF_EVENT_ATTEMPT, 0), 1);
	hf_events_free(&list);
	hf_bytes_free(&again);
	hf_stft_close(&t);
}

static const char figure_records[] =
	"0 HEADER ASTF 0.11 BasicPlus timestamps\n"
	"32 STRING 44 \"A string of our own, 44 byte\"\n"
	"64 STRING_CONT \"s, in two parts.\"\n"
	"96 TIMESTAMP 100 us\n"
	"128 CONTEXT EL0t non-secure PID=29192 TID=29197 SVE128 TC-sync SSBS\n"
	"160 INSTR EL0t [000000000836e128] 6b00007f\n"
	"192 INSTR EL0t [000000000836e12c] 54fffde1 NT\n"
	"224 INSTR EL0t [000000000836e130] a94153f3 v[0000ffffe7624250] R16\n"
	"256 INSTR EL0t [000000000836e134] 1dc00693 v[0000a4330b765010]t..[0000a4330b765020] W\n"
	"288 INSTR EL0t [000000000836e138] 1dc04693 v[0000a4330b765020]t..[0000a4330b765080] W\n"
	"320 INSTR EL0t [000000000836e13c] 1dc08693 v[0000a4330b765080]..[0000a4330b765080] W\n"
	"352 INSTR EL0t [000000000836e140] d63f0040 T v<0000ffff83ffb2f0>\n"
	"384 INSTR EL0t [0000ffff83ffb2f0] 2949b0cb v[0000a4330b765ffc]t R4 +\n"
	"416 EXTRA_EA v[0000a4330b766000]t R4\n"
	"448 INSTR EL0t [0000ffff83ffb2f4] a88130eb v[0000ffff95ceb000]t ?16 tr\n"
	"480 TRAP synchronous exception to <ffff7dfffe7fc400> EC=24 (data abort from a lower EL)\n"
	"512 TIMESTAMP 102 us\n"
	"544 CONTEXT EL1h non-secure SVE256 TC-asym\n"
	"576 INSTR EL1h [ffff7dfffe7fc400] d503437f\n"
	"608 CONTEXT EL1h non-secure SSVE512 TC-asym\n"
	"640 INSTR EL1h [ffff7dfffe7fc404] e1000004 i{5} v[ffff8000053bd500] R64\n";

static const char figure_listing[] =
	"# comment A string of our own, 44 bytes, in two parts.\n"
	"# time 100\n"
	"# context pid=29192 tid=29197 mode=EL0t non-secure SSBS tcf=sync\n"
	"0 EL0t 000000000836e128 6b00007f cmp w3, w0\n"
	"1 EL0t 000000000836e12c 54fffde1 b.ne #-68               (not taken)\n"
	"2 EL0t 000000000836e130 a94153f3 ldp x19, x20, [sp, #16] R16 0000ffffe7624250\n"
	"3 EL0t 000000000836e134 1dc00693 setgp [x19]!, x20!, x0  W16 0000a4330b765010{attr=60}\n"
	"4 EL0t 000000000836e138 1dc04693 setgm [x19]!, x20!, x0  W96 0000a4330b765020{attr=60}\n"
	"5 EL0t 000000000836e13c 1dc08693 setge [x19]!, x20!, x0  W0 0000a4330b765080{attr=40}\n"
	"6 EL0t 000000000836e140 d63f0040 blr x2                  -> 0000ffff83ffb2f0\n"
	"7 EL0t 0000ffff83ffb2f0 2949b0cb ldp w11, w12, [x6, #76] R4 0000a4330b765ffc{attr=20} "
	"R4 0000a4330b766000{attr=20}\n"
	"# attempt EL0t 0000ffff83ffb2f4 a88130eb stp x11, x12, [x7], #16 record=8 ?16 0000ffff95ceb000{attr=20}\n"
	"# trap exception cause=36 (data abort from a lower EL) value=ffff95ceb000 -> ffff7dfffe7fc400 mode=EL1h\n"
	"# time 102\n"
	"# context pid=? tid=? vlen=256 non-secure tcf=asym\n"
	"8 EL1h ffff7dfffe7fc400 d503437f smstart sm\n"
	"# context vlen=512 non-secure SM tcf=asym\n"
	"9 EL1h ffff7dfffe7fc404 e1000004 ldr za[w12, 4], [x0, #4, mul vl] R64 ffff8000053bd500 i{5}\n";

static void check_listing(const struct hf_walk_bytes *raw)
{
	struct hf_enc_env env = {0};
	struct hf_events list;
	struct hf_sink sink;
	struct hf_enc *enc;
	struct hf_stft t;

	CHECK(hf_disasm_new(&env.disasm) == 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	hf_astft_open(&t, raw);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	CHECK_EQ(hf_enc_new(&hf_view_listing, t.stream, 0, &env, &enc), 0);
	hf_enc_put(enc, list.ev, list.n, &sink);
	hf_enc_end(enc, &sink);
	*sink.p = 0;
	if (LLVM_VERSION_MAJOR >= 19)
		CHECK_STR((const char *)sink.start, figure_listing);
	hf_enc_free(enc);
	hf_events_free(&list);
	hf_stft_close(&t);
	hf_sink_fini_memory(&sink);
	hf_disasm_free(env.disasm);
}

static void test_reading(const char *name, bool write)
{
	struct hf_walk_bytes raw = build(name), file, text;

	if (write)
		write_data(name, &raw);
	file = read_data(name, "astf");
	CHECK_EQ(raw.n, 21 * HF_ASTF_SIZE);
	CHECK_EQ(file.n, raw.n);
	CHECK(memcmp(file.p, raw.p, raw.n) == 0);
	check_storage(&raw, &hf_box_astf_xz, 1, pack_xz);
	check_storage(&raw, &hf_box_astf_lzma, 1, hf_pack_lzma);
	check_storage(&raw, &hf_box_astf_zlib, 3, pack_zlib);
	check_back(&raw);
	hf_astft_check_seek(&raw);
	if (strcmp(name, "figure") == 0) {
		text = hf_astft_dump(&raw);
		CHECK_STR((const char *)text.p, figure_records);
		hf_bytes_free(&text);
		check_listing(&raw);
	}
	hf_bytes_free(&raw);
	hf_bytes_free(&file);
}

int main(int argc, char **argv)
{
	const bool write = argc > 1 && strcmp(argv[1], "--write") == 0;

	if (!getenv("HARTFS_DATA")) {
		printf("SKIP: HARTFS_DATA is not set\n");
		return 77;
	}
	test_reading("figure", write);
	test_reading("tables", write);
	return 0;
}
