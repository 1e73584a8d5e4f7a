/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/listing/listing.h"

#include "codecs/isa/disasm.h"
#include "codecs/isa/names.h"
#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"
#include "codecs/views.h"

#include <stdlib.h>

static_assert(HF_DISASM_ROOM + HF_SYMBOL_NAME_MAX + HF_LINES_NAME_MAX + LISTING_INLINED_ROOM + 256 <= LISTING_ROOM,
	      "an instruction's line fits");
static_assert(LISTING_ROOM <= HF_SINK_ROOM, "a sink gives that much");
static_assert(HF_DISASM_ROOM >= HF_LISTED_LINE_TEXT, "so much is there behind where a line begins");

/* So many events before its turn a line is looked for. */
#define AHEAD 4

static const char blanks[HF_DISASM_WIDTH + 1] = "                                ";

/* " M ", " EL1h ": what stands between ordinal and pc. */
static const struct {
	char text[11];
	uint8_t len;
} modes[HF_MODE_COUNT] = {
#define HF_MODE(name, word, level, stf) {" " word " ", sizeof word + 1},
#include "codecs/modes.def"
#undef HF_MODE
};

/* Sets the digits of the next ordinal: after loading or counting, and when a carry runs through all of them. */
static void set_number(struct listing *l)
{
	uint8_t digits[24] = {0};

	l->digits = (unsigned)(hf_text_put_dec(digits, l->state.ordinal) - digits);
	memcpy(l->number.byte, digits, sizeof digits);
}

static __attribute__((noinline)) void carry(struct listing *l)
{
	unsigned i = l->digits;

	while (i > 0 && l->number.byte[i - 1] > '9')
		if (--i > 0) {
			l->number.byte[i] = '0';
			l->number.byte[i - 1]++;
		}
	if (l->number.byte[0] > '9')
		set_number(l);
}

/* Adds one to the number in place, in whole words: a byte store followed by a wide load would stall. */
static inline void advance(struct listing *l)
{
	unsigned last = l->digits - 1;
	unsigned shift = last % 8 * 8;
	uint64_t word = l->number.word[last / 8] + ((uint64_t)1 << shift);

	l->state.ordinal++;
	l->number.word[last / 8] = word;
	if ((word >> shift & 0xff) > '9')
		carry(l);
}

/* Word by word, as advance has stored them: a wider load would wait until that store is through. */
static inline uint8_t *put_number(uint8_t *p, const struct listing *l)
{
	memcpy(p, &l->number.word[0], 8);
	if (l->digits > 8) {
		memcpy(p + 8, &l->number.word[1], 8);
		if (l->digits > 16)
			memcpy(p + 16, &l->number.word[2], 8);
	}
	return p + l->digits;
}

/* Where an attachment goes: behind the instruction, or on a line of its own if no instruction's line is open. */
static inline uint8_t *attach(struct listing *l, uint8_t *p, unsigned kind)
{
	if (l->state.line == LISTING_INSN) {
		memcpy(p, blanks, HF_DISASM_WIDTH);
		p += l->state.owed;
		l->state.owed = 0;
	} else if (l->state.line != LISTING_LOOSE) {
		p = hf_listing_begin(l, p, LISTING_LOOSE, "#");
	}
	l->state.run = (uint8_t)kind;
	l->state.place = 0;
	return p;
}

/* The symbol at pc, or NULL, also if they are those of another machine. */
static const struct hf_symbol *find_symbol(const struct listing *l, uint64_t pc)
{
	const struct hf_symbols *symbols = hf_symbols_of(l->enc.env->symbols, l->enc.hart);
	const uint16_t machine = hf_symbols_machine(symbols);

	return !machine || hf_arch_has_machine(l->enc.stream->info.arch, machine) ? hf_symbols_at(symbols, pc) : NULL;
}

/* " sort.c:42" */
static uint8_t *put_source(struct listing *l, uint8_t *p, uint64_t pc)
{
	struct hf_line *line = &l->line;

	if (pc - line->start >= line->end - line->start)
		hf_symbols_line_at(hf_symbols_of(l->enc.env->symbols, l->enc.hart), pc, line);
	if (!line->line)
		return p;
	*p++ = ' ';
	memcpy(p, line->file, line->file_size);
	p += line->file_size;
	*p++ = ':';
	return hf_text_put_dec(p, line->line);
}

/* " at sort.c:42"; nothing if all of it is unknown */
static uint8_t *put_call_line(uint8_t *p, const struct hf_inlined_call *call)
{
	if (!call->line && !call->file_size && call->name[0] == '?')
		return p;
	p = hf_text_put(p, " at ");
	if (!call->line || !call->file_size)
		return hf_text_put(p, "?");
	memcpy(p, call->file, call->file_size);
	p += call->file_size;
	*p++ = ':';
	return hf_text_put_dec(p, call->line);
}

/* " inlined swap at sort.c:77 inlined partition at sort.c:90" */
static uint8_t *put_inlined(struct listing *l, uint8_t *p, uint64_t pc)
{
	enum { ONE_ROOM = HF_SYMBOL_NAME_MAX + HF_LINES_NAME_MAX + 64 };
	struct hf_inlined_place *place = &l->inlined;
	uint8_t *const end = p + LISTING_INLINED_ROOM - ONE_ROOM;
	struct hf_inlined_call call;

	if (pc - place->start >= place->end - place->start)
		hf_symbols_inlined_at(hf_symbols_of(l->enc.env->symbols, l->enc.hart), pc, place, &l->calls);
	for (uint32_t i = place->call; i; i = call.outer) {
		if (p > end)
			return hf_text_put(p, " inlined ...");
		hf_inlined_get(l->calls, i, &call);
		p = hf_text_put(p, " inlined ");
		memcpy(p, call.name, call.name_size);
		p = put_call_line(p + call.name_size, &call);
	}
	return p;
}

/* " <name+0x10 sort.c:42>" */
static uint8_t *put_symbol(struct listing *l, uint8_t *p, uint64_t pc)
{
	const struct hf_symbol *symbol = l->symbol;

	if (!symbol || pc < symbol->start || pc >= symbol->end)
		symbol = l->symbol = find_symbol(l, pc);
	if (!symbol)
		return p;
	*p++ = ' ';
	*p++ = '<';
	memcpy(p, symbol->name, symbol->name_size);
	p += symbol->name_size;
	if (pc != symbol->start)
		p = hf_text_put_hex(hf_text_put(p, "+0x"), pc - symbol->start);
	if (l->has_lines)
		p = put_source(l, p, pc);
	if (l->has_inlined)
		p = put_inlined(l, p, pc);
	*p++ = '>';
	return p;
}

/* The part of a line that instructions and attempts share: " mode pc opcode disassembly", up to the padding. */
static inline uint8_t *put_body(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	const struct hf_ev_insn *insn = &ev->insn;
	const struct hf_enc_env *env = l->enc.env;
	unsigned mode = insn->mode < HF_MODE_COUNT ? insn->mode : HF_MODE_UNKNOWN;
	uint8_t *start;

	memcpy(p, &modes[mode], sizeof modes[mode]);
	p += modes[mode].len;
	start = p = hf_text_put_hex16(p, insn->pc) + 1;
	p[-1] = ' ';
	if (env && env->disasm) {
		const unsigned isa = hf_disasm_isa(insn->isa, insn->opcode, l->extensions) |
				     (mode == HF_MODE_THREAD || mode == HF_MODE_HANDLER ? HF_DISASM_M : 0);

		p = hf_disasm_put(env->disasm, p, insn->opcode, hf_disasm_size(insn->size, ev->it), isa);
		l->state.owed = p - start < HF_DISASM_WIDTH ? (uint8_t)(HF_DISASM_WIDTH - (p - start)) : 0;
	} else {
		p = hf_text_put_hex_width(p, insn->opcode, insn->size == 2 ? 4 : 8);
		l->state.owed = (uint8_t)(8 - (p - start)); /* the column behind the opcode */
		memcpy(p, blanks, 8);
	}
	return p;
}

/* Behind put_body the padding is in place already. */
static inline uint8_t *pad(struct listing *l, uint8_t *p)
{
	p += l->state.owed;
	l->state.owed = 0;
	return p;
}

static inline uint8_t *put_place(struct listing *l, uint8_t *p, uint64_t pc)
{
	if (!l->enc.env || !l->enc.env->symbols)
		return p;
	return put_symbol(l, pad(l, p), pc);
}

/* The line behind the ordinal. */
static uint8_t *put_line(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = put_body(l, p, ev);
	p = put_place(l, p, ev->insn.pc);
	if (ev->flags & HF_EVF_TAKEN) {
		p = pad(l, p);
		memcpy(p, " -> ", 4);
		p = hf_text_put_hex16(p + 4, ev->insn.target);
	} else if (hf_event_is_not_taken(ev)) {
		p = hf_text_put(pad(l, p), " (not taken)");
	}
	return p;
}

/* The same, remembered. */
static uint8_t *put_new_line(struct listing *l, uint8_t *p, const struct hf_event *ev, struct hf_listed_line *line)
{
	uint8_t *const start = p;
	size_t len;

	p = put_line(l, p, ev);
	len = (size_t)(p - start);
	if (len + l->state.owed > HF_LISTED_LINE_TEXT)
		return p;
	memcpy(line, &(struct hf_listed_line){.use = l->use, .flags = ev->flags, .len = (uint8_t)len, .owed = l->state.owed,
						.it = (uint8_t)ev->it},
	       offsetof(struct hf_listed_line, text));
	memcpy(line->word, ev->word, sizeof line->word);
	memcpy(line->text, start, HF_LISTED_LINE_TEXT);
	return p;
}

/* lines: NULL, or this encoder's */
static inline uint8_t *put_insn(struct listing *l, uint8_t *p, const struct hf_event *ev, struct hf_listed_lines *lines)
{
	struct hf_listed_line *line;

	*p = '"';
	p += l->state.line == LISTING_TEXT;
	*p = '\n';
	p += l->state.line != LISTING_NONE;
	l->state.line = LISTING_INSN;
	l->state.run = HF_EVENT_NONE;
	p = put_number(p, l);
	advance(l);
	if (!lines)
		return put_line(l, p, ev);
	line = hf_listed_line_at(lines, ev);
	if ((line->word[0] ^ ev->word[0]) | (line->word[1] ^ ev->word[1]) | (line->word[2] ^ ev->word[2]) |
	    (line->use ^ l->use) | (line->flags ^ ev->flags) | (line->it ^ ev->it))
		return put_new_line(l, p, ev, line);
	memcpy(p, line->text, HF_LISTED_LINE_TEXT);
	l->state.owed = line->owed;
	return p + line->len;
}

static uint8_t *put_attempt(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = hf_listing_begin(l, p, LISTING_INSN, "# attempt");
	if (ev->insn.size) {
		p = put_body(l, p, ev);
	} else {
		p = hf_text_put_hex16(hf_text_put(p, modes[ev->insn.mode < HF_MODE_COUNT ? ev->insn.mode : 0].text),
				      ev->insn.pc);
		p = hf_text_put(p, " -");
	}
	p = put_place(l, p, ev->insn.pc);
	if (!(ev->flags & HF_EVF_RECORD))
		return p;
	return hf_text_put_dec(hf_text_put(pad(l, p), " record="), ev->insn.record);
}

/* "{tag=a,attr=20,stored=64}" */
static uint8_t *put_attributes(uint8_t *p, unsigned tag, uint32_t attr, bool assumed, uint64_t stored)
{
	uint8_t *const start = p;

	if (tag)
		p = hf_text_put_hex(hf_text_put(p, ",tag="), tag);
	if (attr)
		p = hf_text_put_hex(hf_text_put(p, ",attr="), attr);
	if (assumed)
		p = hf_text_put_dec(hf_text_put(p, ",stored="), stored);
	*start = '{';
	*p++ = '}';
	return p;
}

/* "R8 address{attr}" */
static inline uint8_t *put_access(uint8_t *p, unsigned flags, uint32_t size, uint64_t address, unsigned tag,
				  uint32_t attr)
{
	static const char kinds[4][4] = {"?", "R", "W", "RW"};
	const bool assumed = flags & HF_EVF_SIZE_ASSUMED;

	memcpy(p, kinds[flags & 3], 4);
	p += (flags & 3) == 3 ? 2 : 1;
	p = hf_text_put_dec(p, size);
	*p++ = ' ';
	p = flags & HF_EVF_NO_ADDRESS ? hf_text_put(p, "?") : hf_text_put_hex16(p, address);
	if (tag | attr | assumed)
		p = put_attributes(p, tag, attr, assumed, flags & HF_EVF_SIZE_BITS ? (uint64_t)size * 8 : size);
	return p;
}

static inline uint8_t *put_value(uint8_t *p, uint32_t size, uint64_t data)
{
	*p++ = '=';
	if (size == 0 || size >= 8 || data >> (8 * size))
		return hf_text_put_hex16(p, data);
	return hf_text_put_hex_width(p, data, 2 * size);
}

static inline uint8_t *put_mem(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	const struct hf_ev_mem *mem = &ev->mem;

	p = attach(l, p, HF_EVENT_MEM);
	*p++ = ' ';
	p = put_access(p, ev->flags, mem->size, mem->address, mem->tag, mem->attr);
	return ev->words ? put_value(p, mem->size, mem->data) : p;
}

static uint8_t *put_bus(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	/* STF's initiator types, as its reference library numbers them */
	static const char *const masters[] = {"?", "CORE", "GPU", "DMA", "PCIE", "SRIO", "ICN"};
	const struct hf_ev_bus *bus = &ev->bus;

	p = attach(l, p, HF_EVENT_BUS);
	p = hf_text_put(p, " bus:");
	p = hf_text_put(p, bus->master < sizeof masters / sizeof masters[0] ? masters[bus->master] : "?");
	p = hf_text_put_dec(p, bus->index);
	*p++ = ':';
	p = put_access(p, ev->flags, bus->size, bus->address, 0, bus->attr);
	return ev->words ? put_value(p, bus->size, bus->data) : p;
}

static inline uint8_t *put_register_name(uint8_t *p, const struct hf_event *ev)
{
	static const char letters[8] = "rxfv";
	const unsigned class = ev->reg.class, number = ev->reg.number;

	if (class > HF_REG_CSR)
		return hf_listing_put_arm_register(p, ev);
	if (class == HF_REG_CSR) {
		const struct hf_csr *csr = &hf_csrs[number & 0xfff];

		if (csr->len && number < 4096) {
			memcpy(p, csr->name, sizeof csr->name);
			return p + csr->len;
		}
		return hf_text_put_hex_width(hf_text_put(p, "csr_"), number, number < 4096 ? 3 : 4);
	}
	if (class == HF_REG_INTEGER && number == 0x20)
		return hf_text_put(p, "pc");
	*p++ = (uint8_t)letters[class];
	return hf_text_put_dec(p, number);
}

uint8_t *hf_listing_put_register_name(uint8_t *p, const struct hf_event *ev)
{
	return put_register_name(p, ev);
}

static inline uint8_t *put_reg(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	static const char roles[4] = "?~:=";
	const struct hf_ev_reg *reg = &ev->reg;

	p = attach(l, p, HF_EVENT_REG);
	if (reg->class == HF_REG_ZA_INDEX)
		return hf_text_put(hf_text_put_dec(hf_text_put(p, " i{"), reg->value), "}");
	*p++ = ' ';
	p = put_register_name(p, ev);
	*p++ = (uint8_t)roles[reg->role < HF_REG_ROLE_COUNT ? reg->role : 0];
	return reg->class == HF_REG_VECTOR || reg->class == HF_REG_ARM_VECTOR ? hf_text_put_hex16(p, reg->value) : hf_text_put_hex(p, reg->value);
}

static uint8_t *put_walk(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = hf_text_put(attach(l, p, HF_EVENT_TRANSLATION), " walk ");
	p = hf_text_put_hex16(p, ev->walk.va);
	*p++ = '/';
	p = hf_text_put_hex(p, ev->walk.page_size);
	p = hf_text_put(p, " first=");
	return hf_text_put_dec(p, ev->walk.first);
}

static uint8_t *put_ready(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = hf_text_put(attach(l, p, HF_EVENT_READY_REG), " ready:");
	return hf_text_put_dec(p, ev->reg.number);
}

static uint8_t *put_uop(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	unsigned size = ev->uop_size >= 1 && ev->uop_size <= 8 ? ev->uop_size : 8;

	p = hf_text_put(attach(l, p, HF_EVENT_UOP), " uop:");
	return hf_text_put_hex_width(p, ev->uop.opcode, 2 * size);
}

/* p[LISTING_ROOM] */
static uint8_t *put_event(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_INSN: return put_insn(l, p, ev, NULL);
	case HF_EVENT_MEM: return put_mem(l, p, ev);
	case HF_EVENT_REG: return put_reg(l, p, ev);
	case HF_EVENT_ATTEMPT: return put_attempt(l, p, ev);
	case HF_EVENT_READY_REG: return put_ready(l, p, ev);
	case HF_EVENT_UOP: return put_uop(l, p, ev);
	case HF_EVENT_TRANSLATION: return put_walk(l, p, ev);
	case HF_EVENT_BUS: return put_bus(l, p, ev);
	default: return hf_listing_put_other(l, p, ev);
	}
}

/* Those of the disassembler. What another encoder wrote there, or this one with other symbols, counts no more; what this
 * one wrote before it was loaded anew does. */
static struct hf_listed_lines *use_lines(struct listing *l)
{
	struct hf_listed_lines *lines = l->enc.env && l->enc.env->disasm ? l->enc.env->disasm->lines : NULL;
	const void *const symbols = l->enc.env ? l->enc.env->symbols : NULL;

	if (lines && (lines->user != l || lines->symbols != symbols || lines->uses != l->use)) {
		lines->user = l;
		lines->symbols = symbols;
		l->use = ++lines->uses;
	}
	return lines;
}

static void put_known(struct hf_enc *enc, const struct hf_event *ev, size_t n, const struct hf_stretch *stretch,
		      size_t count, struct hf_sink *sink)
{
	struct listing *l = (struct listing *)enc;
	struct hf_listed_lines *lines;
	uint8_t *p = sink->p;

	if (sink->counts && enc->env && enc->env->memo) {
		hf_sink_count(sink, hf_listing_count(l, put_event, ev, n, stretch, count));
		set_number(l);
		return;
	}

	lines = use_lines(l);
	for (; n; n--, ev++) {
		if (sink->end - p < LISTING_ROOM) {
			sink->p = p;
			p = hf_sink_room(sink, LISTING_ROOM);
		}
		if (lines && n > AHEAD)
			hf_listed_line_prefetch(lines, ev + AHEAD);
		p = ev->kind == HF_EVENT_INSN ? put_insn(l, p, ev, lines) : put_event(l, p, ev);
	}
	sink->p = p;
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	put_known(enc, ev, n, NULL, 0, sink);
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	struct listing *l = (struct listing *)enc;

	sink->p = hf_listing_begin(l, hf_sink_room(sink, LISTING_ROOM), LISTING_NONE, "");
}

static const struct hf_field_row fields[] = {
	HF_FIELD_ROW(struct listing_state, ordinal, UINT64_MAX / 2),
	HF_FIELD_ROW(struct listing_state, line, LISTING_TEXT),
	HF_FIELD_ROW(struct listing_state, owed, HF_DISASM_WIDTH),
	HF_FIELD_ROW(struct listing_state, run, HF_EVENT_KINDS - 1),
	HF_FIELD_ROW(struct listing_state, place, 2),
	HF_FIELD_ROW(struct listing_state, ids, HF_CONTEXT_PID | HF_CONTEXT_TID),
	HF_FIELD_ROW(struct listing_state, channel, UINT64_MAX),
	HF_FIELD_ROW(struct listing_state, said, LISTING_TEXT_MAX),
};

static void state(struct hf_enc *enc, struct hf_fields *f)
{
	struct listing *l = (struct listing *)enc;

	if (!f->loading && l->state.line != LISTING_TEXT)
		l->state.channel = l->state.said = 0;
	HF_FIELD_ROWS(f, fields, &l->state);
	hf_fields_require(f, l->state.line == LISTING_TEXT || (!l->state.channel && !l->state.said));
	if (!f->loading)
		return;
	/* There may be other symbols. */
	l->symbol = NULL;
	l->line = (struct hf_line){0};
	l->inlined = (struct hf_inlined_place){0};
	set_number(l);
}

static size_t owes(const struct hf_enc *enc)
{
	const unsigned line = ((const struct listing *)enc)->state.line;

	return line == LISTING_TEXT ? 2 : line != LISTING_NONE;
}

static int init(struct hf_enc *enc)
{
	struct listing *l = (struct listing *)enc;
	const struct hf_symbols *symbols;

	l->extensions = hf_code_size_extensions(enc->stream, enc->hart);
	set_number(l);
	symbols = enc->env && enc->env->symbols ? hf_symbols_of(enc->env->symbols, enc->hart) : NULL;
	l->has_lines = symbols && hf_symbols_have_lines(symbols);
	l->has_inlined = symbols && hf_symbols_have_inlined(symbols);
	return 0;
}

const struct hf_enc_ops hf_view_listing = {
	.name = "listing",
	.view = "listing.txt",
	.version = 8,
	.flags = HF_ENC_LINES | HF_ENC_SYMBOLS | HF_ENC_COUNTS | HF_ENC_TIMES,
	.size = sizeof(struct listing),
	.put_known = put_known,
	.init = init,
	.put = put,
	.end = end,
	.owes = owes,
	.state = state,
	.check_params = hf_listing_check_params,
	.symbols = hf_listing_symbols,
};
