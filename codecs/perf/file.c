/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/file.h"

#include "codecs/base/bytes.h"
#include "codecs/perf/errors.h"
#include "codecs/perf/unpacker.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIPE_HEADER = 16,
	OLD_HEADER = 72, /* without features */
	FILE_HEADER = 104,
	WINDOW = 16384, /* of the reader: trace is passed over, and what is read too far is read in vain, */
	WINDOW_MAX = 4 * 65536, /*   unless a record is longer */
};

int hf_perf_read(struct hf_src *src, uint64_t offset, size_t size, uint8_t **ret_bytes, size_t *ret_n,
		 struct hf_diag *diag)
{
	const uint64_t there = offset < src->size ? src->size - offset : 0;
	int err;

	size = size < there ? size : (size_t)there;
	*ret_bytes = malloc(size + 1);
	if (!*ret_bytes)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, offset, 0);
	err = hf_src_read_all(src, offset, *ret_bytes, size, ret_n, diag);
	if (err)
		free(*ret_bytes);
	return err;
}

static int damaged(struct hf_diag *diag, uint64_t offset)
{
	return hf_diag_set(diag, HF_ERR_PERF_DAMAGED, HF_SPACE_FILE, offset, 0);
}

/* What the header of a file says. */
static int read_header(struct hf_perf_file *file, const uint8_t *head, size_t n, struct hf_diag *diag)
{
	const uint64_t size = n >= 16 ? hf_get64(head + 8) : 0, all = file->reader.src->size;
	uint64_t data, data_size;

	if (n < PIPE_HEADER || memcmp(head, "PERFILE2", 8) != 0)
		return damaged(diag, 0);
	file->pipe = size == PIPE_HEADER;
	file->at = PIPE_HEADER;
	file->end = all;
	if (file->pipe)
		return 0;
	if (n < OLD_HEADER || size < OLD_HEADER)
		return damaged(diag, 8);
	file->attr_size = hf_get64(head + 16);
	file->attrs_at = hf_get64(head + 24);
	file->attrs_size = hf_get64(head + 32);
	data = hf_get64(head + 40);
	data_size = hf_get64(head + 48);
	if (data > all)
		return damaged(diag, 40);
	file->at = data;
	file->killed = !data_size;
	/* A file that was cut has fewer bytes than its header says. */
	file->end = file->killed || data_size > all - data ? all : data + data_size;
	if (file->killed || data_size > all - data || size < FILE_HEADER || n < FILE_HEADER)
		return 0;
	file->features_at = file->end;
	for (unsigned i = 0; i < HF_PERF_FEATURES / 64; i++)
		file->features[i] = hf_get64(head + 72 + 8 * (size_t)i);
	return 0;
}

int hf_perf_open_records(struct hf_perf_file *file, struct hf_src *src)
{
	*file = (struct hf_perf_file){.end = src->size, .broken = HF_NOWHERE};
	return hf_reader_init(&file->reader, src, WINDOW);
}

int hf_perf_open(struct hf_perf_file *file, struct hf_src *src, struct hf_diag *diag)
{
	uint8_t head[FILE_HEADER];
	size_t n;
	int err = hf_perf_open_records(file, src);

	if (err)
		return err;
	err = hf_src_read_all(src, 0, head, sizeof head, &n, diag);
	if (!err)
		err = read_header(file, head, n, diag);
	if (err)
		hf_perf_close(file);
	return err;
}

void hf_perf_close(struct hf_perf_file *file)
{
	hf_reader_fini(&file->reader);
	hf_perf_unpacker_free(file->unpacker);
	file->unpacker = NULL;
}

/* Nothing more can be read: what there is so far counts. */
static int stop(struct hf_perf_file *file, uint64_t at)
{
	file->broken = file->broken < at ? file->broken : at;
	file->at = file->end;
	return HF_NOTE_END;
}

/* n bytes at offset, or HF_NOTE_END. */
static int need(struct hf_perf_file *file, uint64_t offset, uint64_t n, const uint8_t **ret_bytes)
{
	int err;

	if (offset > file->end || n > file->end - offset)
		return HF_NOTE_END;
	err = hf_reader_need(&file->reader, offset, n, WINDOW_MAX);
	if (!err)
		*ret_bytes = hf_reader_at(&file->reader, offset);
	/* Damage of the medium is an end as any other; what passes by itself is not. */
	return err < 0 && hf_err_class(err) == HF_CLASS_corrupt ? (int)HF_NOTE_END : err;
}

/* The length of a record with its padding: COMPRESSED2's overflows. */
static uint64_t length_of(const uint8_t *bytes, uint32_t type, uint32_t size, size_t there)
{
	uint64_t data;

	if (type != HF_PERF_COMPRESSED2 || there < 16)
		return size;
	data = hf_get64(bytes + 8);
	if (size >= 16 && data <= size - 16)
		return size;
	return data <= HF_PERF_RECORD_MAX - 16 ? 16 + data : data <= HF_PERF_RECORD_MAX + 1 ? (16 + data + 7) & ~UINT64_C(7) : 0;
}

/* Bytes that lie behind a record, its size not counting them. */
static uint64_t behind(const uint8_t *bytes, uint32_t type, uint32_t size)
{
	if (type == HF_PERF_AUXTRACE && size >= 16)
		return hf_get64(bytes + 8);
	if (type == HF_PERF_TRACING_DATA && size >= 12)
		return ((uint64_t)hf_get32(bytes + 8) + 7) & ~UINT64_C(7);
	return 0;
}

/* The record at file->at, and goes on behind it. */
static int read_record(struct hf_perf_file *file, struct hf_perf_record *ret)
{
	const uint64_t at = file->at;
	const uint8_t *bytes;
	uint64_t length, more;
	int err = at < file->end ? need(file, at, 8, &bytes) : HF_NOTE_END;

	if (err)
		return err < 0 ? err : at < file->end ? stop(file, at) : err;
	*ret = (struct hf_perf_record){
		.at = at, .type = hf_get32(bytes), .misc = hf_get16(bytes + 4), .size = hf_get16(bytes + 6)};
	if (ret->type == HF_PERF_COMPRESSED2 && (err = need(file, at, 16, &bytes)))
		return err < 0 ? err : stop(file, at);
	length = length_of(bytes, ret->type, ret->size, ret->type == HF_PERF_COMPRESSED2 ? 16 : 8);
	if (length < 8)
		return stop(file, at);
	err = need(file, at, length, &ret->bytes);
	if (err)
		return err < 0 ? err : stop(file, at);
	ret->size = (uint32_t)length;
	more = behind(ret->bytes, ret->type, ret->size);
	if (ret->type == HF_PERF_AUXTRACE) {
		ret->trace_at = at + length;
		ret->trace_size = more < file->end - ret->trace_at ? more : file->end - ret->trace_at;
	}
	if (more > file->end - at - length)
		return ret->trace_size ? (stop(file, at), 0) : stop(file, at);
	file->at = at + length + more;
	return 0;
}

/* Gives the piece of a compressed record to the unpacker. False: the stream is lost. */
static int feed(struct hf_perf_file *file, const struct hf_perf_record *record)
{
	const size_t from = record->type == HF_PERF_COMPRESSED ? 8 : 16;
	size_t n = record->size > from ? record->size - from : 0;
	int err = file->unpacker ? 0 : hf_perf_unpacker_new(&file->unpacker);

	if (record->type == HF_PERF_COMPRESSED2 && n && hf_get64(record->bytes + 8) < n)
		n = (size_t)hf_get64(record->bytes + 8);
	file->packed_at = record->at;
	return err ? err : hf_perf_unpacker_feed(file->unpacker, record->bytes + from, n);
}

/* The next record that was compressed; HF_NOTE_END: another piece is needed. */
static int next_packed(struct hf_perf_file *file, struct hf_perf_record *ret)
{
	const uint8_t *bytes = NULL;
	uint32_t size = 0;
	int err = file->unpacker ? hf_perf_unpacker_next(file->unpacker, &bytes, &size) : HF_NOTE_END;

	if (err)
		return err;
	*ret = (struct hf_perf_record){.at = file->packed_at,
				       .type = hf_get32(bytes),
				       .misc = hf_get16(bytes + 4),
				       .size = size,
				       .packed = true,
				       .bytes = bytes};
	return 0;
}

int hf_perf_next(struct hf_perf_file *file, struct hf_perf_record *ret_record)
{
	for (;;) {
		int err = next_packed(file, ret_record);

		if (err == HF_ERR_CORRUPT)
			return stop(file, file->packed_at);
		if (err != HF_NOTE_END)
			return err;
		if (hf_stop_wanted(file->reader.src->stop))
			return HF_ERR_CANCELLED;
		err = read_record(file, ret_record);
		if (err || (ret_record->type != HF_PERF_COMPRESSED && ret_record->type != HF_PERF_COMPRESSED2))
			return err;
		err = feed(file, ret_record);
		if (err)
			return err == HF_ERR_CORRUPT ? stop(file, ret_record->at) : err;
	}
}

int hf_perf_feature(struct hf_perf_file *file, unsigned feature, uint8_t **ret_bytes, size_t *ret_n)
{
	uint64_t row = file->features_at;
	uint8_t section[16];
	size_t n;
	int err;

	*ret_bytes = NULL;
	*ret_n = 0;
	if (!(file->features[feature / 64] >> feature % 64 & 1))
		return HF_NOTE_END;
	for (unsigned i = 0; i < feature; i++)
		row += file->features[i / 64] >> i % 64 & 1 ? sizeof section : 0;
	err = hf_src_read_all(file->reader.src, row, section, sizeof section, &n, NULL);
	if (err)
		return err;
	if (n < sizeof section || hf_get64(section + 8) > HF_PERF_FEATURE_MAX)
		return HF_NOTE_END;
	return hf_perf_read(file->reader.src, hf_get64(section), (size_t)hf_get64(section + 8), ret_bytes, ret_n, NULL);
}
