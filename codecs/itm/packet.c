/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/itm/packet.h"

#include <stdbool.h>

/* Bytes of 7 bits, the last one has bit 7 clear; their count, 0: they go on. */
static int read_continued(const uint8_t *p, size_t n, unsigned most, struct hf_itm_packet *packet)
{
	for (unsigned i = 0; i < most; i++) {
		if (i == n)
			return 0;
		packet->value |= (uint64_t)(p[i] & 0x7f) << packet->bits;
		packet->bits += 7;
		if (!(p[i] & 0x80) || i + 1 == most)
			return (int)i + 1;
	}
	return 0;
}

static int read_plain(const uint8_t *p, size_t n, unsigned bytes, struct hf_itm_packet *packet)
{
	if (n < bytes)
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		packet->value |= (uint64_t)p[i] << 8 * i;
	packet->bits = (uint8_t)(8 * bytes);
	return (int)bytes;
}

/* The 4th byte has 5 bits of the value, and two that say something else. */
static int read_global(const uint8_t *p, size_t n, struct hf_itm_packet *packet)
{
	const int size = read_continued(p, n, 4, packet);

	packet->kind = HF_ITM_GLOBAL_1;
	if (size == 4) {
		packet->value &= (1u << 26) - 1;
		packet->bits = 26;
		packet->id = p[3] >> 5 & 3;
	}
	return size;
}

/* 4 or 6 bytes, of which the last one has bit 7 clear. */
static int read_high(const uint8_t *p, size_t n, struct hf_itm_packet *packet)
{
	const int size = read_continued(p, n, 6, packet);

	packet->kind = HF_ITM_GLOBAL_2;
	if (size == 4)
		packet->value &= (1u << 22) - 1, packet->bits = 22;
	else if (size)
		packet->value &= (UINT64_C(1) << 38) - 1, packet->bits = 38;
	return size;
}

static int read_extension(uint8_t header, const uint8_t *p, size_t n, struct hf_itm_packet *packet)
{
	int size = 0;

	packet->kind = HF_ITM_EXTENSION;
	packet->id = header >> 2 & 1;
	packet->value = header >> 4 & 7;
	packet->bits = 3;
	if (!(header & 0x80))
		return 1;
	size = read_continued(p, n, 4, packet);
	return size ? size + 1 : 0;
}

/* Zeros and an 80. */
static int read_sync(const uint8_t *p, size_t n, struct hf_itm_packet *packet)
{
	size_t zeros = 0;

	packet->kind = HF_ITM_SYNC;
	while (zeros < n && !p[zeros])
		zeros++;
	if (zeros == n)
		return 0;
	return zeros >= HF_ITM_ZEROS && p[zeros] == 0x80 ? (int)zeros + 1 : -1;
}

/* Headers whose low two bits are zero. */
static int read_protocol(const uint8_t *p, size_t n, struct hf_itm_packet *packet)
{
	const uint8_t header = p[0];
	int size;

	if ((header & 0xf) == 8 || (header & 0xf) == 0xc)
		return read_extension(header, p + 1, n - 1, packet);
	if (header == 0x94 || header == 0xb4) {
		size = header == 0x94 ? read_global(p + 1, n - 1, packet) : read_high(p + 1, n - 1, packet);
		return size ? size + 1 : 0;
	}
	if (header & 0xf)
		return -1;
	if (!header)
		return read_sync(p, n, packet);
	if (header == 0x70) {
		packet->kind = HF_ITM_OVERFLOW;
		return 1;
	}
	packet->kind = HF_ITM_LOCAL;
	if (!(header & 0x80)) {
		packet->value = header >> 4;
		return 1;
	}
	if (!(header & 0x40))
		return -1;
	packet->id = header >> 4 & 3;
	size = read_continued(p + 1, n - 1, 4, packet);
	return size ? size + 1 : 0;
}

int hf_itm_packet_get(const uint8_t *p, size_t n, struct hf_itm_packet *ret_packet)
{
	int size;

	*ret_packet = (struct hf_itm_packet){.kind = HF_ITM_SYNC};
	if (!n)
		return 0;
	if (p[0] & 3) {
		ret_packet->kind = p[0] & 4 ? HF_ITM_HARDWARE : HF_ITM_SOFTWARE;
		ret_packet->id = p[0] >> 3;
		ret_packet->bytes = (p[0] & 3) == 3 ? 4 : p[0] & 3;
		size = read_plain(p + 1, n - 1, ret_packet->bytes, ret_packet);
		size = size ? size + 1 : 0;
	} else {
		size = read_protocol(p, n, ret_packet);
	}
	ret_packet->size = size > 0 ? (uint32_t)size : 0;
	return size;
}

const char *hf_itm_name(unsigned kind)
{
	static const char *const names[HF_ITM_KINDS] = {"SYNC",	 "OVERFLOW",  "LOCAL_TIME", "GLOBAL_TIME_1", "GLOBAL_TIME_2",
							"EXTENSION", "SOFTWARE", "HARDWARE"};

	return kind < HF_ITM_KINDS ? names[kind] : "?";
}
