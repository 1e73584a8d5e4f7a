/* SPDX-License-Identifier: Apache-2.0 */
/* What an encoder writes by format: as it is while it fits, cut where it does not. */
#include "codecs/base/sink.h"
#include "tests/lib/check.h"

#define ROOM 511

/* Of n bytes, the last an x. */
static void check_length(int n)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;
	const size_t want = n < ROOM ? (size_t)n : ROOM;

	hf_sink_init_buffer(&sink, buf, sizeof buf);
	hf_sink_printf(&sink, "%*s", n, n ? "x" : "");
	CHECK_EQ(hf_sink_total(&sink), want);
	CHECK_EQ(sink.err, 0);
	for (size_t i = 0; i < want; i++)
		CHECK_EQ(buf[i], i + 1 == (size_t)n ? 'x' : ' ');
}

int main(void)
{
	static const int lengths[] = {0, 1, 510, 511, 512, 513, 5000};

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		check_length(lengths[i]);
	return 0;
}
