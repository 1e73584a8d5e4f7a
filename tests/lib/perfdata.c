/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/perfdata.h"

#include "codecs/base/bytes.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { HEADER = 104, ATTR = 120, PIECE = 100, SAMPLE_TYPE = 0x1c7 | 0x10000, DUMMY_TYPE = 0x10007, ID = 77, DUMMY_ID = 78 };
/* Bits of sample_type. */
enum { OF_TID = 2, OF_TIME = 4, OF_ID = 64, OF_CPU = 128, OF_STREAM = 512, OF_IDENTIFIER = 0x10000 };

static void append(uint8_t **bytes, size_t *n, size_t *cap, const void *more, size_t size)
{
	while (*n + size > *cap) {
		*cap = *cap ? *cap * 2 : 4096;
		*bytes = realloc(*bytes, *cap);
		CHECK(*bytes);
	}
	memcpy(*bytes + *n, more, size);
	*n += size;
}

static void add(struct perf_data *p, const void *more, size_t size)
{
	append(&p->bytes, &p->n, &p->cap, more, size);
}

static void put64(uint8_t **at, uint64_t value)
{
	hf_put64(*at, value);
	*at += 8;
}

/* What records of the event have behind them: that of the trace, or of processes. */
static unsigned sample_type(const struct perf_data *p, bool dummy)
{
	const unsigned own = p->form & PERF_EVENTS ? DUMMY_TYPE | OF_CPU : SAMPLE_TYPE;

	return dummy ? DUMMY_TYPE : p->form & PERF_NO_CPU ? own & ~(unsigned)OF_CPU : own;
}

/* perf_event_attr, then the place of its ids or, in a pipe, one. */
static void make_attr(const struct perf_data *p, bool dummy, uint8_t *attr)
{
	memset(attr, 0, ATTR + 16);
	hf_put32(attr, dummy ? 1 : 8);
	hf_put32(attr + 4, ATTR);
	hf_put64(attr + 24, sample_type(p, dummy));
	hf_put64(attr + 40, UINT64_C(1) << 18);
}

/* Returns its end. */
static uint8_t *put_trailer(const struct perf_data *p, bool dummy, const struct perf_who *who, uint8_t *at)
{
	const unsigned type = sample_type(p, dummy);
	const uint64_t id = dummy ? DUMMY_ID : ID;

	hf_put32(at, who->pid);
	hf_put32(at + 4, who->tid);
	at += 8;
	put64(&at, who->time);
	if (type & OF_ID)
		put64(&at, id);
	if (type & OF_STREAM)
		put64(&at, id);
	if (type & OF_CPU)
		put64(&at, who->cpu);
	put64(&at, id);
	return at;
}

/* One compressed record of what of the stream there is now. */
static void add_piece(struct perf_data *p, const void *bytes, size_t n)
{
	uint8_t record[8 + 4 * PIECE + 256] = {81};
	ZSTD_inBuffer in = {bytes, n, 0};
	ZSTD_outBuffer out = {record + 8, sizeof record - 8, 0};

	CHECK(!ZSTD_isError(ZSTD_compressStream2(p->zstd, &out, &in, ZSTD_e_flush)) && in.pos == n);
	hf_put16(record + 6, (uint16_t)(8 + out.pos));
	add(p, record, 8 + out.pos);
}

static void flush(struct perf_data *p, bool all)
{
	size_t at = 0;

	for (; p->packed_n - at >= PIECE; at += PIECE)
		add_piece(p, p->packed + at, PIECE);
	if (all && at < p->packed_n) {
		add_piece(p, p->packed + at, p->packed_n - at);
		at = p->packed_n;
	}
	if (p->packed_n > at)
		memmove(p->packed, p->packed + at, p->packed_n - at);
	p->packed_n -= at;
}

void perf_record(struct perf_data *p, unsigned type, unsigned misc, const void *body, size_t n, const struct perf_who *who)
{
	uint8_t record[8 + 4096 + 64] = {0}, *at = record + 8 + ((n + 7) & ~(size_t)7);
	size_t size;

	CHECK(n <= 4096);
	hf_put32(record, type);
	hf_put16(record + 4, (uint16_t)misc);
	memcpy(record + 8, body, n);
	if (type < 64 && who)
		at = put_trailer(p, p->form & PERF_EVENTS && type != 11 && type != 12 && type != 21, who, at);
	size = (size_t)(at - record);
	hf_put16(record + 6, (uint16_t)size);
	if (type >= 64 || !(p->form & PERF_ZSTD)) {
		add(p, record, size);
		return;
	}
	append(&p->packed, &p->packed_n, &p->packed_cap, record, size);
	flush(p, false);
}

void perf_begin(struct perf_data *p, unsigned form)
{
	uint8_t header[HEADER] = "PERFILE2", attr[ATTR + 16];
	const bool pipe = form & PERF_PIPE;
	const size_t events = form & PERF_EVENTS ? 2 : 1;

	*p = (struct perf_data){.form = form,
				.features = UINT64_C(1) << 18,
				.registers = {0x841, 0, 0x280000a1, 0x4100fff0, 0xd0001088, 0, 0xcc, 0x47705a13}};
	if (form & PERF_SWAPPED)
		memcpy(header, "2ELIFREP", 8);
	p->zstd = ZSTD_createCCtx();
	CHECK(p->zstd);
	hf_put64(header + 8, pipe ? 16 : HEADER);
	hf_put64(header + 16, ATTR + 16);
	hf_put64(header + 24, HEADER);
	hf_put64(header + 32, events * (ATTR + 16));
	hf_put64(header + 40, HEADER + events * (ATTR + 16 + 8));
	add(p, header, pipe ? 16 : HEADER);
	for (size_t i = 0; i < events; i++) {
		make_attr(p, i, attr);
		if (pipe) {
			hf_put64(attr + ATTR, i ? DUMMY_ID : ID);
			perf_record(p, 64, 0, attr, ATTR + 8, NULL);
			continue;
		}
		hf_put64(attr + ATTR, HEADER + events * (ATTR + 16) + 8 * i);
		hf_put64(attr + ATTR + 8, 8);
		add(p, attr, sizeof attr);
	}
	for (size_t i = 0; i < events && !pipe; i++) {
		hf_put64(attr, i ? DUMMY_ID : ID);
		add(p, attr, 8);
	}
}

void perf_info(struct perf_data *p, unsigned version, unsigned cpus)
{
	uint8_t body[4096] = {3}, *at = body + 8;

	put64(&at, version);
	put64(&at, UINT64_C(8) << 32 | cpus);
	put64(&at, 0);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		put64(&at, version ? UINT64_C(0x5050505050505050) : UINT64_C(0x4040404040404040));
		put64(&at, cpu);
		if (version)
			put64(&at, 8 + p->clock);
		for (unsigned i = 0; i < (version ? 8 : 7); i++)
			put64(&at, i == 1 ? 0x10 + 2 * cpu : p->registers[i]);
		if (version && p->clock)
			put64(&at, 1);
	}
	perf_record(p, 70, 0, body, (size_t)(at - body), NULL);
}

void perf_riscv(struct perf_data *p)
{
	const uint8_t body[16] = {[0] = 8, [8] = 8};

	perf_record(p, 70, 0, body, sizeof body, NULL);
}

static void add_map(struct perf_data *p, unsigned misc, const struct perf_who *who, uint64_t address, uint64_t size,
		    uint64_t offset, unsigned prot, const char *name, const uint8_t id[20])
{
	uint8_t body[64 + 256] = {0};

	hf_put32(body, who->pid);
	hf_put32(body + 4, who->tid);
	hf_put64(body + 8, address);
	hf_put64(body + 16, size);
	hf_put64(body + 24, offset);
	if (id) {
		body[32] = 20;
		memcpy(body + 36, id, 20);
	}
	hf_put32(body + 56, prot);
	memcpy(body + 64, name, strlen(name));
	perf_record(p, 10, misc | (id ? 1 << 14 : 0) | (prot & 4 ? 0 : 1 << 13), body, 64 + strlen(name) + 1, who);
}

void perf_map(struct perf_data *p, const struct perf_who *who, uint64_t address, uint64_t size, uint64_t offset, unsigned prot,
	      const char *name, const uint8_t id[20])
{
	add_map(p, 2, who, address, size, offset, prot, name, id);
}

void perf_kernel(struct perf_data *p, const char *name, uint64_t address, uint64_t size, uint64_t offset, const uint8_t id[20])
{
	const struct perf_who nobody = {UINT32_MAX, 0, 0, 0};

	add_map(p, 1, &nobody, address, size, offset, 5, name, id);
}

void perf_ksymbol(struct perf_data *p, const struct perf_who *who, const char *name, uint64_t address, uint32_t size)
{
	uint8_t body[64] = {0};

	hf_put64(body, address);
	hf_put32(body + 8, size);
	body[12] = 1;
	memcpy(body + 16, name, strlen(name));
	perf_record(p, 17, 1, body, 16 + strlen(name) + 1, who);
}

void perf_switch(struct perf_data *p, const struct perf_who *who, uint32_t pid, uint32_t tid)
{
	uint8_t body[8];

	hf_put32(body, pid);
	hf_put32(body + 4, tid);
	perf_record(p, 15, 1 << 13, body, sizeof body, who);
}

void perf_poke(struct perf_data *p, const struct perf_who *who, uint64_t address, uint32_t old, uint32_t new)
{
	uint8_t body[20];

	hf_put64(body, address);
	hf_put16(body + 8, 4);
	hf_put16(body + 10, 4);
	hf_put32(body + 12, old);
	hf_put32(body + 16, new);
	perf_record(p, 20, 1, body, sizeof body, who);
}

void perf_comm(struct perf_data *p, const struct perf_who *who, const char *name, bool exec)
{
	uint8_t body[64] = {0};

	hf_put32(body, who->pid);
	hf_put32(body + 4, who->tid);
	memcpy(body + 8, name, strlen(name));
	perf_record(p, 3, exec ? 1 << 13 : 0, body, 8 + strlen(name) + 1, who);
}

void perf_fork(struct perf_data *p, const struct perf_who *child, uint32_t parent)
{
	uint8_t body[24] = {0};

	hf_put32(body, child->pid);
	hf_put32(body + 4, parent);
	hf_put32(body + 8, child->tid);
	hf_put32(body + 12, parent);
	hf_put64(body + 16, child->time);
	perf_record(p, 7, 0, body, sizeof body, child);
}

void perf_aux(struct perf_data *p, const struct perf_who *who, uint64_t offset, uint64_t size, uint64_t flags)
{
	uint8_t body[24];

	hf_put64(body, offset);
	hf_put64(body + 8, size);
	hf_put64(body + 16, flags);
	perf_record(p, 11, 0, body, sizeof body, who);
}

void perf_auxtrace_head(struct perf_data *p, uint32_t cpu, uint32_t tid, uint64_t offset, uint64_t size)
{
	uint8_t body[40] = {0};

	hf_put64(body, size);
	hf_put64(body + 8, offset);
	hf_put32(body + 28, tid);
	hf_put32(body + 32, p->form & PERF_THREADS ? UINT32_MAX : cpu);
	perf_record(p, 71, 0, body, sizeof body, NULL);
}

void perf_auxtrace(struct perf_data *p, uint32_t cpu, uint32_t tid, uint64_t offset, const void *bytes, size_t n)
{
	const size_t size = (n + 7) & ~(size_t)7;

	perf_auxtrace_head(p, cpu, tid, offset, size);
	add(p, bytes, n);
	add(p, (const uint8_t[8]){0}, size - n);
}

void perf_hw_id(struct perf_data *p, const struct perf_who *who, unsigned id, uint32_t sink)
{
	uint8_t body[8];

	hf_put64(body, id | (uint64_t)sink << 8 | UINT64_C(1) << 56);
	perf_record(p, 21, 0, body, sizeof body, who);
}

void perf_feature(struct perf_data *p, unsigned feature, const void *bytes, size_t n)
{
	struct perf_text *text = &p->text[p->text_count++];
	uint8_t record[8 + sizeof text->bytes];

	CHECK(p->text_count <= sizeof p->text / sizeof *p->text && n <= sizeof text->bytes);
	text->feature = feature;
	text->n = n;
	memcpy(text->bytes, bytes, n);
	p->features |= UINT64_C(1) << feature;
	if (!(p->form & PERF_PIPE))
		return;
	hf_put64(record, feature);
	memcpy(record + 8, bytes, n);
	perf_record(p, 80, 0, record, 8 + n, NULL);
}

void perf_text(struct perf_data *p, unsigned feature, const char *const *texts, size_t count)
{
	uint8_t bytes[1024] = {0};
	size_t n = feature == 11 ? 4 : 0;

	hf_put32(bytes, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		const size_t size = (strlen(texts[i]) + 64) & ~(size_t)63;

		CHECK(n + 4 + size <= sizeof bytes);
		hf_put32(bytes + n, (uint32_t)size);
		memcpy(bytes + n + 4, texts[i], strlen(texts[i]));
		n += 4 + size;
	}
	perf_feature(p, feature, bytes, n);
}

void perf_end(struct perf_data *p)
{
	const uint64_t data = hf_get64(p->bytes + 40);
	uint64_t table;

	flush(p, true);
	if (p->form & (PERF_PIPE | PERF_KILLED))
		return;
	hf_put64(p->bytes + 48, p->n - data);
	hf_put64(p->bytes + 72, p->features);
	table = p->n;
	for (unsigned i = 0; i < 64; i++)
		if (p->features >> i & 1)
			add(p, (const uint8_t[16]){0}, 16);
	for (unsigned i = 0; i < 64; table += p->features >> i & 1 ? 16 : 0, i++)
		for (size_t k = 0; k < p->text_count; k++)
			if (p->text[k].feature == i) {
				hf_put64(p->bytes + table, p->n);
				hf_put64(p->bytes + table + 8, p->text[k].n);
				add(p, p->text[k].bytes, p->text[k].n);
			}
}

void perf_free(struct perf_data *p)
{
	ZSTD_freeCCtx(p->zstd);
	free(p->bytes);
	free(p->packed);
}

/* Header of section i. */
static void put_section(uint8_t *elf, unsigned i, uint32_t name, uint32_t type, uint64_t offset, uint64_t size)
{
	uint8_t *section = elf + 0x200 + 64 * (size_t)i;

	hf_put32(section, name);
	hf_put32(section + 4, type);
	hf_put64(section + 24, offset);
	hf_put64(section + 32, size);
}

size_t perf_kcore(uint64_t address, const void *code, size_t n, uint8_t *ret)
{
	CHECK(n <= 4096);
	memset(ret, 0, 8192);
	memcpy(ret, (const uint8_t[]){0x7f, 'E', 'L', 'F', 2, 1, 1}, 7);
	hf_put16(ret + 16, 4);
	hf_put16(ret + 18, 183);
	hf_put64(ret + 32, 64);
	hf_put16(ret + 54, 56);
	hf_put16(ret + 56, 1);
	hf_put32(ret + 64, 1);
	hf_put64(ret + 64 + 8, 0x1000);
	hf_put64(ret + 64 + 16, address);
	hf_put64(ret + 64 + 32, n);
	memcpy(ret + 0x1000, code, n);
	return 0x1000 + n;
}

size_t perf_elf(const uint8_t *id, const void *code, size_t n, uint8_t *ret)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	static const char names[] = "\0.note.gnu.build-id\0.shstrtab\0.symtab\0_text\0.debug_info";

	CHECK(n <= 4096);
	memset(ret, 0, 8192);
	memcpy(ret, ident, sizeof ident);
	hf_put16(ret + 16, 3);
	hf_put16(ret + 18, 183);
	hf_put32(ret + 20, 1);
	hf_put64(ret + 32, 64);
	hf_put64(ret + 40, 0x200);
	hf_put16(ret + 52, 64);
	hf_put16(ret + 54, 56);
	hf_put16(ret + 56, 1);
	hf_put16(ret + 58, 64);
	hf_put16(ret + 60, 4);
	hf_put16(ret + 62, 2);
	hf_put32(ret + 64, 1);
	hf_put32(ret + 68, 5);
	for (unsigned i = 8; i < 32; i += 8)
		hf_put64(ret + 64 + i, 0x1000);
	hf_put64(ret + 64 + 32, n);
	hf_put64(ret + 64 + 40, n);
	hf_put64(ret + 64 + 48, 0x1000);
	hf_put32(ret + 0x100, 4);
	hf_put32(ret + 0x104, 20);
	hf_put32(ret + 0x108, 3);
	memcpy(ret + 0x10c, "GNU", 4);
	if (id)
		memcpy(ret + 0x110, id, 20);
	memcpy(ret + 0x180, names, sizeof names);
	put_section(ret, 1, id ? 1 : 0, 7, 0x100, 36);
	put_section(ret, 2, 20, 3, 0x180, sizeof names);
	put_section(ret, 3, 30, 2, 0x400, 48);
	hf_put32(ret + 0x200 + 64 * 3 + 40, 2); /* its names */
	hf_put64(ret + 0x200 + 64 * 3 + 56, 24);
	hf_put32(ret + 0x400 + 24, 38);
	ret[0x400 + 28] = 0x12; /* a global function */
	hf_put16(ret + 0x400 + 30, 0xfff1);
	hf_put64(ret + 0x400 + 32, 0x1000);
	hf_put64(ret + 0x400 + 40, 4);
	memcpy(ret + 0x1000, code, n);
	return 0x1000 + n;
}

static int open_one(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const struct perf_files *files = ctx;

	(void)diag;
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->name[i], name) == 0)
			return hf_src_memory_new(files->bytes[i], files->size[i], ret_src);
	return HF_ERR_NOT_FOUND;
}

static int list(void *ctx, int (*fn)(void *fn_ctx, const char *name), void *fn_ctx)
{
	const struct perf_files *files = ctx;
	int err = 0;

	for (size_t i = 1; i < files->count && !err; i++)
		err = strncmp(files->name[i], "debug:", 6) == 0 ? 0 : fn(fn_ctx, files->name[i]);
	return err;
}

static int open_debug(void *ctx, const char *path, struct hf_src **ret_src)
{
	char name[256];

	snprintf(name, sizeof name, "debug:%s", path);
	return open_one(ctx, name, ret_src, NULL);
}

struct hf_setup_opener perf_opener(struct perf_files *files, const struct hf_codec *const *codecs)
{
	return (struct hf_setup_opener){
		.ctx = files, .open = open_one, .list = list, .open_debug = open_debug, .codecs = codecs};
}
