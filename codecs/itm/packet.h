/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an Instrumentation Trace Macrocell and of the DWT behind it (Armv8-M ARM, chapter ITM and DWT packet protocol). */
#ifndef HF_ITM_PACKET_H
#define HF_ITM_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum hf_itm_kind {
	HF_ITM_SYNC,      /* size counts its zeros, and those of a longer one */
	HF_ITM_OVERFLOW,
	HF_ITM_LOCAL,     /* value: since the last one; id: 0 in time, 1 time delayed, 2 packet delayed, 3 both */
	HF_ITM_GLOBAL_1,  /* value: the low bits of which bits were sent; id: bit 0 the clock changed, bit 1 wrapped */
	HF_ITM_GLOBAL_2,  /* value: from bit 26 on; bits of them */
	HF_ITM_EXTENSION, /* value; id: 0 the page of stimulus ports, 1 of DWT sources */
	HF_ITM_SOFTWARE,  /* value of bytes bytes that was written to port id */
	HF_ITM_HARDWARE,  /* value of bytes bytes of DWT source id */
	HF_ITM_KINDS
};

/* The longest one but a synchronisation. */
#define HF_ITM_PACKET_MAX 7
/* A synchronisation has so many zero bytes at least. */
#define HF_ITM_ZEROS 5

struct hf_itm_packet {
	uint8_t kind; /* enum hf_itm_kind */
	uint8_t id, bytes, bits;
	uint32_t size;
	uint64_t value;
};

const char *hf_itm_name(unsigned kind);

/* The packet at p[n]: its size; 0: it goes on behind them; -1: no packet begins with p[0]. */
int hf_itm_packet_get(const uint8_t *p, size_t n, struct hf_itm_packet *ret_packet);

#endif
