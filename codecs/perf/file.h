/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf.data as a row of records: file mode and pipe mode, what a killed recorder left, compressed records. Whatever the
 * file says, no more memory is taken than a record, a compressed window and the features need. Little-endian only.
 */
#ifndef HF_PERF_FILE_H
#define HF_PERF_FILE_H

#include "codecs/perf/record_types.h"
#include "codecs/source/reader.h"

/* A feature that is larger is passed over. */
#define HF_PERF_FEATURE_MAX (16u << 20)

struct hf_perf_record {
	uint64_t at; /* file offset; of one that was compressed that of the record it came in */
	uint32_t type, size;
	uint16_t misc;
	bool packed;                   /* it came out of a compressed record */
	const uint8_t *bytes;          /* [size], the record's header included, until the next call */
	uint64_t trace_at, trace_size; /* AUXTRACE: its trace in the file */
};

struct hf_perf_unpacker;

struct hf_perf_file {
	struct hf_reader reader;
	bool pipe, killed; /* it was written to a pipe; its recorder did not come to an end */
	uint64_t at, end;  /* the next record; behind the last */
	uint64_t attrs_at, attrs_size, attr_size; /* file mode */
	uint64_t features_at, features[HF_PERF_FEATURES / 64];
	struct hf_perf_unpacker *unpacker; /* owned; NULL: nothing was compressed yet */
	uint64_t packed_at; /* of the compressed record that is being taken apart */
	uint64_t broken;   /* offset where records cannot be read further; HF_NOWHERE */
};

/* HF_ERR_PERF_DAMAGED: the header makes no sense. src is borrowed. To be closed after success. */
int hf_perf_open(struct hf_perf_file *file, struct hf_src *src, struct hf_diag *diag);
/* The same of a file of records alone, data.N of a directory. */
int hf_perf_open_records(struct hf_perf_file *file, struct hf_src *src);
void hf_perf_close(struct hf_perf_file *file);

/*
 * The next record but the compressed ones, whose contents come instead. HF_NOTE_END behind the last, or where the file
 * makes no sense any more: then broken says where. Other errors are of reading and memory.
 */
int hf_perf_next(struct hf_perf_file *file, struct hf_perf_record *ret_record);

/* Bytes of a file, for the caller to free; fewer than size if it ends. */
int hf_perf_read(struct hf_src *src, uint64_t offset, size_t size, uint8_t **ret_bytes, size_t *ret_n,
		 struct hf_diag *diag);

/* The section of a feature in file mode. HF_NOTE_END: there is none, or a larger one. ret_bytes is the caller's. */
int hf_perf_feature(struct hf_perf_file *file, unsigned feature, uint8_t **ret_bytes, size_t *ret_n);

#endif
