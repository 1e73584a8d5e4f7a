/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the lists of a summary out of the pieces in which they lie. */
#include "index/summary_internal.h"

#include <stdlib.h>

/* No list has more bytes: a posting takes at most 32. */
#define LIST_MAX (UINT64_C(1) << 30)

struct hf_list_reader {
	const struct hf_table *table; /* NULL: it has no piece */
	uint64_t slot, number;
	struct hf_summary_piece piece;
};

int hf_list_reader_new(struct hf_list_reader **ret_reader)
{
	struct hf_list_reader *reader = malloc(sizeof *reader);

	*ret_reader = reader;
	if (!reader)
		return HF_ERR_NOMEM;
	reader->table = NULL;
	return 0;
}

void hf_list_reader_free(struct hf_list_reader *reader)
{
	free(reader);
}

static int fetch_piece(struct hf_summary *s, struct hf_list_reader *reader, const struct hf_table *table, uint64_t slot,
		       uint64_t number)
{
	int err;

	if (reader->table == table && reader->slot == slot && reader->number == number)
		return 0;
	err = hf_summary_fetch(s, table, slot, number, &reader->piece);
	reader->table = err ? NULL : table;
	reader->slot = slot;
	reader->number = number;
	return err;
}

static int read_pieces(struct hf_summary *s, struct hf_list_reader *reader, const struct hf_summary_lists *where,
		       uint8_t *bytes)
{
	const struct hf_summary_piece *piece = &reader->piece;
	int err = 0;

	for (uint64_t done = 0; !err && done < where->list_size;) {
		const uint64_t at = where->list + done, within = at % HF_SUMMARY_PIECE;
		uint64_t n;

		err = fetch_piece(s, reader, where->table, where->slot, where->number + at / HF_SUMMARY_PIECE);
		if (!err && piece->n <= within)
			err = HF_ERR_STATE;
		if (err)
			break;
		n = piece->n - within;
		n = n < where->list_size - done ? n : where->list_size - done;
		memcpy(bytes + done, piece->data + within, (size_t)n);
		done += n;
	}
	return err;
}

/* One posting, as a list of its own. */
static int make_list(uint64_t chunk, const struct hf_list_facts *facts, struct hf_list *ret_list, uint8_t **ret_bytes)
{
	const struct hf_posting posting = {.chunk = chunk, .count = facts->total};
	struct hf_list_writer w = {0};
	int err;

	hf_list_begin(&w, facts, chunk);
	err = hf_list_add(&w, &posting);
	if (!err)
		err = hf_list_end(&w);
	if (!err)
		err = hf_list_open(ret_list, w.out.p, w.out.n, facts);
	if (!err) {
		*ret_bytes = w.out.p;
		w.out.p = NULL;
	}
	hf_list_writer_fini(&w);
	return err;
}

static int read_list(struct hf_summary *summary, struct hf_list_reader *reader, const struct hf_summary_lists *where,
		     const struct hf_list_facts *facts, struct hf_list *ret_list, uint8_t **ret_bytes)
{
	uint8_t *bytes;
	int err;

	*ret_bytes = NULL;
	if (facts->postings == 1)
		return make_list(where->chunk, facts, ret_list, ret_bytes);
	if (where->list_size > LIST_MAX)
		return hf_published_noted(&summary->file, HF_ERR_STATE);
	bytes = malloc((size_t)where->list_size + 1);
	if (!bytes)
		return HF_ERR_NOMEM;
	err = read_pieces(summary, reader, where, bytes);
	if (!err)
		err = hf_list_open(ret_list, bytes, (size_t)where->list_size, facts);
	if (err)
		free(bytes);
	else
		*ret_bytes = bytes;
	return hf_published_noted(&summary->file, err);
}

int hf_summary_read_list(struct hf_summary *summary, struct hf_list_reader *reader, const struct hf_summary_lists *where,
			 const struct hf_list_facts *facts, struct hf_list *ret_list, uint8_t **ret_bytes)
{
	struct hf_list_reader *own = NULL;
	int err = reader || facts->postings == 1 ? 0 : hf_list_reader_new(&own);

	*ret_bytes = NULL;
	if (!err)
		err = read_list(summary, reader ? reader : own, where, facts, ret_list, ret_bytes);
	hf_list_reader_free(own);
	return err;
}
