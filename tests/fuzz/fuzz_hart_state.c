/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any events before a moment of a hart, and how hartfs state shows it: lines without anything that a terminal would act
 * on, of which each register has one, and JSON that says of as many registers and accesses. Input: flags; the ordinal;
 * how many events a decoder gives at once; then events.
 */
#define hf_cursor_enter enter_chunk
#define hf_cursor_advance next_chunk
#define hf_cursor_take take_events
#include "fs/find/hart_state_scan.c"
#include "fs/find/walk.c"

#include "fs/find/hart_state_text.h"
#include "tests/lib/fuzztext.h"

#include <stdio.h>

extern const struct hf_codec hf_codec_stf;

enum { ARM = 1, HEAD = 3, EVENTS = 64 };

static struct hf_event events[EVENTS];
static size_t count, at_once;

int enter_chunk(struct hf_cursor *c, uint64_t number, struct hf_diag *diag)
{
	(void)diag;
	MUST(!number);
	c->left = c->chunk.events = count;
	return 0;
}

int next_chunk(struct hf_cursor *c, struct hf_diag *diag)
{
	(void)c;
	(void)diag;
	return HF_NOTE_END;
}

int take_events(struct hf_cursor *c, struct hf_event *ev, uint64_t max, size_t *ret_n, struct hf_diag *diag)
{
	(void)diag;
	*ret_n = (size_t)(max < at_once ? max : at_once);
	*ret_n = *ret_n < c->left ? *ret_n : (size_t)c->left;
	memcpy(ev, events + count - c->left, *ret_n * sizeof *ev);
	c->left -= *ret_n;
	return *ret_n ? 0 : HF_ERR_MISMATCH;
}

/* Lines that begin with a word and go on with a name that no other has. */
HF_NO_COVERAGE static unsigned count_lines(const char *text, const char *word, bool named)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, word)); p++) {
		const size_t size = strlen(word) + strcspn(p + strlen(word), "= \n");

		if (p == text || p[-1] != '\n')
			continue;
		n++;
		for (const char *q = text; named && q < p; q = strchr(q, '\n') + 1)
			MUST(strncmp(q, p, size) != 0 || !strchr("= \n", q[size]));
	}
	return n;
}

static char *show(const struct hf_hart_state *state, const struct hf_open *open, enum hf_hart_state_form form)
{
	static struct hf_disasm *disasm;
	struct hf_sink sink;
	char *text;

	MUST(disasm || !hf_disasm_new(&disasm));
	MUST(!hf_sink_init_memory(&sink, 0) && !hf_hart_state_put(state, open, disasm, form, &sink));
	check_text((const char *)sink.start, (size_t)hf_sink_total(&sink));
	text = strndup((const char *)sink.start, (size_t)hf_sink_total(&sink));
	MUST(text);
	hf_sink_fini_memory(&sink);
	return text;
}

/* No source has registers of both architectures: x10 would be a name of two. */
static uint8_t class_of(uint8_t byte, bool arm)
{
	const uint8_t class = byte % HF_REG_CLASS_COUNT;
	const bool is_arm = class >= HF_REG_ARM_GENERAL && class <= HF_REG_ARM32_SYSTEM;

	return class >= HF_REG_INTEGER && class < HF_REG_UNKNOWN && class != HF_REG_ZA_INDEX && is_arm != arm ? HF_REG_UNKNOWN : class;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct hf_open open;
	static struct hf_stream stream;
	struct hf_cursor cursor = {.chunk.insns = 0};
	struct hf_hart_state *state;
	char *text;

	if (n < HEAD)
		return 0;
	stream = (struct hf_stream){.codec = &hf_codec_stf, .info.arch = bytes[0] & ARM ? HF_ARCH_ARM : HF_ARCH_RISCV};
	open.stream = &stream;
	at_once = 1 + bytes[2] % 8;
	count = (n - HEAD) / sizeof *events < EVENTS ? (n - HEAD) / sizeof *events : EVENTS;
	memcpy(events, bytes + HEAD, count * sizeof *events);
	for (size_t i = 0; i < count; i++) {
		events[i].kind %= HF_EVENT_KINDS;
		if (events[i].kind == HF_EVENT_REG) {
			events[i].reg.class = class_of(events[i].reg.class, bytes[0] & ARM);
			events[i].reg.role %= HF_REG_ROLE_COUNT;
		}
		cursor.chunk.insns += events[i].kind == HF_EVENT_INSN;
	}
	if (!cursor.chunk.insns)
		return 0;
	state = calloc(1, sizeof *state);
	MUST(state);
	state->ordinal = bytes[1] % cursor.chunk.insns;
	if (!hf_hart_state_scan(state, &cursor, 0)) {
		text = show(state, &open, HF_HART_STATE_TEXT);
		count_lines(text, "register ", true);
		MUST(count_lines(text, "access ", false) == (state->access_count ? state->access_count : 1));
		free(text);
		text = show(state, &open, HF_HART_STATE_JSON);
		check_json(text, false);
		free(text);
	}
	hf_hart_state_free(state);
	return 0;
}
