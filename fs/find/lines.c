/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of answers, cut out of listing.txt. */
#include "codecs/base/array.h"
#include "fs/find/lines.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the listing, piece by piece, which are the chunks. */
struct text {
	char *p;
	size_t n, room;
};

static int append(struct text *text, const void *bytes, size_t n)
{
	int err = hf_array_reserve(&text->p, text->n + n, &text->room, 1);

	if (err)
		return err;
	if (n)
		memcpy(text->p + text->n, bytes, n);
	text->n += n;
	return 0;
}

/* Lines of instructions begin with a digit, all others with '#'; the end of a line is made with the first byte of the
 * next one (HF_ENC_LINES). */
static bool begins_insn(const char *p, const char *end)
{
	return p < end && *p >= '0' && *p <= '9';
}

/* Behind the end of the line. */
static const char *line_end(const char *p, const char *end)
{
	p = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	return p ? p + 1 : end;
}

/* How many instructions begin in a piece. line: it is the first one. */
static uint64_t count_insns(const char *p, size_t n, bool line)
{
	const char *end = p + n;
	uint64_t count = line && begins_insn(p, end);

	while ((p = line_end(p, end)) < end)
		count += begins_insn(p, end);
	return count;
}

/* The pieces from a chunk on, until more than insns instructions have begun. */
static int read_pieces(const struct hf_find_source *source, uint64_t number, uint64_t insns, struct hf_worker *worker,
		       struct text *text)
{
	struct hf_piece piece;
	uint64_t seen = 0;
	uint8_t *made;
	size_t size;
	int err = 0;

	while (!err && seen <= insns) {
		err = source->listing.ops->piece(&source->listing, source->open, number, &piece);
		if (err == HF_NOTE_END)
			return 0;
		if (!err)
			err = hf_bytes_make_piece(&source->listing, source->open, number, worker, &made, &size);
		if (err)
			return err;
		err = append(text, made, size);
		seen += count_insns((const char *)made, size, number == 0);
		free(made);
		number++;
	}
	return err;
}

/* Moves the lines of the answers together; of each that of the instruction, with behind all up to the next one. first: the
 * ordinal of the first instruction that begins in text; begun: text begins within a line. */
static int keep(struct hf_find_chunk *chunk, struct text *text, uint64_t first, bool begun, bool behind)
{
	const char *end = text->p + text->n, *p = begun ? line_end(text->p, end) : text->p;
	const struct hf_find_items *items = &chunk->items;
	uint64_t next = first;
	size_t i = 0, kept = 0;

	chunk->line[0] = 0;
	for (const char *q; p < end && i < items->count; p = q) {
		const bool insn = begins_insn(p, end);
		/* What is before the first instruction of a hart counts to it. */
		const uint64_t owner = insn ? next++ : next ? next - 1 : 0;

		q = line_end(p, end);
		while (i < items->count && (items->item[i] & ~HF_ITEM_UNKNOWN) < owner)
			chunk->line[++i] = kept;
		if (i == items->count || items->item[i] != owner || !(insn || behind))
			continue;
		/* They only ever move to the front. */
		memmove(text->p + kept, p, (size_t)(q - p));
		kept += (size_t)(q - p);
	}
	while (i < items->count)
		chunk->line[++i] = kept;
	for (i = 0; i < items->count; i++)
		if (!(items->item[i] & HF_ITEM_UNKNOWN) && chunk->line[i] == chunk->line[i + 1])
			return HF_ERR_MISMATCH;
	return 0;
}

int hf_find_lines(const struct hf_find_source *source, uint64_t number, struct hf_worker *worker,
		  struct hf_find_chunk *chunk)
{
	const uint64_t last = chunk->items.item[chunk->items.count - 1];
	struct text text = {0};
	struct hf_chunk found;
	int err = hf_index_chunk(source->open->index, source->hart, number, &found);

	/* What is before the first instruction of a hart may lie in chunks before it. */
	if (!err && !found.ordinal)
		number = 0;
	/* The last line of a chunk may go on in the next one. */
	if (!err)
		err = read_pieces(source, number, found.insns - (last != found.ordinal + found.insns - 1), worker, &text);
	chunk->line = err ? NULL : malloc((chunk->items.count + 1) * sizeof *chunk->line);
	if (!err)
		err = chunk->line ? keep(chunk, &text, found.ordinal, number > 0, source->predicates->behind)
				  : HF_ERR_NOMEM;
	chunk->text = text.p;
	return err;
}
