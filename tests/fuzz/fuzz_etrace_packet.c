/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an E-Trace packet of any parameters: what can be read can be written, and is the same again. */
#include "codecs/etrace/data.h"
#include "codecs/etrace/packet.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define HEAD 12
static void choose(const uint8_t *b, struct hf_etrace_params *p)
{
	hf_etrace_params_default(p, b[0] & 1 ? 64 : 32);
	p->version = b[0] >> 1 & 3 ? (b[0] >> 1 & 3) - 1 : 0;
	p->support = b[0] >> 3 & 3;
	p->irreport = b[0] & 32;
	p->iaddress_lsb = b[0] >> 6;
	p->privilege_width = (uint8_t)(1 + (b[1] & 7));
	p->context_width = b[2] & 63;
	p->time_width = p->version == HF_ETRACE_1_1_1 ? 0 : b[3] & 31;
	p->ecause_width = (uint8_t)(1 + (b[4] & 31));
	p->f0s_width = b[5] & 1;
	p->return_stack_size = b[5] >> 1 & 7;
	p->call_counter_size = b[5] >> 4;
	p->cache_size = b[6] & 15;
	p->lrid_width = b[7] & 3;
	p->data_reference = b[7] & 4;
	p->data_width = b[7] & 8 ? 64 : 32;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_etrace_data_state state = {0};
	struct hf_etrace_packet pkt, again;
	struct hf_etrace_access access;
	struct hf_etrace_params params;
	uint8_t written[HF_ETRACE_PAYLOAD_MAX];
	uint32_t modes;
	size_t size;

	if (n < HEAD)
		return 0;
	choose(bytes, &params);
	modes = (uint32_t)(bytes[8] | bytes[9] << 8);
	hf_etrace_data_read(&params, modes, &state, bytes + HEAD, n - HEAD, &access);
	if (hf_etrace_packet_read(&params, modes, bytes + HEAD, n - HEAD, &pkt))
		return 0;
	if (params.support == HF_ETRACE_SUPPORT_PULP) /* its addresses have several lengths in odd widths */
		return 0;
	size = hf_etrace_packet_write(&params, modes, &pkt, written);
	if (!size) /* longer than a payload may be, for want of compression of what was read */
		return 0;
	MUST(hf_etrace_packet_read(&params, modes, written, size, &again) == 0);
	again.length = pkt.length;
	if (!pkt.irreport)
		again.irdepth = pkt.irdepth;
	MUST(memcmp(&pkt, &again, sizeof pkt) == 0);
	return 0;
}
