/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as ETE packets: one that can be read can be written, and says the same then. Input: flags, packets. */
#include "codecs/ete/errors.h"
#include "codecs/ete/packet.h"
#include "tests/lib/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_ete_history history = {.threshold = 0};
	struct hf_ete_config config;
	const uint8_t *p = data + 1, *end = data + size;

	if (size == 0)
		return 0;
	config = (struct hf_ete_config){
		.commopt = data[0] & 1,
		.etm = data[0] & 2,
		.cid_bytes = data[0] & 4 ? 4 : 0,
		.vmid_bytes = data[0] & 8 ? 4 : data[0] & 16 ? 2 : 1,
		.max_spec = data[0] >> 5,
		.m = data[0] >> 5 == 7,
	};
	while (p < end) {
		struct hf_ete_packet packet, again;
		struct hf_ete_meaning meaning;
		uint8_t bytes[HF_ETE_PACKET_MAX];
		int n = hf_ete_packet_get(&config, p, (size_t)(end - p), &packet);
		uint8_t *e;

		if (n == 0)
			break;
		if (n < 0) {
			MUST(n == HF_ERR_ETE_HEADER || n == HF_ERR_ETE_FIELD || n == HF_ERR_ETE_NO_ID || n == HF_ERR_ETE_ASYNC);
			p++;
			continue;
		}
		MUST(n <= end - p && (uint32_t)n == packet.size);
		hf_ete_history_apply(&history, &packet, &meaning);
		e = hf_ete_packet_put(&config, bytes, &packet);
		MUST(e > bytes && e - bytes <= n);
		MUST(hf_ete_packet_get(&config, bytes, (size_t)(e - bytes), &again) == e - bytes);
		again.size = packet.size;
		if (again.kind == HF_ETE_CYCLE_COUNT_F2)
			again.header = packet.header;
		MUST(memcmp(&again, &packet, sizeof packet) == 0);
		p += n;
	}
	return 0;
}
