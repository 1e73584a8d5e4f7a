/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one N-Trace message: what can be read is written and read again as the same. The first byte: SRC bits,
 * xlen, cut and narrow addresses, trap values.
 */
#include "codecs/ntrace/message.h"
#include "tests/lib/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_ntrace_params params = {0};
	struct hf_ntrace_message msg, again;
	uint8_t copy[HF_NTRACE_WRITE_MAX], *input;
	size_t length;
	int err;

	if (n < 2)
		return 0;
	params.srcbits = bytes[0] % (HF_NTRACE_SRCBITS_MAX + 1);
	params.xlen = bytes[0] & 0x40 ? 32 : 64;
	params.addr_msb_ext = bytes[0] >> 7;
	params.address_width = bytes[0] & 0x20 ? 40 : 0;
	params.trap_values = bytes[0] >> 4 & 1;
	input = malloc(n - 1); /* so that reading behind its end is seen */
	MUST(input);
	memcpy(input, bytes + 1, n - 1);
	err = hf_ntrace_message_read(&params, input, n - 1, &msg);
	free(input);
	MUST(msg.length >= 1 && msg.length <= n - 1 && msg.length <= HF_NTRACE_MESSAGE_MAX);
	if (err || !*hf_ntrace_fields(&params, msg.tcode))
		return 0;
	length = hf_ntrace_message_write(&params, &msg, copy);
	MUST(length <= sizeof copy && length <= msg.length + 1); /* an address may end with a zero MDO of its own */
	MUST(hf_ntrace_message_read(&params, copy, length, &again) == 0);
	MUST(again.tcode == msg.tcode && again.src == msg.src);
	MUST(again.has_time == msg.has_time && again.time == msg.time);
	for (const uint8_t *field = hf_ntrace_fields(&params, msg.tcode); *field; field++)
		MUST(!hf_ntrace_has_field(&msg, *field) ||
		     hf_ntrace_field(&again, *field) == hf_ntrace_field(&msg, *field));
	return 0;
}
