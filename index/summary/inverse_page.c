/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/inverse_page.h"

#include "codecs/base/bytes.h"

#include <stdlib.h>
#include <string.h>

static_assert((HF_INVERSE_COLUMNS - 1) * HF_VARINT_MAX + 1 <= HF_INVERSE_KEY_BYTES, "a key fits");

/* ---- making ---- */

int hf_inverse_page_init(struct hf_inverse_page_writer *w)
{
	for (int i = 0; i < HF_INVERSE_COLUMNS; i++)
		if (!(w->column[i] = malloc(HF_INVERSE_PAGE_FULL + HF_INVERSE_KEY_BYTES)))
			return HF_ERR_NOMEM;
	return 0;
}

void hf_inverse_page_fini(struct hf_inverse_page_writer *w)
{
	for (int i = 0; i < HF_INVERSE_COLUMNS; i++)
		free(w->column[i]);
}

void hf_inverse_page_begin(struct hf_inverse_page_writer *w)
{
	w->keys = 0;
	w->bytes = 0;
	w->previous = (struct hf_inverse_key){0};
	memset(w->n, 0, sizeof w->n);
}

static void put_number(struct hf_inverse_page_writer *w, enum hf_inverse_column column, uint64_t value)
{
	uint8_t *at = w->column[column] + w->n[column];
	const size_t n = (size_t)(hf_put_varint(at, value) - at);

	w->n[column] += n;
	w->bytes += n;
}

void hf_inverse_page_put(struct hf_inverse_page_writer *w, const struct hf_inverse_item *item, uint64_t base)
{
	const struct hf_inverse_key *key = &item->key;
	const bool same = w->keys && key->a == w->previous.a;

	w->column[HF_INVERSE_LEVEL][w->n[HF_INVERSE_LEVEL]++] = key->level;
	w->bytes++;
	put_number(w, HF_INVERSE_A, key->a - w->previous.a);
	put_number(w, HF_INVERSE_B, same ? key->b - w->previous.b : key->b);
	put_number(w, HF_INVERSE_POSTINGS, item->postings);
	put_number(w, HF_INVERSE_REPEATS, item->total - item->postings);
	put_number(w, HF_INVERSE_WHERE, item->postings == 1 ? item->place - base : item->list_size);
	w->previous = *key;
	w->keys++;
}

size_t hf_inverse_page_end(const struct hf_inverse_page_writer *w, uint8_t *to)
{
	uint8_t *at = to;

	for (int i = 0; i < HF_INVERSE_COLUMNS; i++)
		at = hf_put_varint(at, w->n[i]);
	for (int i = 0; i < HF_INVERSE_COLUMNS; i++) {
		memcpy(at, w->column[i], w->n[i]);
		at += w->n[i];
	}
	return (size_t)(at - to);
}

/* ---- reading ---- */

int hf_inverse_page_open(struct hf_inverse_page_reader *r, const uint8_t *bytes, size_t n, uint64_t keys, uint64_t list)
{
	const uint8_t *at = bytes, *end = bytes + n;
	uint64_t size[HF_INVERSE_COLUMNS];

	*r = (struct hf_inverse_page_reader){.left = keys, .list = list};
	for (int i = 0; i < HF_INVERSE_COLUMNS; i++)
		if (!(at = hf_get_varint(at, end, &size[i])))
			return HF_ERR_STATE;
	for (int i = 0; i < HF_INVERSE_COLUMNS; i++) {
		if (size[i] > (size_t)(end - at))
			return HF_ERR_STATE;
		r->at[i] = at;
		r->end[i] = at += size[i];
	}
	return at == end && keys && size[HF_INVERSE_LEVEL] == keys ? 0 : HF_ERR_STATE;
}

static int at_end(const struct hf_inverse_page_reader *r)
{
	for (int i = 0; i < HF_INVERSE_COLUMNS; i++)
		if (r->at[i] != r->end[i])
			return HF_ERR_STATE;
	return HF_NOTE_END;
}

/* Most numbers have one byte. */
static inline bool get_number(struct hf_inverse_page_reader *r, enum hf_inverse_column column, uint64_t *ret_n)
{
	const uint8_t *at = r->at[column];

	if (at < r->end[column] && *at < 0x80) {
		*ret_n = *at;
		r->at[column] = at + 1;
		return true;
	}
	r->at[column] = hf_get_varint(at, r->end[column], ret_n);
	return r->at[column] != NULL;
}

/* In order: a key is greater than the one before it. more_a, more_b: as the columns have them. */
static bool get_key(struct hf_inverse_page_reader *r, uint8_t level, uint64_t more_a, uint64_t more_b,
		    struct hf_inverse_key *key)
{
	struct hf_inverse_key *before = &r->previous;
	const bool same = r->any && !more_a;
	uint64_t a, b;

	if (level > HF_INVERSE_LEVEL_MAX || (same && !more_b && level <= before->level) ||
	    __builtin_add_overflow(before->a, more_a, &a) || __builtin_add_overflow(same ? before->b : 0, more_b, &b))
		return false;
	key->a = before->a = a;
	key->b = before->b = b;
	key->level = before->level = level;
	r->any = true;
	return true;
}

int hf_inverse_page_next(struct hf_inverse_page_reader *r, struct hf_inverse_item *ret_item)
{
	uint64_t a, b, repeats, where;

	if (!r->left)
		return at_end(r);
	*ret_item = (struct hf_inverse_item){.list = r->list};
	if (!get_number(r, HF_INVERSE_A, &a) || !get_number(r, HF_INVERSE_B, &b) ||
	    !get_key(r, *r->at[HF_INVERSE_LEVEL]++, a, b, &ret_item->key) ||
	    !get_number(r, HF_INVERSE_POSTINGS, &ret_item->postings) || !ret_item->postings ||
	    !get_number(r, HF_INVERSE_REPEATS, &repeats) ||
	    __builtin_add_overflow(ret_item->postings, repeats, &ret_item->total) ||
	    !get_number(r, HF_INVERSE_WHERE, &where) || where > INT64_MAX)
		return HF_ERR_STATE;
	if (ret_item->postings == 1)
		ret_item->place = where;
	else
		ret_item->list_size = where;
	r->list += ret_item->list_size;
	r->left--;
	return 0;
}
