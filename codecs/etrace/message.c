/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of single messages, framing by framing. */
#include "codecs/etrace/framing.h"

#include "codecs/base/bytes.h"

#include <string.h>

/* Types of the reference flow and of SMI. */
#define TYPE_INSTRUCTION 2
#define TYPE_DATA 3

#define PULP_RECORD 40

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

/* width <= 64 bits from bit pos on of p, of which the caller has 9 bytes behind pos / 8. */
static uint64_t take(const uint8_t *p, unsigned *pos, unsigned width)
{
	const uint8_t *q = p + *pos / 8;
	const unsigned shift = *pos % 8;
	uint64_t v = hf_get64(q) >> shift;

	if (shift && shift + width > 64)
		v |= (uint64_t)q[8] << (64 - shift);
	*pos += width;
	return width >= 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

/*
 * Encapsulation: header, source id, timestamp, type, payload, one after the other without padding. SMI is the same but
 * for the timestamp, which is behind the type there. Whole bytes of the source id, and the timestamp, are not counted.
 */
static int read_encap(const struct hf_etrace_params *params, bool smi, const uint8_t *p, size_t n,
		      struct hf_etrace_message *msg)
{
	const unsigned time_bytes = smi && !params->timestamp_bytes ? 2 : params->timestamp_bytes;
	const unsigned type_bits = smi && !params->type_bits ? 2 : params->type_bits;
	const unsigned length = p[0] & 0x1f, source_bytes = params->srcid_bits / 8;
	const unsigned time_width = p[0] & 0x80 ? 8 * time_bytes : 0;
	const unsigned size = 1 + source_bytes + time_width / 8 + length, start = params->srcid_bits % 8 + type_bits;
	uint8_t bytes[64] = {0};
	unsigned pos = 0, bits;

	if (length == 0)
		return 0;
	if (8 * length <= start)
		return HF_ERR_ETRACE_FRAME;
	if (n < size)
		return HF_ERR_TRUNCATED;
	memcpy(bytes, p + 1, size - 1);
	msg->source = (uint32_t)take(bytes, &pos, params->srcid_bits);
	msg->has_timestamp = time_width;
	if (!smi)
		msg->timestamp = take(bytes, &pos, time_width);
	msg->type = (uint8_t)take(bytes, &pos, type_bits);
	if (smi)
		msg->timestamp = take(bytes, &pos, time_width);
	msg->kind = kind_of(msg->type, type_bits);
	bits = 8 * length - start;
	msg->length = (uint8_t)((bits + 7) / 8);
	for (unsigned i = 0; i < msg->length; i++)
		msg->payload[i] = (uint8_t)take(bytes, &pos, 8);
	if (bits % 8) { /* the last byte is filled with the sign */
		uint8_t *last = &msg->payload[msg->length - 1];

		if (*last >> (bits % 8 - 1) & 1)
			*last |= (uint8_t)(0xff << bits % 8);
	}
	return (int)size;
}

/* Big-endian, payload right-justified. */
static int read_pulp(const uint8_t *p, size_t n, struct hf_etrace_message *msg)
{
	if (n < PULP_RECORD)
		return HF_ERR_TRUNCATED;
	msg->length = p[39] & 0x1f;
	if ((p[39] & 0xe0) != 0x80 || msg->length == 0)
		return HF_ERR_ETRACE_FRAME;
	for (unsigned i = 0; i < msg->length; i++)
		msg->payload[i] = p[30 - i];
	msg->has_timestamp = true;
	for (unsigned i = 31; i < 39; i++)
		msg->timestamp = msg->timestamp << 8 | p[i];
	return PULP_RECORD;
}

/* The length counts itself and the counter of packets, which stands in for a timestamp here: the framer takes it. */
static int read_esp32(const uint8_t *p, size_t n, struct hf_etrace_message *msg)
{
	const unsigned size = p[0];

	if (size == 0)
		return 0;
	if (size > 0x1f || size < 4)
		return HF_ERR_ETRACE_FRAME;
	if (n < size)
		return HF_ERR_TRUNCATED;
	msg->timestamp = hf_get16(p + 1);
	msg->length = (uint8_t)(size - 3);
	memcpy(msg->payload, p + 3, msg->length);
	return (int)size;
}

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
