/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/zstfwriter.h"

#include "codecs/base/bytes.h"
#include "tests/lib/check.h"

static void write_out(struct hf_zstf_writer *w, const void *bytes, size_t n)
{
	CHECK(fwrite(bytes, 1, n, w->file) == n);
	w->offset += n;
}

/* Where the table is stands at 12 once it is known. */
static void write_head(struct hf_zstf_writer *w, uint64_t table)
{
	uint8_t head[20] = "ZSTF";

	hf_put64(head + 4, w->chunk);
	hf_put64(head + 12, table);
	write_out(w, head, sizeof head);
}

void hf_zstf_begin(struct hf_zstf_writer *w, FILE *file, uint64_t chunk, int level)
{
	*w = (struct hf_zstf_writer){.file = file, .level = level, .chunk = chunk, .zstd = ZSTD_createCCtx()};
	CHECK(w->zstd && hf_sink_init_memory(&w->table, 1 << 16) == 0);
	write_head(w, 0);
}

void hf_zstf_append(struct hf_zstf_writer *w, const uint8_t *bytes, size_t n)
{
	if (w->size + n > w->cap) {
		w->cap = (w->size + n) * 2;
		w->bytes = realloc(w->bytes, w->cap);
		CHECK(w->bytes);
	}
	memcpy(w->bytes + w->size, bytes, n);
	w->size += n;
}

void hf_zstf_end_chunk(struct hf_zstf_writer *w, uint64_t next_pc)
{
	uint8_t entry[24];
	size_t n;

	if (w->packed_cap < ZSTD_compressBound(w->size)) {
		w->packed_cap = ZSTD_compressBound(w->size);
		free(w->packed);
		w->packed = malloc(w->packed_cap);
		CHECK(w->packed);
	}
	n = ZSTD_compressCCtx(w->zstd, w->packed, w->packed_cap, w->bytes, w->size, w->level);
	CHECK(!ZSTD_isError(n));
	hf_put64(entry, w->offset);
	hf_put64(entry + 8, w->start_pc);
	hf_put64(entry + 16, w->size);
	hf_sink_write(&w->table, entry, sizeof entry);
	w->chunks++;
	write_out(w, w->packed, n);
	w->size = 0;
	w->start_pc = next_pc;
}

void hf_zstf_end(struct hf_zstf_writer *w)
{
	uint8_t count[8];
	uint64_t table;

	if (w->size)
		hf_zstf_end_chunk(w, 0);
	table = w->offset;
	hf_put64(count, w->chunks);
	write_out(w, count, sizeof count);
	CHECK(!w->table.err);
	write_out(w, w->table.start, (size_t)(w->table.p - w->table.start));
	CHECK(fseek(w->file, 0, SEEK_SET) == 0);
	write_head(w, table);
	hf_sink_fini_memory(&w->table);
	ZSTD_freeCCtx(w->zstd);
	free(w->bytes);
	free(w->packed);
}
