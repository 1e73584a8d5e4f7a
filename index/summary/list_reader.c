/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the lists of a summary out of the pieces in which they lie. */
#include "index/summary/list_reader.h"

#include "codecs/base/array.h"
#include "index/summary/summary_internal.h"

#include <stdlib.h>
#include <string.h>

/* No list has more bytes: a posting takes at most 32. */
#define LIST_MAX (UINT64_C(1) << 30)

struct hf_list_reader {
	const struct hf_table *table; /* NULL: it has no piece */
	uint64_t slot, number;
	uint8_t *joined; /* a list that lies in several pieces */
	size_t room;
	struct hf_summary_piece piece;
};

int hf_list_reader_new(struct hf_list_reader **ret_reader)
{
	struct hf_list_reader *reader = malloc(sizeof *reader);

	*ret_reader = reader;
	if (!reader)
		return HF_ERR_NOMEM;
	reader->table = NULL;
	reader->joined = NULL;
	reader->room = 0;
	return 0;
}

void hf_list_reader_free(struct hf_list_reader *reader)
{
	if (reader)
		free(reader->joined);
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

static int join_pieces(struct hf_summary *s, struct hf_list_reader *reader, const struct hf_summary_lists *where)
{
	const struct hf_summary_piece *piece = &reader->piece;
	int err = where->list_size <= LIST_MAX
			  ? hf_array_reserve(&reader->joined, (size_t)where->list_size, &reader->room, 1)
			  : HF_ERR_STATE;

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
		memcpy(reader->joined + done, piece->data + within, (size_t)n);
		done += n;
	}
	return err;
}

/* Most lists lie in one piece, and are read where they are. */
static int find_bytes(struct hf_summary *s, struct hf_list_reader *reader, const struct hf_summary_lists *where,
		      const uint8_t **ret_bytes)
{
	const uint64_t within = where->list % HF_SUMMARY_PIECE;
	int err;

	if (where->list_size > HF_SUMMARY_PIECE - within) {
		err = join_pieces(s, reader, where);
		*ret_bytes = reader->joined;
		return err;
	}
	err = fetch_piece(s, reader, where->table, where->slot, where->number + where->list / HF_SUMMARY_PIECE);
	*ret_bytes = reader->piece.data + within;
	return err || within + where->list_size <= reader->piece.n ? err : HF_ERR_STATE;
}

/* bytes: of the reader; NULL: it has none. */
static int read_list(struct hf_summary *summary, struct hf_list_reader *reader, const struct hf_summary_lists *where,
		     const struct hf_list_facts *facts, struct hf_list *ret_list, const uint8_t **ret_bytes)
{
	int err;

	*ret_bytes = NULL;
	if (facts->postings == 1)
		return hf_list_open_single(ret_list, where->chunk, facts);
	err = find_bytes(summary, reader, where, ret_bytes);
	return err ? err : hf_list_open(ret_list, *ret_bytes, (size_t)where->list_size, facts);
}

int hf_summary_read_list(struct hf_summary *summary, struct hf_list_reader *reader,
			 const struct hf_summary_lists *where, const struct hf_list_facts *facts,
			 struct hf_list *ret_list)
{
	const uint8_t *bytes;
	const int err = read_list(summary, reader, where, facts, ret_list, &bytes);

	if (!err && bytes && bytes != reader->joined)
		ret_list->readable = reader->piece.data + reader->piece.n;
	return err ? hf_published_noted(&summary->file, err) : 0;
}

static int copy_list(struct hf_summary *summary, struct hf_list_reader *reader, const struct hf_summary_lists *where,
		     const struct hf_list_facts *facts, struct hf_list *ret_list, uint8_t **ret_bytes)
{
	const uint8_t *bytes;
	int err = read_list(summary, reader, where, facts, ret_list, &bytes);

	if (err || !bytes)
		return err;
	*ret_bytes = malloc((size_t)where->list_size);
	if (!*ret_bytes)
		return HF_ERR_NOMEM;
	memcpy(*ret_bytes, bytes, (size_t)where->list_size);
	return hf_list_open(ret_list, *ret_bytes, (size_t)where->list_size, facts);
}

int hf_summary_copy_list(struct hf_summary *summary, const struct hf_summary_lists *where,
			 const struct hf_list_facts *facts, struct hf_list *ret_list, uint8_t **ret_bytes)
{
	struct hf_list_reader *reader = NULL;
	int err = facts->postings == 1 ? 0 : hf_list_reader_new(&reader);

	*ret_bytes = NULL;
	if (!err)
		err = copy_list(summary, reader, where, facts, ret_list, ret_bytes);
	hf_list_reader_free(reader);
	return hf_published_noted(&summary->file, err);
}
