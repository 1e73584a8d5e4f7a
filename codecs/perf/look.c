/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/look.h"

#include "codecs/base/bytes.h"
#include "codecs/perf/record_types.h"

enum {
	PIPE_HEADER = 16, /* its size field, too */
	FILE_HEADER = 104,
};

struct records {
	struct hf_src *src;
	struct hf_diag *diag;
	bool swapped;    /* another byte order than ours */
	uint64_t at, end; /* the next record's offset; where they end, as the header has it */
	uint64_t looked, most; /* bytes of records that were looked at, and will be */
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

	*r = (struct records){.src = src, .diag = diag, .at = PIPE_HEADER, .end = HF_NOWHERE, .most = HF_PERF_LOOK_MAX};
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
	/* A recorder that ends writes some: none tells nothing. A bitmap of longs: those of 32 bits of the other order have
	 * changed places. */
	if (features && !((features | (r->swapped ? features >> 32 : 0)) >> HF_PERF_AUXTRACE_INDEX & 1))
		r->most = HF_PERF_GLANCE_MAX;
	return 0;
}

/* Bytes that lie behind a record, its size not counting them. */
static int payload_of(struct records *r, uint32_t type, uint64_t *ret_size)
{
	const uint8_t *body;
	int err;

	*ret_size = 0;
	if (type != HF_PERF_AUXTRACE && type != HF_PERF_TRACING_DATA)
		return 0;
	err = get(r, r->at + 8, 8, &body);
	if (!err)
		*ret_size = type == HF_PERF_AUXTRACE ? number64(r, body)
						    : ((uint64_t)number32(r, body) + 7) & ~UINT64_C(7);
	return err;
}

/* What the record of size bytes at r->at, an AUXTRACE_INFO, tells. */
static int take_info(struct records *r, uint32_t size, struct hf_perf_look *ret_look)
{
	const uint8_t *info;
	int err = size < 16 ? HF_NOTE_END : get(r, r->at, 16, &info);

	if (err)
		return err;
	*ret_look = (struct hf_perf_look){.type = number32(r, info + 8), .swapped = r->swapped};
	if (ret_look->type != HF_PERF_CS_ETM || size < 32)
		return 0;
	err = get(r, r->at, 32, &info);
	if (err)
		return err;
	ret_look->version = number64(r, info + 16);
	ret_look->units = (uint32_t)number64(r, info + 24);
	return 0;
}

/* Goes through the records up to the one of CoreSight. HF_NOTE_END: there is none; *found says whether there was another. */
static int find_trace(struct records *r, struct hf_perf_look *ret_look, bool *ret_found)
{
	while (r->at < r->end && r->looked < r->most) {
		const uint8_t *head;
		uint64_t payload;
		uint32_t type, size;
		struct hf_perf_look look;
		int err = get(r, r->at, 8, &head);

		if (err)
			return err;
		type = number32(r, head);
		size = number16(r, head + 6);
		if (type == HF_PERF_AUXTRACE_INFO && !(err = take_info(r, size, &look))) {
			if (!*ret_found || look.type == HF_PERF_CS_ETM)
				*ret_look = look;
			*ret_found = true;
			if (look.type == HF_PERF_CS_ETM)
				return 0;
		}
		if (err < 0)
			return err;
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

int hf_perf_look(struct hf_src *src, struct hf_perf_look *ret_look, struct hf_diag *diag)
{
	struct records r;
	bool found = false;
	int err = open_records(&r, src, diag);

	*ret_look = (struct hf_perf_look){.type = 0};
	if (!err)
		err = find_trace(&r, ret_look, &found);
	return err == HF_NOTE_END && found ? 0 : err;
}

bool hf_perf_is_file(const uint8_t *head, size_t n)
{
	return n >= 8 && (memcmp(head, "PERFILE2", 8) == 0 || memcmp(head, "2ELIFREP", 8) == 0 ||
			  memcmp(head, "PERFFILE", 8) == 0);
}
