/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/bytes/events.h"
#include "codecs/image/symbols.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "index/read/cursor.h"

#include <stdlib.h>

static_assert((int)HARTFS_ISA_T32 == (int)HF_ISA_T32 && (int)HARTFS_ISA_RV32 == (int)HF_ISA_RV32, "the same numbers");
static_assert((int)HARTFS_FLOW_WAIT == (int)HF_FLOW_WAIT && (int)HARTFS_FLOW_CALL == (int)HF_FLOW_CALL,
	      "the same numbers");
static_assert((int)HARTFS_EVENT_TAKEN == (int)HF_EVF_TAKEN && (int)HARTFS_EVENT_OPEN == (int)HF_EVF_OPEN,
	      "the same bits");

/* A place between two instructions, with the one that comes next. */
struct hf_event_place {
	struct hf_cursor cursor;
	uint64_t next;	      /* its ordinal */
	struct hf_event insn; /* it; kind HF_EVENT_NONE: there is none any more */
	int err;	      /* why not, if that is not the end */
	struct hf_diag diag;  /* of that */
	const struct hf_symbols *symbols;
	const struct hf_symbol *symbol; /* that the last one lay in */
	size_t at, count;
	struct hf_event ev[HF_CURSOR_BATCH];
};

void hf_events_init(struct hf_events *events)
{
	pthread_mutex_init(&events->lock, NULL);
}

static void free_place(struct hf_event_place *place)
{
	if (place)
		hf_cursor_fini(&place->cursor);
	free(place);
}

void hf_events_fini(struct hf_events *events)
{
	for (size_t i = 0; i < HF_EVENT_PLACES; i++)
		free_place(events->place[i]);
	if (events->open)
		hf_open_put(events->open);
	pthread_mutex_destroy(&events->lock);
}

/* The capture, opened in the version of the file, for as long as that is open. */
static int pin(struct hf_events *events, struct hf_open **ret_open)
{
	const struct hf_bytes *bytes = events->bytes;
	struct hf_open *open = NULL;
	int err = 0;

	pthread_mutex_lock(&events->lock);
	*ret_open = events->open;
	pthread_mutex_unlock(&events->lock);
	if (!*ret_open)
		err = hf_capture_reopen(bytes->capture, bytes->version, -1, HF_REPAIR_MS, &open);
	if (err || *ret_open)
		return err;
	pthread_mutex_lock(&events->lock);
	if (!events->open) {
		events->open = open;
		open = NULL;
	}
	*ret_open = events->open;
	pthread_mutex_unlock(&events->lock);
	if (open)
		hf_open_put(open);
	return 0;
}

/* ---- an event ---- */

static void name_place(struct hf_event_place *place, struct hartfs_event *ev)
{
	const struct hf_symbol *symbol = place->symbol;

	if (!symbol || ev->pc < symbol->start || ev->pc >= symbol->end)
		symbol = place->symbol = hf_symbols_at(place->symbols, ev->pc);
	if (!symbol)
		return;
	ev->symbol = symbol->name;
	ev->symbol_offset = ev->pc - symbol->start;
}

static void add_access(const struct hf_event *from, struct hartfs_event *ev)
{
	if (ev->accesses++)
		return;
	ev->flags |= from->flags & HF_EVF_READ ? HARTFS_EVENT_READ : 0u;
	ev->flags |= from->flags & HF_EVF_WRITE ? HARTFS_EVENT_WRITE : 0u;
	ev->flags |= from->flags & HF_EVF_NO_ADDRESS ? 0u : HARTFS_EVENT_ADDRESS;
	ev->flags |= from->words ? HARTFS_EVENT_DATA : 0u;
	ev->address = from->mem.address;
	ev->data = from->words ? from->mem.data : 0;
	ev->access_size = from->mem.size;
}

static void add_trap(const struct hf_event *from, struct hartfs_event *ev)
{
	const bool first = !(ev->flags & (HARTFS_EVENT_EXCEPTION | HARTFS_EVENT_INTERRUPT));

	ev->flags |= from->flags & HF_EVF_ASYNC ? HARTFS_EVENT_INTERRUPT : HARTFS_EVENT_EXCEPTION;
	if (!first || !(from->flags & HF_EVF_CAUSE))
		return;
	ev->flags |= HARTFS_EVENT_CAUSE;
	ev->cause = from->trap.cause;
}

/* What comes behind the instruction. */
static void add(const struct hf_event *from, bool attempted, struct hartfs_event *ev)
{
	switch (from->kind) {
	case HF_EVENT_MEM:
		/* Those of an instruction that did not retire are its own. */
		if (!attempted)
			add_access(from, ev);
		break;
	case HF_EVENT_TRAP:
		add_trap(from, ev);
		break;
	case HF_EVENT_ATTEMPT:
		ev->flags |= HARTFS_EVENT_ATTEMPT;
		break;
	case HF_EVENT_DISCONTINUITY:
		ev->flags |= HARTFS_EVENT_JUMP;
		break;
	case HF_EVENT_GAP:
		ev->flags |= HARTFS_EVENT_LOST;
		break;
	case HF_EVENT_DOUBT:
		ev->flags |= HARTFS_EVENT_DOUBT;
		break;
	default:
		break;
	}
}

static void begin(struct hf_event_place *place, struct hartfs_event *ev)
{
	const struct hf_event *from = &place->insn;

	*ev = (struct hartfs_event){.ordinal = place->next,
				    .pc = from->insn.pc,
				    .opcode = from->insn.opcode,
				    .size = from->insn.size,
				    .isa = from->insn.isa,
				    .flow = from->insn.flow,
				    .flags = from->flags & (HF_EVF_TAKEN | HF_EVF_OPEN),
				    .mode = hf_mode_name(from->insn.mode)};
	if (ev->flags & HARTFS_EVENT_TAKEN)
		ev->target = from->insn.target;
	if (hf_index_doubt(place->cursor.index, place->cursor.hart, place->next) != HF_NOWHERE)
		ev->flags |= HARTFS_EVENT_DOUBTED;
	if (place->symbols)
		name_place(place, ev);
}

/* ---- reading on ---- */

/* Of the next event, or NULL: place->err says why. */
static const struct hf_event *peek(struct hf_event_place *place)
{
	int err = 0;

	while (place->at == place->count && !err) {
		place->at = place->count = 0;
		if (!place->cursor.left)
			err = hf_cursor_advance(&place->cursor, &place->diag);
		if (!err && place->cursor.left)
			err = hf_cursor_take(&place->cursor, place->ev, HF_CURSOR_BATCH, &place->count, &place->diag);
	}
	place->err = err == HF_NOTE_END ? 0 : err;
	return err ? NULL : &place->ev[place->at++];
}

/* The instruction at hand with what comes behind it; then the next one is at hand, or none. */
static void read_one(struct hf_event_place *place, struct hartfs_event *ev)
{
	const struct hf_event *from;
	bool attempted = false;

	begin(place, ev);
	while ((from = peek(place)) && from->kind != HF_EVENT_INSN) {
		attempted |= from->kind == HF_EVENT_ATTEMPT;
		add(from, attempted, ev);
	}
	place->next++;
	if (from)
		place->insn = *from;
	else
		place->insn.kind = HF_EVENT_NONE;
}

static int new_place(const struct hf_events *events, struct hf_open *open, uint64_t ordinal,
		     struct hf_event_place **ret_place, struct hf_diag *diag)
{
	struct hf_event_place *place = calloc(1, sizeof *place);
	int err;

	*ret_place = NULL;
	if (!place)
		return HF_ERR_NOMEM;
	place->cursor = (struct hf_cursor){
		.stream = open->stream, .src = open->source, .index = open->index, .hart = events->hart};
	if (open->symbol_files.symbols)
		place->symbols = hf_symbols_of(open->symbol_files.symbols, events->hart);
	place->next = ordinal;
	err = hf_cursor_seek(&place->cursor, ordinal, &place->insn, diag);
	if (err)
		free_place(place);
	else
		*ret_place = place;
	return err;
}

/* The place before an ordinal: where a call ended, or a new one. */
static int take_place(struct hf_events *events, struct hf_open *open, uint64_t ordinal,
		      struct hf_event_place **ret_place, struct hf_diag *diag)
{
	struct hf_event_place *place = NULL;

	pthread_mutex_lock(&events->lock);
	for (size_t i = 0; i < HF_EVENT_PLACES && !place; i++)
		if (events->place[i] && events->place[i]->next == ordinal) {
			place = events->place[i];
			events->place[i] = NULL;
		}
	pthread_mutex_unlock(&events->lock);
	*ret_place = place;
	return place ? 0 : new_place(events, open, ordinal, ret_place, diag);
}

static void keep_place(struct hf_events *events, struct hf_event_place *place)
{
	struct hf_event_place *old;
	size_t i = 0;

	pthread_mutex_lock(&events->lock);
	while (i < HF_EVENT_PLACES && events->place[i])
		i++;
	if (i == HF_EVENT_PLACES)
		i = events->next++ % HF_EVENT_PLACES;
	old = events->place[i];
	events->place[i] = place;
	pthread_mutex_unlock(&events->lock);
	free_place(old);
}

/* 1 to max instructions from ordinal on. */
static int read_from(struct hf_events *events, struct hf_open *open, uint64_t ordinal, struct hartfs_event *ev,
		     uint64_t max, size_t *ret_n, struct hf_diag *diag)
{
	struct hf_event_place *place;
	int err = take_place(events, open, ordinal, &place, diag);

	if (err)
		return err;
	while (*ret_n < max && place->insn.kind == HF_EVENT_INSN)
		read_one(place, &ev[(*ret_n)++]);
	/* The index has promised them. */
	if (!*ret_n) {
		err = place->err ? place->err : HF_ERR_MISMATCH;
		*diag = place->diag;
	}
	if (place->insn.kind == HF_EVENT_INSN)
		keep_place(events, place);
	else
		free_place(place);
	return err;
}

int hf_events_read(struct hf_events *events, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		   struct hf_diag *diag)
{
	struct hf_open *open;
	uint64_t left;
	int err;

	*ret_n = 0;
	if (!events->count)
		return HF_ERR_UNSUPPORTED;
	if (ordinal < events->first)
		ordinal = events->first;
	if (ordinal - events->first >= events->count || !max)
		return hf_bytes_check(events->bytes);
	left = events->first + events->count - ordinal;
	err = pin(events, &open);
	if (err)
		return err;
	err = read_from(events, open, ordinal, ev, left < max ? left : max, ret_n, diag);
	err = hf_bytes_check_made(events->bytes, err);
	if (err)
		*ret_n = 0;
	hf_open_blame(open, err);
	return err;
}

/* ---- which instruction a byte belongs to ---- */

struct find_job {
	struct hf_job job;
	const struct hf_events *events;
	uint64_t offset, ordinal;
	int err;
};

/* By a thread of the executor, which has what disassembles. */
static int run_find(struct hf_job *job, struct hf_worker *worker)
{
	struct find_job *find = (struct find_job *)job;
	const struct hf_bytes *bytes = find->events->bytes;
	struct hf_open *open;
	int err = hf_bytes_open(bytes, HF_REPAIR_MS, &open);

	if (!err)
		err = bytes->ops->ordinal(bytes, open, find->events->hart, find->offset + bytes->base, worker,
					  &find->ordinal);
	find->err = hf_bytes_check_made(bytes, err);
	hf_bytes_close(open, find->err);
	return find->err;
}

int hf_events_ordinal(struct hf_events *events, uint64_t offset, uint64_t *ret_ordinal)
{
	struct find_job find = {.job = {.fn = run_find, .work = HF_WORK_DECODE},
				.events = events,
				.offset = offset,
				.err = HF_ERR_CANCELLED};
	const uint64_t last = events->first + events->count - 1;

	if (!events->count || !events->bytes->ops->ordinal || offset >= events->bytes->size)
		return HF_ERR_UNSUPPORTED;
	hf_job_submit(events->bytes->capture->common->exec, &find.job);
	hf_job_join(&find.job);
	if (find.err)
		return find.err;
	*ret_ordinal = find.ordinal < events->first ? events->first : find.ordinal > last ? last : find.ordinal;
	return 0;
}
