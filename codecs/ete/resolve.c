/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/resolve.h"

#include "codecs/ete/errors.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (2 * HF_ETE_QUEUE_MAX)

/* A P0 element of the M profile that says more of the branch before it, and has no instruction. */
static bool is_return(const struct hf_ete_resolve *r, const struct hf_ete_element *e)
{
	return r->config->m && (e->kind == HF_ETE_EL_EXCEPTION_RETURN || e->kind == HF_ETE_EL_FUNCTION_RETURN);
}

static bool is_p0(const struct hf_ete_resolve *r, const struct hf_ete_element *e)
{
	return e->kind < HF_ETE_EL_TRANSACTION_START ||
	       (e->kind == HF_ETE_EL_TRANSACTION_START && !r->config->commtrans) || is_return(r, e);
}

/* A reset inside a transaction makes it fail. */
static bool ends_transaction(const struct hf_ete_element *e)
{
	return e->kind == HF_ETE_EL_TRANSACTION_COMMIT || e->kind == HF_ETE_EL_TRANSACTION_FAILURE ||
	       (e->kind == HF_ETE_EL_EXCEPTION && e->info == HF_ETE_EXC_RESET);
}

int hf_ete_resolve_init(struct hf_ete_resolve *r, const struct hf_ete_config *config)
{
	*r = (struct hf_ete_resolve){.config = config, .queue = malloc(ROOM * sizeof *r->queue)};
	if (!r->queue)
		return HF_ERR_NOMEM;
	hf_ete_resolve_reset(r, NULL);
	return 0;
}

void hf_ete_resolve_fini(struct hf_ete_resolve *r)
{
	free(r->queue);
	r->queue = NULL;
}

void hf_ete_resolve_reset(struct hf_ete_resolve *r, const struct hf_ete_ahead *ahead)
{
	r->head = r->tail = r->out = r->settled = r->mark = 0;
	r->last = HF_ETE_NO_INDEX;
	r->waiting = r->ends = 0;
	r->mark_void = false;
	r->ahead = ahead ? *ahead : (struct hf_ete_ahead){0};
}

/* Moves all indices down by n, which is head. */
static void shift(struct hf_ete_resolve *r)
{
	const uint32_t n = r->head;

	memmove(r->queue, r->queue + n, (r->tail - n) * sizeof *r->queue);
	r->head = 0;
	r->tail -= n;
	r->out -= n;
	r->settled -= n;
	r->mark = r->mark > n ? r->mark - n : 0;
	if (r->last != HF_ETE_NO_INDEX)
		r->last -= n;
}

/* Takes [from, to) out of the queue but for what is kept; returns the P0 elements among them. */
static uint32_t drop(struct hf_ete_resolve *r, uint32_t from, uint32_t to)
{
	uint32_t kept = from, p0 = 0, ahead = 0;

	for (uint32_t i = from; i < to; i++) {
		if (r->queue[i].kind >= HF_ETE_EL_KEPT) {
			r->queue[kept++] = r->queue[i];
			continue;
		}
		p0 += is_p0(r, &r->queue[i]);
		r->ends -= ends_transaction(&r->queue[i]);
		ahead += i < r->mark;
	}
	memmove(r->queue + kept, r->queue + to, (r->tail - to) * sizeof *r->queue);
	r->tail -= to - kept;
	if (ahead)
		r->mark_void = true;
	return p0;
}

void hf_ete_resolve_unseen(struct hf_ete_resolve *r, uint32_t n)
{
	r->ahead.unseen = n;
}

/* Elements before the first P0 element that is not committed are settled. */
static void advance(struct hf_ete_resolve *r)
{
	if (r->ahead.unseen == 0 && r->waiting == 0)
		r->settled = r->tail;
	else if (r->ahead.unseen == 0)
		while (!is_p0(r, &r->queue[r->settled]))
			r->settled++;
}

static void commit_oldest(struct hf_ete_resolve *r)
{
	if (r->ahead.unseen) {
		r->ahead.unseen--;
		return;
	}
	while (!is_p0(r, &r->queue[r->settled]))
		r->settled++;
	r->last = r->settled++;
	r->ahead.held = 0;
	r->waiting--;
}

/* A packet may commit as many as it likes that were never here. */
static void commit_many(struct hf_ete_resolve *r, uint64_t n)
{
	const uint32_t unseen = n < r->ahead.unseen ? (uint32_t)n : r->ahead.unseen;

	r->ahead.unseen -= unseen;
	for (n -= unseen; n; n--)
		commit_oldest(r);
}

/* P0 elements beyond those that may be uncommitted. */
static uint64_t excess(const struct hf_ete_resolve *r)
{
	const uint64_t depth = (uint64_t)r->ahead.unseen + r->waiting;

	return depth > r->config->max_spec ? depth - r->config->max_spec : 0;
}

int hf_ete_resolve_push(struct hf_ete_resolve *r, const struct hf_ete_element *element)
{
	if (r->tail - r->head >= HF_ETE_QUEUE_MAX)
		return HF_ERR_ETE_QUEUE;
	if (r->tail == ROOM)
		shift(r);
	r->queue[r->tail++] = *element;
	r->ends += ends_transaction(element);
	if (is_p0(r, element)) {
		r->waiting++;
		if (excess(r))
			commit_oldest(r);
	}
	return 0;
}

int hf_ete_resolve_push_atoms(struct hf_ete_resolve *r, uint32_t atoms, unsigned n, uint64_t offset)
{
	if (r->tail - r->head > HF_ETE_QUEUE_MAX - n)
		return HF_ERR_ETE_QUEUE;
	if (r->tail > ROOM - n)
		shift(r);
	for (unsigned i = 0; i < n; i++)
		r->queue[r->tail + i] = (struct hf_ete_element){
			.kind = HF_ETE_EL_ATOM,
			.flags = atoms >> i & 1 ? HF_ETE_EL_TAKEN | HF_ETE_EL_INITIAL : 0,
			.offset = offset,
		};
	r->tail += n;
	r->waiting += n;
	if (r->config->max_spec == 0 && r->waiting == n && r->ahead.unseen == 0 && n) {
		/* all of them are committed at once */
		r->settled = r->tail;
		r->last = r->tail - 1;
		r->ahead.held = 0;
		r->waiting = 0;
		return 0;
	}
	commit_many(r, excess(r));
	return 0;
}

int hf_ete_resolve_commit(struct hf_ete_resolve *r, uint32_t n)
{
	if (n > (uint64_t)r->ahead.unseen + r->waiting)
		return HF_ERR_ETE_COMMIT;
	commit_many(r, n);
	return 0;
}

int hf_ete_resolve_cancel(struct hf_ete_resolve *r, uint32_t n)
{
	uint32_t from = r->tail;

	if (n > (uint64_t)r->ahead.unseen + r->waiting)
		return HF_ERR_ETE_COMMIT;
	for (uint32_t left = n < r->waiting ? n : r->waiting; left;)
		left -= is_p0(r, &r->queue[--from]);
	if (n > r->waiting) { /* all that is here, and some that were before */
		r->ahead.unseen -= n - r->waiting;
		from = r->settled;
		r->mark_void = true;
	}
	r->waiting -= drop(r, from, r->tail);
	return 0;
}

/* Where the youngest P0 element was thought to go is void. */
static void forget_targets(struct hf_ete_resolve *r, uint32_t from)
{
	const uint32_t settled = r->settled, mark = r->mark;
	uint32_t to = from;

	for (uint32_t i = from; i < r->tail; i++) {
		if (r->queue[i].kind == HF_ETE_EL_TARGET) {
			r->settled -= i < settled;
			r->mark -= i < mark;
		} else {
			r->queue[to++] = r->queue[i];
		}
	}
	r->tail = to;
}

bool hf_ete_resolve_mispredict(struct hf_ete_resolve *r)
{
	uint32_t i = r->tail;

	while (i > r->head && !is_p0(r, &r->queue[i - 1]))
		i--;
	if (i > r->head) {
		struct hf_ete_element *atom = &r->queue[i - 1];

		if (atom->kind != HF_ETE_EL_ATOM)
			return false;
		atom->flags ^= HF_ETE_EL_TAKEN;
	} else if (r->ahead.held != 2) {
		return false;
	}
	forget_targets(r, i);
	return true;
}

/* ---- what may leave ---- */

/* The first element of [from, settled) that ends a transaction, or NO_INDEX. */
static uint32_t find_end(const struct hf_ete_resolve *r, uint32_t from)
{
	for (uint32_t i = from; r->ends && i < r->settled; i++)
		if (ends_transaction(&r->queue[i]))
			return i;
	return HF_ETE_NO_INDEX;
}

/* Everything before the last P0 element; before a return also the branch that it belongs to is held back. */
static uint32_t before_last(const struct hf_ete_resolve *r)
{
	uint32_t i = r->last;

	if (!is_return(r, &r->queue[i]))
		return i;
	while (i > r->out && r->last - i < HF_ETE_HELD_MAX)
		if (is_p0(r, &r->queue[--i]))
			return i;
	return r->last;
}

/* Everything before the P0 element that is held back, if one is. */
static uint32_t hold(struct hf_ete_resolve *r)
{
	if (r->last != HF_ETE_NO_INDEX) {
		if (r->settled - r->last <= HF_ETE_HELD_MAX)
			return before_last(r);
		r->last = HF_ETE_NO_INDEX;
	} else if (r->ahead.held) {
		if (r->settled - r->head + (uint64_t)r->ahead.behind < HF_ETE_HELD_MAX)
			return r->head;
		r->ahead.held = 0;
	}
	return r->settled;
}

/* A transaction failed: its elements [from, to) never happened. */
static void fail(struct hf_ete_resolve *r, uint32_t from, uint32_t to)
{
	const uint32_t before = r->tail;
	uint32_t gone;

	drop(r, from, to);
	gone = before - r->tail;
	r->settled -= gone;
	if (r->last != HF_ETE_NO_INDEX && r->last >= from)
		r->last = r->last < to ? HF_ETE_NO_INDEX : r->last - gone;
}

/* At out, where a transaction begins or the queue is inside one. False: its end is not here yet. */
static bool settle_transaction(struct hf_ete_resolve *r)
{
	const uint32_t end = find_end(r, r->out);

	if (end == HF_ETE_NO_INDEX) {
		if (r->tail - r->out <= HF_ETE_QUEUE_MAX / 2)
			return false;
		if (r->queue[r->out].kind == HF_ETE_EL_TRANSACTION_START)
			r->queue[r->out].flags |= HF_ETE_EL_DOUBT;
	} else if (r->queue[end].kind != HF_ETE_EL_TRANSACTION_COMMIT) {
		fail(r, r->out, end);
	}
	r->ahead.tx = HF_ETE_TX_PASSING;
	return true;
}

void hf_ete_resolve_settle(struct hf_ete_resolve *r)
{
	uint32_t limit;

	advance(r);
	limit = hold(r);
	if (r->config->keep_failed) {
		r->out = limit;
		return;
	}
	while (r->out < limit) {
		const struct hf_ete_element *e = &r->queue[r->out];

		if (r->ahead.tx == HF_ETE_TX_OPEN ||
		    (r->ahead.tx == HF_ETE_TX_NONE && e->kind == HF_ETE_EL_TRANSACTION_START)) {
			if (!settle_transaction(r))
				return;
			limit = hold(r);
			continue;
		}
		if (r->ahead.tx == HF_ETE_TX_PASSING && ends_transaction(e))
			r->ahead.tx = HF_ETE_TX_NONE;
		r->out++;
	}
}

uint32_t hf_ete_resolve_lose(struct hf_ete_resolve *r, bool failed)
{
	uint32_t lost;

	hf_ete_resolve_settle(r);
	lost = r->ahead.unseen + drop(r, r->settled, r->tail);
	r->waiting = r->ahead.unseen = 0;
	r->last = HF_ETE_NO_INDEX;
	r->ahead.held = 0;
	r->settled = r->tail;
	hf_ete_resolve_settle(r);
	if (r->out < r->tail) { /* in a transaction */
		if (failed)
			drop(r, r->out, r->tail);
		else
			r->queue[r->out].flags |= HF_ETE_EL_DOUBT;
	}
	r->out = r->settled = r->tail;
	r->ahead = (struct hf_ete_ahead){0};
	r->mark_void = true;
	return lost;
}

void hf_ete_resolve_pop(struct hf_ete_resolve *r)
{
	r->ends -= ends_transaction(&r->queue[r->head]);
	r->head++;
	if (r->head == r->tail)
		shift(r);
}

/* ---- entry points ---- */

/* Whether the place behind the queue is inside a transaction. */
static uint8_t tx_behind(const struct hf_ete_resolve *r)
{
	uint8_t tx = r->ahead.tx;

	if (r->config->keep_failed)
		return HF_ETE_TX_NONE;
	for (uint32_t i = r->out; i < r->tail; i++) {
		if (r->queue[i].kind == HF_ETE_EL_TRANSACTION_START && tx == HF_ETE_TX_NONE)
			tx = HF_ETE_TX_OPEN;
		else if (ends_transaction(&r->queue[i]))
			tx = HF_ETE_TX_NONE;
	}
	return tx;
}

void hf_ete_resolve_set_mark(struct hf_ete_resolve *r, struct hf_ete_ahead *ret_ahead)
{
	uint32_t p0 = r->tail;

	while (p0 > r->head && !is_p0(r, &r->queue[p0 - 1]))
		p0--;
	*ret_ahead = r->ahead;
	ret_ahead->unseen += r->waiting;
	ret_ahead->tx = tx_behind(r);
	if (p0 > r->head) {
		ret_ahead->held = r->queue[p0 - 1].kind == HF_ETE_EL_ATOM ? 2 : 1;
		/* one that is committed may have been let go */
		if (r->waiting == 0 && r->last == HF_ETE_NO_INDEX)
			ret_ahead->held = 0;
		ret_ahead->behind = r->tail - p0;
	} else {
		ret_ahead->behind += r->tail - r->head;
	}
	if (!ret_ahead->held)
		ret_ahead->behind = 0;
	r->mark = r->tail;
	r->mark_void = false;
}

void hf_ete_resolve_follow(const struct hf_ete_resolve *r, struct hf_ete_follow *ret)
{
	*ret = (struct hf_ete_follow){0};
	for (uint32_t i = r->head + 1; i < r->settled; i++) {
		const struct hf_ete_element *e = &r->queue[i];

		if (is_return(r, e) && !ret->target) {
			ret->returns |= e->kind == HF_ETE_EL_EXCEPTION_RETURN;
			continue;
		}
		if (is_p0(r, e) || e->kind == HF_ETE_EL_TRACE_INFO)
			ret->pops = !ret->target && !ret->returns;
		if (is_p0(r, e) || e->kind == HF_ETE_EL_TRACE_INFO || e->kind == HF_ETE_EL_TRACE_ON ||
		    e->kind == HF_ETE_EL_LOSS)
			return;
		if (e->kind == HF_ETE_EL_TARGET)
			ret->target = e;
		else if (e->kind == HF_ETE_EL_CONTEXT)
			ret->context = e;
	}
}
