/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to the bytes of a transport: what aligns a reader that begins in the middle of them (chapter 6), and
 * CoreSight frames around them.
 */
#include "codecs/etrace/encoder.h"
#include "codecs/etrace/framing.h"

#define ALIGNMENT 0x80 /* the null message that ends a run of them */

/* ---- bytes ---- */

/* Byte 0 is the id, so that a reader can begin at any frame; byte 15 has the lowest bits of the even ones. */
static void write_frame(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	uint8_t *frame = hf_sink_room(sink, HF_ETRACE_ENC_FRAME + 2);

	frame[0] = (uint8_t)(e->source << 1 | 1);
	frame[15] = 0;
	for (unsigned i = 1; i < 15; i++) {
		const uint8_t byte = e->s.frame[i - 1];

		frame[i] = (uint8_t)(i % 2 ? byte : byte & 0xfe);
		if (i % 2 == 0)
			frame[15] = (uint8_t)(frame[15] | (byte & 1) << i / 2);
	}
	sink->p += 16;
	e->s.frame_count = 0;
}

static void put_bytes(struct hf_etrace_enc *e, struct hf_sink *sink, const uint8_t *p, size_t n)
{
	if (e->c.params.framing != HF_ETRACE_FRAMING_CORESIGHT) {
		hf_sink_write(sink, p, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		e->s.frame[e->s.frame_count++] = p[i];
		if (e->s.frame_count == HF_ETRACE_ENC_FRAME)
			write_frame(e, sink);
	}
}

/* No message crosses the end of a block. */
static void put_message(struct hf_etrace_enc *e, struct hf_sink *sink, const uint8_t *p, size_t n)
{
	static const uint8_t zeros[HF_ETRACE_MESSAGE_MAX];

	if (e->c.params.alignment == HF_ETRACE_ALIGN_BLOCKS) {
		const uint32_t left = e->c.params.block_bytes - e->s.block;

		if (n > left) {
			put_bytes(e, sink, zeros, left);
			e->s.block = 0;
		}
		e->s.block = (uint32_t)(e->s.block + n) % e->c.params.block_bytes;
	}
	put_bytes(e, sink, p, n);
}

/* ---- messages ---- */

/* A time goes with the first instruction trace packet behind it, if it has not gone backwards. */
static bool has_time(struct hf_etrace_enc *e, bool data)
{
	if (data || !e->c.params.timestamp_bytes || !(e->s.flags & HF_ETRACE_ENC_TRACING) ||
	    e->s.time <= e->s.told_time)
		return false;
	e->s.told_time = e->s.time;
	return true;
}

void hf_etrace_enc_message(struct hf_etrace_enc *e, struct hf_sink *sink, bool data, const uint8_t *payload, size_t n)
{
	const struct hf_etrace_params *p = &e->c.params;
	struct hf_etrace_message msg = {.source = e->source,
					.type = hf_etrace_type_of(p, data),
					.length = (uint8_t)n,
					.timestamp = e->s.flags & HF_ETRACE_ENC_TRACING ? e->s.time : 0};
	uint8_t out[HF_ETRACE_MESSAGE_MAX];

	memcpy(msg.payload, payload, n);
	if (p->framing == HF_ETRACE_FRAMING_ESP32)
		msg.timestamp = e->s.number++;
	else
		msg.has_timestamp = has_time(e, data);
	put_message(e, sink, out, hf_etrace_message_write(p, &msg, out));
}

/* ---- alignment ---- */

void hf_etrace_enc_align(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	const struct hf_etrace_params *p = &e->c.params;
	const bool raw = p->framing == HF_ETRACE_FRAMING_RAW;
	uint8_t run[HF_ETRACE_MESSAGE_MAX] = {0};
	/* one more than a message can hold */
	size_t n = HF_ETRACE_PAYLOAD_MAX + (raw ? 1u : p->timestamp_bytes + p->srcid_bits / 8u);

	if (!(e->s.flags & HF_ETRACE_ENC_UNALIGNED))
		return;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_UNALIGNED;
	if (p->alignment != HF_ETRACE_ALIGN_ZEROS)
		return;
	if (!raw)
		run[n++] = ALIGNMENT;
	put_bytes(e, sink, run, n);
}

void hf_etrace_enc_fill_frame(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	if (!e->s.frame_count)
		return;
	memset(e->s.frame + e->s.frame_count, 0, (size_t)(HF_ETRACE_ENC_FRAME - e->s.frame_count)); /* null messages */
	write_frame(e, sink);
}

/* ---- what fits ---- */

bool hf_etrace_enc_fits_framing(const struct hf_etrace_params *p)
{
	const struct hf_etrace_packet longest = {.format = 3, .subformat = HF_ETRACE_TRAP, .has_address = true};
	const unsigned bits = hf_etrace_packet_bits(p, p->modes, &longest);

	return bits && (bits + 7) / 8 * 8 <= hf_etrace_message_room(p);
}
