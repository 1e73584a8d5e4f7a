/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data: with CoreSight or RISC-V trace it is a capture that is refused with a reason, without it an ordinary file. */
#include "codecs/codec.h"
#include "codecs/perf/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/sliver.h"

enum { HEADER = 104, AUXTRACE = 1u << 18, KILLED = 1, PIPE = 2, SWAPPED = 4 };

static uint8_t bytes[1 << 17];
static size_t count;
static bool swapped;

static void put(size_t at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes[at + (swapped ? size - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

/* A file with these feature bits; records are put behind it. */
static void begin(unsigned flags, uint64_t features)
{
	memset(bytes, 0, sizeof bytes);
	swapped = flags & SWAPPED;
	memcpy(bytes, swapped ? "2ELIFREP" : "PERFILE2", 8);
	count = flags & PIPE ? 16 : HEADER;
	put(8, count, 8);
	if (flags & PIPE)
		return;
	put(40, HEADER, 8);
	put(48, flags & KILLED ? 0 : sizeof bytes - HEADER, 8);
	put(72, features, 8);
}

static void record(unsigned type, unsigned size)
{
	put(count, type, 4);
	put(count + 6, size, 2);
	count += size;
}

/* Trace of that kind, of so many trace units. */
static void info(unsigned kind, unsigned units)
{
	put(count + 8, kind, 4);
	put(count + 16, 1, 8);
	put(count + 24, UINT64_C(9) << 32 | units, 8);
	record(70, 40);
}

/* So many bytes of trace, which look like an AUXTRACE_INFO. */
static void trace(unsigned size)
{
	put(count + 8, size, 8);
	record(71, 48);
	for (unsigned i = 0; i + 40 <= size; i += 40)
		info(3, 77);
	count += size % 40;
}

/* Whether it is a capture; and then, in the reason, its trace units or that it is RISC-V trace. */
static bool is_capture(size_t size, char *why, size_t room)
{
	const struct hf_codec *codec = hf_codec_probe(bytes, size);
	struct hf_diag diag = {.code = 0};
	struct hf_src *src, *thin;
	struct hf_stream *stream;
	bool ours, again;
	int err;

	CHECK(codec && strcmp(codec->name, "perf") == 0);
	CHECK_EQ(hf_src_memory_new(bytes, size, &src), 0);
	CHECK_EQ(codec->confirm(src, &ours), 0);
	CHECK_EQ(hf_sliver_new(src, 3, &thin), 0);
	CHECK_EQ(codec->confirm(thin, &again), 0);
	CHECK_EQ(ours, again);
	err = hf_stream_open(codec, thin, NULL, &stream, &diag);
	CHECK(err == HF_ERR_PERF_DATA || (ours && err == HF_ERR_PERF_RISCV));
	hf_diag_format(&diag, why, (int)room);
	hf_src_free(thin);
	hf_src_free(src);
	return ours;
}

static void check(bool capture, const char *what)
{
	char why[256];

	CHECK_EQ(is_capture(count, why, sizeof why), capture);
	CHECK(strstr(why, "hartfs-ete(5)") || strstr(why, "framing = encap"));
	if (capture)
		CHECK(strstr(why, what));
}

static void test_kinds(void)
{
	static const unsigned flags[] = {0, KILLED, PIPE, SWAPPED, SWAPPED | KILLED, SWAPPED | PIPE};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		for (unsigned kind = 0; kind < 10; kind++) {
			begin(flags[i], AUXTRACE);
			record(1, 64);
			info(kind, 6);
			record(68, 8);
			check(kind == 3 || kind == 8, kind == 8 ? "RISC-V trace (type 8)" : " 6 trace units");
		}
		begin(flags[i], AUXTRACE);
		trace(4000);
		record(3, 24);
		check(false, "");
		info(3, 2);
		check(true, " 2 trace units");
	}
	/* the header says that there is no trace: nobody looks for it */
	begin(0, ~(uint64_t)AUXTRACE);
	info(3, 2);
	check(false, "");
	/* the header has no features at all */
	begin(0, 0);
	info(8, 0);
	check(true, "RISC-V trace (type 8)");
	/* trace of two kinds */
	begin(0, AUXTRACE);
	info(1, 1);
	info(3, 5);
	check(true, " 5 trace units");
	/* strings of the recording machine, whose size stands in them */
	begin(PIPE, 0);
	put(count + 8, 13, 4);
	record(66, 12);
	count += 16;
	info(3, 4);
	check(true, " 4 trace units");
}

/* Cut anywhere, with sizes that lead nowhere, and of the first version. */
static void test_damage(void)
{
	char why[256];
	size_t size;

	begin(0, AUXTRACE);
	trace(80);
	info(3, 6);
	size = count;
	for (size_t n = 8; n < size; n++)
		CHECK_EQ(is_capture(n, why, sizeof why), n >= size - 8);
	for (unsigned small = 0; small < 8; small++) {
		begin(0, AUXTRACE);
		record(1, small);
		count += 8 - small;
		info(3, 6);
		check(false, "");
	}
	begin(0, AUXTRACE);
	put(count + 8, UINT64_MAX - 100, 8);
	record(71, 48);
	info(3, 6);
	check(false, "");
	begin(0, AUXTRACE);
	info(3, 6);
	put(40, UINT64_MAX - 3, 8);
	check(false, "");
	begin(0, AUXTRACE);
	info(3, 6);
	memcpy(bytes, "PERFFILE", 8);
	check(false, "");
}

int main(void)
{
	test_kinds();
	test_damage();
	return 0;
}
