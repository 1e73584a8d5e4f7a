/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/astf/dump.h"

#include "codecs/isa/names.h"

static inline uint8_t *put_number(uint8_t *t, const char *text, uint64_t v)
{
	return hf_text_put_dec(hf_text_put(t, text), v);
}

static inline uint8_t *put_address(uint8_t *t, const char *open, uint64_t v, const char *close)
{
	return hf_text_put(hf_text_put_hex16(hf_text_put(t, open), v), close);
}

/* " v[address]t R16", of a range " v[first]t..[limit] W": what reads, writes, or neither. */
static inline uint8_t *put_access(uint8_t *t, uint64_t address, bool range, uint64_t size, bool tagged,
				  unsigned direction)
{
	static const char *const names[4] = {" ?", " R", " W", " RW"};

	t = put_address(t, " v[", address, tagged ? "]t" : "]");
	if (range)
		t = put_address(t, "..[", address + size, "]");
	t = hf_text_put(t, names[direction & 3]);
	return range ? t : hf_text_put_dec(t, size);
}

static uint8_t *put_insn(const struct hf_astf_dump_state *state, uint8_t *t, const struct hf_astf_record *rec)
{
	const bool branch = HF_ASTF_GET(rec, INSTR, is_branch), valid = HF_ASTF_GET(rec, INSTR, ea_valid);
	const bool range = HF_ASTF_GET(rec, INSTR, xattr_mode) == HF_ASTF_XATTR_RANGE;
	const uint64_t ea = HF_ASTF_GET(rec, INSTR, ea);

	t = hf_text_put(hf_text_put(t, " "), hf_mode_name(state->mode));
	t = put_address(t, " [", HF_ASTF_GET(rec, INSTR, pc), "] ");
	t = hf_text_put_hex_width(t, HF_ASTF_GET(rec, INSTR, iword), 8);
	if (HF_ASTF_GET(rec, INSTR, xattr_mode) == HF_ASTF_XATTR_SME)
		t = hf_text_put(put_number(t, " i{", HF_ASTF_GET(rec, INSTR, xattr) & 0xff), "}");
	if (branch)
		t = valid ? put_address(t, " T v<", ea, ">") : hf_text_put(t, " NT");
	else if (valid)
		t = put_access(t, ea, range,
			       range ? HF_ASTF_GET(rec, INSTR, xattr) : HF_ASTF_GET(rec, INSTR, ea_size) + 1,
			       HF_ASTF_GET(rec, INSTR, ea_tagged), rec->word[0] >> 20 & 3);
	if (HF_ASTF_GET(rec, INSTR, extra_eas))
		t = hf_text_put(t, " +");
	return HF_ASTF_GET(rec, INSTR, trap) ? hf_text_put(t, " tr") : t;
}

static uint8_t *put_extra(uint8_t *t, const struct hf_astf_record *rec)
{
	const bool range = HF_ASTF_GET(rec, EXTRA_EA, mem1_addr_range);

	t = put_access(t, HF_ASTF_GET(rec, EXTRA_EA, mem0_addr), range,
		       range ? HF_ASTF_GET(rec, EXTRA_EA, mem1_addr) : HF_ASTF_GET(rec, EXTRA_EA, mem0_size) + 1,
		       HF_ASTF_GET(rec, EXTRA_EA, mem0_tagged), rec->word[0] >> 22 & 3);
	if (!range && HF_ASTF_GET(rec, EXTRA_EA, mem1_valid))
		t = put_access(t, HF_ASTF_GET(rec, EXTRA_EA, mem1_addr), false,
			       HF_ASTF_GET(rec, EXTRA_EA, mem1_size) + 1, HF_ASTF_GET(rec, EXTRA_EA, mem1_tagged),
			       rec->word[2] >> 22 & 3);
	return HF_ASTF_GET(rec, EXTRA_EA, extra_eas) ? hf_text_put(t, " +") : t;
}

static uint8_t *put_trap(uint8_t *t, const struct hf_astf_record *rec)
{
	static const char *const types[8] = {" synchronous exception", " SError", " IRQ", " FIQ", " exception return",
					     " PE reset", " type 6", " type 7"};
	static const char *const calls[4] = {"", " SVC", " HVC", " SMC"};
	const unsigned type = (unsigned)HF_ASTF_GET(rec, TRAP, trap_type), ec = (unsigned)HF_ASTF_GET(rec, TRAP, ec);
	const char *name = hf_cause_name(true, false, ec);

	t = hf_text_put(t, types[type]);
	t = put_address(t, " to <", HF_ASTF_GET(rec, TRAP, target_pc), ">");
	if (type == HF_ASTF_TRAP_SYNC || ec) {
		t = hf_text_put_hex_width(hf_text_put(t, " EC="), ec, 2);
		if (name)
			t = hf_text_put(hf_text_put(hf_text_put(t, " ("), name), ")");
	}
	if (HF_ASTF_GET(rec, TRAP, syscall_type))
		t = put_number(hf_text_put(t, calls[HF_ASTF_GET(rec, TRAP, syscall_type)]), " ",
			       HF_ASTF_GET(rec, TRAP, syscall_index));
	return HF_ASTF_GET(rec, TRAP, is_virtual) ? hf_text_put(t, " virtual") : t;
}

static uint8_t *put_context(struct hf_astf_dump_state *state, uint8_t *t, const struct hf_astf_record *rec)
{
	static const char *const checks[4] = {"", " TC-sync", " TC-async", " TC-asym"};

	state->mode = hf_astf_mode(rec);
	t = hf_text_put(hf_text_put(t, " "), hf_mode_name(state->mode));
	t = hf_text_put(t, HF_ASTF_GET(rec, CONTEXT, secure) ? " secure" : " non-secure");
	if (HF_ASTF_GET(rec, CONTEXT, pid_valid))
		t = put_number(t, " PID=", HF_ASTF_GET(rec, CONTEXT, pid));
	if (HF_ASTF_GET(rec, CONTEXT, tid_valid))
		t = put_number(t, " TID=", HF_ASTF_GET(rec, CONTEXT, tid));
	t = put_number(t, HF_ASTF_GET(rec, CONTEXT, pstate_sm) ? " SSVE" : " SVE",
		       128 * (HF_ASTF_GET(rec, CONTEXT, evl) + 1));
	t = hf_text_put(t, checks[HF_ASTF_GET(rec, CONTEXT, mte_tcf)]);
	if (HF_ASTF_GET(rec, CONTEXT, pstate_dit))
		t = hf_text_put(t, " DIT");
	if (HF_ASTF_GET(rec, CONTEXT, pstate_ssbs))
		t = hf_text_put(t, " SSBS");
	return HF_ASTF_GET(rec, CONTEXT, unsupported) ? hf_text_put(t, " unsupported") : t;
}

static uint8_t *put_header(uint8_t *t, const struct hf_astf_record *rec)
{
	t = put_number(t, " ASTF ", HF_ASTF_GET(rec, HEADER, version_major));
	t = put_number(t, ".", HF_ASTF_GET(rec, HEADER, version_minor));
	t = hf_text_put(t, HF_ASTF_GET(rec, HEADER, single_el) ? " Basic" : " BasicPlus");
	return HF_ASTF_GET(rec, HEADER, timestamps) ? hf_text_put(t, " timestamps") : t;
}

/* The string's bytes in this record, in quotes. */
static uint8_t *put_string(struct hf_astf_dump_state *state, uint8_t *t, const uint8_t *p, uint32_t room)
{
	const uint32_t n = state->text < room ? state->text : room;

	t = hf_text_put(t, " \"");
	for (uint32_t i = 0; i < n; i++, p++) {
		if (*p == '"' || *p == '\\')
			*t++ = '\\';
		if (*p >= ' ' && *p <= '~')
			*t++ = *p;
		else
			t = hf_text_put_hex_width(hf_text_put(t, "\\x"), *p, 2);
	}
	state->text = (uint16_t)(state->text - n);
	*t++ = '"';
	return t;
}

static uint8_t *put_words(uint8_t *t, const char *text, const struct hf_astf_record *rec)
{
	t = hf_text_put(t, text);
	for (unsigned i = 0; i < 4; i++) {
		*t++ = i ? '_' : '=';
		t = hf_text_put_hex16(t, rec->word[i]);
	}
	return t;
}

static uint8_t *put_fields(struct hf_astf_dump_state *state, uint8_t *t, const struct hf_astf_record *rec,
			   const uint8_t *p)
{
	switch (hf_astf_type(rec)) {
	case HF_ASTF_INSTR: return put_insn(state, t, rec);
	case HF_ASTF_EXTRA_EA: return put_extra(t, rec);
	case HF_ASTF_TRAP: return put_trap(t, rec);
	case HF_ASTF_CONTEXT: return put_context(state, t, rec);
	case HF_ASTF_HEADER: return put_header(t, rec);
	case HF_ASTF_TIMESTAMP:
		t = put_number(t, " ", HF_ASTF_GET(rec, TIMESTAMP, value0));
		if (HF_ASTF_GET(rec, TIMESTAMP, value1))
			t = put_number(t, " value1=", HF_ASTF_GET(rec, TIMESTAMP, value1));
		return HF_ASTF_GET(rec, TIMESTAMP, unit) == 1 ?
			       hf_text_put(t, " us") : put_number(t, " unit=", HF_ASTF_GET(rec, TIMESTAMP, unit));
	case HF_ASTF_STRING:
		state->text = (uint16_t)HF_ASTF_GET(rec, STRING, size);
		return put_string(state, put_number(t, " ", state->text), p + 4, HF_ASTF_STRING_FIRST);
	case HF_ASTF_STRING_CONT: return put_string(state, t, p + 1, HF_ASTF_STRING_NEXT);
	default: return put_words(t, "", rec);
	}
}

uint8_t *hf_astf_dump_line(struct hf_astf_dump_state *state, uint8_t *t, uint64_t offset, const uint8_t *p)
{
	struct hf_astf_record rec, reserved;
	const char *name;

	hf_astf_load(&rec, p);
	name = hf_astf_name(hf_astf_type(&rec));
	t = hf_text_put(hf_text_put_dec(t, offset), " ");
	t = hf_text_put(t, name ? name : "UNKNOWN");
	if (hf_astf_type(&rec) != HF_ASTF_STRING_CONT)
		state->text = 0;
	t = put_fields(state, t, &rec, p);
	reserved = hf_astf_reserved(&rec);
	if (hf_astf_has_reserved(&rec))
		t = put_words(t, " reserved", &reserved);
	*t++ = '\n';
	return t;
}

/* ---- records that are events ---- */

bool hf_astf_dump_pack(const struct hf_astf_dump_state *state, const struct hf_astf_record *rec, struct hf_event *ev)
{
	if (hf_astf_has_reserved(rec))
		return false;
	ev->flags = state->mode;
	memcpy(ev->word, rec->word, sizeof ev->word);
	if (hf_astf_type(rec) == HF_ASTF_INSTR)
		return rec->word[3] == 0;
	ev->word[0] |= rec->word[2] << 32;
	ev->word[2] = rec->word[3];
	return hf_astf_type(rec) == HF_ASTF_EXTRA_EA;
}

static uint8_t *put_packed(uint8_t *t, const struct hf_event *ev, unsigned at)
{
	const struct hf_astf_dump_state state = {.mode = ev->flags};
	struct hf_astf_record rec = {{ev->word[0], ev->word[1], ev->word[2], 0}};

	(void)at;
	if (hf_astf_type(&rec) == HF_ASTF_INSTR) {
		t = put_insn(&state, hf_text_put(t, " INSTR"), &rec);
	} else {
		rec = (struct hf_astf_record){{(uint32_t)ev->word[0], ev->word[1], ev->word[0] >> 32, ev->word[2]}};
		t = put_extra(hf_text_put(t, " EXTRA_EA"), &rec);
	}
	*t++ = '\n';
	return t;
}

/* Addresses and the opcode have as many digits as they may. */
static uint64_t key(const struct hf_event *ev, unsigned at)
{
	const uint64_t more = 1 << 10; /* than the type; the bit is reserved in both */
	const bool is_insn = (uint8_t)ev->word[0] == HF_ASTF_INSTR;

	(void)at;
	return more | (is_insn ? (uint32_t)ev->word[0] | (uint64_t)ev->flags << 32 : ev->word[0]);
}

const struct hf_record_ops hf_astf_dump_record = {.put = put_packed, .key = key};
