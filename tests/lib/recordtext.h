/* SPDX-License-Identifier: Apache-2.0 */
/* The text of records.txt from its events, as their one encoder makes it. */
#ifndef HF_TEST_RECORDTEXT_H
#define HF_TEST_RECORDTEXT_H

#include "codecs/records.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

static inline void hf_bytes_add_records(struct hf_walk_bytes *to, const struct hf_stream *stream,
					const struct hf_event *ev, size_t n)
{
	struct hf_enc *enc;
	struct hf_sink sink;

	CHECK_EQ(hf_enc_new(&hf_enc_records, stream, HF_HART_RECORDS, NULL, &enc), 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	hf_enc_put(enc, ev, n, &sink);
	CHECK_EQ(sink.err, 0);
	hf_bytes_add(to, sink.start, (size_t)(sink.p - sink.start));
	hf_sink_fini_memory(&sink);
	hf_enc_free(enc);
}

#endif
