/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What N-Trace units say beside the flow: Data Acquisition as text, formats that the program keeps, In-Circuit Trace as
 * samples and events, and their times. The bytes are worked out by hand.
 */
#include "codecs/isa/names.h"
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"
#include "codecs/ntrace/nls.h"
#include "tests/lib/ntracetest.h"

#include <stdio.h>

/* "text:0:4=48656c6c sample@1000 time=5 ..." */
static const char *words_of(const struct hf_ntt_events *events)
{
	static char text[4096];
	char *p = text;

	for (size_t i = 0; i < events->n; i++) {
		const struct hf_event *ev = &events->ev[i];

		if (ev->kind == HF_EVENT_MARKER) {
			p += sprintf(p, "%s%s:%s%llu", p > text ? " " : "", hf_marker_name(ev->what),
				     ev->flags & HF_EVF_UNNUMBERED ? "?" : "", (unsigned long long)ev->marker.number);
			if (ev->flags & HF_EVF_AT)
				p += sprintf(p, "@%llx", (unsigned long long)ev->marker.value);
			else if (ev->marker.value)
				p += sprintf(p, "=%llx", (unsigned long long)ev->marker.value);
			if (ev->marker.type)
				p += sprintf(p, "/%llx", (unsigned long long)ev->marker.type);
		} else if (ev->kind == HF_EVENT_DATA) {
			p += sprintf(p, "=");
			for (unsigned k = 0; k < ev->used; k++)
				p += sprintf(p, "%c", ev->data.bytes[k] >= ' ' ? ev->data.bytes[k] : '~');
		} else if (ev->kind == HF_EVENT_TIMESTAMP) {
			p += ev->flags & HF_EVF_NO_TIME ? sprintf(p, "%stime=?", p > text ? " " : "")
							: sprintf(p, "%stime=%llu", p > text ? " " : "", (unsigned long long)ev->time.value);
		} else if (ev->kind == HF_EVENT_NOTE || ev->kind == HF_EVENT_GAP) {
			p += sprintf(p, "%s!%d", p > text ? " " : "", (int)ev->code);
		}
	}
	*p = 0;
	return text;
}

/* comment: that of the program. */
static void check(const char *params, const char *bytes, size_t n, const char *comment, size_t comment_size, const char *words)
{
	struct hf_ntt_events events;
	struct hf_ntt t;

	hf_ntt_init(&t, params);
	if (comment) {
		t.image.program.comment = malloc(comment_size);
		memcpy(t.image.program.comment, comment, comment_size);
		t.image.program.comment_size = comment_size;
	}
	events = hf_ntt_decode(&t, (const uint8_t *)bytes, n, 0, 0);
	CHECK_STR(words_of(&events), words);
	CHECK_EQ(events.err, HF_NOTE_END);
	hf_ntt_events_free(&events);
	hf_ntt_check_cuts(&t, (const uint8_t *)bytes, n, 0);
	hf_ntt_fini(&t);
}

#define CHECK_BESIDE(bytes, words) check("xlen=64,srcbits=0,timestamps=add", bytes, sizeof bytes - 1, NULL, 0, words)

/* idTag 0 a word, 2 a halfword, 3 a byte; register 1; TCODE 23 means the same. A value of too many bits is damage. */
static void test_text(void)
{
	CHECK_BESIDE("\x1c\x01\x20\x54\x18\x6c\xb0\x07", "text:0=Hell");
	CHECK_BESIDE("\x1c\x09\x84\xa3\x1c\x0d\x2b\x5c\x11\x84\x07", "text:0=!~ text:0=~ text:1=a~~~");
	/* a byte of 9 bits */
	CHECK_BESIDE("\x1c\x0d\x04\x23\x1c\x0d\x2b", "text:0=~ !54");
}

/* One sync, PC samples relative to it, a control code, an unknown place before any sync. */
static void test_circuit(void)
{
	CHECK_BESIDE("\x8c\x3c\xa4\x20\x00\x00\x00\x07\x88\x3c\x5b", "sample:0@80000452 sample:0@8000047e");
	CHECK_BESIDE("\x88\x3c\x5b\x8c\x00\x0b", "!57 control:2");
	/* counters; a watchpoint without and with a number */
	CHECK_BESIDE("\x88\x70\x1c\x14\x00\x1d\x03", "counter:0=147 counter:1=1c");
	CHECK_BESIDE("\x8c\x38\xa3\x8c\x78\xa1\x17\x8c\xb8\xa3", "watchpoint:?0@50 watchpoint:5@50 !54");
}

/* The first message has no time that others are relative to; In-Circuit Trace with sync has one. */
static void test_times(void)
{
	CHECK_BESIDE("\x1c\x0d\x05\x0f", "time=? text:0=~");
	CHECK_BESIDE("\x8c\x00\x0d\x17\x1c\x0d\x05\x0f", "time=5 control:3 time=8 text:0=~");
}

/* ---- formats ---- */

static void check_format(const char *format, uint32_t word, const char *want)
{
	uint8_t out[HF_NTRACE_NLS_MAX];
	const size_t n = hf_ntrace_nls_print(format, strlen(format), word, out);

	if (!want) {
		CHECK_EQ(n, 0);
		return;
	}
	CHECK_EQ(n, strlen(want) + 1);
	CHECK(memcmp(out, want, n - 1) == 0 && out[n - 1] == '\n');
}

static void test_formats(void)
{
	char wide[2 * HF_NTRACE_NLS_MAX];

	check_format("%u|%u|%u|%u, %%", 0x01020304, "1|2|3|4, %");
	check_format("%d %i", 0xffd604d2, "-42 1234");
	check_format("%d %u %d", 0xffffffff, "-1 2047 -1");
	check_format("%08x", 0xbeef, "0000beef");
	check_format("%#X", 0xbeef, "0XBEEF");
	check_format("%#o %o", 0x00080000, "010 0");
	check_format("%-4u|", 7, "7   |");
	check_format("%+d % d", 0x00050005, "+5  5");
	check_format("%.3u|%5.2d|", 0x0007ffff, "007|  -01|");
	check_format("%.0u|", 0, "|");
	check_format("%c%c%c%c", 0x61626364, "abcd");
	check_format("%llu %hhx", 0x00010002, "1 2");
	check_format("", 5, "");
	/* what printf would do with it is nobody's business */
	check_format("%s", 5, NULL);
	check_format("%n", 5, NULL);
	check_format("%*d", 5, NULL);
	check_format("%1$d", 5, NULL);
	check_format("%99999999999d", 5, NULL);
	check_format("%.99999999999d", 5, NULL);
	check_format("%", 5, NULL);
	check_format("%-+ #0", 5, NULL);
	check_format("%d%d%d%d%d", 5, NULL);
	memset(wide, 'x', sizeof wide - 1);
	wide[sizeof wide - 1] = 0;
	check_format(wide, 5, NULL);
	check_format(wide + sizeof wide - HF_NTRACE_NLS_MAX, 5, wide + sizeof wide - HF_NTRACE_NLS_MAX);
}

/* Of a program: register 2 has a format, 3 one that cannot be printed, 4 none, and 5 an end without a zero. */
static void test_kept_formats(void)
{
	static const char comment[] = "GCC: 1\0" "2:n=%u\0" "3:%s\0" "22:no\0" ":x\0" "5:end";
	const size_t n = sizeof comment - 1;

	check("xlen=64,srcbits=0", "\x1c\x21\x1f", 3, comment, n, "text:2=n=7~");
	check("xlen=64,srcbits=0", "\x1c\x31\x1f", 3, comment, n, "!168 text:3=~~~~");
	check("xlen=64,srcbits=0", "\x1c\x41\x1f", 3, comment, n, "text:4=~~~~");
	check("xlen=64,srcbits=0", "\x1c\x51\x1f", 3, comment, n, "text:5=end~");
	/* a halfword is none */
	check("xlen=64,srcbits=0", "\x1c\x29\x1f", 3, comment, n, "text:2=~~");
}

int main(void)
{
	test_text();
	test_circuit();
	test_times();
	test_formats();
	test_kept_formats();
	return 0;
}
