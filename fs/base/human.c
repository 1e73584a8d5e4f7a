/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/human.h"

#include <inttypes.h>
#include <stdio.h>

const char *hf_human_count(char buf[HF_HUMAN_SIZE], uint64_t count)
{
	char digits[24], *to = buf;
	const int n = snprintf(digits, sizeof digits, "%" PRIu64, count);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return buf;
}

const char *hf_human_bytes(char buf[HF_HUMAN_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned unit = 0;

	for (; value >= 1023.5; unit++)
		value /= 1024;
	snprintf(buf, HF_HUMAN_SIZE, unit && value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buf;
}

void hf_human_path(struct hf_sink *sink, const char *path)
{
	for (const char *s = path; *s; s++)
		hf_sink_write(sink, (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
}
