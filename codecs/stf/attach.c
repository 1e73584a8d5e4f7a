/* SPDX-License-Identifier: Apache-2.0 */
/* The second walk over a group: its records as attachments of the instruction, in their order. */
#include "codecs/isa/access.h"
#include "codecs/stf/decoder.h"

/* Contents behind the access record that ends at offset, before limit. */
static uint16_t count_words(const struct hf_stf_dec *d, uint64_t offset, uint64_t limit, uint8_t content)
{
	uint16_t words = 0;

	while (offset < limit && *hf_stf_dec_at(d, offset) == content && words < UINT16_MAX) {
		words++;
		offset += HF_STF_SIZE_INST_MEM_CONTENT;
	}
	return words;
}

static_assert(HF_STF_SIZE_INST_MEM_CONTENT == HF_STF_SIZE_BUS_MASTER_CONTENT, "both are a descriptor and a word");

/* Returns the bytes of the access and its contents. */
static uint64_t attach_access(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec,
			      uint64_t size)
{
	struct hf_stf_group *g = &d->group;
	const bool mem = rec->descriptor == HF_STF_INST_MEM_ACCESS;
	struct hf_event *ev = hf_stf_out_push(out, mem ? HF_EVENT_MEM : HF_EVENT_BUS);
	const uint64_t content = g->at + size;
	const uint16_t stored = count_words(d, content, g->marker, (uint8_t)(rec->descriptor + 1));
	const unsigned sizes = mem ? hf_riscv_access_sizes(g->opcode, g->opcode_size, g->now.isa) : 0;
	uint8_t unit;
	uint32_t bytes = hf_stf_access_bytes(d->header, rec->size, sizes, &unit);
	const uint64_t word = stored ? hf_get64(hf_stf_dec_at(d, content) + 1) : 0;
	const bool range = mem && stored == 1 && hf_stf_access_is_range(d->header, rec->attr);
	const uint16_t words = range ? 0 : stored;
	const uint64_t data = range ? 0 : word;

	ev->flags = (uint8_t)((rec->code == HF_STF_READ || rec->code == HF_STF_WRITE ? rec->code : 0) | unit);
	if (range)
		bytes = word < UINT32_MAX ? (uint32_t)word : UINT32_MAX;
	ev->words = words;
	ev->size = words > 1 ? 8 * (words - 1u) : 0;
	if (mem) {
		ev->mem = (struct hf_ev_mem){.address = rec->address,
					     .data = data,
					     .size = bytes,
					     .attr = (uint16_t)rec->attr,
					     .tag = hf_stf_access_tag(d->header, rec->attr)};
	} else {
		ev->bus = (struct hf_ev_bus){.address = rec->address,
					     .data = data,
					     .attr = rec->attr,
					     .size = (uint16_t)bytes,
					     .master = rec->master,
					     .index = rec->index};
	}
	if (words > 1)
		g->span = (struct hf_stf_span){.offset = content + HF_STF_SIZE_INST_MEM_CONTENT + 1,
					       .left = ev->size,
					       .stride = HF_STF_SIZE_INST_MEM_CONTENT};
	return size + (uint64_t)stored * HF_STF_SIZE_INST_MEM_CONTENT;
}

static void attach_register(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec,
			    uint64_t size)
{
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_REG);

	ev->size = (uint32_t)size - HF_STF_SIZE_INST_REG;
	ev->reg = (struct hf_ev_reg){.value = rec->value,
				     .number = rec->number,
				     .class = hf_stf_register_class(rec->code),
				     .role = (uint8_t)(rec->code >> 4)};
	d->group.span = (struct hf_stf_span){.offset = d->group.at + HF_STF_SIZE_INST_REG, .left = ev->size};
}

static void attach_walk(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec)
{
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_TRANSLATION);

	ev->size = 16 * rec->count;
	ev->walk = (struct hf_ev_walk){
		.va = rec->address, .first = rec->value, .page_size = rec->size, .entries = rec->count};
	d->group.span = (struct hf_stf_span){.offset = d->group.at + HF_STF_SIZE_PAGE_TABLE_WALK, .left = ev->size};
}

/* The last EVENT_PC_TARGET from offset on, before the next EVENT (through: before the one behind that). */
static bool find_target(const struct hf_stf_dec *d, uint64_t offset, bool through, uint64_t *ret_target)
{
	const struct hf_stf_group *g = &d->group;
	bool found = false;

	while (offset < g->marker) {
		const uint8_t *p = hf_stf_dec_at(d, offset);
		uint64_t size;

		if (*p == HF_STF_EVENT && !through)
			break;
		if (*p == HF_STF_EVENT)
			through = false;
		if (*p == HF_STF_EVENT_PC_TARGET) {
			*ret_target = hf_get64(p + 1);
			found = true;
		}
		hf_stf_record_size(&d->header->layout, p, (size_t)(g->marker - offset), &size);
		offset += size;
	}
	return found;
}

/* Under ARM 0 says nothing (hartfs-stf(5)). */
static bool trap_value(unsigned arch, const struct hf_stf_record *rec, const uint8_t *words, uint64_t *ret_value)
{
	struct hf_stf_event_layout layout = hf_stf_event_layout(arch, rec->value);

	if (layout.value < 0 || rec->count <= (unsigned)layout.value)
		return false;
	*ret_value = hf_get64(words + 8 * layout.value);
	return arch != HF_ARCH_ARM || *ret_value;
}

static void attach_trap(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec, uint64_t size)
{
	struct hf_stf_group *g = &d->group;
	struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_TRAP);
	const uint64_t words = g->at + hf_stf_event_head(&d->header->layout);
	/* the mode that the group ends with is the last trap's */
	const bool with_mode = g->last_is_mode && g->at == g->last_trap;

	ev->flags = HF_EVF_CAUSE;
	if (rec->value & HF_STF_EVENT_INTERRUPT)
		ev->flags |= HF_EVF_ASYNC;
	ev->trap.cause = rec->value & ~HF_STF_EVENT_INTERRUPT;
	if (trap_value(d->dec.stream->info.arch, rec, hf_stf_dec_at(d, words), &ev->trap.value))
		ev->flags |= HF_EVF_VALUE;
	if (find_target(d, g->at + size, with_mode, &ev->trap.handler))
		ev->flags |= HF_EVF_HANDLER;
	if (with_mode) {
		ev->flags |= HF_EVF_MODE;
		ev->mode = g->last_mode;
		g->now.mode = g->last_mode;
	}
	ev->size = 8 * rec->count;
	g->span = (struct hf_stf_span){.offset = words, .left = ev->size};
}

static void attach_event(struct hf_stf_dec *d, struct hf_stf_out *out, const struct hf_stf_record *rec, uint64_t size)
{
	struct hf_stf_group *g = &d->group;
	uint64_t handler;

	if (rec->value != HF_STF_EVENT_MODE_CHANGE) {
		attach_trap(d, out, rec, size);
	} else if (!(g->trap && g->at == g->last_event) && find_target(d, g->at + size, false, &handler)) {
		struct hf_event *ev = hf_stf_out_push(out, HF_EVENT_TRAP_RETURN);
		const uint8_t *words = hf_stf_dec_at(d, g->at) + hf_stf_event_head(&d->header->layout);

		ev->flags = HF_EVF_HANDLER | HF_EVF_MODE;
		ev->trap.handler = handler;
		if (rec->count)
			ev->mode = hf_stf_mode_of_word(d->dec.stream->info.arch, hf_get64(words));
		g->now.mode = (uint8_t)ev->mode;
	}
}

void hf_stf_group_attach(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	struct hf_stf_group *g = &d->group;
	struct hf_stf_record rec = {0};
	const uint8_t *p = hf_stf_dec_at(d, g->at);
	uint64_t size;
	struct hf_event *ev;

	hf_stf_record_size(&d->header->layout, p, hf_reader_there(&d->reader, g->at), &size);
	hf_stf_record_parse(&d->header->layout, p, &rec);
	switch (rec.descriptor) {
	case HF_STF_INST_MEM_ACCESS:
	case HF_STF_BUS_MASTER_ACCESS:
		size = attach_access(d, out, &rec, size);
		break;
	case HF_STF_INST_REG:
		attach_register(d, out, &rec, size);
		break;
	case HF_STF_INST_READY_REG:
		hf_stf_out_push(out, HF_EVENT_READY_REG)->reg.number = rec.number;
		break;
	case HF_STF_PAGE_TABLE_WALK:
		attach_walk(d, out, &rec);
		break;
	case HF_STF_EVENT:
		attach_event(d, out, &rec, size);
		break;
	case HF_STF_INST_MICROOP:
		ev = hf_stf_out_push(out, HF_EVENT_UOP);
		ev->uop_size = (uint16_t)rec.code;
		ev->uop.opcode = rec.size;
		break;
	case HF_STF_TRANSACTION_DEPENDENCY:
		ev = hf_stf_out_push(out, HF_EVENT_DEPENDENCY);
		ev->clock = rec.clock;
		ev->txn = (struct hf_ev_txn){.id = rec.value, .delta = rec.delta};
		break;
	default:
		break; /* told already, or part of another */
	}
	g->at += size;
}
