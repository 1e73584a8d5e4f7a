/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/wire.h"
#include "mountd/sql/protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- writing ---- */

static uint8_t *make_room(struct hf_out *out, size_t n)
{
	size_t room = out->room ? out->room : 256;
	uint8_t *bigger, *at;

	if (out->failed || n > out->most - out->n) {
		out->failed = true;
		return NULL;
	}
	while (room < out->n + n)
		room *= 2;
	if (room > out->room) {
		bigger = realloc(out->p, room);
		if (!bigger) {
			out->failed = true;
			return NULL;
		}
		out->p = bigger;
		out->room = room;
	}
	at = out->p + out->n;
	out->n += n;
	return at;
}

static void put(uint8_t *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; at && i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

void hf_out_begin(struct hf_out *out, uint32_t message)
{
	out->n = 0;
	out->failed = false;
	hf_out_u32(out, 0);
	hf_out_u32(out, message);
}

void hf_out_u8(struct hf_out *out, uint8_t value)
{
	put(make_room(out, 1), value, 1);
}

void hf_out_u32(struct hf_out *out, uint32_t value)
{
	put(make_room(out, 4), value, 4);
}

void hf_out_u64(struct hf_out *out, uint64_t value)
{
	put(make_room(out, 8), value, 8);
}

void hf_out_text(struct hf_out *out, const char *text, size_t size)
{
	uint8_t *at;

	hf_out_u32(out, (uint32_t)size);
	at = make_room(out, size + 1);
	if (!at)
		return;
	memcpy(at, text, size);
	at[size] = 0;
}

void hf_out_bytes(struct hf_out *out, const uint8_t *bytes, size_t size)
{
	uint8_t *at = make_room(out, size);

	if (at)
		memcpy(at, bytes, size);
}

void hf_out_set_u32(struct hf_out *out, size_t at, uint32_t value)
{
	if (!out->failed)
		put(out->p + at, value, 4);
}

bool hf_out_send(struct hf_out *out, int fd)
{
	size_t sent = 0;

	if (out->failed)
		return false;
	hf_out_set_u32(out, 0, (uint32_t)(out->n - HF_MESSAGE_HEAD));
	while (sent < out->n) {
		const ssize_t n = send(fd, out->p + sent, out->n - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return true;
}

void hf_out_free(struct hf_out *out)
{
	free(out->p);
	*out = (struct hf_out){.most = out->most};
}

/* ---- reading ---- */

static const uint8_t *get(struct hf_in *in, size_t n)
{
	const uint8_t *at = in->p;

	if (in->bad || n > (size_t)(in->end - in->p)) {
		in->bad = true;
		return NULL;
	}
	in->p += n;
	return at;
}

const uint8_t *hf_in_bytes(struct hf_in *in, size_t size)
{
	return get(in, size);
}

static uint64_t number(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; at && i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

uint8_t hf_in_u8(struct hf_in *in)
{
	return (uint8_t)number(get(in, 1), 1);
}

uint32_t hf_in_u32(struct hf_in *in)
{
	return (uint32_t)number(get(in, 4), 4);
}

uint64_t hf_in_u64(struct hf_in *in)
{
	return number(get(in, 8), 8);
}

const char *hf_in_text(struct hf_in *in, size_t *ret_size)
{
	const size_t size = hf_in_u32(in);
	const uint8_t *at = size < HF_REPLY_MOST ? get(in, size + 1) : NULL;

	*ret_size = 0;
	if (!at || at[size] || memchr(at, 0, size)) {
		in->bad = true;
		return "";
	}
	*ret_size = size;
	return (const char *)at;
}

bool hf_in_ends(const struct hf_in *in)
{
	return !in->bad && in->p == in->end;
}

struct hf_head hf_head_read(const uint8_t head[8])
{
	return (struct hf_head){(uint32_t)number(head, 4), (uint32_t)number(head + 4, 4)};
}
