/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/zstftest.h"

#include "tests/lib/pack.h"
#include "tests/lib/sliver.h"

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

static char dir[] = "/tmp/hartfs-test-XXXXXX";
static struct hf_store_dir index_dir = {.fd = -1};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* One group of the kind that i says. */
uint64_t hf_zt_put_group(struct hf_walk_bytes *b, unsigned i, uint64_t pc)
{
	switch (i % 7) {
	case 0:
		PUT(b, INST_MEM_ACCESS, .address = 8 * i, .size = 4, .code = HF_STF_READ);
		PUT(b, INST_MEM_CONTENT, .value = i);
		break;
	case 1:
		PUT(b, INST_OPCODE16, .size = 1);
		return pc + 2;
	case 2:
		PUT(b, INST_PC_TARGET, .address = pc + 64);
		PUT(b, INST_OPCODE32, .size = 0x0400006f);
		return pc + 64;
	case 3:
		PUT(b, COMMENT, .count = 3);
		hf_bytes_add(b, "abc", 3);
		break;
	case 4:
		hf_stft_event(b, 8, 0, NULL);
		PUT(b, EVENT_PC_TARGET, .address = 0x8000 + 4 * i);
		PUT(b, INST_OPCODE32, .size = 0x73);
		return 0x8000 + 4 * i;
	case 5:
		PUT(b, FORCE_PC, .address = 0x4000 + 4 * i);
		pc = 0x4000 + 4 * i;
		break;
	default:
		break;
	}
	PUT(b, INST_OPCODE32, .size = 0x13);
	return pc + 4;
}

/* HF_ZT_CHUNKS chunks of HF_ZT_PER_CHUNK instructions, on harts hw threads in turns. */
struct hf_zt_cut hf_zt_make(unsigned harts)
{
	struct hf_zt_cut c = {.count = HF_ZT_CHUNKS};
	uint64_t pc = HF_ZT_START;

	hf_stft_header(&c.stream, harts > 1 ? HF_ZT_MANY : HF_ZT_FEATURES, HF_ZT_START);
	for (unsigned i = 0; i < HF_ZT_CHUNKS * HF_ZT_PER_CHUNK; i++) {
		if (i % HF_ZT_PER_CHUNK == 0) {
			c.cut[i / HF_ZT_PER_CHUNK] = i ? c.stream.n : 0;
			c.pc[i / HF_ZT_PER_CHUNK] = pc;
		}
		if (harts > 1 && i % 9 == 0)
			PUT(&c.stream, PROCESS_ID_EXT, .hw = i / 9 % harts, .pid = 1, .tid = i / 9 % harts);
		pc = hf_zt_put_group(&c.stream, i, pc);
	}
	c.cut[HF_ZT_CHUNKS] = c.stream.n;
	return c;
}

void hf_zt_pack(struct hf_zt_cut *c)
{
	struct hf_pack_chunk chunks[HF_ZT_CHUNKS];

	for (size_t i = 0; i < c->count; i++)
		chunks[i] = (struct hf_pack_chunk){
			.data = c->stream.p + c->cut[i], .n = c->cut[i + 1] - c->cut[i], .pc = c->pc[i]};
	hf_bytes_free(&c->file);
	hf_pack_zstf_chunks(&c->file, HF_ZT_PER_CHUNK, chunks, c->count);
}

void hf_zt_drop(struct hf_zt_cut *c)
{
	hf_bytes_free(&c->stream);
	hf_bytes_free(&c->file);
}

uint64_t hf_zt_table_at(const struct hf_zt_cut *c)
{
	return hf_get64(c->file.p + 12);
}

/* File offsets of chunk i and of its pc in the table. */
uint64_t hf_zt_chunk_at(const struct hf_zt_cut *c, size_t i)
{
	return hf_get64(c->file.p + hf_zt_table_at(c) + 8 + 24 * i);
}

uint64_t hf_zt_pc_at(const struct hf_zt_cut *c, size_t i)
{
	return hf_zt_table_at(c) + 8 + 24 * i + 8;
}

/* ---- all events, front to back ---- */

struct hf_src *hf_zt_grow(struct hf_src *file)
{
	struct hf_scan *scan;
	struct hf_src *src;

	CHECK_EQ(hf_box_zstf.scan_new(&hf_box_zstf, file, NULL, NULL, &scan, NULL), 0);
	CHECK_EQ(hf_growing_new(&hf_box_zstf, scan, NULL, NULL, &src), 0);
	return src;
}

struct hf_events hf_zt_growing_events(struct hf_src *file, uint32_t hart, size_t batch, size_t most)
{
	struct hf_src *growing = hf_zt_grow(file), *sliver;
	struct hf_stream *stream;
	struct hf_events list;

	CHECK_EQ(hf_sliver_new(growing, most, &sliver), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_stf, sliver, NULL, &stream, NULL), 0);
	list = hf_stft_events(stream, sliver, hart, batch);
	hf_stream_close(stream);
	hf_src_free(sliver);
	hf_src_free(growing);
	return list;
}

struct hf_events hf_zt_all_events(struct hf_src *file, uint32_t hart)
{
	static const size_t batches[] = {1, 2, 7}, most[] = {1, 40, SIZE_MAX};
	struct hf_events list = hf_zt_growing_events(file, hart, 256, SIZE_MAX);

	for (size_t i = 0; i < 3; i++) {
		struct hf_events other = hf_zt_growing_events(file, hart, batches[i], most[i]);

		hf_events_check_same(&list, &other, "sizes of batches and reads");
		hf_events_free(&other);
	}
	return list;
}

/* ---- the same, chunk by chunk of an index ---- */

void hf_zt_serve(struct hf_zt_served *s, const struct hf_walk_bytes *file, uint64_t insns)
{
	struct hf_chunk_limits limits = hf_chunk_limits_default;
	struct hf_build build = {.dir = &index_dir, .limits = &limits};
	static int64_t mtime;

	limits.insns = insns;
	CHECK_EQ(hf_src_memory_new(file->p, file->n, &s->file), 0);
	build.file = s->file;
	/* an index of its own every time */
	CHECK_EQ(hf_identity_of(s->file, ++mtime, &build.identity, NULL), 0);
	CHECK_EQ(hf_build_run(&build, NULL), 0);
	CHECK_EQ(hf_index_open(&index_dir, &build.identity, &s->index), 0);
	CHECK_EQ(hf_cache_new(16 << 20, &s->cache), 0);
	CHECK_EQ(hf_block_source_new(s->file, s->index, s->cache, &s->src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_stf, s->src, NULL, &s->stream, NULL), 0);
}

void hf_zt_stop(struct hf_zt_served *s)
{
	hf_stream_close(s->stream);
	hf_src_free(s->src);
	hf_cache_free(s->cache);
	hf_index_close(s->index);
	hf_src_free(s->file);
}

/* Every chunk of the hart, each entered by itself. */
struct hf_events hf_zt_served_events(struct hf_zt_served *s, uint32_t hart)
{
	struct hf_events list = {0};
	struct hf_event ev[64];
	struct hf_chunk chunk;
	uint64_t number = 0;

	do {
		struct hf_dec *dec;
		uint64_t left;
		size_t n;

		CHECK_EQ(hf_index_chunk(s->index, hart, number++, &chunk), 0);
		CHECK_EQ(hf_dec_new(s->stream, s->src, hart, &dec), 0);
		CHECK_EQ(hf_dec_load(dec, chunk.entry, chunk.entry_size, chunk.discard), 0);
		for (left = chunk.events; left; left -= n) {
			CHECK_EQ(hf_dec_next(dec, ev, left < 64 ? (size_t)left : 64, &n), 0);
			hf_events_add(&list, ev, n);
		}
		hf_dec_free(dec);
	} while (!chunk.last);
	return list;
}

void hf_zt_check_entries(const struct hf_walk_bytes *file, const struct hf_events *want, size_t harts)
{
	static const uint64_t insns[] = {1, 7, 1000};

	for (size_t k = 0; k < 3; k++) {
		struct hf_zt_served s;

		hf_zt_serve(&s, file, insns[k]);
		for (size_t i = 0; i < harts; i++) {
			struct hf_events list = hf_zt_served_events(&s, (uint32_t)i);

			hf_events_check_same(&want[i], &list, "entered");
			hf_events_free(&list);
		}
		hf_zt_stop(&s);
	}
}

void hf_zt_init(void)
{
	CHECK(mkdtemp(dir));
	atexit(clean_up);
	index_dir.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(index_dir.fd >= 0);
}

void hf_zt_fini(void)
{
	close(index_dir.fd);
}
