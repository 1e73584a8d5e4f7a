/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/keep.h"

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

void hf_keep_begin(struct hf_keep *k, bool load, hf_keep_fn move, void *ctx)
{
	k->load = load;
	k->err = 0;
	k->move = move;
	k->ctx = ctx;
	k->at = k->n = 0;
}

void hf_keep_fail(struct hf_keep *k, int err)
{
	k->err = k->err ? k->err : err;
}

void hf_keep_check(struct hf_keep *k, bool holds)
{
	if (!holds)
		hf_keep_fail(k, HF_ERR_STATE);
}

static void flush(struct hf_keep *k)
{
	size_t n;

	if (!k->err && k->at)
		hf_keep_fail(k, k->move(k->ctx, k->buffer, k->at, &n));
	k->at = 0;
}

/* What is left comes to the front, and more behind it. */
static void fill(struct hf_keep *k)
{
	size_t n = 0;

	memmove(k->buffer, k->buffer + k->at, k->n - k->at);
	k->n -= k->at;
	k->at = 0;
	if (!k->err)
		hf_keep_fail(k, k->move(k->ctx, k->buffer + k->n, sizeof k->buffer - k->n, &n));
	k->n += k->err ? 0 : n;
}

int hf_keep_end(struct hf_keep *k)
{
	if (!k->load)
		flush(k);
	else if (k->at == k->n)
		fill(k);
	if (k->load)
		hf_keep_check(k, k->at == k->n);
	return k->err;
}

static uint64_t get_number(struct hf_keep *k)
{
	const uint8_t *p;
	uint64_t value = 0;

	if (k->n - k->at < HF_VARINT_MAX)
		fill(k);
	p = k->err ? NULL : hf_get_varint(k->buffer + k->at, k->buffer + k->n, &value);
	hf_keep_check(k, p != NULL);
	if (!p)
		return 0;
	k->at = (size_t)(p - k->buffer);
	return value;
}

void hf_keep_number(struct hf_keep *k, uint64_t *value, uint64_t most)
{
	if (k->load) {
		*value = get_number(k);
		hf_keep_check(k, *value <= most);
		*value = k->err ? 0 : *value;
		return;
	}
	if (sizeof k->buffer - k->at < HF_VARINT_MAX)
		flush(k);
	k->at = (size_t)(hf_put_varint(k->buffer + k->at, *value) - k->buffer);
}

/* As many as are in the buffer, or have room there. */
static size_t move_bytes(struct hf_keep *k, uint8_t *bytes, size_t n)
{
	const size_t have = k->load ? k->n - k->at : sizeof k->buffer - k->at, now = n < have ? n : have;

	memcpy(k->load ? bytes : k->buffer + k->at, k->load ? k->buffer + k->at : bytes, now);
	k->at += now;
	return now;
}

void hf_keep_bytes(struct hf_keep *k, void *bytes, size_t n)
{
	uint8_t *p = bytes;

	while (n && !k->err) {
		const size_t moved = move_bytes(k, p, n);

		p += moved;
		n -= moved;
		if (n && k->load)
			fill(k);
		else if (n)
			flush(k);
		if (n && k->load)
			hf_keep_check(k, k->n != 0);
	}
	if (k->load && k->err)
		memset(p, 0, n);
}
