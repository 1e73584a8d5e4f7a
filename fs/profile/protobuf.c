/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/protobuf.h"
#include "codecs/base/bytes.h"

#include <assert.h>
#include <string.h>

/* Wire types. */
enum { VARINT = 0, DELIMITED = 2 };

size_t hf_proto_varint(uint8_t *to, uint64_t value)
{
	return (size_t)(hf_put_varint(to, value) - to);
}

static void put_varint(struct hf_proto *message, uint64_t value)
{
	assert(message->n + 10 <= sizeof message->bytes);
	message->n += hf_proto_varint(message->bytes + message->n, value);
}

void hf_proto_put_number(struct hf_proto *message, unsigned field, uint64_t value)
{
	put_varint(message, field << 3 | VARINT);
	put_varint(message, value);
}

void hf_proto_put_bytes(struct hf_proto *message, unsigned field, const void *bytes, size_t n)
{
	put_varint(message, field << 3 | DELIMITED);
	put_varint(message, n);
	assert(n <= sizeof message->bytes - message->n);
	memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

void hf_proto_put_message(struct hf_proto *message, unsigned field, const struct hf_proto *inner)
{
	hf_proto_put_bytes(message, field, inner->bytes, inner->n);
}
