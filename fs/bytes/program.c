/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a hart, and the files beside it, cut evenly. */
#include "fs/base/views.h"
#include "fs/bytes/bytes.h"
#include "fs/capture/executable.h"
#include "fs/capture/facts.h"
#include "fs/capture/opened.h"

#include <string.h>

static int fill_program(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
			struct hf_worker *worker, uint8_t *to)
{
	(void)worker;
	return hf_executable_read(open, bytes->hart, bytes->owner, bytes->size, piece->offset, (size_t)piece->size, to);
}

/* Those are small, so all of it is made. */
static int fill_side(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		     struct hf_worker *worker, uint8_t *to)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, bytes->hart);
	struct hf_sink sink;
	int err = hart ? hf_sink_init_memory(&sink, 0) : HF_ERR_BUG;

	(void)worker;
	if (err)
		return err;
	err = hf_executable_side(open, bytes->hart, hart->view[HF_VIEW_PROGRAM].owner, bytes->view, &sink);
	if (!err && hf_sink_total(&sink) != bytes->size)
		err = HF_ERR_MISMATCH;
	if (!err)
		memcpy(to, sink.start + piece->offset, (size_t)piece->size);
	hf_sink_fini_memory(&sink);
	return err;
}

const struct hf_bytes_ops hf_bytes_program = {
	.piece_at = hf_bytes_even_at, .piece = hf_bytes_even, .fill = fill_program};
const struct hf_bytes_ops hf_bytes_side = {.piece_at = hf_bytes_even_at, .piece = hf_bytes_even, .fill = fill_side};
