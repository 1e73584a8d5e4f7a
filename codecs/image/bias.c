/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/bias.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/program.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_MAX = 1 << 16, /* words that are looked for at first; of more code a part is taken, evenly */
	WORDS_MAX = 1 << 20, /* and then */
	PLACES_MAX = 64,     /* a word that was executed at more places says nothing */
	VOTES_MAX = 1 << 21, /* biases that get votes */
	HITS_MAX = 1 << 26,  /* votes for one file */
	BEST = 8,	     /* biases that are looked at byte by byte */
	PIECES_MAX = 64,     /* executable segments of a file */
	RUNS_MAX = 1 << 20,  /* pieces of executed code */
	KNOWN_BITS = 2,
};

/* Biases are multiples of the smallest page, so the word at a pc can only be one at the same place of a page. */
#define IN_PAGE UINT64_C(0xfff)

/* An executed word: 4 bytes of code. */
struct word {
	uint32_t bytes;
	uint32_t next; /* of its group */
	uint64_t pc;
};

/* All words with the same bytes and place in a page. */
struct group {
	uint32_t last, count; /* 0: empty */
};

struct run {
	uint64_t start, end; /* addresses */
	uint64_t at;	     /* of its bytes */
};

struct range {
	uint64_t start, size;
};

struct hf_bias_search {
	struct run *run; /* ascending */
	size_t run_count;
	uint8_t *bytes;
	uint64_t size;
	unsigned step; /* of instructions: 2 or 4 */
	uint64_t stride; /* of words: a power of two, at most a page */
	struct word *word; /* that nobody has claimed */
	size_t word_count;
	struct group *group; /* by hash */
	unsigned group_bits; /* there are 2 to the power of it */
	uint64_t *known; /* a bit is set if any group has that hash, of KNOWN_BITS more: few enough bytes to stay at hand */
	struct range *claimed;
	size_t claimed_count;
	uint64_t claimed_bytes; /* executed */
};

/* The executable segments of a file, in memory. */
struct code {
	struct piece {
		uint64_t address, size;
		uint8_t *bytes;
	} * piece;
	size_t count;
};

struct vote {
	uint64_t bias;
	uint64_t count; /* 0: empty */
};

struct votes {
	struct vote *row; /* by hash */
	size_t count, mask;
	uint64_t hits;
};

/* ---- the executed code ---- */

/* As many bits as are asked for: the uppermost ones of the product, in which all of the key takes part. */
static size_t hash_of(uint32_t bytes, uint64_t pc, unsigned bits)
{
	const uint64_t x = ((uint64_t)bytes << 12 | (pc & IN_PAGE)) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(x >> (64 - bits));
}

static bool same_key(const struct word *word, uint32_t bytes, uint64_t pc)
{
	return word->bytes == bytes && ((word->pc ^ pc) & IN_PAGE) == 0;
}

static int add_run(struct hf_bias_search *search, const struct hf_image_run *run)
{
	if (hf_array_room(&search->run, search->run_count, sizeof *search->run))
		return HF_ERR_NOMEM;
	search->run[search->run_count++] = (struct run){run->address, run->address + run->size, search->size};
	search->size += run->size;
	return 0;
}

/* Code that changed while it ran is nobody's. */
static int take_runs(struct hf_bias_search *search, const struct hf_image *image)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	int err = 0;

	while (!err && search->run_count < RUNS_MAX && hf_image_next_run(image, &cursor, &run))
		if (!run.changed && run.address + run.size > run.address)
			err = add_run(search, &run);
	search->bytes = err ? NULL : malloc(search->size + 1);
	if (!search->bytes)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < search->run_count; i++)
		hf_image_read(image, search->run[i].start, search->bytes + search->run[i].at,
			      (size_t)(search->run[i].end - search->run[i].start));
	return 0;
}

/* How far words must be apart for there to be no more than max. Biases do not change which ones that are. */
static uint64_t stride_of(const struct hf_bias_search *search, uint64_t max)
{
	uint64_t stride = search->step;

	while (search->size / stride > max && stride <= IN_PAGE)
		stride *= 2;
	return stride;
}

static int take_words(struct hf_bias_search *search, uint64_t max)
{
	const uint64_t stride = stride_of(search, max);

	free(search->word);
	search->stride = stride;
	search->word_count = 0;
	search->word = malloc((search->size / stride + search->run_count + 1) * sizeof *search->word);
	if (!search->word)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < search->run_count; i++) {
		const struct run *run = &search->run[i];

		for (uint64_t pc = (run->start + stride - 1) & -stride; pc >= run->start && pc + 4 <= run->end;
		     pc += stride)
			search->word[search->word_count++] = (struct word){
				.bytes = hf_get32(search->bytes + run->at + (pc - run->start)), .pc = pc};
	}
	return 0;
}

static struct group *group_of(const struct hf_bias_search *search, uint32_t bytes, uint64_t pc)
{
	const size_t mask = ((size_t)1 << search->group_bits) - 1;
	size_t slot = hash_of(bytes, pc, search->group_bits);

	while (search->group[slot].count && !same_key(&search->word[search->group[slot].last], bytes, pc))
		slot = (slot + 1) & mask;
	return &search->group[slot];
}

/* All words; there may be groups of others. */
static int group_words(struct hf_bias_search *search)
{
	size_t slots;

	for (search->group_bits = 6; (size_t)1 << search->group_bits < search->word_count * 2; search->group_bits++)
		;
	slots = (size_t)1 << search->group_bits;
	free(search->group);
	free(search->known);
	search->group = calloc(slots, sizeof *search->group);
	search->known = calloc((slots << KNOWN_BITS) / 64, sizeof *search->known);
	if (!search->group || !search->known)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < search->word_count; i++) {
		struct word *word = &search->word[i];
		struct group *group = group_of(search, word->bytes, word->pc);
		const size_t bit = hash_of(word->bytes, word->pc, search->group_bits + KNOWN_BITS);

		word->next = group->last;
		*group = (struct group){(uint32_t)i, group->count + 1};
		search->known[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return 0;
}

int hf_bias_search_new(const struct hf_image *image, struct hf_bias_search **ret_search)
{
	struct hf_bias_search *search = calloc(1, sizeof *search);
	int err = search ? 0 : HF_ERR_NOMEM;

	if (!err) {
		search->step = hf_image_isas(image) == 1u << HF_ISA_A64 ? 4 : 2;
		err = take_runs(search, image);
	}
	if (!err)
		err = take_words(search, FIRST_MAX);
	if (!err)
		err = group_words(search);
	if (err)
		hf_bias_search_free(search);
	else
		*ret_search = search;
	return err;
}

void hf_bias_search_free(struct hf_bias_search *search)
{
	if (!search)
		return;
	free(search->run);
	free(search->bytes);
	free(search->word);
	free(search->group);
	free(search->known);
	free(search->claimed);
	free(search);
}

/* ---- the file's code ---- */

static void free_code(struct code *code)
{
	for (size_t i = 0; i < code->count; i++)
		free(code->piece[i].bytes);
	free(code->piece);
}

static int load_piece(struct hf_src *src, const struct hf_elf_segment *segment, struct piece *piece,
		      struct hf_diag *diag)
{
	size_t got = 0;
	int err;

	piece->address = segment->address;
	piece->size = segment->size;
	piece->bytes = malloc((size_t)segment->size);
	if (!piece->bytes)
		return HF_ERR_NOMEM;
	err = hf_src_read_all(src, segment->offset, piece->bytes, (size_t)segment->size, &got, diag);
	return err || got == segment->size ? err : hf_diag_set(diag, HF_ERR_TRUNCATED, HF_SPACE_STREAM, got, 0);
}

/* with_bytes: not only where they are. */
static int load_code(struct hf_src *src, bool with_bytes, struct code *code, struct hf_diag *diag)
{
	struct hf_elf_file file;
	uint64_t left = HF_PROGRAM_BYTES_MAX;
	int err = hf_elf_file_open(src, &file, diag);

	*code = (struct code){0};
	if (err)
		return err;
	code->piece = calloc(file.segment_count + 1, sizeof *code->piece);
	err = code->piece ? 0 : HF_ERR_NOMEM;
	for (size_t i = 0; i < file.segment_count && !err; i++) {
		const struct hf_elf_segment *segment = &file.segments[i];
		struct piece *piece = &code->piece[code->count];

		if (!(segment->flags & HF_ELF_X))
			continue;
		if (segment->size > left || code->count == PIECES_MAX) {
			err = hf_diag_set(diag, HF_ERR_LIMIT, HF_SPACE_STREAM, segment->offset, 0);
			break;
		}
		left -= segment->size;
		code->count++;
		*piece = (struct piece){segment->address, segment->size, NULL};
		if (with_bytes)
			err = load_piece(src, segment, piece, diag);
	}
	hf_elf_file_close(&file);
	if (err)
		free_code(code);
	return err;
}

/* ---- votes ---- */

static struct vote *vote_of(struct votes *votes, uint64_t bias)
{
	size_t slot = (size_t)((bias >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (slot &= votes->mask; votes->row[slot].count && votes->row[slot].bias != bias;)
		slot = (slot + 1) & votes->mask;
	return &votes->row[slot];
}

static int grow(struct votes *votes)
{
	struct votes bigger = {.count = votes->count, .mask = votes->mask * 2 + 1, .hits = votes->hits};

	bigger.row = calloc(bigger.mask + 1, sizeof *bigger.row);
	if (!bigger.row)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i <= votes->mask; i++)
		if (votes->row[i].count)
			*vote_of(&bigger, votes->row[i].bias) = votes->row[i];
	free(votes->row);
	*votes = bigger;
	return 0;
}

static int vote(struct votes *votes, uint64_t bias)
{
	struct vote *row = vote_of(votes, bias);

	votes->hits++;
	if (!row->count && votes->count == VOTES_MAX)
		return 0;
	if (!row->count) {
		*row = (struct vote){.bias = bias};
		votes->count++;
	}
	row->count++;
	return votes->count * 2 > votes->mask ? grow(votes) : 0;
}

static bool is_known(const struct hf_bias_search *search, uint32_t bytes, uint64_t pc)
{
	const size_t bit = hash_of(bytes, pc, search->group_bits + KNOWN_BITS);

	return search->known[bit / 64] >> bit % 64 & 1;
}

static int vote_group(const struct hf_bias_search *search, const struct group *group, uint64_t address,
		      struct votes *votes)
{
	uint32_t at = group->last;
	int err = 0;

	for (uint32_t k = 0; group->count <= PLACES_MAX && k < group->count && !err; k++) {
		err = vote(votes, search->word[at].pc - address);
		at = search->word[at].next;
	}
	return err;
}

/* Every place at which a word of the file was executed is a vote for the bias that would bring it there. */
static int vote_piece(const struct hf_bias_search *search, const struct piece *piece, struct votes *votes)
{
	const uint64_t first = -piece->address & (search->stride - 1);
	int err = 0;

	for (uint64_t i = first; i + 4 <= piece->size && votes->hits < HITS_MAX && !err; i += search->stride) {
		const uint64_t address = piece->address + i;
		const uint32_t bytes = hf_get32(piece->bytes + i);

		if (is_known(search, bytes, address))
			err = vote_group(search, group_of(search, bytes, address), address, votes);
	}
	return err;
}

/* The biases with most votes, best first; of equal ones the lower. Returns how many have any. */
static size_t best_of(const struct votes *votes, struct vote best[BEST])
{
	size_t count = 0;

	for (size_t i = 0; i <= votes->mask; i++) {
		const struct vote *row = &votes->row[i];
		size_t at = count;

		while (at && row->count &&
		       (best[at - 1].count < row->count ||
			(best[at - 1].count == row->count && best[at - 1].bias > row->bias)))
			at--;
		if (!row->count || at == BEST)
			continue;
		count += count < BEST;
		memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof *best);
		best[at] = *row;
	}
	return count;
}

/* ---- the proof ---- */

/* Counts the executed bytes of [start, start + size), and those that are not these (NULL: none). Instructions are
 * compared by halfword. */
static void compare(const struct hf_bias_search *search, uint64_t start, uint64_t size, const uint8_t *bytes,
		    struct hf_bias *bias)
{
	for (size_t i = HF_COUNT_UP_TO(search->run, search->run_count, end, start); i < search->run_count; i++) {
		const struct run *run = &search->run[i];
		const uint64_t from = run->start > start ? run->start : start;
		const uint64_t to = run->end - start < size ? run->end : start + size;
		const uint8_t *p = search->bytes + run->at + (from - run->start), *q;

		if (from - start >= size)
			return;
		bias->bytes += to - from;
		q = bytes ? bytes + (from - start) : p;
		if (memcmp(p, q, to - from) == 0)
			continue;
		for (uint64_t k = 0; k + 2 <= to - from; k += 2)
			bias->differs += memcmp(p + k, q + k, 2) ? 2 : 0;
	}
}

static bool fits(const struct hf_bias *bias)
{
	return bias->differs <= bias->bytes / HF_BIAS_SHARE;
}

static struct hf_bias prove(const struct hf_bias_search *search, const struct code *code, uint64_t value)
{
	struct hf_bias bias = {.bias = value};

	for (size_t i = 0; i < code->count; i++) {
		const struct piece *piece = &code->piece[i];

		/* One that would wrap lies nowhere. */
		if (piece->address + value + piece->size > piece->address + value)
			compare(search, piece->address + value, piece->size, piece->bytes, &bias);
	}
	bias.verdict = fits(&bias) ? HF_BIAS_FOUND : HF_BIAS_DIFFERS;
	return bias;
}

static bool overlap(const struct range *a, const struct range *b)
{
	return a->start - b->start < b->size || b->start - a->start < a->size;
}

/* Whether the file would lie partly on itself. */
static bool overlaps_itself(const struct code *code, uint64_t a, uint64_t b)
{
	for (size_t i = 0; i < code->count; i++)
		for (size_t k = 0; k < code->count; k++)
			if (overlap(&(struct range){code->piece[i].address + a, code->piece[i].size},
				    &(struct range){code->piece[k].address + b, code->piece[k].size}))
				return true;
	return false;
}

static bool has_claimed(const struct hf_bias_search *search, const struct code *code, uint64_t bias)
{
	for (size_t i = 0; i < code->count; i++)
		for (size_t k = 0; k < search->claimed_count; k++)
			if (overlap(&(struct range){code->piece[i].address + bias, code->piece[i].size},
				    &search->claimed[k]))
				return true;
	return false;
}

static bool has_votes(const struct vote *vote, const struct hf_bias *bias)
{
	return vote->count >= HF_BIAS_VOTES || (vote->count * 2 >= HF_BIAS_VOTES && !bias->differs);
}

static void choose(const struct hf_bias_search *search, const struct code *code, const struct vote best[BEST],
		   size_t count, struct hf_bias *ret_bias)
{
	*ret_bias = (struct hf_bias){.verdict = HF_BIAS_UNUSED};
	for (size_t i = 0; i < count; i++) {
		struct hf_bias bias = prove(search, code, best[i].bias);

		/* Far behind the best one it is an accident of few words. */
		if (!has_votes(&best[i], &bias) || best[i].count * 4 < best[0].count ||
		    has_claimed(search, code, bias.bias))
			continue;
		if (bias.verdict == HF_BIAS_FOUND && ret_bias->verdict == HF_BIAS_FOUND &&
		    overlaps_itself(code, bias.bias, ret_bias->bias)) {
			*ret_bias = (struct hf_bias){.verdict = HF_BIAS_SEVERAL};
			return;
		}
		if (ret_bias->verdict == HF_BIAS_UNUSED ||
		    (bias.verdict == HF_BIAS_FOUND && ret_bias->verdict == HF_BIAS_DIFFERS))
			*ret_bias = bias;
	}
}

int hf_bias_find(struct hf_bias_search *search, struct hf_src *elf, struct hf_bias *ret_bias, struct hf_diag *diag)
{
	struct votes votes = {.mask = 1023};
	struct vote best[BEST + 1];
	struct code code;
	int err;

	*ret_bias = (struct hf_bias){.verdict = HF_BIAS_UNUSED};
	if (search->word_count * 2 < HF_BIAS_VOTES)
		return 0;
	err = load_code(elf, true, &code, diag);
	if (err)
		return err;
	votes.row = calloc(votes.mask + 1, sizeof *votes.row);
	err = votes.row ? 0 : HF_ERR_NOMEM;
	for (size_t i = 0; i < code.count && !err; i++)
		err = vote_piece(search, &code.piece[i], &votes);
	if (!err)
		choose(search, &code, best, best_of(&votes, best), ret_bias);
	free(votes.row);
	free_code(&code);
	return err;
}

int hf_bias_check(struct hf_bias_search *search, struct hf_src *elf, uint64_t bias, struct hf_bias *ret_bias,
		  struct hf_diag *diag)
{
	struct code code;
	int err = load_code(elf, true, &code, diag);

	if (err)
		return err;
	*ret_bias = prove(search, &code, bias);
	free_code(&code);
	return 0;
}

/* ---- claims ---- */

static int add_claim(struct hf_bias_search *search, uint64_t start, uint64_t size)
{
	struct hf_bias executed = {0};

	if (hf_array_room(&search->claimed, search->claimed_count, sizeof *search->claimed))
		return HF_ERR_NOMEM;
	search->claimed[search->claimed_count++] = (struct range){start, size};
	if (start + size > start)
		compare(search, start, size, NULL, &executed);
	search->claimed_bytes += executed.bytes;
	return 0;
}

static int drop_claimed_words(struct hf_bias_search *search, size_t first)
{
	size_t kept = 0;

	for (size_t i = 0; i < search->word_count; i++) {
		bool claimed = false;

		for (size_t k = first; k < search->claimed_count && !claimed; k++)
			claimed = search->word[i].pc - search->claimed[k].start < search->claimed[k].size;
		if (!claimed)
			search->word[kept++] = search->word[i];
	}
	search->word_count = kept;
	return group_words(search);
}

int hf_bias_search_all(struct hf_bias_search *search, bool *ret_more)
{
	int err;

	*ret_more = stride_of(search, WORDS_MAX) < search->stride;
	if (!*ret_more)
		return 0;
	err = take_words(search, WORDS_MAX);
	return err ? err : drop_claimed_words(search, 0);
}

int hf_bias_claim(struct hf_bias_search *search, struct hf_src *elf, uint64_t bias, bool *ret_other)
{
	const size_t first = search->claimed_count;
	struct code code;
	int err = load_code(elf, false, &code, NULL);

	if (err)
		return err;
	*ret_other = has_claimed(search, &code, bias);
	for (size_t i = 0; i < code.count && !*ret_other && !err; i++)
		err = add_claim(search, code.piece[i].address + bias, code.piece[i].size);
	free_code(&code);
	return err ? err : drop_claimed_words(search, first);
}

bool hf_bias_run(const struct hf_bias_search *search, size_t i, uint64_t *ret_start, uint64_t *ret_end)
{
	if (i >= search->run_count)
		return false;
	*ret_start = search->run[i].start;
	*ret_end = search->run[i].end;
	return true;
}

uint64_t hf_bias_bytes(const struct hf_bias_search *search)
{
	return search->size;
}

uint64_t hf_bias_unclaimed(const struct hf_bias_search *search)
{
	return search->claimed_bytes < search->size ? search->size - search->claimed_bytes : 0;
}
