/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture as a build reads it: its container and codec, and its decompressed stream, read forward once or more
 * often. Internal to index/.
 */
#ifndef HF_INDEX_INPUT_H
#define HF_INDEX_INPUT_H

#include "codecs/codec.h"
#include "index/pass/shared_scan.h"

struct hf_input {
	struct hf_src *file;      /* borrowed */
	const struct hf_setup *setup; /* borrowed; NULL: container and codec are recognised by content */
	const struct hf_box *box; /* NULL: plain bytes, and src is file */
	struct hf_src *src;
	const struct hf_box *reads; /* the container for scan: box, or a shared one */
	struct hf_scan *scan;     /* under src */
	struct hf_shared_scan *shared; /* the next fork joins it; NULL: this is a fork */
	struct hf_stream *stream;
	uint64_t most;            /* most bytes of the stream; containers only, as below */
	hf_point_fn on_point;
	void *ctx;
	uint64_t in_pos;          /* how far the file was read */
	uint64_t out_end;         /* how far the stream was read */
	bool forked;              /* stream belongs to another input */
};

/*
 * Opens container and codec. *ret_fatal: the error is about the content, not about reading it. A setup names the codec,
 * and whether there is a container. on_point gets the container's points. The stream of a container ends, damaged,
 * before the block that goes beyond most bytes.
 */
int hf_input_open(struct hf_input *in, struct hf_src *file, const struct hf_setup *setup, uint64_t most,
		  hf_point_fn on_point, void *ctx, bool *ret_fatal, struct hf_diag *diag);
void hf_input_close(struct hf_input *in);

/* The same stream from its beginning, for another thread. of must outlive in. Forks that start early and do not fall
 * far behind the others share decompressed blocks. */
int hf_input_fork(struct hf_input *in, struct hf_input *of, hf_point_fn on_point, void *ctx,
		  struct hf_diag *diag);

/* Reads on to the end: *ret_size good bytes, and *ret_damage (code 0: none) behind them. */
int hf_input_drain(struct hf_input *in, uint64_t *ret_size, struct hf_diag *ret_damage);
/* The i-th harmless defect of the container, or HF_NOTE_END. */
int hf_input_note(const struct hf_input *in, size_t i, struct hf_diag *ret_diag);

/* Whether an error is about the content, so that it belongs in the index. */
bool hf_input_is_verdict(int err);

#endif
