/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an ASTF stream, and what info.json says of it. */
#ifndef HF_ASTF_HEADER_H
#define HF_ASTF_HEADER_H

#include "codecs/astf/records.h"
#include "codecs/codec.h"

/* The version that we write. */
#define HF_ASTF_MAJOR 0
#define HF_ASTF_MINOR 11

struct hf_astf_stream {
	struct hf_stream stream;     /* first */
	struct hf_astf_record header; /* info.header: as in the stream */
	char version[12];
	char json[64];
};

int hf_astf_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		 struct hf_diag *diag);
void hf_astf_close(struct hf_stream *stream);

extern const struct hf_codec hf_codec_astf;

#endif
