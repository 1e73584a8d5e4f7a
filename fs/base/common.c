/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/common.h"

#include <stdarg.h>
#include <stdio.h>

void hf_common_log(const struct hf_common *common, int level, const char *format, ...)
{
	char line[HF_LOG_LINE_SIZE];
	va_list args;

	if (!common->options.log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	common->options.log(common->options.log_ctx, level, line);
}

int64_t hf_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
