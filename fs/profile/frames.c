/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/frames.h"
#include "codecs/base/hash_map.h"

#include <stdlib.h>

/* A node while names are given: those of one key have one name. */
struct keyed {
	uint64_t function; /* where the symbol begins, or the pc */
	uint32_t node, context;
	uint8_t kind, mode;
};

/* A frame before its place is known. */
struct loose {
	uint32_t parent, name;
	uint8_t kind;
	uint64_t own, total, calls, before;
};

struct making {
	const struct hf_profiled *of;
	struct hf_frames *frames;
	struct keyed *keyed;
	struct loose *loose; /* the first is all */
	uint32_t count;
	struct hf_hash_map map;	 /* of loose frames, by parent and name */
	uint32_t *order, *first; /* loose frames by parent and name; of each where its own begin in order */
};

/* ---- names ---- */

static const struct hf_symbol *symbol_of(const struct hf_profiled *of, const struct hf_call_node *node)
{
	return of->symbols && node->kind != HF_CALL_BEYOND ? hf_symbols_at(of->symbols, node->function) : NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind - y->kind;
	if (x->mode != y->mode)
		return x->mode - y->mode;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_text(const void *a, const void *b, void *ctx)
{
	const struct hf_frame_name *x = a, *y = b;
	const char *bytes = ctx;
	const uint32_t n = x->size < y->size ? x->size : y->size;
	const int order = memcmp(bytes + x->at, bytes + y->at, n);

	if (order || x->size != y->size)
		return order ? order : (x->size < y->size ? -1 : 1);
	return x->function < y->function ? -1 : x->function > y->function;
}

static bool begins(const char *name, size_t size, const char *word)
{
	return size >= strlen(word) && memcmp(name, word, strlen(word)) == 0;
}

size_t hf_frame_result(const char *name, size_t size)
{
	static const char nameless[] = "(anonymous namespace)";
	size_t start = 0, depth = 0, i = 0;

	/* What is said of a function, and types that themselves look like calls. */
	if (memmem(name, size, " thunk to ", strlen(" thunk to ")) || begins(name, size, "decltype"))
		return 0;
	for (; i < size; i++) {
		const char *at = name + i;

		if (!depth && (i == start || at[-1] == ':') && begins(at, size - i, "operator"))
			return start;
		if (!depth && begins(at, size - i, nameless))
			i += strlen(nameless) - 1;
		else if (!depth && *at == '(')
			break;
		else if (strchr("<([{", *at))
			depth++;
		else if (strchr(">)]}", *at))
			depth -= depth > 0;
		else if (*at == ' ' && !depth)
			start = i + 1;
	}
	return i < size && start < i ? start : 0;
}

/* Takes the type of the result out of the name at the end of text, behind what node it is. */
static void drop_result(struct hf_sink *text, uint32_t at)
{
	char *name = (char *)text->start + at,
	     *mark = *name == '[' ? memchr(name, ' ', (size_t)((char *)text->p - name)) : NULL;
	size_t size, n;

	name = mark ? mark + 1 : name;
	size = (size_t)((char *)text->p - name);
	n = hf_frame_result(name, size);
	memmove(name, name + n, size - n);
	text->p -= n;
}

/* A name for each key, in the order of keys; name_of has its number. */
static void write_names(struct making *m)
{
	struct hf_frames *frames = m->frames;
	const struct hf_call_node *nodes = m->of->tree->nodes;

	for (uint32_t i = 0; i < m->of->tree->count; i++) {
		const struct keyed *k = &m->keyed[i];

		if (!i || by_key(k - 1, k) != 0) {
			const uint32_t at = (uint32_t)hf_sink_total(&frames->text);

			hf_profile_put_node(m->of, &nodes[k->node], &frames->text);
			if (!frames->text.err)
				drop_result(&frames->text, at);
			frames->name[frames->names] =
				(struct hf_frame_name){.key = frames->names,
						       .at = at,
						       .size = (uint32_t)hf_sink_total(&frames->text) - at,
						       .function = k->kind == HF_CALL_BEYOND ? 0 : k->function,
						       .known = symbol_of(m->of, &nodes[k->node]) != NULL};
			frames->names++;
		}
		frames->name_of[k->node] = frames->names - 1;
	}
}

/* From the order of keys to that of texts. */
static int sort_names(struct hf_frames *frames, uint32_t nodes)
{
	uint32_t *rank = malloc((frames->names + 1) * sizeof *rank);

	if (!rank)
		return HF_ERR_NOMEM;
	qsort_r(frames->name, frames->names, sizeof *frames->name, by_text, (void *)frames->bytes);
	for (uint32_t i = 0; i < frames->names; i++)
		rank[frames->name[i].key] = i;
	for (uint32_t i = 0; i < nodes; i++)
		frames->name_of[i] = rank[frames->name_of[i]];
	free(rank);
	return 0;
}

static int give_names(struct making *m)
{
	const struct hf_summary_tree *tree = m->of->tree;
	struct hf_frames *frames = m->frames;

	for (uint32_t i = 0; i < tree->count; i++) {
		const struct hf_call_node *node = &tree->nodes[i];
		const struct hf_symbol *symbol = symbol_of(m->of, node);

		m->keyed[i] =
			(struct keyed){.function = symbol ? symbol->start : node->function,
				       .node = i,
				       .kind = node->kind,
				       .mode = node->kind == HF_CALL_ROOT ? node->mode : 0,
				       .context = node->kind == HF_CALL_ROOT && m->of->processes ? node->context : 0};
	}
	qsort(m->keyed, tree->count, sizeof *m->keyed, by_key);
	write_names(m);
	frames->bytes = (const char *)frames->text.start;
	return frames->text.err ? frames->text.err : sort_names(frames, tree->count);
}

/* ---- nodes of one name under one frame ---- */

static uint8_t kind_of(const struct making *m, const struct hf_call_node *node, uint32_t parent)
{
	static const uint8_t roots[HF_CALL_KINDS] = {[HF_CALL_BEYOND] = HF_FRAME_OTHER,
						     [HF_CALL_TRAP] = HF_FRAME_TRAP,
						     [HF_CALL_INTERRUPT] = HF_FRAME_INTERRUPT};

	return node->kind == HF_CALL_FUNCTION ? m->loose[parent].kind : roots[node->kind];
}

static int put_loose(struct making *m, uint8_t kind, uint32_t parent, uint32_t name, uint32_t *ret_loose)
{
	const uint32_t hash = hf_hash_of(parent, name);
	uint32_t at = m->count;
	int err = 0;

	HF_HASH_EACH(&m->map, hash, i)
	if (m->loose[i].parent == parent && m->loose[i].name == name)
		at = i;
	if (at == m->count) {
		err = hf_hash_map_add(&m->map, hash, m->count++);
		m->loose[at] = (struct loose){.parent = parent, .name = name, .kind = kind};
	}
	*ret_loose = at;
	return err;
}

static void add_up(struct making *m)
{
	for (uint32_t i = m->count; i-- > 0;) {
		m->loose[i].total += m->loose[i].own;
		if (i)
			m->loose[m->loose[i].parent].total += m->loose[i].total;
	}
}

static int merge(struct making *m)
{
	const struct hf_summary_tree *tree = m->of->tree;
	uint32_t *loose_of = malloc((tree->count + 1) * sizeof *loose_of);
	int err = 0;

	if (!loose_of)
		return HF_ERR_NOMEM;
	m->loose[0] = (struct loose){.name = HF_FRAME_NONE, .kind = HF_FRAME_OTHER, .calls = 1};
	m->count = 1;
	for (uint32_t i = 0; i < tree->count && !err; i++) {
		const struct hf_call_node *node = &tree->nodes[i];
		const uint32_t parent = node->parent == HF_CALL_NO_NODE ? 0 : loose_of[node->parent];

		if ((node->kind != HF_CALL_BEYOND || node->own) && !hf_summary_tree_is_left(tree, i))
			err = put_loose(m, kind_of(m, node, parent), parent, m->frames->name_of[i], &loose_of[i]);
		else
			continue;
		if (!err) {
			m->loose[loose_of[i]].own += node->own;
			m->loose[loose_of[i]].calls += node->calls;
		}
	}
	free(loose_of);
	add_up(m);
	return err;
}

/* ---- the order in which they are drawn ---- */

static int by_parent(const void *a, const void *b, void *ctx)
{
	const struct loose *x = &((const struct loose *)ctx)[*(const uint32_t *)a],
			   *y = &((const struct loose *)ctx)[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void sort_loose(struct making *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		m->order[i] = i;
	if (m->count > 1)
		qsort_r(m->order + 1, m->count - 1, sizeof *m->order, by_parent, m->loose);
	for (uint32_t i = m->count; i-- > 1;)
		m->first[m->loose[m->order[i]].parent] = i;
}

/* A frame for the loose one, below the frame parent. */
static uint32_t put_frame(struct making *m, uint32_t loose, uint32_t parent, uint64_t start)
{
	struct hf_frames *frames = m->frames;
	const struct loose *from = &m->loose[loose];
	const bool known = from->kind == HF_FRAME_OTHER || frames->name[from->name].known;

	frames->frame[frames->count] =
		(struct hf_frame){.name = from->name,
				  .parent = parent,
				  .depth = parent == HF_FRAME_NONE ? 0 : (uint16_t)(frames->frame[parent].depth + 1),
				  .kind = known ? from->kind : (uint8_t)HF_FRAME_NO_SYMBOL,
				  .own = from->own,
				  .total = from->total,
				  .calls = from->calls,
				  .before = from->before,
				  .start = start};
	return frames->count++;
}

/* Goes down and up again, as deep as the tree is, without recursion. */
static int place(struct making *m)
{
	struct {
		uint32_t loose, frame, next; /* in order */
		uint64_t start;
	} *path = malloc((m->count + (size_t)3) * sizeof *path);
	size_t depth = 1;

	if (!path)
		return HF_ERR_NOMEM;
	sort_loose(m);
	path[0].loose = 0;
	path[0].next = m->first[0];
	path[0].start = 0;
	path[0].frame = put_frame(m, 0, HF_FRAME_NONE, 0);
	while (depth) {
		const uint32_t at = path[depth - 1].next;

		if (!at || at >= m->count || m->loose[m->order[at]].parent != path[depth - 1].loose) {
			m->frames->frame[path[--depth].frame].end = m->frames->count;
			continue;
		}
		path[depth].loose = m->order[at];
		path[depth].next = m->first[m->order[at]];
		path[depth].start = path[depth - 1].start;
		path[depth].frame = put_frame(m, m->order[at], path[depth - 1].frame, path[depth].start);
		path[depth - 1].start += m->loose[m->order[at]].total;
		path[depth - 1].next++;
		depth++;
	}
	free(path);
	return 0;
}

/* ---- all of it ---- */

static int make_room(struct making *m, size_t nodes)
{

	m->keyed = calloc(nodes, sizeof *m->keyed);
	m->loose = calloc(nodes, sizeof *m->loose);
	m->order = calloc(nodes, sizeof *m->order);
	m->first = calloc(nodes, sizeof *m->first);
	m->frames->frame = calloc(nodes, sizeof *m->frames->frame);
	m->frames->name = calloc(nodes, sizeof *m->frames->name);
	m->frames->name_of = calloc(nodes, sizeof *m->frames->name_of);
	return m->keyed && m->loose && m->order && m->first && m->frames->frame && m->frames->name && m->frames->name_of
		       ? 0
		       : HF_ERR_NOMEM;
}

static void free_making(struct making *m)
{
	free(m->keyed);
	free(m->loose);
	hf_hash_map_free(&m->map);
	free(m->order);
	free(m->first);
}

int hf_frames_make(const struct hf_profiled *of, struct hf_frames *ret_frames)
{
	struct making m = {.of = of, .frames = ret_frames};
	int err;

	*ret_frames = (struct hf_frames){0};
	err = hf_sink_init_memory(&ret_frames->text, 0);
	if (!err)
		err = make_room(&m, of->tree->count + (size_t)2);
	if (!err)
		err = give_names(&m);
	if (!err)
		err = merge(&m);
	if (!err)
		err = place(&m);
	free_making(&m);
	return err;
}

/* ---- of texts ---- */

struct part {
	const char *p;
	size_t n;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	const int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* The next function of a chain, which ends at end. */
static struct part next_part(const char **at, const char *end)
{
	struct part part = {.p = *at};
	const char *stop = memchr(*at, ';', (size_t)(end - *at));

	part.n = (size_t)((stop ? stop : end) - part.p);
	*at = stop ? stop + 1 : end;
	return part;
}

/* Where the chain of a line ends, which its instructions follow; NULL: it is none. */
static const char *chain_end(const char *line, const char *end, uint64_t *ret_insns)
{
	const char *blank = memrchr(line, ' ', (size_t)(end - line));

	*ret_insns = blank ? strtoull(blank + 1, NULL, 10) : 0;
	return blank;
}

/* How many functions the chains of a text have, and if part is not NULL, these. */
static size_t take_parts(const char *text, struct part *part)
{
	size_t count = 0;
	uint64_t insns;

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');

		const char *stop = chain_end(text, end, &insns);

		for (const char *at = text; stop && at < stop; count++) {
			const struct part next = next_part(&at, stop);

			if (part)
				part[count] = next;
		}
	}
	return count;
}

/* Each name once, in their order. */
static int fold_names(struct making *m, struct part *part, size_t count)
{
	struct hf_frames *frames = m->frames;

	qsort(part, count, sizeof *part, compare_parts);
	for (size_t i = 0; i < count; i++) {
		if (i && compare_parts(&part[i - 1], &part[i]) == 0)
			continue;
		part[frames->names] = part[i];
		frames->name[frames->names++] = (struct hf_frame_name){.at = (uint32_t)hf_sink_total(&frames->text),
								       .size = (uint32_t)part[i].n,
								       .function = 1,
								       .known = true};
		hf_sink_write(&frames->text, part[i].p, part[i].n);
	}
	frames->bytes = (const char *)frames->text.start;
	return frames->text.err;
}

static uint8_t folded_kind(const struct making *m, const struct part *part, uint32_t parent)
{
	if (begins(part->p, part->n, "[trap] "))
		return HF_FRAME_TRAP;
	if (begins(part->p, part->n, "[interrupt] "))
		return HF_FRAME_INTERRUPT;
	return parent ? m->loose[parent].kind : (uint8_t)HF_FRAME_CALLED;
}

/* name: as fold_names has left them. */
static int fold_chains(struct making *m, const char *text, const struct part *name, bool before)
{
	uint64_t insns;
	int err = 0;

	for (const char *end; *text && !err; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');

		const char *stop = chain_end(text, end, &insns);
		uint32_t at = 0;

		for (const char *p = text; stop && p < stop && !err;) {
			const struct part part = next_part(&p, stop);
			const struct part *found = bsearch(&part, name, m->frames->names, sizeof *name, compare_parts);

			err = put_loose(m, folded_kind(m, &part, at), at, (uint32_t)(found - name), &at);
		}
		if (stop && !err)
			*(before ? &m->loose[at].before : &m->loose[at].own) += insns;
	}
	return err;
}

int hf_frames_fold(const char *before, const char *text, struct hf_frames *ret_frames)
{
	const size_t first = before ? take_parts(before, NULL) : 0, count = first + take_parts(text, NULL);
	struct part *part = calloc(count + 1, sizeof *part);
	struct making m = {.frames = ret_frames};
	int err;

	*ret_frames = (struct hf_frames){0};
	err = part && count < UINT32_MAX - 2 ? hf_sink_init_memory(&ret_frames->text, 0) : HF_ERR_NOMEM;
	if (!err)
		err = make_room(&m, count + 2);
	if (!err) {
		if (before)
			take_parts(before, part);
		take_parts(text, part + first);
		err = fold_names(&m, part, count);
	}
	if (!err) {
		m.loose[0] = (struct loose){.name = HF_FRAME_NONE, .kind = HF_FRAME_OTHER};
		m.count = 1;
		err = before ? fold_chains(&m, before, part, true) : 0;
	}
	if (!err)
		err = fold_chains(&m, text, part, false);
	if (!err) {
		add_up(&m);
		err = place(&m);
	}
	free(part);
	free_making(&m);
	return err;
}

void hf_frames_free(struct hf_frames *frames)
{
	free(frames->frame);
	free(frames->name);
	free(frames->name_of);
	hf_sink_fini_memory(&frames->text);
	*frames = (struct hf_frames){0};
}
