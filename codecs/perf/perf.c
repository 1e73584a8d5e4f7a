/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.data files of Linux. One with CoreSight trace (CS_ETM) or RISC-V trace is recognised and refused with a reason; every
 * other one, of samples or of another machine's trace, is an ordinary file. Format:
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "codecs/codec.h"

#include "codecs/base/bytes.h"
#include "codecs/perf/errors.h"

enum {
	RECORD_TRACING_DATA = 66,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	AUXTRACE_CS_ETM = 3,
	AUXTRACE_RISCV = 8, /* proposed for Linux (the "rvtrace" patches), not merged */
	FEATURE_AUXTRACE = 18,
	PIPE_HEADER = 16, /* its size field, too */
	FILE_HEADER = 104,
};

/* So many bytes of records are looked through, the trace itself not counted: perf writes what is sought first,
 * simpleperf behind the mappings of every process. */
#define LOOK_MAX (UINT64_C(16) << 20)

struct records {
	struct hf_src *src;
	struct hf_diag *diag;
	bool swapped;    /* another byte order than ours */
	uint64_t at, end; /* the next record's offset; where they end, as the header has it */
	uint64_t looked;
	uint8_t window[4096];
	uint64_t window_at;
	size_t window_size;
};

/* n (at most 64) bytes at offset, or HF_NOTE_END if there are fewer. */
static int get(struct records *r, uint64_t offset, size_t n, const uint8_t **ret_bytes)
{
	if (offset < r->window_at || offset - r->window_at > r->window_size ||
	    r->window_size - (offset - r->window_at) < n) {
		int err;

		r->window_at = offset;
		r->window_size = 0;
		do {
			size_t got;

			err = hf_src_read_at(r->src, offset + r->window_size, r->window + r->window_size,
					     sizeof r->window - r->window_size, &got, r->diag);
			r->window_size += err ? 0 : got;
			if (!got)
				break;
		} while (!err && r->window_size < n);
		if (err)
			return err;
		if (r->window_size < n)
			return HF_NOTE_END;
	}
	*ret_bytes = r->window + (offset - r->window_at);
	return 0;
}

static uint16_t number16(const struct records *r, const uint8_t *bytes)
{
	return r->swapped ? __builtin_bswap16(hf_get16(bytes)) : hf_get16(bytes);
}

static uint32_t number32(const struct records *r, const uint8_t *bytes)
{
	return r->swapped ? __builtin_bswap32(hf_get32(bytes)) : hf_get32(bytes);
}

static uint64_t number64(const struct records *r, const uint8_t *bytes)
{
	return r->swapped ? __builtin_bswap64(hf_get64(bytes)) : hf_get64(bytes);
}

/* Where the records are; HF_NOTE_END if the header says that there is no trace among them. */
static int open_records(struct records *r, struct hf_src *src, struct hf_diag *diag)
{
	const uint8_t *head;
	uint64_t size, features;
	int err;

	*r = (struct records){.src = src, .diag = diag, .at = PIPE_HEADER, .end = HF_NOWHERE};
	err = get(r, 0, PIPE_HEADER, &head);
	if (err)
		return err;
	if (memcmp(head, "PERFFILE", 8) == 0) /* the first version, which knew none */
		return HF_NOTE_END;
	r->swapped = memcmp(head, "2ELIFREP", 8) == 0;
	if (number64(r, head + 8) == PIPE_HEADER)
		return 0;
	err = get(r, 0, FILE_HEADER - 32, &head);
	if (err)
		return err;
	r->at = number64(r, head + 40);
	size = number64(r, head + 48);
	/* 0: the recorder was killed, and there are no features either. */
	if (!size || number64(r, head + 8) < FILE_HEADER)
		return 0;
	r->end = size < HF_NOWHERE - r->at ? r->at + size : HF_NOWHERE;
	err = get(r, FILE_HEADER - 32, 8, &head);
	if (err)
		return err;
	features = number64(r, head);
	if (!features) /* a recorder that ends writes some: this tells nothing */
		return 0;
	/* A bitmap of longs: those of 32 bits of the other order have changed places. */
	return (features | (r->swapped ? features >> 32 : 0)) >> FEATURE_AUXTRACE & 1 ? 0 : HF_NOTE_END;
}

/* Bytes that lie behind a record, its size not counting them. */
static int payload_of(struct records *r, uint32_t type, uint64_t *ret_size)
{
	const uint8_t *body;
	int err;

	*ret_size = 0;
	if (type != RECORD_AUXTRACE && type != RECORD_TRACING_DATA)
		return 0;
	err = get(r, r->at + 8, 8, &body);
	if (!err)
		*ret_size = type == RECORD_AUXTRACE ? number64(r, body)
						    : ((uint64_t)number32(r, body) + 7) & ~UINT64_C(7);
	return err;
}

/* A trace that is refused. */
struct trace {
	uint32_t type; /* AUXTRACE_CS_ETM or AUXTRACE_RISCV */
	uint64_t cpus; /* of CS_ETM: how many trace units it tells of */
};

/* *ret_found: whether the record of size bytes at r->at, an AUXTRACE_INFO, tells of such a trace. */
static int take_info(struct records *r, uint32_t size, struct trace *ret_trace, bool *ret_found)
{
	const uint8_t *info;
	int err;

	*ret_found = false;
	if (size < 16)
		return 0;
	err = get(r, r->at, 16, &info);
	if (err)
		return err;
	*ret_trace = (struct trace){.type = number32(r, info + 8)};
	*ret_found = ret_trace->type == AUXTRACE_RISCV;
	if (ret_trace->type != AUXTRACE_CS_ETM || size < 32)
		return 0;
	err = get(r, r->at, 32, &info);
	if (err)
		return err;
	*ret_found = true;
	ret_trace->cpus = number64(r, info + 24) & UINT32_MAX;
	return 0;
}

/* Goes on to the next AUXTRACE_INFO of a trace that is refused. HF_NOTE_END: there is none. */
static int find_trace(struct records *r, struct trace *ret_trace)
{
	while (r->at < r->end && r->looked < LOOK_MAX) {
		const uint8_t *head;
		uint64_t payload;
		uint32_t type, size;
		bool found = false;
		int err = get(r, r->at, 8, &head);

		if (err)
			return err;
		type = number32(r, head);
		size = number16(r, head + 6);
		if (type == RECORD_AUXTRACE_INFO)
			err = take_info(r, size, ret_trace, &found);
		if (found)
			return 0;
		if (!err)
			err = payload_of(r, type, &payload);
		if (err)
			return err;
		if (size < 8 || payload > HF_NOWHERE - size || r->at > HF_NOWHERE - size - payload)
			break;
		r->at += size + payload;
		r->looked += size;
	}
	return HF_NOTE_END;
}

static int look(struct hf_src *src, struct trace *ret_trace, struct hf_diag *diag)
{
	struct records r;
	int err = open_records(&r, src, diag);

	return err ? err : find_trace(&r, ret_trace);
}

/* The magic number in either byte order, and of the first version. */
static int probe(const uint8_t *head, size_t n)
{
	return n >= 8 && (memcmp(head, "PERFILE2", 8) == 0 || memcmp(head, "2ELIFREP", 8) == 0 ||
			  memcmp(head, "PERFFILE", 8) == 0) ? 100 : 0;
}

static int confirm(struct hf_src *src, bool *ret_ours)
{
	struct trace trace;
	int err = look(src, &trace, NULL);

	*ret_ours = !err;
	return err == HF_NOTE_END ? 0 : err;
}

static int refuse(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag)
{
	struct trace trace = {0};
	int err = look(src, &trace, diag);

	(void)setup;
	*ret_stream = NULL;
	/* Nothing else is opened as one, unless a description says that it is. */
	if (err < 0)
		return err;
	return trace.type == AUXTRACE_RISCV
		       ? hf_diag_set(diag, HF_ERR_PERF_RISCV, HF_SPACE_STREAM, HF_NOWHERE, trace.type)
		       : hf_diag_set(diag, HF_ERR_PERF_DATA, HF_SPACE_STREAM, HF_NOWHERE, trace.cpus);
}

static const char *const suffixes[] = {NULL};

extern const struct hf_codec hf_codec_perf;

const struct hf_codec hf_codec_perf = {
	.name = "perf",
	.title = "perf.data",
	.version = 3,
	.suffixes = suffixes,
	.probe = probe,
	.confirm = confirm,
	.open = refuse,
};
