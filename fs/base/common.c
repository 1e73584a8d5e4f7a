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
