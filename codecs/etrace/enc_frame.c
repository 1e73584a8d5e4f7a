/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads to the bytes of a transport: the messages that framing.c reads, what aligns a reader that begins in the middle
 * of them (chapter 6), and CoreSight frames around them.
 */
#include "codecs/base/bytes.h"
#include "codecs/etrace/encoder.h"

/* The longest message: header, source id, timestamp, and what five bits of length say. */
#define MESSAGE_MAX 48
static_assert(MESSAGE_MAX >= 1 + 2 + 8 + HF_ETRACE_PAYLOAD_MAX, "headers of the encapsulation");

#define PULP_RECORD 40
#define PULP_HEADER 0x80
#define ESP32_HEADER 3
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
	static const uint8_t zeros[MESSAGE_MAX];

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

struct bits {
	uint8_t bytes[MESSAGE_MAX + 8];
	unsigned pos;
};

static void put(struct bits *b, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++, b->pos++)
		b->bytes[b->pos / 8] |= (uint8_t)((i < 64 ? v >> i & 1 : 0) << b->pos % 8);
}

static bool bit_of(const uint8_t *payload, size_t i)
{
	return payload[i / 8] >> i % 8 & 1;
}

/* Bits of a payload without what repeats its top bit. */
static unsigned significant(const uint8_t *payload, size_t n)
{
	unsigned bits = 8 * (unsigned)n;

	while (bits > 1 && bit_of(payload, bits - 1) == bit_of(payload, bits - 2))
		bits--;
	return bits;
}

/* A time goes with the first instruction trace packet behind it, if it has not gone backwards. */
static bool has_time(struct hf_etrace_enc *e, bool data)
{
	if (data || !e->c.params.timestamp_bytes || !(e->s.flags & HF_ETRACE_ENC_TRACING) ||
	    e->s.time <= e->s.told_time)
		return false;
	e->s.told_time = e->s.time;
	return true;
}

static unsigned type_of(const struct hf_etrace_params *p, bool data)
{
	return p->type_bits > 1 ? 2u + data : data;
}

/* See read_encap() in message.c. */
static size_t write_encap(struct hf_etrace_enc *e, bool data, const uint8_t *payload, size_t n, uint8_t *out)
{
	const struct hf_etrace_params *p = &e->c.params;
	const bool smi = p->framing == HF_ETRACE_FRAMING_SMI, time = has_time(e, data);
	const unsigned bits = p->compression == HF_ETRACE_COMPRESS_FULL ? significant(payload, n) : 8 * (unsigned)n;
	const unsigned length = (p->srcid_bits % 8 + p->type_bits + bits + 7) / 8;
	struct bits b = {.pos = 8};

	b.bytes[0] = (uint8_t)(length | (time ? 0x80 : 0));
	put(&b, e->source, p->srcid_bits);
	if (time && !smi)
		put(&b, e->s.time, 8u * p->timestamp_bytes);
	put(&b, type_of(p, data), p->type_bits);
	if (time && smi)
		put(&b, e->s.time, 8u * p->timestamp_bytes);
	for (unsigned i = 0; i < bits; i++)
		put(&b, bit_of(payload, i), 1);
	while (b.pos % 8)
		put(&b, bit_of(payload, bits - 1), 1);
	memcpy(out, b.bytes, b.pos / 8);
	return b.pos / 8;
}

static size_t write_raw(bool data, const uint8_t *payload, size_t n, uint8_t *out)
{
	out[0] = (uint8_t)(n | (data ? 3u : 2u) << 5);
	memcpy(out + 1, payload, n);
	return 1 + n;
}

static size_t write_pulp(const struct hf_etrace_enc *e, const uint8_t *payload, size_t n, uint8_t *out)
{
	const uint64_t time = e->s.flags & HF_ETRACE_ENC_TRACING ? e->s.time : 0;

	memset(out, 0, PULP_RECORD);
	for (size_t i = 0; i < n; i++)
		out[30 - i] = payload[i];
	for (unsigned i = 0; i < 8; i++)
		out[31 + i] = (uint8_t)(time >> 8 * (7 - i));
	out[39] = (uint8_t)(PULP_HEADER | n);
	return PULP_RECORD;
}

static size_t write_esp32(struct hf_etrace_enc *e, const uint8_t *payload, size_t n, uint8_t *out)
{
	out[0] = (uint8_t)(ESP32_HEADER + n);
	hf_put16(out + 1, e->s.number++);
	memcpy(out + ESP32_HEADER, payload, n);
	return ESP32_HEADER + n;
}

void hf_etrace_enc_message(struct hf_etrace_enc *e, struct hf_sink *sink, bool data, const uint8_t *payload, size_t n)
{
	uint8_t out[MESSAGE_MAX];
	size_t size;

	switch (e->c.params.framing) {
	case HF_ETRACE_FRAMING_ENCAP:
	case HF_ETRACE_FRAMING_SMI:
	case HF_ETRACE_FRAMING_CORESIGHT:
		size = write_encap(e, data, payload, n, out);
		break;
	case HF_ETRACE_FRAMING_PULP:
		size = write_pulp(e, payload, n, out);
		break;
	case HF_ETRACE_FRAMING_ESP32:
		size = write_esp32(e, payload, n, out);
		break;
	default:
		size = write_raw(data, payload, n, out);
	}
	put_message(e, sink, out, size);
}

/* ---- alignment ---- */

void hf_etrace_enc_align(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	const struct hf_etrace_params *p = &e->c.params;
	const bool raw = p->framing == HF_ETRACE_FRAMING_RAW;
	uint8_t run[MESSAGE_MAX] = {0};
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

/* Bits that a payload may have. */
static unsigned room(const struct hf_etrace_params *p)
{
	switch (p->framing) {
	case HF_ETRACE_FRAMING_ESP32:
		return 8 * (HF_ETRACE_PAYLOAD_MAX - ESP32_HEADER);
	case HF_ETRACE_FRAMING_RAW:
	case HF_ETRACE_FRAMING_PULP:
		return 8 * HF_ETRACE_PAYLOAD_MAX;
	default:
		return 8 * HF_ETRACE_PAYLOAD_MAX - p->srcid_bits % 8u - p->type_bits;
	}
}

bool hf_etrace_enc_fits_framing(const struct hf_etrace_params *p)
{
	const struct hf_etrace_packet longest = {.format = 3, .subformat = HF_ETRACE_TRAP, .has_address = true};
	const unsigned bits = hf_etrace_packet_bits(p, p->modes, &longest);

	return bits && (bits + 7) / 8 * 8 <= room(p);
}
