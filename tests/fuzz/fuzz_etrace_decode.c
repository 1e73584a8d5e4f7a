/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any parameters, any code and any bytes as an E-Trace stream: it comes to an end, every event is one, thick and thin
 * reads give the same, and so does a decoder that is entered in the middle.
 */
#include "tests/lib/etracetest.h"
#include "tests/lib/fuzz.h"

#define MOST 60000 /* events: a packet of a few bytes may stand for millions */

static void check_event(const struct hf_event *ev)
{
	MUST(ev->kind > HF_EVENT_NONE && ev->kind < HF_EVENT_KINDS);
	switch (ev->kind) {
	case HF_EVENT_INSN:
	case HF_EVENT_ATTEMPT:
		MUST(ev->insn.mode < HF_MODE_COUNT && ev->insn.flow < HF_FLOW_COUNT);
		MUST(ev->insn.size == 2 || ev->insn.size == 4);
		MUST(ev->insn.isa == HF_ISA_RV32 || ev->insn.isa == HF_ISA_RV64);
		break;
	case HF_EVENT_GAP:
	case HF_EVENT_NOTE:
		MUST(ev->code && hf_err_is_code(-(int64_t)ev->code));
		break;
	case HF_EVENT_DATA:
		MUST(ev->used > 0 && ev->used <= sizeof ev->data.bytes);
		break;
	default:
		break;
	}
}

static uint64_t sum(uint64_t v, const struct hf_event *ev)
{
	const uint8_t *p = (const uint8_t *)ev;

	for (size_t i = 0; i < sizeof *ev; i++)
		v = (v ^ p[i]) * UINT64_C(0x100000001b3);
	return v;
}

/* A sum of up to most events, of which *ret_count are there. */
static uint64_t run(struct hf_dec *dec, size_t batch, size_t most, size_t *ret_count)
{
	struct hf_event ev[64];
	uint64_t v = 0;
	size_t n;

	*ret_count = 0;
	while (*ret_count < most) {
		if (hf_dec_next(dec, ev, most - *ret_count < batch ? most - *ret_count : batch, &n))
			break;
		for (size_t i = 0; i < n; i++) {
			check_event(&ev[i]);
			v = sum(v, &ev[i]);
		}
		*ret_count += n;
	}
	return v;
}

static void check_hart(struct hf_etracet_made *m, uint32_t hart)
{
	struct hf_dec *a, *b;
	uint8_t blob[HF_STATE_MAX];
	size_t n, again, half;
	uint64_t whole, discard;

	MUST(hf_dec_new(m->stream, m->src, hart, &a) == 0);
	MUST(hf_dec_new(m->stream, m->src, hart, &b) == 0);
	whole = run(a, 64, MOST, &n);
	MUST(run(b, 7, MOST, &again) == whole && n == again);
	hf_dec_free(a);
	hf_dec_free(b);
	MUST(hf_dec_new(m->stream, m->src, hart, &a) == 0);
	MUST(hf_dec_new(m->stream, m->src, hart, &b) == 0);
	if (hart != HF_HART_RECORDS) {
		((struct hf_etrace_dec *)a)->full_distance = 1;
		((struct hf_etrace_dec *)a)->retry = 1;
	}
	run(a, 64, n / 2, &half);
	n = hf_dec_save(a, blob, &discard);
	MUST(n <= HF_STATE_MAX);
	MUST(hf_dec_load(b, blob, n, discard) == 0);
	whole = run(a, 64, MOST / 4, &n);
	MUST(run(b, 3, MOST / 4, &again) == whole && n == again);
	hf_dec_free(a);
	hf_dec_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_etracet_made m;

	if (!hf_etracet_make(&m, bytes, n))
		return 0;
	check_hart(&m, m.stream->info.first_hart);
	check_hart(&m, HF_HART_RECORDS);
	hf_etracet_unmake(&m);
	return 0;
}
