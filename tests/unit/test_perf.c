/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data is recognised, and refused with a reason. */
#include "codecs/codec.h"
#include "tests/lib/check.h"

int main(void)
{
	static const uint8_t bytes[64] = "PERFILE2";
	const struct hf_codec *codec = hf_codec_probe(bytes, sizeof bytes);
	struct hf_stream *stream;
	struct hf_diag diag = {.code = 0};
	struct hf_src *src;
	char text[512];

	CHECK(codec);
	CHECK_STR(codec->name, "perf");
	CHECK_EQ(hf_src_memory_new(bytes, sizeof bytes, &src), 0);
	CHECK_EQ(hf_stream_open(codec, src, NULL, &stream, &diag), (uint64_t)HF_ERR_PERF_DATA);
	hf_diag_format(&diag, text, sizeof text);
	CHECK(strstr(text, "snapshot.ini"));
	hf_src_free(src);
	return 0;
}
