/* SPDX-License-Identifier: Apache-2.0 */
/* Single messages, framing by framing, in both directions. */
#include "codecs/etrace/framing.h"

#include "codecs/etrace/bits.h"
#include "codecs/etrace/errors.h"

/* Types of the reference flow and of SMI. */
#define TYPE_INSTRUCTION 2
#define TYPE_DATA 3

#define PULP_RECORD 40
#define PULP_HEADER 0x80
#define ESP32_HEADER 3

static uint8_t kind_of(uint8_t type, unsigned type_bits)
{
	if (type_bits == 0)
		return HF_ETRACE_MESSAGE_INSTRUCTION;
	if (type_bits == 1) /* the ratified encapsulation */
		return type ? HF_ETRACE_MESSAGE_DATA : HF_ETRACE_MESSAGE_INSTRUCTION;
	return type == TYPE_INSTRUCTION ? HF_ETRACE_MESSAGE_INSTRUCTION :
	       type == TYPE_DATA	? HF_ETRACE_MESSAGE_DATA :
					  HF_ETRACE_MESSAGE_OTHER;
}

uint8_t hf_etrace_type_of(const struct hf_etrace_params *params, bool data)
{
	const bool many = params->framing == HF_ETRACE_FRAMING_RAW || params->type_bits > 1;

	return (uint8_t)(many ? data ? TYPE_DATA : TYPE_INSTRUCTION : data);
}

/* ---- te_inst_raw: a byte of length and type ---- */

static int read_raw(const uint8_t *p, size_t n, struct hf_etrace_message *msg)
{
	const unsigned length = p[0] & 0x1f;

	if (p[0] == 0)
		return 0;
	if (!hf_etrace_is_raw_header(p[0]))
		return HF_ERR_ETRACE_FRAME;
	if (n < 1 + length)
		return HF_ERR_TRUNCATED;
	msg->type = p[0] >> 5 & 3;
	msg->kind = kind_of(msg->type, 2);
	msg->length = (uint8_t)length;
	memcpy(msg->payload, p + 1, length);
	return 1 + (int)length;
}

static size_t write_raw(const struct hf_etrace_message *msg, uint8_t *out)
{
	out[0] = (uint8_t)(msg->length | msg->type << 5);
	memcpy(out + 1, msg->payload, msg->length);
	return 1u + msg->length;
}

/*
 * ---- Encapsulation ----
 *
 * Header, source id, timestamp, type, payload, one after the other without padding. SMI is the same but for the
 * timestamp, which is behind the type there. Whole bytes of the source id, and the timestamp, are not counted in the
 * length.
 */

struct encap {
	unsigned time_bytes, type_bits;
	bool smi;
};

static struct encap encap_of(const struct hf_etrace_params *params, bool smi)
{
	return (struct encap){
		.time_bytes = smi && !params->timestamp_bytes ? 2 : params->timestamp_bytes,
		.type_bits = smi && !params->type_bits ? 2 : params->type_bits,
		.smi = smi,
	};
}

/* What is between the header and the payload. */
static void put_head(struct hf_etrace_bits *b, const struct hf_etrace_params *params, const struct encap *encap,
		     struct hf_etrace_message *msg)
{
	const unsigned time_width = msg->has_timestamp ? 8 * encap->time_bytes : 0;

	HF_ETRACE_FIELD(b, msg->source, params->srcid_bits);
	if (!encap->smi)
		HF_ETRACE_FIELD(b, msg->timestamp, time_width);
	HF_ETRACE_FIELD(b, msg->type, encap->type_bits);
	if (encap->smi)
		HF_ETRACE_FIELD(b, msg->timestamp, time_width);
}

static int read_encap(const struct hf_etrace_params *params, bool smi, const uint8_t *p, size_t n,
		      struct hf_etrace_message *msg)
{
	const struct encap encap = encap_of(params, smi);
	const unsigned length = p[0] & 0x1f, start = params->srcid_bits % 8 + encap.type_bits;
	const bool timed = p[0] & 0x80 && encap.time_bytes;
	const unsigned size = 1u + params->srcid_bits / 8 + (timed ? encap.time_bytes : 0) + length;
	struct hf_etrace_bits b;

	if (length == 0)
		return 0;
	if (8 * length <= start)
		return HF_ERR_ETRACE_FRAME;
	if (n < size)
		return HF_ERR_TRUNCATED;
	hf_etrace_bits_read(&b, p + 1, size - 1);
	msg->has_timestamp = timed;
	put_head(&b, params, &encap, msg);
	msg->kind = kind_of(msg->type, encap.type_bits);
	msg->length = (uint8_t)((8 * length - start + 7) / 8);
	for (unsigned i = 0; i < msg->length; i++)
		HF_ETRACE_FIELD(&b, msg->payload[i], 8);
	return (int)size;
}

static bool bit_of(const uint8_t *payload, size_t i)
{
	return payload[i / 8] >> i % 8 & 1;
}

/* Bits of the payload, where it may be compressed without what repeats its top bit. */
static unsigned payload_bits(const struct hf_etrace_params *params, const struct hf_etrace_message *msg)
{
	unsigned bits = 8u * msg->length;

	while (params->compression == HF_ETRACE_COMPRESS_FULL && bits > 1 &&
	       bit_of(msg->payload, bits - 1) == bit_of(msg->payload, bits - 2))
		bits--;
	return bits;
}

static size_t write_encap(const struct hf_etrace_params *params, bool smi, struct hf_etrace_message *msg, uint8_t *out)
{
	const struct encap encap = encap_of(params, smi);
	const unsigned bits = payload_bits(params, msg);
	const unsigned length = (params->srcid_bits % 8 + encap.type_bits + bits + 7) / 8;
	struct hf_etrace_bits b = {.writing = true};
	size_t n;

	hf_etrace_field(&b, length | (msg->has_timestamp ? 0x80 : 0), 8);
	put_head(&b, params, &encap, msg);
	for (unsigned i = 0; i < bits; i += 8) {
		const unsigned width = bits - i < 8 ? bits - i : 8;

		hf_etrace_field(&b, hf_etrace_low(msg->payload[i / 8], width), width);
	}
	n = hf_etrace_bits_end(&b);
	memcpy(out, b.bytes, n);
	return n;
}

/* ---- records of PULP ---- */

/* Big-endian, payload right-justified. */
static int read_pulp(const uint8_t *p, size_t n, struct hf_etrace_message *msg)
{
	if (n < PULP_RECORD)
		return HF_ERR_TRUNCATED;
	msg->length = p[39] & 0x1f;
	if ((p[39] & 0xe0) != PULP_HEADER || msg->length == 0)
		return HF_ERR_ETRACE_FRAME;
	for (unsigned i = 0; i < msg->length; i++)
		msg->payload[i] = p[30 - i];
	msg->has_timestamp = true;
	for (unsigned i = 31; i < 39; i++)
		msg->timestamp = msg->timestamp << 8 | p[i];
	return PULP_RECORD;
}

static size_t write_pulp(const struct hf_etrace_message *msg, uint8_t *out)
{
	memset(out, 0, PULP_RECORD);
	for (unsigned i = 0; i < msg->length; i++)
		out[30 - i] = msg->payload[i];
	for (unsigned i = 0; i < 8; i++)
		out[31 + i] = (uint8_t)(msg->timestamp >> 8 * (7 - i));
	out[39] = (uint8_t)(PULP_HEADER | msg->length);
	return PULP_RECORD;
}

/* ---- ESP32: the length counts itself and the counter of packets, which stands in for a timestamp here ---- */

static int read_esp32(const uint8_t *p, size_t n, struct hf_etrace_message *msg)
{
	const unsigned size = p[0];

	if (size == 0)
		return 0;
	if (size > 0x1f || size <= ESP32_HEADER)
		return HF_ERR_ETRACE_FRAME;
	if (n < size)
		return HF_ERR_TRUNCATED;
	msg->timestamp = hf_get16(p + 1);
	msg->length = (uint8_t)(size - ESP32_HEADER);
	memcpy(msg->payload, p + ESP32_HEADER, msg->length);
	return (int)size;
}

static size_t write_esp32(const struct hf_etrace_message *msg, uint8_t *out)
{
	out[0] = (uint8_t)(ESP32_HEADER + msg->length);
	hf_put16(out + 1, (uint16_t)msg->timestamp);
	memcpy(out + ESP32_HEADER, msg->payload, msg->length);
	return ESP32_HEADER + (size_t)msg->length;
}

/* ---- all of them ---- */

int hf_etrace_message_read(const struct hf_etrace_params *params, enum hf_etrace_framing framing, const uint8_t *p,
			   size_t n, struct hf_etrace_message *msg)
{
	memset(msg, 0, sizeof *msg);
	if (n == 0)
		return HF_ERR_TRUNCATED;
	switch (framing) {
	case HF_ETRACE_FRAMING_RAW:
		return read_raw(p, n, msg);
	case HF_ETRACE_FRAMING_ENCAP:
	case HF_ETRACE_FRAMING_CORESIGHT:
		return read_encap(params, false, p, n, msg);
	case HF_ETRACE_FRAMING_SMI:
		return read_encap(params, true, p, n, msg);
	case HF_ETRACE_FRAMING_PULP:
		return read_pulp(p, n, msg);
	case HF_ETRACE_FRAMING_ESP32:
		return read_esp32(p, n, msg);
	default:
		return HF_ERR_ETRACE_FRAME;
	}
}

size_t hf_etrace_message_write(const struct hf_etrace_params *params, struct hf_etrace_message *msg, uint8_t *out)
{
	switch (params->framing) {
	case HF_ETRACE_FRAMING_ENCAP:
	case HF_ETRACE_FRAMING_SMI:
	case HF_ETRACE_FRAMING_CORESIGHT:
		return write_encap(params, params->framing == HF_ETRACE_FRAMING_SMI, msg, out);
	case HF_ETRACE_FRAMING_PULP:
		return write_pulp(msg, out);
	case HF_ETRACE_FRAMING_ESP32:
		return write_esp32(msg, out);
	default:
		return write_raw(msg, out);
	}
}

unsigned hf_etrace_message_room(const struct hf_etrace_params *params)
{
	const unsigned most = 8 * HF_ETRACE_PAYLOAD_MAX;

	switch (params->framing) {
	case HF_ETRACE_FRAMING_ESP32:
		return most - 8 * ESP32_HEADER;
	case HF_ETRACE_FRAMING_RAW:
	case HF_ETRACE_FRAMING_PULP:
		return most;
	default:
		return most - params->srcid_bits % 8u - params->type_bits;
	}
}
