/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a summary says that things happen, of events made by hand: accesses that span words, long ones, those that go
 * over the end of memory, of attempts, and of unknown address; sources without them; what becomes coarse, and how many
 * bytes it then has; pages. Samples are the loop codec.places's business.
 */
#include "index/index.h"
#include "index/store/file_name.h"
#include "index/summary/collector.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/summary.h"
#include "index/summary/summary_part.h"
#include "index/summary/words.h"
#include "index/summary/words_pages.h"
#include "tests/lib/check.h"
#include "tests/lib/summarytest.h"

#include <fcntl.h>
#include <unistd.h>

static char dir[] = "/tmp/hartfs-places-XXXXXX";
static const struct hf_identity identity = {.size = 1, .print = {2, 3}};

/* A hart whose events come one by one; its rows go into a file at once. */
struct maker {
	struct hf_summary_part part;
	struct hf_group_writer *writer;
	struct hf_collector *collector;
	struct hf_summary_hart hart;
	uint64_t bytes;
	struct hf_store_dir dir;
};

static int put(void *ctx, const struct hf_table *table, uint64_t number, const void *row)
{
	struct maker *m = ctx;

	m->bytes += hf_row_size(table, row);
	return hf_summary_part_put(&m->part, table->id, number, row);
}

static void start(struct maker *m)
{
	const struct hf_chunk_limits limits = hf_chunk_limits_default;

	*m = (struct maker){.dir.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	CHECK(m->dir.fd >= 0);
	CHECK_EQ(hf_summary_part_open(&m->part, &m->dir, &identity, &limits), 0);
	CHECK_EQ(hf_group_writer_new(put, m, &m->writer), 0);
	CHECK_EQ(hf_collector_new(NULL, m->writer, &m->collector), 0);
}

static struct hf_summary *finish(struct maker *m)
{
	const struct hf_chunk_limits limits = hf_chunk_limits_default;
	struct hf_summary *summary;

	m->hart.chunks++;
	hf_collector_cut(m->collector);
	CHECK_EQ(hf_collector_end(m->collector), 0);
	hf_collector_free(m->collector);
	hf_group_writer_free(m->writer);
	CHECK_EQ(hf_summary_part_put(&m->part, HF_TABLE_HART, 0, &m->hart), 0);
	CHECK_EQ(hf_summary_part_finish(&m->part, &limits), 0);
	CHECK_EQ(hf_part_publish(&m->part.file), 0);
	hf_summary_part_close(&m->part);
	CHECK_EQ(hf_summary_open(&m->dir, &identity, &summary), 0);
	return summary;
}

static void done(struct maker *m, struct hf_summary *summary)
{
	CHECK(!hf_summary_is_damaged(summary));
	hf_summary_remove(summary);
	hf_summary_close(summary);
	close(m->dir.fd);
}

static void event(struct maker *m, const struct hf_event *ev)
{
	m->hart.insns += ev->kind == HF_EVENT_INSN;
	CHECK_EQ(hf_collector_put(m->collector, ev, 1), 0);
}

static void insns(struct maker *m, unsigned n)
{
	while (n--)
		event(m, &(struct hf_event){.kind = HF_EVENT_INSN});
}

static void attempt(struct maker *m)
{
	event(m, &(struct hf_event){.kind = HF_EVENT_ATTEMPT});
}

static void chunk(struct maker *m)
{
	hf_collector_cut(m->collector);
	m->hart.chunks++;
}

static void access_of(struct maker *m, uint8_t flags, uint64_t address, uint32_t size)
{
	event(m, &(struct hf_event){.kind = HF_EVENT_MEM, .flags = flags, .mem = {.address = address, .size = size}});
}

/* The chunks that touch it, as bits; there are at most 64. */
static uint64_t ask(struct hf_summary *summary, enum hf_words_what what, uint64_t first, uint64_t last, unsigned level)
{
	struct hf_chunk_set set;
	uint64_t bits;

	CHECK_EQ(hf_words_find(summary, 0, what, first, last, &set, NULL), 0);
	CHECK(set.chunks <= 64);
	CHECK_EQ(set.level, level);
	bits = set.bits[0];
	hf_chunk_set_free(&set);
	return bits;
}

static uint64_t writes(struct hf_summary *summary, uint64_t first, uint64_t last)
{
	return ask(summary, HF_WORDS_WRITES, first, last, HF_WORDS_WORD);
}

/* ---- accesses ---- */

static void test_words(void)
{
	struct hf_chunk_set set, unknown;
	struct hf_summary *summary;
	struct maker m;

	start(&m);
	insns(&m, 1);
	access_of(&m, HF_EVF_WRITE, 0x1006, 4); /* two words */
	access_of(&m, HF_EVF_WRITE | HF_EVF_NO_ADDRESS, 0, 4);
	chunk(&m);
	access_of(&m, HF_EVF_READ | HF_EVF_WRITE, 0x5000, 0); /* still of the instruction in chunk 0 */
	insns(&m, 1);
	access_of(&m, HF_EVF_WRITE, UINT64_MAX - 3, 8); /* goes on at 0 */
	chunk(&m);
	insns(&m, 1);
	access_of(&m, HF_EVF_WRITE, 0x200000, 5u << 20); /* long */
	access_of(&m, HF_EVF_WRITE, 0x200000 + (5u << 20), 8);
	access_of(&m, HF_EVF_READ, 0x300000, 4097);
	attempt(&m);
	access_of(&m, HF_EVF_WRITE, 0x9000, 8);
	summary = finish(&m);

	CHECK_EQ(writes(summary, 0x1000, 0x1007), 1);
	CHECK_EQ(writes(summary, 0x1008, 0x1008), 1);
	CHECK_EQ(writes(summary, 0x1010, 0x1fff), 0);
	CHECK_EQ(writes(summary, 0xff8, 0xfff), 0);
	CHECK_EQ(writes(summary, 0x5000, 0x5000), 1);
	CHECK_EQ(writes(summary, 0, 0), 2);
	CHECK_EQ(writes(summary, UINT64_MAX, UINT64_MAX), 2);
	CHECK_EQ(writes(summary, 8, 0xfff), 0);
	CHECK_EQ(writes(summary, 0x1fffff, 0x200000), 4);
	CHECK_EQ(writes(summary, 0x6ffff8, 0x6ffff8), 4);
	CHECK_EQ(writes(summary, 0x700007, 0x700007), 4);
	CHECK_EQ(writes(summary, 0x700008, UINT64_MAX - 8), 0);
	CHECK_EQ(writes(summary, 0, UINT64_MAX), 7);
	CHECK_EQ(writes(summary, 0x9000, 0x9007), 0);
	CHECK_EQ(ask(summary, HF_WORDS_ATTEMPT_WRITES, 0x9000, 0x9007, HF_WORDS_WORD), 4);
	CHECK_EQ(ask(summary, HF_WORDS_READS, 0x503f, 0x503f, HF_WORDS_LINE), 1);
	CHECK_EQ(ask(summary, HF_WORDS_READS, 0x301000, 0x301000, HF_WORDS_LINE), 4);
	CHECK_EQ(ask(summary, HF_WORDS_READS, 0x301040, 0x301040, HF_WORDS_LINE), 0);
	CHECK_EQ(ask(summary, HF_WORDS_ATTEMPT_READS, 0, UINT64_MAX, HF_WORDS_LINE), 0);
	CHECK_EQ(hf_words_find(summary, 0, HF_WORDS_WRITES, 0x9000, 0x9000, &set, &unknown), 0);
	CHECK(set.count == 0 && unknown.count == 1 && hf_chunk_set_has(&unknown, 0));
	hf_chunk_set_free(&set);
	hf_chunk_set_free(&unknown);
	CHECK_EQ(hf_words_find(summary, 1, HF_WORDS_WRITES, 0, 1, &set, NULL), HF_ERR_NOT_FOUND);
	done(&m, summary);
}

/* A source without data trace, and without registers. */
static void test_not_known(void)
{
	struct hf_chunk_set set;
	struct hf_summary *summary;
	struct maker m;

	start(&m);
	insns(&m, 5);
	summary = finish(&m);
	for (unsigned what = HF_WORDS_WRITES; what <= HF_WORDS_ATTEMPT_READS; what++)
		CHECK_EQ(hf_words_find(summary, 0, what, 0, UINT64_MAX, &set, NULL), HF_ERR_UNSUPPORTED);
	CHECK_EQ(hf_registers_find(summary, 0, HF_REGISTERS_WRITTEN, HF_REG_INTEGER, 1, &set), HF_ERR_UNSUPPORTED);
	done(&m, summary);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Every 8th instruction reads and writes a word somewhere in so much memory: the bound holds, and nothing is lost. */
static void chase(uint64_t memory, unsigned chunks)
{
	const unsigned n = 16384;
	uint64_t x = 88172645463325252u, again = x;
	struct hf_chunk_set set;
	struct hf_summary *summary;
	struct maker m;

	start(&m);
	for (unsigned c = 0; c < chunks; c++) {
		if (c)
			chunk(&m);
		for (unsigned i = 0; i < n / 8; i++) {
			insns(&m, 8);
			access_of(&m, HF_EVF_READ | HF_EVF_WRITE, next_random(&x) % memory & ~UINT64_C(7), 8);
		}
	}
	summary = finish(&m);
	printf("%llu MiB: %llu instructions, %llu bytes\n", (unsigned long long)(memory >> 20),
	       (unsigned long long)m.hart.insns, (unsigned long long)m.bytes);
	CHECK(m.bytes <= 2 * (m.hart.insns / 32 + (64u << 10)) + 4096);
	CHECK(m.bytes <= m.hart.insns / 8);
	for (unsigned c = 0; c < chunks; c++)
		for (unsigned i = 0; i < n / 8; i++) {
			const uint64_t address = next_random(&again) % memory & ~UINT64_C(7);

			if (i % 512 || c % 32)
				continue;
			for (unsigned what = HF_WORDS_WRITES; what <= HF_WORDS_READS; what++) {
				CHECK_EQ(hf_words_find(summary, 0, what, address, address, &set, NULL), 0);
				CHECK(hf_chunk_set_has(&set, c) && set.level > HF_WORDS_LINE);
				hf_chunk_set_free(&set);
			}
		}
	done(&m, summary);
}

/* What comes after that is fine again. */
static void test_phases(void)
{
	uint64_t x = 88172645463325252u;
	struct hf_chunk_set set;
	struct hf_summary *summary;
	struct maker m;

	start(&m);
	for (unsigned i = 0; i < 1u << 20; i += 8) {
		insns(&m, 8);
		if (i < 1u << 18)
			access_of(&m, HF_EVF_WRITE, (UINT64_C(1) << 40) + next_random(&x) % (1u << 30), 8);
		else
			access_of(&m, HF_EVF_WRITE, 0x1000 + (i >> 14) * 8, 8);
		if (i % 16384 == 16376)
			chunk(&m);
	}
	summary = finish(&m);
	CHECK_EQ(hf_words_find(summary, 0, HF_WORDS_WRITES, 0x1000 + 60 * 8, 0x1000 + 60 * 8, &set, NULL), 0);
	/* The chunks at which it begins are still coarse. */
	CHECK(hf_chunk_set_has(&set, 60) && set.count < 8 && !hf_chunk_set_has(&set, 30) &&
	      !hf_chunk_set_has(&set, 61));
	hf_chunk_set_free(&set);
	CHECK_EQ(hf_words_find(summary, 0, HF_WORDS_WRITES, UINT64_C(1) << 40, UINT64_C(2) << 40, &set, NULL), 0);
	CHECK(set.count == 16 && hf_chunk_set_has(&set, 15) && set.level > HF_WORDS_WORD);
	hf_chunk_set_free(&set);
	done(&m, summary);
}

/* ---- registers ---- */

static void reg(struct maker *m, uint8_t role, uint16_t number)
{
	event(m, &(struct hf_event){.kind = HF_EVENT_REG,
				    .reg = {.class = HF_REG_INTEGER, .number = number, .role = role}});
}

static void test_registers(void)
{
	struct hf_chunk_set set;
	struct hf_summary *summary;
	struct maker m;

	start(&m);
	insns(&m, 1);
	reg(&m, HF_REG_SOURCE, 5);
	reg(&m, HF_REG_STATE, 7);
	chunk(&m);
	reg(&m, HF_REG_DESTINATION, 6);
	insns(&m, 1);
	reg(&m, HF_REG_DESTINATION, 7);
	attempt(&m);
	reg(&m, HF_REG_DESTINATION, 5);
	summary = finish(&m);
	CHECK_EQ(hf_registers_find(summary, 0, HF_REGISTERS_WRITTEN, HF_REG_INTEGER, 5, &set), 0);
	CHECK_EQ(set.count, 0);
	hf_chunk_set_free(&set);
	CHECK_EQ(hf_registers_find(summary, 0, HF_REGISTERS_WRITTEN, HF_REG_INTEGER, 6, &set), 0);
	CHECK(set.count == 1 && hf_chunk_set_has(&set, 0));
	hf_chunk_set_free(&set);
	CHECK_EQ(hf_registers_find(summary, 0, HF_REGISTERS_WRITTEN, HF_REG_INTEGER, 7, &set), 0);
	CHECK(set.count == 1 && hf_chunk_set_has(&set, 1));
	hf_chunk_set_free(&set);
	CHECK_EQ(hf_registers_find(summary, 0, HF_REGISTERS_STATED, HF_REG_INTEGER, 7, &set), 0);
	CHECK(set.count == 1 && hf_chunk_set_has(&set, 0));
	hf_chunk_set_free(&set);
	done(&m, summary);
}

/* ---- rare events ---- */

static void trap(struct maker *m, uint64_t cause, uint8_t flags)
{
	event(m, &(struct hf_event){.kind = HF_EVENT_TRAP, .flags = flags | HF_EVF_CAUSE, .trap = {.cause = cause}});
}

/* How many there are, all of the value that is asked for, and the hit with the n-th. */
static uint64_t count_of(struct hf_rare *rare, uint64_t n, struct hf_rare_hit *ret_hit)
{
	struct hf_rare_counted counted;

	CHECK_EQ(hf_rare_counted_of(rare, n, &counted), 0);
	CHECK_EQ(counted.maybe, 0);
	*ret_hit = counted.nth;
	return counted.count;
}

static struct hf_rare *find(struct hf_summary *summary, enum hf_rare_kind kind, uint8_t detail, uint64_t value)
{
	const struct hf_rare_question q = {.kind = kind,
					   .detail = detail,
					   .value = value,
					   .any_detail = detail == 0xff,
					   .any_value = detail == 0xff};
	struct hf_rare *rare;

	CHECK_EQ(hf_rare_find(summary, 0, &q, &rare), 0);
	return rare;
}

static void test_rare(void)
{
	struct hf_rare_hit hit;
	struct hf_summary *summary;
	struct hf_rare *rare;
	struct maker m;

	start(&m);
	attempt(&m); /* before the first instruction */
	trap(&m, 5, 0);
	insns(&m, 10);
	trap(&m, 5, HF_EVF_ASYNC);
	trap(&m, 5, HF_EVF_ASYNC);
	insns(&m, 1);
	trap(&m, 2, 0);
	event(&m, &(struct hf_event){.kind = HF_EVENT_CONTEXT,
				     .fields = HF_CONTEXT_PID | HF_CONTEXT_ASID,
				     .context = {.pid = 77, .asid = 0}});
	summary = finish(&m);

	rare = find(summary, HF_RARE_TRAP, 0xff, 0);
	CHECK_EQ(count_of(rare, 2, &hit), 4);
	CHECK(hit.first == 9 && hit.last == 9 && hit.count == 2 && hit.before == 1);
	CHECK_EQ(count_of(rare, 4, &hit), 4);
	CHECK_EQ(hit.count, 0);
	CHECK_EQ(hf_rare_next(rare, 1, &hit), 0);
	CHECK_EQ(hit.first, 9);
	CHECK_EQ(hf_rare_next(rare, 11, &hit), HF_NOTE_END);
	CHECK_EQ(hf_rare_previous(rare, 8, &hit), 0);
	CHECK_EQ(hit.first, 0);
	hf_rare_free(rare);
	rare = find(summary, HF_RARE_TRAP, HF_RARE_INTERRUPT, 5);
	CHECK_EQ(count_of(rare, 0, &hit), 2);
	hf_rare_free(rare);
	rare = find(summary, HF_RARE_CONTEXT, 2, 77);
	CHECK_EQ(count_of(rare, 0, &hit), 1);
	hf_rare_free(rare);
	rare = find(summary, HF_RARE_CONTEXT, 0xff, 0);
	CHECK_EQ(count_of(rare, 0, &hit), 1);
	hf_rare_free(rare);
	done(&m, summary);
}

/* A time behind every instruction, in a long hart: blocks, whose counts still are all; traps stay exact. */
static void test_many_times(void)
{
	const unsigned n = 3000000;
	struct hf_rare_hit hit;
	struct hf_summary *summary;
	struct hf_rare *rare;
	struct maker m;

	start(&m);
	for (unsigned i = 0; i < n; i++) {
		insns(&m, 1);
		event(&m, &(struct hf_event){.kind = HF_EVENT_CYCLES, .time = {.value = i}});
		if (i % 100000 == 99)
			trap(&m, 3, 0);
		if (i % 16384 == 16383)
			chunk(&m);
	}
	summary = finish(&m);
	CHECK(m.bytes <= n / 128 + (64u << 10) + 1024);
	rare = find(summary, HF_RARE_CYCLES, 0xff, 0);
	CHECK_EQ(count_of(rare, 0, &hit), n);
	CHECK_EQ(hf_rare_next(rare, n / 2, &hit), 0);
	CHECK(hit.first <= n / 2 && hit.last >= n / 2 && hit.last > hit.first);
	hf_rare_free(rare);
	rare = find(summary, HF_RARE_TRAP, HF_RARE_EXCEPTION, 3);
	CHECK_EQ(count_of(rare, 7, &hit), 30);
	CHECK(hit.first == 700099 && hit.last == 700099);
	hf_rare_free(rare);
	done(&m, summary);
}

/* More pages than are counted, in more chunks than sets have room for at once. One page is touched in every chunk: no
 * access to it is left out. */
static void test_pages(void)
{
	const unsigned chunks = 20000, pages = 27;
	const uint64_t everywhere = UINT64_C(1) << 40;
	struct hf_words_pages got;
	struct hf_summary *summary;
	struct maker m;

	start(&m);
	for (unsigned i = 0; i < chunks; i++) {
		if (i)
			chunk(&m);
		insns(&m, 1);
		access_of(&m, HF_EVF_WRITE, everywhere, 8);
		for (uint64_t k = 0; k < pages; k++)
			access_of(&m, HF_EVF_WRITE, (i * pages + k) << 13, 8);
	}
	summary = finish(&m);
	CHECK_EQ(hf_words_pages_count(summary, 0, HF_WORDS_WRITES, 0, chunks, &got), 0);
	CHECK_EQ(got.count, HF_WORDS_PAGES_MAX);
	CHECK_EQ(got.left_out, (uint64_t)chunks * pages + 1 - HF_WORDS_PAGES_MAX);
	for (size_t i = 0; i < got.count; i++)
		CHECK_EQ(got.page[i].chunks, got.page[i].first == everywhere ? chunks : 1);
	hf_words_pages_free(&got);

	/* Of some chunks: what the others touched is neither counted nor left out. */
	CHECK_EQ(hf_words_pages_count(summary, 0, HF_WORDS_WRITES, chunks - 100, chunks, &got), 0);
	CHECK_EQ(got.count, 100 * pages + 1);
	CHECK_EQ(got.left_out, 0);
	hf_words_pages_free(&got);
	done(&m, summary);
}

int main(void)
{
	CHECK(mkdtemp(dir));
	test_words();
	test_pages();
	test_not_known();
	test_registers();
	test_rare();
	test_many_times();
	test_phases();
	chase(UINT64_C(4) << 30, 400);
	chase(UINT64_C(256) << 20, 200);
	CHECK_EQ(rmdir(dir), 0);
	return 0;
}
