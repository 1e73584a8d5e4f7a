/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/json_text.h"

#include <stdio.h>

void hf_put_json_text(const char *text, size_t size)
{
	putchar('"');
	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];

		if (byte < 0x20)
			printf("\\u%04x", byte);
		else if (byte == '"' || byte == '\\')
			printf("\\%c", byte);
		else
			putchar(byte);
	}
	putchar('"');
}
