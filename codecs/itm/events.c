/* SPDX-License-Identifier: Apache-2.0 */
/* What packets mean. A local timestamp says how long it is since the last one, and belongs to the packets before it. */
#include "codecs/base/bytes.h"
#include "codecs/itm/decoder.h"
#include "codecs/itm/errors.h"

/* DWT sources. */
enum { COUNTERS = 0, EXCEPTION = 1, SAMPLE = 2, PMU = 3, ADDRESSES = 8, VALUES = 16, END = 24 };

/* Counters of the DWT are 0 to 5 (CPI, exceptions, sleep, LSU, folded, cycles), those of the PMU from here on. */
#define PMU_COUNTER 32

#define PAGE_PORTS 32u

static struct hf_event *tell(struct hf_itm_dec *d, unsigned what, uint64_t number)
{
	struct hf_event *ev = hf_itm_push(d, HF_EVENT_MARKER);

	ev->what = (uint16_t)what;
	ev->marker.number = number;
	return ev;
}

static void tell_text(struct hf_itm_dec *d, const struct hf_itm_packet *packet)
{
	struct hf_event *ev;

	tell(d, HF_MARKER_TEXT, packet->id + PAGE_PORTS * (uint64_t)d->now.page)->size = packet->bytes;
	ev = hf_itm_push(d, HF_EVENT_DATA);
	ev->used = packet->bytes;
	hf_put32(ev->data.bytes, (uint32_t)packet->value);
}

/* A source that nobody explains, or a packet of another size than its source has. */
static void tell_other(struct hf_itm_dec *d, const struct hf_itm_packet *packet, uint64_t source)
{
	tell(d, HF_MARKER_OTHER, packet->bytes)->marker =
		(struct hf_ev_marker){.type = source, .number = packet->bytes, .value = packet->value};
}

static void tell_counters(struct hf_itm_dec *d, const struct hf_itm_packet *packet, unsigned first)
{
	for (unsigned i = 0; i < 8; i++)
		if (packet->value >> i & 1)
			tell(d, HF_MARKER_COUNTER, first + i)->marker.type = HF_COUNTER_WRAPPED;
}

static void tell_sample(struct hf_itm_dec *d, const struct hf_itm_packet *packet)
{
	struct hf_event *ev = tell(d, HF_MARKER_SAMPLE, 0);

	if (packet->bytes == 4) {
		ev->flags = HF_EVF_AT;
		ev->marker.value = packet->value;
	} else {
		ev->marker.type = packet->value ? HF_SAMPLE_DENIED : HF_SAMPLE_ASLEEP;
	}
}

/* A comparator: where an access was made, its address, its value. */
static void tell_watch(struct hf_itm_dec *d, const struct hf_itm_packet *packet, unsigned source)
{
	struct hf_event *ev = tell(d, HF_MARKER_WATCHPOINT, source % 8 / 2);

	if (source >= VALUES)
		ev->marker.type = source & 1 ? HF_WATCH_WRITE : HF_WATCH_READ;
	else if (source & 1)
		ev->marker.type = HF_WATCH_ADDRESS;
	else if (packet->bytes == 4)
		ev->flags = HF_EVF_AT;
	else
		return; /* it matched, and no more is told */
	ev->marker.value = packet->value;
}

static void tell_hardware(struct hf_itm_dec *d, const struct hf_itm_packet *packet)
{
	const uint64_t source = packet->id + PAGE_PORTS * (uint64_t)d->now.dwt_page;
	const unsigned step = packet->value >> 12 & 3;

	if (source == COUNTERS && packet->bytes == 1 && packet->value & 0x3f)
		tell_counters(d, packet, 0);
	else if (source == PMU && packet->bytes == 1 && packet->value)
		tell_counters(d, packet, PMU_COUNTER);
	else if (source == EXCEPTION && packet->bytes == 2 && step)
		tell(d, HF_MARKER_EXCEPTION, packet->value & 0x1ff)->marker.type = step;
	else if (source == SAMPLE && (packet->bytes == 4 || (packet->bytes == 1 && (packet->value == 0 || packet->value == 0xff))))
		tell_sample(d, packet);
	else if (source >= ADDRESSES && source < END)
		tell_watch(d, packet, (unsigned)source);
	else
		tell_other(d, packet, source);
}

/* Bits that are not sent are as they were. What wrapped waits for its upper bits. */
static void tell_global(struct hf_itm_dec *d, const struct hf_itm_packet *packet)
{
	struct hf_itm_place *now = &d->now;
	struct hf_event *ev;

	if (packet->kind == HF_ITM_GLOBAL_1) {
		const uint64_t mask = (UINT64_C(1) << packet->bits) - 1;

		now->time = (now->time & ~mask) | packet->value;
		now->low |= packet->bits == 26;
		if (packet->id & 2) {
			now->high = 0;
			return;
		}
	} else {
		now->time = (now->time & ((1u << 26) - 1)) | packet->value << 26;
		now->high = 1;
	}
	ev = hf_itm_push(d, HF_EVENT_TIMESTAMP);
	ev->flags = now->low && now->high ? 0 : HF_EVF_NO_TIME;
	ev->time.value = ev->flags ? 0 : now->time;
}

static void tell_local(struct hf_itm_dec *d, const struct hf_itm_packet *packet)
{
	struct hf_event *ev = hf_itm_push(d, HF_EVENT_CYCLES);

	ev->flags = packet->id ? HF_EVF_LATE : 0;
	ev->time.value = packet->value * d->hart->config.prescaler;
}

void hf_itm_tell(struct hf_itm_dec *d, const struct hf_itm_packet *packet, uint64_t offset)
{
	struct hf_event *ev;

	switch (packet->kind) {
	case HF_ITM_SYNC: d->now.page = 0; break;
	case HF_ITM_OVERFLOW:
		ev = hf_itm_push(d, HF_EVENT_GAP);
		ev->code = -HF_ERR_ITM_OVERFLOW;
		ev->loss.offset = offset;
		break;
	case HF_ITM_LOCAL: tell_local(d, packet); break;
	case HF_ITM_GLOBAL_1:
	case HF_ITM_GLOBAL_2: tell_global(d, packet); break;
	case HF_ITM_EXTENSION:
		if (packet->id)
			d->now.dwt_page = (uint32_t)packet->value;
		else
			d->now.page = (uint32_t)packet->value;
		break;
	case HF_ITM_SOFTWARE: tell_text(d, packet); break;
	default: tell_hardware(d, packet); break;
	}
}
