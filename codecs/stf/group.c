/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One group, whatever it holds. The scan walks to the marker and tells loose records (comments, ids) as it meets them;
 * then the instruction is told, then a second walk over the same bytes tells its attachments. Each step makes at most
 * one event, so that the work can stop anywhere; a decoder that is loaded starts at the group again and discards.
 */
#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"
#include "codecs/stf/decoder.h"
#include "codecs/stf/errors.h"

void hf_stf_dec_note_hart(struct hf_stf_dec *d, uint32_t hart)
{
	const unsigned mask = sizeof d->hart_slots / sizeof d->hart_slots[0] - 1;
	unsigned slot = (hart * 2654435761u >> 16) & mask;

	if (d->hart_count && d->last_hart == hart)
		return;
	d->last_hart = hart;
	for (; d->hart_slots[slot]; slot = (slot + 1) & mask)
		if (d->harts[d->hart_slots[slot] - 1] == hart)
			return;
	if (d->hart_count > HF_STF_HARTS_MAX)
		return;
	d->harts[d->hart_count++] = hart;
	d->hart_slots[slot] = (uint16_t)d->hart_count;
}

int hf_stf_dec_ask(struct hf_stf_dec *d, uint64_t limit)
{
	struct hf_reader *r = &d->reader;
	int err = hf_src_sync_after(r->src, d->looked, limit, &d->place, &r->diag);

	if (err)
		d->place.offset = HF_NOWHERE;
	if (err > 0)
		d->looked = limit;
	return err < 0 ? err : 0;
}

static void push_loss(struct hf_stf_out *out, enum hf_event_kind kind, int code, uint64_t offset, uint64_t bytes,
		      uint64_t detail)
{
	struct hf_event *ev = hf_stf_out_push(out, kind);

	ev->code = (uint16_t)-code;
	ev->loss = (struct hf_ev_loss){.offset = offset, .bytes = bytes, .detail = detail};
}

/* The group has become too long to be held: what was before the current record is given up. */
static void drop(struct hf_stf_group *g, uint64_t offset)
{
	g->dropped = true;
	g->kept = offset;
	g->content = 0;
}

/*
 * Brings [offset, offset + n) into the window without losing what the group keeps; n is no more than the largest
 * record. HF_NOTE_END: the stream ends before. Drops the group's attachments if all does not fit.
 */
static int need(struct hf_stf_dec *d, uint64_t offset, uint64_t n)
{
	struct hf_stf_group *g = &d->group;

	if (offset + n - g->kept > HF_STF_GROUP_MAX)
		drop(g, offset);
	return hf_reader_need(&d->reader, g->kept, offset + n - g->kept, HF_STF_GROUP_MAX);
}

/* The stream cannot be followed any further: STF has nothing to synchronise on. */
static void give_up(struct hf_stf_dec *d, struct hf_stf_out *out, int code, uint64_t offset, uint64_t bytes,
		    uint64_t detail)
{
	push_loss(out, HF_EVENT_GAP, code, offset, bytes, detail);
	d->group.phase = HF_STF_PHASE_COUNTS;
}

/* The next group begins at the end of a part of the container, which says where its first instruction lies. */
static void resume_at(struct hf_stf_dec *d, const struct hf_sync *place)
{
	struct hf_stf_group *g = &d->group;
	struct hf_stf_sync *s = &g->now;

	s->offset = place->offset;
	s->next = s->expected = place->pc;
	if (place->index != HF_NOWHERE)
		s->index = place->index + s->drift;
	s->mode = HF_MODE_UNKNOWN;
	g->part = place->part;
	g->phase = HF_STF_PHASE_RESUME;
	/* Places up to there are passed over. */
	d->place.offset = HF_NOWHERE;
	d->looked = place->offset;
}

/*
 * The record at offset cannot be read, or not followed, because of what is wrong at stream offset at. Where the
 * container says how, decoding goes on behind the part that holds it.
 */
static int lose(struct hf_stf_dec *d, struct hf_stf_out *out, int code, uint64_t offset, uint64_t at, uint64_t bytes,
		uint64_t detail)
{
	struct hf_extent extent;
	struct hf_diag diag;
	int err = hf_src_extent_at(d->reader.src, at, &extent, &diag);

	if (err < 0)
		return err;
	if (!err && (extent.lost || extent.known))
		bytes = extent.end - offset;
	give_up(d, out, code, offset, bytes, detail);
	if (!err && extent.known)
		resume_at(d, &extent.sync);
	return 0;
}

/* The place behind a loss has been reached. What is damaged there tells of itself. */
static int resume(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	struct hf_reader *r = &d->reader;
	int err = hf_reader_seek(r, g->now.offset);

	if (err)
		return err;
	g->phase = HF_STF_PHASE_FINISH;
	if (r->len && d->many && hf_stf_sync_ours(d, &g->now))
		push_loss(out, HF_EVENT_DOUBT, HF_ERR_RESUMED_SOMEWHERE, g->now.offset, 0, g->part + 1);
	else if (r->len)
		push_loss(out, HF_EVENT_NOTE, HF_ERR_RESUMED, g->now.offset, 0, g->part + 1);
	return 0;
}

/* The window ends before the record at g->at is complete; g->at may also be where none begins any more. */
static int end_of_stream(struct hf_stf_dec *d, struct hf_stf_out *out, uint64_t record, bool inside)
{
	const struct hf_reader *r = &d->reader;
	const struct hf_stf_group *g = &d->group;
	uint64_t end = r->start + r->len;

	if (r->err)
		return lose(d, out, r->err, record, end, end - record, r->diag.detail);
	if (inside)
		give_up(d, out, HF_ERR_STF_RECORD_CUT, record, end - record, 0);
	else if (g->attached)
		give_up(d, out, HF_ERR_STF_GROUP_CUT, g->first, end - g->first, 0);
	else
		d->group.phase = HF_STF_PHASE_COUNTS;
	return 0;
}

/* ---- scan: loose records ---- */

static void push_ids(struct hf_stf_out *out, struct hf_stf_sync *s)
{
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_CONTEXT);

	for (unsigned i = 0; i < 3; i++)
		if (!s->has_said || s->said[i] != s->ids[i])
			ev->fields |= (uint32_t)HF_CONTEXT_HW << i;
	ev->context = (struct hf_ev_context){.hw = s->ids[0], .pid = s->ids[1], .tid = s->ids[2]};
	memcpy(s->said, s->ids, sizeof s->said);
	s->has_said = true;
}

/* The time that ours say in a COMMENT, as STF has no record for it (hartfs-stf(5)): text[size]. */
static bool is_time(const uint8_t *text, uint32_t size, uint64_t *ret_time)
{
	static const char head[] = "hartfs: timestamp ";
	const uint32_t skip = sizeof head - 1;

	*ret_time = 0;
	if (size <= skip || size > skip + 19 || memcmp(text, head, skip) != 0)
		return false;
	for (uint32_t i = skip; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*ret_time = 10 * *ret_time + (text[i] - '0');
	}
	return true;
}

/* The next piece of a COMMENT; a piece is told when all of it is there. */
static int scan_text(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	uint32_t piece = g->text_left < HF_STF_TEXT_MAX ? (uint32_t)g->text_left : HF_STF_TEXT_MAX;
	uint64_t time;
	int err;

	if (!g->attached || g->dropped)
		g->kept = g->at;
	err = need(d, g->at, piece);
	if (err)
		return err < 0 ? err : end_of_stream(d, out, g->comment, true);
	if (hf_stf_sync_ours(d, &g->now) && piece == g->text_left && g->at == g->comment + HF_STF_SIZE_COMMENT &&
	    is_time(hf_stf_dec_at(d, g->at), piece, &time)) {
		hf_stf_out_push(out, HF_EVENT_TIMESTAMP)->time.value = time;
	} else if (hf_stf_sync_ours(d, &g->now)) {
		struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_TEXT);

		ev->size = piece;
		ev->text.offset = g->at;
		g->span = (struct hf_stf_span){.offset = g->at, .left = piece};
	}
	g->at += piece;
	g->text_left -= piece;
	g->in_text = g->text_left != 0;
	return 0;
}

static void scan_note(struct hf_stf_dec *d, struct hf_stf_out *out, int code, uint8_t descriptor)
{
	if (hf_stf_sync_ours(d, &d->group.now))
		push_loss(out, HF_EVENT_NOTE, code, d->group.at, 0, descriptor);
}

static void scan_iem(struct hf_stf_dec *d, struct hf_stf_out *out, unsigned iem)
{
	uint8_t isa = hf_stf_isa_of_iem(d->header->isa, iem);

	if (isa == HF_ISA_NONE)
		scan_note(d, out, HF_ERR_STF_VALUE, HF_STF_INST_IEM);
	else
		d->group.now.isa = isa;
}

/* Noted once, as all of them may be so. */
static void scan_odd(struct hf_stf_dec *d, struct hf_stf_out *out, uint64_t target)
{
	const bool riscv = d->dec.stream->info.arch == HF_ARCH_RISCV;

	if (riscv && (target & 1) && hf_stf_sync_ours(d, &d->group.now) && d->group.now.odd++ == 0)
		push_loss(out, HF_EVENT_NOTE, HF_ERR_STF_ODD, d->group.at, 0, target);
}

/* Records that belong to no instruction. */
static void scan_loose(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec)
{
	struct hf_stf_group *g = &d->group;

	switch (rec->descriptor) {
	case HF_STF_PROCESS_ID_EXT:
		g->now.ids[0] = rec->hw;
		g->now.ids[1] = rec->pid;
		g->now.ids[2] = rec->tid;
		g->now.has_ids = true;
		break;
	case HF_STF_FORCE_PC:
		g->now.next = rec->address;
		g->forced = true;
		scan_odd(d, out, rec->address);
		break;
	case HF_STF_INST_IEM:
		scan_iem(d, out, rec->code);
		break;
	default:
		scan_note(d, out, HF_ERR_STF_HEADER_IN_BODY, rec->descriptor);
	}
}

/* ---- scan: attachments ---- */

static void scan_event(struct hf_stf_dec *d, const struct hf_stf_record *rec)
{
	struct hf_stf_group *g = &d->group;

	/* a MODE_CHANGE with neither its own target nor a trap to belong to */
	if (g->has_event && g->last_is_mode && !g->has_last_target) {
		g->has_mode = true;
		g->mode = g->last_mode;
	}
	g->has_event = true;
	g->last_event = g->at;
	g->has_last_target = false;
	g->last_is_mode = rec->value == HF_STF_EVENT_MODE_CHANGE;
	if (!g->last_is_mode) {
		g->trap = true;
		g->last_trap = g->at;
		g->attempt |= !hf_stf_event_retires(d->dec.stream->info.arch, rec->value);
	} else {
		const uint8_t *words = hf_stf_dec_at(d, g->at) + hf_stf_event_head(&d->header->layout);

		g->last_mode = HF_MODE_UNKNOWN;
		if (rec->count)
			g->last_mode = hf_stf_mode_of_word(d->dec.stream->info.arch, hf_get64(words));
	}
}

static void scan_target(struct hf_stf_group *g, const struct hf_stf_record *rec)
{
	g->branch = rec->address;
	g->has_branch = true;
	if (rec->descriptor == HF_STF_EVENT_PC_TARGET && g->has_event) {
		g->handler = rec->address;
		g->has_handler = true;
		g->has_last_target = true;
	} else {
		g->target = rec->address;
		g->has_target = true;
	}
}

/*
 * An access opens a row of contents; contents outside of one, or of a strange access, are worth a note. Under ISA = ARM
 * one that neither reads nor writes is a prefetch, cache maintenance, or what faulted (hartfs-stf(5)).
 */
static void scan_access(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec)
{
	struct hf_stf_group *g = &d->group;

	g->words = 0;
	g->content = (uint8_t)(rec->descriptor + 1);
	g->range = rec->descriptor == HF_STF_INST_MEM_ACCESS && hf_stf_access_is_range(d->header, rec->attr);
	if (rec->code != HF_STF_READ && rec->code != HF_STF_WRITE &&
	    !(rec->code == 0 && d->dec.stream->info.arch == HF_ARCH_ARM))
		scan_note(d, out, HF_ERR_STF_VALUE, rec->descriptor);
}

static void scan_content(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec)
{
	struct hf_stf_group *g = &d->group;

	if (g->content != rec->descriptor || g->words == UINT16_MAX) {
		scan_note(d, out, HF_ERR_STF_ORPHAN, rec->descriptor);
		return;
	}
	if (g->range && !g->words && rec->value > UINT32_MAX)
		scan_note(d, out, HF_ERR_STF_RANGE, 0);
	g->words++;
}

static void scan_attachment(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec)
{
	struct hf_stf_group *g = &d->group;

	if (!g->attached)
		g->first = g->at;
	g->attached = true;
	switch (rec->descriptor) {
	case HF_STF_INST_MEM_ACCESS:
	case HF_STF_BUS_MASTER_ACCESS:
		scan_access(d, out, rec);
		return;
	case HF_STF_INST_MEM_CONTENT:
	case HF_STF_BUS_MASTER_CONTENT:
		scan_content(d, out, rec);
		return;
	case HF_STF_EVENT:
		scan_event(d, rec);
		break;
	case HF_STF_INST_PC_TARGET:
	case HF_STF_EVENT_PC_TARGET:
		scan_target(g, rec);
		scan_odd(d, out, rec->address);
		break;
	default:
		break;
	}
	g->content = 0;
}

/* A MODE_CHANGE with FORCE_PC, or in the first group, says in which mode this instruction executes already. */
static bool mode_is_now(const struct hf_stf_group *g)
{
	return g->has_mode && (g->forced || !g->now.begun);
}

/* What becomes of a MODE_CHANGE that is the last EVENT, once it is known to be. */
static void scan_last_mode(struct hf_stf_group *g)
{
	if (!g->has_event || !g->last_is_mode)
		return;
	if (g->dropped || (!g->trap && !g->has_last_target)) {
		g->has_mode = true;
		g->mode = g->last_mode;
	} else if (!mode_is_now(g)) {
		/* a trap or a return overrides one before it */
		g->has_mode = false;
	}
}

/* The marker: what the scan saw is complete. */
static void scan_marker(struct hf_stf_dec *d, const struct hf_stf_record *rec)
{
	struct hf_stf_group *g = &d->group;

	g->marker = g->at;
	g->opcode = rec->size;
	g->opcode_size = rec->descriptor == HF_STF_INST_OPCODE32 ? 4 : rec->descriptor == HF_STF_INST_OPCODE16 ? 2 : 0;
	g->pc = g->now.next;
	scan_last_mode(g);
	if (d->many)
		hf_stf_dec_note_hart(d, hf_stf_hart_of_thread(g->now.ids[0]));
	g->phase = HF_STF_PHASE_LOSS;
}

/*
 * Brings the record at g->at into the window, of a COMMENT at least the head. HF_NOTE_END when there is none: the
 * stream ends or cannot be followed, and that is told.
 */
static int scan_record(struct hf_stf_dec *d, struct hf_stf_out *out, uint64_t *ret_size)
{
	struct hf_stf_group *g = &d->group;
	uint64_t size = 1;
	bool known = false;

	for (;;) {
		const uint8_t *p;
		int err = need(d, g->at, size);

		if (err == HF_NOTE_END && (err = end_of_stream(d, out, g->at, size > 1)) == 0)
			return HF_NOTE_END;
		if (err)
			return err;
		p = hf_stf_dec_at(d, g->at);
		if (known)
			break;
		err = hf_stf_record_size(&d->header->layout, p, hf_reader_there(&d->reader, g->at), &size);
		if (err < 0) {
			err = lose(d, out, err, g->at, g->at, 0, *p);
			return err ? err : (int)HF_NOTE_END;
		}
		known = err == 0;
		if (known && *p == HF_STF_COMMENT)
			break;
	}
	if (*hf_stf_dec_at(d, g->at) == HF_STF_IDENTIFIER && memcmp(hf_stf_dec_at(d, g->at), "\1STF", 4) != 0) {
		int err = lose(d, out, HF_ERR_STF_MAGIC, g->at, g->at, 0, 0);

		return err ? err : (int)HF_NOTE_END;
	}
	*ret_size = size;
	return 0;
}

static bool is_marker(uint8_t descriptor)
{
	return descriptor == HF_STF_INST_OPCODE32 || descriptor == HF_STF_INST_OPCODE16 ||
	       descriptor == HF_STF_TRANSACTION;
}

/* One record on the way to the marker. */
static int scan(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	struct hf_stf_record rec = {0};
	uint64_t size;
	int err;

	if (hf_stf_sync_ours(d, &g->now) && hf_stf_sync_unsaid(&g->now)) {
		push_ids(out, &g->now);
		return 0;
	}
	if (g->in_text)
		return scan_text(d, out);
	if (!g->attached || g->dropped)
		g->kept = g->at;
	err = scan_record(d, out, &size);
	if (err)
		return err < 0 ? err : 0;
	hf_stf_record_parse(&d->header->layout, hf_stf_dec_at(d, g->at), &rec);
	if (is_marker(rec.descriptor)) {
		scan_marker(d, &rec);
		return 0;
	}
	if (hf_stf_places[rec.descriptor] == HF_STF_PLACE_body) {
		scan_attachment(d, out, &rec);
	} else if (rec.descriptor == HF_STF_COMMENT) {
		g->content = 0;
		g->comment = g->at;
		g->text_left = rec.count;
		g->in_text = true;
		size = HF_STF_SIZE_COMMENT;
	} else {
		g->content = 0;
		scan_loose(d, out, &rec);
	}
	g->at += size;
	return 0;
}

/* ---- the instruction ---- */

static void push_mode(struct hf_stf_out *out, struct hf_stf_group *g)
{
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_CONTEXT);

	ev->fields = HF_CONTEXT_MODE;
	ev->context.mode = g->mode;
	g->now.mode = g->mode;
}

static void push_insn(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	struct hf_event *ev = hf_stf_out_push(out, g->attempt ? HF_EVENT_ATTEMPT : HF_EVENT_INSN);
	const uint8_t isa = g->now.isa;

	ev->insn = (struct hf_ev_insn){
		.pc = g->pc, .opcode = g->opcode, .size = g->opcode_size, .isa = isa, .mode = g->now.mode};
	if (isa == HF_ISA_RV32 || isa == HF_ISA_RV64)
		ev->insn.flow = hf_riscv_flow(g->opcode, (isa == HF_ISA_RV32 ? 32 : 64) | d->header->extensions);
	else
		ev->insn.flow = hf_arm_classify(g->opcode, g->opcode_size, isa).flow;
	if (g->attempt) {
		ev->flags = HF_EVF_RECORD;
		ev->insn.record = g->now.index;
	} else if (g->has_target) {
		ev->flags = HF_EVF_TAKEN;
		ev->insn.target = g->target;
	}
}

enum hf_stf_rule hf_stf_rule(uint32_t opcode, unsigned size, unsigned isa, uint64_t pc, uint64_t *ret_target)
{
	struct hf_arm_class class;
	unsigned other;

	if (isa == HF_ISA_RV32 || isa == HF_ISA_RV64) {
		const unsigned xlen = isa == HF_ISA_RV32 ? 32 : 64;
		const uint8_t flow = hf_riscv_flow(opcode, xlen);

		if (flow < HF_FLOW_BRANCH || flow > HF_FLOW_CALL || !hf_riscv_target(opcode, xlen, pc, ret_target))
			return HF_STF_ANYWHERE;
		return flow == HF_FLOW_BRANCH ? HF_STF_DIRECT : HF_STF_ALWAYS;
	}
	if (!hf_arm_target(opcode, size, isa, pc, ret_target, &other))
		return HF_STF_ANYWHERE;
	class = hf_arm_classify(opcode, size, isa);
	return isa == HF_ISA_A64 && class.flow != HF_FLOW_BRANCH ? HF_STF_ALWAYS : HF_STF_DIRECT;
}

/* The record of the instruction against its opcode, and that against where it went. */
static void push_contradiction(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	const uint64_t went = g->has_target ? g->target : g->pc + g->opcode_size;
	const uint64_t mask = d->dec.stream->info.xlen == 32 ? UINT32_MAX : UINT64_MAX;
	uint64_t leads;
	enum hf_stf_rule rule;

	if (hf_stf_wrong_size(g->opcode, g->opcode_size, g->now.isa)) {
		if (g->opcode_size == 2)
			push_loss(out, HF_EVENT_DOUBT, HF_ERR_STF_WIDE, g->marker, 0, 0);
		else if (g->now.narrow++ == 0)
			push_loss(out, HF_EVENT_DOUBT, HF_ERR_STF_NARROW, g->marker, 0, 0);
		return;
	}
	rule = hf_stf_rule(g->opcode, g->opcode_size, g->now.isa, g->pc, &leads);
	if (g->attempt || g->trap || g->dropped || rule == HF_STF_ANYWHERE || (rule == HF_STF_DIRECT && !g->has_target))
		return;
	if ((leads ^ went) & mask)
		push_loss(out, HF_EVENT_DOUBT, HF_ERR_STF_LEADS, g->marker, 0, went);
}

static void push_transaction(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	const struct hf_stf_layout *layout = &d->header->layout;
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_TRANSACTION);
	struct hf_stf_record rec = {0};
	uint64_t size = 0;

	hf_stf_record_parse(layout, hf_stf_dec_at(d, g->marker), &rec);
	hf_stf_record_size(layout, hf_stf_dec_at(d, g->marker), hf_reader_there(&d->reader, g->marker), &size);
	ev->clock = rec.clock;
	ev->size = (uint32_t)(size - HF_STF_SIZE_TRANSACTION);
	ev->txn = (struct hf_ev_txn){.id = rec.value, .delta = rec.delta, .meta_count = (uint16_t)rec.count};
	ev->txn.meta_size = hf_stf_meta_size(hf_stf_dec_at(d, g->marker) + HF_STF_SIZE_TRANSACTION, rec.count);
	g->span = (struct hf_stf_span){.offset = g->marker + HF_STF_SIZE_TRANSACTION, .left = ev->size};
	g->at = g->marker + size;
}

/* ---- the group as a whole ---- */

void hf_stf_group_begin(struct hf_stf_dec *d)
{
	d->group = (struct hf_stf_group){
		.now = d->sync, .at = d->sync.offset, .kept = d->sync.offset, .owes_header = hf_stf_dec_owes_header(d)};
}

/* All of the group is told: g->now becomes what the next one starts from. */
static void conclude(struct hf_stf_dec *d)
{
	struct hf_stf_group *g = &d->group;
	struct hf_stf_sync *s = &g->now;

	if (g->opcode_size) {
		const uint64_t behind = g->pc + g->opcode_size;

		s->index++;
		s->next = g->has_branch ? g->branch : behind;
		if (hf_stf_sync_ours(d, s)) {
			/* as the events tell it, which is not always as the tracker has it */
			if (g->has_handler && !g->dropped)
				s->expected = g->handler;
			else
				s->expected = g->has_target && !g->attempt ? g->target : behind;
			s->begun = true;
		}
	}
	/* Almost always it is known already that there is no place up to here. */
	if (d->place.offset > s->offset && (d->place.offset != HF_NOWHERE || d->looked >= s->offset))
		g->phase = HF_STF_PHASE_FINISH;
	else
		g->phase = HF_STF_PHASE_PLACES;
}

static void finish(struct hf_stf_dec *d)
{
	d->sync = d->group.now;
	d->done = 0;
	hf_stf_group_begin(d);
}

static void push_place_note(struct hf_stf_dec *d, struct hf_stf_out *out, int code, uint64_t offset, uint64_t detail)
{
	if (!hf_stf_sync_ours(d, &d->group.now))
		return;
	push_loss(out, HF_EVENT_NOTE, code, offset, 0, detail);
	out->ev[out->n - 1].flags = HF_EVF_FILE;
}

/* The part of the container that ends at d->place has more or fewer instructions than those before it on average. */
static void compare_count(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	const struct hf_sync *place = &d->place;
	struct hf_stf_sync *s = &d->group.now;
	/* a place inside the group is in front of its instruction */
	const uint64_t index = s->index - (place->offset < s->offset && d->group.opcode_size);

	if (place->index == HF_NOWHERE || index - place->index == s->drift)
		return;
	s->drift = index - place->index;
	push_place_note(d, out, HF_ERR_ZSTF_COUNT, place->part_at, place->part);
}

/* A place after another, up to the group's end; one event at most. Streams without instructions have nothing to it. */
static int compare_place(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	const struct hf_sync *place = &d->place;
	const bool any = d->dec.stream->info.flags & HF_STREAM_HARTS;
	int err = hf_stf_dec_look(d, g->now.offset);

	if (err)
		return err;
	if (place->offset > g->now.offset) {
		g->phase = HF_STF_PHASE_FINISH;
		return 0;
	}
	if (!g->counted) {
		g->counted = true;
		if (any)
			compare_count(d, out);
		return 0;
	}
	if (any && place->offset == g->now.offset && place->pc != g->now.next)
		push_place_note(d, out, HF_ERR_ZSTF_PC, place->pc_at, place->part + 1);
	g->counted = false;
	d->looked = place->offset;
	d->place.offset = HF_NOWHERE;
	return 0;
}

static void next_phase(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;

	switch (g->phase) {
	case HF_STF_PHASE_LOSS:
		if (g->dropped)
			push_loss(out, HF_EVENT_GAP, HF_ERR_STF_GROUP_LIMIT, g->first, g->marker - g->first, 0);
		g->phase = HF_STF_PHASE_MODE;
		break;
	case HF_STF_PHASE_MODE:
		if (mode_is_now(g))
			push_mode(out, g);
		g->phase = HF_STF_PHASE_JUMP;
		break;
	case HF_STF_PHASE_JUMP:
		if (g->opcode_size && g->now.begun && g->now.expected != g->pc)
			hf_stf_out_push(out, HF_EVENT_DISCONTINUITY)->jump =
				(struct hf_ev_jump){g->now.expected, g->pc, 0};
		g->phase = HF_STF_PHASE_CHECK;
		break;
	case HF_STF_PHASE_CHECK:
		if (g->opcode_size)
			push_contradiction(d, out);
		g->phase = HF_STF_PHASE_INSN;
		break;
	case HF_STF_PHASE_INSN:
		g->now.offset =
			g->marker + (g->opcode_size == 4 ? HF_STF_SIZE_INST_OPCODE32 : HF_STF_SIZE_INST_OPCODE16);
		if (g->opcode_size) {
			push_insn(d, out);
		} else {
			push_transaction(d, out);
			g->now.offset = g->at;
		}
		g->at = g->dropped ? g->marker : g->kept;
		g->phase = HF_STF_PHASE_ATTACH;
		break;
	case HF_STF_PHASE_ATTACH:
		if (g->at < g->marker)
			hf_stf_group_attach(d, out);
		else
			g->phase = HF_STF_PHASE_AFTER;
		break;
	case HF_STF_PHASE_AFTER:
		if (g->has_mode && !mode_is_now(g))
			push_mode(out, g);
		conclude(d);
		break;
	default:
		break;
	}
}

/* A group of another hart: nothing of it is told. */
static void pass_over(struct hf_stf_dec *d)
{
	struct hf_stf_group *g = &d->group;
	uint64_t size = 0;

	hf_stf_record_size(&d->header->layout, hf_stf_dec_at(d, g->marker), hf_reader_there(&d->reader, g->marker),
			   &size);
	g->now.offset = g->marker + size;
	conclude(d);
}

static void push_data(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_span *span = &d->group.span;
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_DATA);
	uint32_t n = span->left < sizeof ev->data.bytes ? span->left : (uint32_t)sizeof ev->data.bytes;

	ev->used = (uint16_t)n;
	if (span->stride == 0) {
		memcpy(ev->data.bytes, hf_stf_dec_at(d, span->offset), n);
		span->offset += n;
	} else {
		for (uint32_t i = 0; i < n; i += 8, span->offset += span->stride)
			memcpy(ev->data.bytes + i, hf_stf_dec_at(d, span->offset), 8);
	}
	span->left -= n;
}

/* What was lost of the header, before anything else. */
static void tell_header(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	d->group.owes_header = false;
	push_loss(out, HF_EVENT_NOTE, HF_ERR_STF_STRINGS, 0, 0, 0);
}

/* At the end of the stream. */
static void tell_counts(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_sync *s = &d->group.now;

	if (s->narrow > 1)
		push_loss(out, HF_EVENT_NOTE, HF_ERR_STF_NARROW_COUNT, HF_NOWHERE, 0, s->narrow);
	else if (s->odd > 1)
		push_loss(out, HF_EVENT_NOTE, HF_ERR_STF_ODD_COUNT, HF_NOWHERE, 0, s->odd);
	else
		d->group.phase = HF_STF_PHASE_END;
	*(s->narrow > 1 ? &s->narrow : &s->odd) = 0;
}

int hf_stf_group_run(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;

	g->open = true;
	while (out->n < out->max && g->phase != HF_STF_PHASE_FINISH && g->phase != HF_STF_PHASE_END) {
		size_t before = out->n;
		int err = 0;

		if (g->owes_header)
			tell_header(d, out);
		else if (g->span.left)
			push_data(d, out);
		else if (g->phase == HF_STF_PHASE_SCAN)
			err = scan(d, out);
		else if (g->phase == HF_STF_PHASE_COUNTS)
			tell_counts(d, out);
		else if (g->phase == HF_STF_PHASE_PLACES)
			err = compare_place(d, out);
		else if (g->phase == HF_STF_PHASE_RESUME)
			err = resume(d, out);
		else if (g->phase == HF_STF_PHASE_LOSS && !hf_stf_sync_ours(d, &g->now))
			pass_over(d);
		else
			next_phase(d, out);
		d->done += out->n - before;
		if (err)
			return err;
	}
	if (g->phase == HF_STF_PHASE_FINISH)
		finish(d);
	return 0;
}
