/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/astf/header.h"

#include "codecs/astf/errors.h"

#include <stdio.h>
#include <stdlib.h>

static int read_header(struct hf_src *src, uint8_t *bytes, struct hf_diag *diag)
{
	size_t have;
	int err = hf_src_read_all(src, 0, bytes, HF_ASTF_SIZE, &have, diag);

	if (err)
		return err;
	if (have < HF_ASTF_SIZE)
		return hf_diag_set(diag, have < 4 ? HF_ERR_ASTF_MAGIC : HF_ERR_ASTF_CUT, HF_SPACE_STREAM, 0, 0);
	return memcmp(bytes, "ASTF", 4) == 0 ? 0 : hf_diag_set(diag, HF_ERR_ASTF_MAGIC, HF_SPACE_STREAM, 0, 0);
}

/* What cannot be read at all; the rest the decoder notes. */
static int check_header(const struct hf_astf_record *h, struct hf_diag *diag)
{
	const uint64_t major = HF_ASTF_GET(h, HEADER, version_major);

	if (major != HF_ASTF_MAJOR)
		return hf_diag_set(diag, HF_ERR_ASTF_VERSION, HF_SPACE_STREAM, 4, major);
	if (HF_ASTF_GET(h, HEADER, compressed))
		return hf_diag_set(diag, HF_ERR_ASTF_NESTED, HF_SPACE_STREAM, 8, 0);
	return 0;
}

static void describe(struct hf_astf_stream *s)
{
	const struct hf_astf_record *h = &s->header;
	const bool basic = HF_ASTF_GET(h, HEADER, single_el);

	snprintf(s->version, sizeof s->version, "%u.%u", (unsigned)HF_ASTF_GET(h, HEADER, version_major),
		 (unsigned)HF_ASTF_GET(h, HEADER, version_minor));
	snprintf(s->json, sizeof s->json, "\"level\":\"%s\",\"timestamps\":%s", basic ? "Basic" : "BasicPlus",
		 HF_ASTF_GET(h, HEADER, timestamps) ? "true" : "false");
	s->stream.info = (struct hf_stream_info){
		.arch = HF_ARCH_ARM,
		.xlen = 64,
		.isa = HF_ISA_A64,
		.flags = HF_STREAM_HARTS | HF_STREAM_NO_TEXTS | HF_STREAM_ORIGINAL | (basic ? HF_STREAM_ONE_LEVEL : 0),
		.version = s->version,
		.json = s->json,
		.header = h,
	};
}

int hf_astf_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag)
{
	struct hf_astf_stream *s = calloc(1, sizeof *s);
	uint8_t bytes[HF_ASTF_SIZE];
	int err;

	(void)setup;
	if (!s)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	err = read_header(src, bytes, diag);
	if (!err) {
		hf_astf_load(&s->header, bytes);
		err = check_header(&s->header, diag);
	}
	if (err) {
		free(s);
		return err;
	}
	describe(s);
	*ret_stream = &s->stream;
	return 0;
}

void hf_astf_close(struct hf_stream *stream)
{
	free(stream);
}
