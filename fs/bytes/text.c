/* SPDX-License-Identifier: Apache-2.0 */
/* The texts about an indexed capture, info.json and errors.txt: one piece each. */
#include "fs/bytes/bytes.h"
#include "fs/capture/facts.h"
#include "fs/capture/info.h"
#include "fs/capture/opened.h"
#include "fs/capture/state.h"

#include <string.h>

static int piece_of(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	(void)open;
	*ret_piece = (struct hf_piece){.size = bytes->size};
	return number ? HF_NOTE_END : 0;
}

static int piece_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	return piece_of(bytes, open, offset >= bytes->size, ret_piece);
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	struct hf_facts *facts;
	struct hf_sink sink;
	int err = hf_capture_facts_now(bytes->capture, &facts);

	(void)worker;
	/* They were there when the file was opened: another version has begun. */
	if (err || facts->version != bytes->version) {
		hf_facts_unref(facts);
		return HF_ERR_CHANGED;
	}
	err = hf_sink_init_memory(&sink, 0);
	if (!err) {
		hf_info_text((enum hf_text)bytes->view, bytes->capture, open, facts, &sink);
		err = sink.err;
		if (!err && hf_sink_total(&sink) != piece->size)
			err = open ? HF_ERR_MISMATCH : HF_ERR_CHANGED;
		if (!err)
			memcpy(to, sink.start, (size_t)piece->size);
		hf_sink_fini_memory(&sink);
	}
	hf_facts_unref(facts);
	return err;
}

const struct hf_bytes_ops hf_bytes_text = {.piece_at = piece_at, .piece = piece_of, .fill = fill};
