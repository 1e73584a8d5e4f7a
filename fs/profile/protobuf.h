/* SPDX-License-Identifier: Apache-2.0 */
/* Writes messages of protocol buffers: fields one behind the other. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_PROTOBUF_H
#define HF_FS_PROFILE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* A message of at most so many bytes: there are a few numbers and one name in it. */
#define HF_PROTO_ROOM 1536u

struct hf_proto {
	uint8_t bytes[HF_PROTO_ROOM];
	size_t n;
};

/* The bytes of a number as a varint, to[10]; how many they are. */
size_t hf_proto_varint(uint8_t *to, uint64_t value);
void hf_proto_put_number(struct hf_proto *message, unsigned field, uint64_t value);
/* Bytes, a string, or a message that is ready. */
void hf_proto_put_bytes(struct hf_proto *message, unsigned field, const void *bytes, size_t n);
void hf_proto_put_message(struct hf_proto *message, unsigned field, const struct hf_proto *inner);

#endif
