/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts in messages: little endian, with a limit on what is written and a check of all that is read. */
#ifndef HF_SQL_WIRE_H
#define HF_SQL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that is written. All zeros but for most is an empty one. */
struct hf_out {
	uint8_t *p; /* owned */
	size_t n, room;
	size_t most; /* bytes, with the head */
	bool failed; /* there was no memory, or most was not enough: it is not to be sent */
};

void hf_out_begin(struct hf_out *out, uint32_t message);
void hf_out_u8(struct hf_out *out, uint8_t value);
void hf_out_u32(struct hf_out *out, uint32_t value);
void hf_out_u64(struct hf_out *out, uint64_t value);
/* A text: its size, its bytes, and a 0 that the size does not count. */
void hf_out_text(struct hf_out *out, const char *text, size_t size);
void hf_out_bytes(struct hf_out *out, const uint8_t *bytes, size_t size);
/* Overwrites a number that was written at that place. */
void hf_out_set_u32(struct hf_out *out, size_t at, uint32_t value);
/* Sends it all: false if it failed, or nobody listens any more. */
bool hf_out_send(struct hf_out *out, int fd);
void hf_out_free(struct hf_out *out);

/* A message that is read. After anything wrong, all that comes out is 0 and bad stays. */
struct hf_in {
	const uint8_t *p, *end;
	bool bad;
};

uint8_t hf_in_u8(struct hf_in *in);
uint32_t hf_in_u32(struct hf_in *in);
uint64_t hf_in_u64(struct hf_in *in);
/* Borrowed from the message, with a 0 behind it and none in it; "" if it is bad. */
const char *hf_in_text(struct hf_in *in, size_t *ret_size);
/* So many bytes as they are; NULL if there are not so many. */
const uint8_t *hf_in_bytes(struct hf_in *in, size_t size);
/* Nothing is left, and nothing was bad. */
bool hf_in_ends(const struct hf_in *in);

/* The head of a message. */
struct hf_head {
	uint32_t size, message;
};
struct hf_head hf_head_read(const uint8_t head[8]);

#endif
