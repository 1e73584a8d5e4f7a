/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.txt of the STF corpus against the text that the reference library's tool gives of the same captures. Its
 * lines have other fields in other places, so ours are turned into its form, line by line.
 */
#include "codecs/stf/dump.h"
#include "tests/lib/recordtext.h"
#include "tests/lib/sliver.h"
#include "tests/lib/stftest.h"

#include <ctype.h>

/* ---- one line of ours, taken apart ---- */

/* A field of the line: a word, or what stands behind its key. */
struct field {
	const char *p;
	size_t n;
};

struct line {
	uint64_t offset;
	struct field name, fields[16];
	size_t count;
	struct field rest; /* everything behind the name, without the blank */
	const char *next;
};

static struct line take_apart(const char *p)
{
	struct line l = {0};
	const char *end = strchr(p, '\n');
	char *after;

	CHECK(end);
	l.next = end + 1;
	l.offset = strtoull(p, &after, 10);
	CHECK(after > p && *after == ' ');
	p = after + 1;
	l.name.p = p;
	while (p < end && *p != ' ')
		p++;
	l.name.n = (size_t)(p - l.name.p);
	p += p < end;
	l.rest = (struct field){p, (size_t)(end - p)};
	while (p < end && l.count < 16) {
		struct field *f = &l.fields[l.count++];

		f->p = p;
		for (; p < end && *p != ' '; p++)
			if (*p == '=')
				f->p = p + 1;
		f->n = (size_t)(p - f->p);
		p += p < end;
	}
	return l;
}

static bool is(const struct field *f, const char *text)
{
	return f->n == strlen(text) && memcmp(f->p, text, f->n) == 0;
}

static void add(struct hf_walk_bytes *to, const struct field *f)
{
	hf_bytes_add(to, f->p, f->n);
}

static void text(struct hf_walk_bytes *to, const char *s)
{
	hf_bytes_add(to, s, strlen(s));
}

static void number(struct hf_walk_bytes *to, const char *format, const struct field *f)
{
	char buf[64];

	snprintf(buf, sizeof buf, format, strtoull(f->p, NULL, 10));
	text(to, buf);
}

/* The i-th element of a list; false behind the last. */
static bool element(const struct field *list, size_t i, char separator, struct field *ret)
{
	const char *p = list->p, *end = p + list->n;

	if (is(list, "-"))
		return false;
	for (; i; i--) {
		p = memchr(p, separator, (size_t)(end - p));
		if (!p++)
			return false;
	}
	ret->p = p;
	while (p < end && *p != separator)
		p++;
	ret->n = (size_t)(p - ret->p);
	return true;
}

/* ---- in the tool's form ---- */

static void convert_register(struct hf_walk_bytes *to, const struct line *l)
{
	const struct field *reg = &l->fields[1];
	struct field word;

	text(to, "INST_REG ");
	add(to, &l->fields[0]);
	text(to, " REG_");
	if (reg->p[0] == 'x') {
		hf_bytes_add(to, reg->p + 1, reg->n - 1);
	} else if ((reg->p[0] == 'f' || reg->p[0] == 'v') && isdigit((unsigned char)reg->p[1])) {
		hf_bytes_add(to, reg->p[0] == 'f' ? "F" : "V", 1);
		hf_bytes_add(to, reg->p + 1, reg->n - 1);
	} else {
		text(to, "CSR_");
		for (size_t i = 0; i < reg->n; i++)
			hf_bytes_add(to, &(char){(char)toupper((unsigned char)reg->p[i])}, 1);
	}
	for (size_t i = 0; element(&l->fields[2], i, '_', &word); i++) {
		/* below the role's end */
		text(to, i ? "\n        " : " ");
		hf_bytes_add(to, "      ", i ? l->fields[0].n : 0);
		add(to, &word);
	}
}

static void convert_walk(struct hf_walk_bytes *to, const struct line *l)
{
	struct field entry;
	size_t n = 0;
	char buf[64];

	text(to, "PAGE_TABLE_WALK ");
	add(to, &l->fields[0]);
	text(to, " size ");
	add(to, &l->fields[2]);
	number(to, " first_count %016llu\n", &l->fields[1]);
	while (element(&l->fields[3], n, ',', &entry))
		n++;
	snprintf(buf, sizeof buf, "PTDESC              Num Descriptors: %zu\n", n);
	text(to, buf);
	for (size_t i = 0; element(&l->fields[3], i, ',', &entry); i++) {
		snprintf(buf, sizeof buf, "                    DESC%zu  PA:", i);
		text(to, buf);
		hf_bytes_add(to, entry.p, 16);
		text(to, " DESC:");
		hf_bytes_add(to, entry.p + 17, 16);
		text(to, "\n");
	}
}

static void convert_event(struct hf_walk_bytes *to, const struct line *l)
{
	struct field word;

	text(to, "EVENT ");
	add(to, &l->fields[0]);
	text(to, " [");
	for (size_t i = 0; element(&l->fields[2], i, ',', &word); i++) {
		text(to, i ? ", " : "");
		add(to, &word);
	}
	text(to, "]");
}

/* The tool prints the initiator's index, and the size of a micro-op, as a character. */
static void convert_bus(struct hf_walk_bytes *to, const struct line *l)
{
	add(to, &l->name);
	text(to, " ");
	add(to, &l->fields[0]);
	text(to, " ");
	add(to, &l->fields[1]);
	text(to, " ");
	add(to, &l->fields[3]);
	hf_bytes_add(to, &(char){(char)atoi(l->fields[4].p)}, 1);
	text(to, " ");
	add(to, &l->fields[2]);
	text(to, " ");
	add(to, &l->fields[5]);
}

static void convert_access(struct hf_walk_bytes *to, const struct line *l)
{
	text(to, "INST_MEM_ACCESS");
	for (unsigned i = 0; i < 4; i++) {
		text(to, " ");
		add(to, &l->fields[i == 2 ? 3 : i == 3 ? 2 : i]);
	}
}

/* False for what the tool does not show. */
static bool convert(struct hf_walk_bytes *to, const struct line *l, bool header)
{
	const struct field *name = &l->name;

	if (is(name, "IDENTIFIER") || is(name, "END_HEADER") || (header && is(name, "PROCESS_ID_EXT")))
		return false;
	if (is(name, "INST_MEM_ACCESS")) {
		convert_access(to, l);
	} else if (is(name, "INST_REG")) {
		convert_register(to, l);
	} else if (is(name, "PAGE_TABLE_WALK")) {
		convert_walk(to, l);
	} else if (is(name, "EVENT")) {
		convert_event(to, l);
	} else if (is(name, "BUS_MASTER_ACCESS")) {
		convert_bus(to, l);
	} else if (is(name, "INST_MICROOP")) {
		text(to, "INST_MICROOP ");
		hf_bytes_add(to, &(char){(char)atoi(l->fields[0].p)}, 1);
		text(to, " ");
		add(to, &l->fields[1]);
	} else if (is(name, "PROCESS_ID_EXT")) {
		number(to, "PROCESS_ID_EXT hw_tid = %08llx", &l->fields[0]);
		number(to, " pid = %08llx", &l->fields[1]);
		number(to, " tid = %08llx", &l->fields[2]);
	} else if (is(name, "VLEN_CONFIG")) {
		number(to, "VLEN_CONFIG %08llx", &l->rest);
	} else if (is(name, "INST_READY_REG")) {
		number(to, "INST_READY_REG %04llx", &l->rest);
	} else {
		add(to, name);
		text(to, l->rest.n ? " " : "");
		if (is(name, "TRACE_INFO_FEATURE"))
			add(to, &l->fields[0]);
		else
			add(to, &l->rest);
	}
	text(to, "\n");
	return true;
}

/* ---- captures ---- */

static struct hf_walk_bytes dump(const struct hf_walk_bytes *b)
{
	struct hf_walk_bytes all = {0};
	struct hf_event ev[256];
	struct hf_dec *dec;
	struct hf_stft t;
	size_t n;
	int err;

	hf_stft_open(&t, b);
	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &dec), 0);
	while ((err = hf_dec_next(dec, ev, 256, &n)) == 0)
		hf_bytes_add_records(&all, t.stream, ev, n);
	CHECK_EQ(err, HF_NOTE_END);
	hf_bytes_add(&all, "", 1);
	hf_dec_free(dec);
	hf_stft_close(&t);
	return all;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Cuts lines off *text and sorts them; the header's come in another order there. */
static struct hf_walk_bytes sorted(const char **from, size_t lines)
{
	char *copy[64], *p = strdup(*from), *start = p;
	struct hf_walk_bytes all = {0};

	CHECK(lines <= 64);
	for (size_t i = 0; i < lines; i++) {
		copy[i] = p;
		p = strchr(p, '\n');
		CHECK(p);
		*p++ = 0;
	}
	*from += p - start;
	qsort(copy, lines, sizeof copy[0], by_text);
	for (size_t i = 0; i < lines; i++) {
		text(&all, copy[i]);
		text(&all, "\n");
	}
	hf_bytes_add(&all, "", 1);
	free(start);
	return all;
}

/* Our header in the tool's form; *p moves behind it. */
static const char *check_header(const char **p, const char *golden)
{
	struct hf_walk_bytes header = {0}, ours, theirs;
	size_t lines = 0;
	const char *from;
	struct line l;

	do {
		l = take_apart(*p);
		lines += convert(&header, &l, true);
		*p = l.next;
	} while (!is(&l.name, "END_HEADER"));
	hf_bytes_add(&header, "", 1);
	from = (const char *)header.p;
	ours = sorted(&from, lines);
	theirs = sorted(&golden, lines);
	CHECK_STR((const char *)ours.p, (const char *)theirs.p);
	hf_bytes_free(&header);
	hf_bytes_free(&ours);
	hf_bytes_free(&theirs);
	return golden;
}

/* The number that follows a key of counts.json. */
static uint64_t count_of(const char *json, const char *key)
{
	const char *p = strstr(json, key);

	CHECK(p);
	return strtoull(p + strlen(key), NULL, 10);
}

static void check_golden(const char *stream, const char *records, const char *counts)
{
	struct hf_walk_bytes b = hf_stft_load(stream), golden = hf_stft_text(records), json = hf_stft_text(counts);
	struct hf_walk_bytes all = dump(&b), ours = {0};
	const char *p = (const char *)all.p, *theirs = check_header(&p, (const char *)golden.p);
	const char *const end = (const char *)golden.p + golden.n - 1;
	uint64_t lines = 0;

	while (*p) {
		const struct line l = take_apart(p);

		ours.n = 0;
		convert(&ours, &l, false);
		if ((size_t)(end - theirs) < ours.n || memcmp(ours.p, theirs, ours.n) != 0) {
			fprintf(stderr, "%s: offset %" PRIu64 ": ours: %.*s\nand not: %.100s\n", stream, l.offset,
				(int)ours.n, ours.p, theirs);
			exit(1);
		}
		theirs += ours.n;
		p = l.next;
	}
	CHECK(theirs == end);
	for (p = (const char *)all.p; *p; p = strchr(p, '\n') + 1)
		lines++;
	CHECK_EQ(lines, count_of((const char *)json.p, "\"records\": "));
	hf_bytes_free(&ours);
	hf_bytes_free(&all);
	hf_bytes_free(&golden);
	hf_bytes_free(&json);
	hf_bytes_free(&b);
}

static void test_goldens(void)
{
	static const char *const folders[][2] = {{"dhry_riscv", "dhry_riscv.zstf"},
						 {"dhrystone_opt1", "dhrystone_opt1.zstf"},
						 {"dhrystone", "dhrystone.zstf"},
						 {"bmi_pmp.bare", "bmi_pmp.bare.stf"},
						 {"harts", "harts.zstf"}};
	static const char *const edges[] = {"all64", "all32", "pid", "comment-after-last"};
	char stream[100], records[100], counts[100];

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(stream, sizeof stream, "stf/%s/%s", folders[i][0], folders[i][1]);
		snprintf(records, sizeof records, "stf/%s/records.txt", folders[i][0]);
		snprintf(counts, sizeof counts, "stf/%s/counts.json", folders[i][0]);
		check_golden(stream, records, counts);
	}
	for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
		snprintf(stream, sizeof stream, "stf/edge/%s.stf%s", edges[i], i == 3 ? ".xz" : "");
		snprintf(records, sizeof records, "stf/edge/%s.records.txt", edges[i]);
		snprintf(counts, sizeof counts, "stf/edge/%s.counts.json", edges[i]);
		check_golden(stream, records, counts);
	}
}

/* ---- transactions ---- */

static void convert_list(struct hf_walk_bytes *to, const struct field *list, unsigned step, const char *lead)
{
	text(to, "[");
	for (size_t i = 0; !is(list, "-") && i < list->n; i += step) {
		text(to, i ? ", " : "");
		text(to, lead);
		hf_bytes_add(to, list->p + i, step);
	}
	text(to, "]\n");
}

static void labelled(struct hf_walk_bytes *to, const char *label, const struct field *value)
{
	char buf[32];

	snprintf(buf, sizeof buf, "%-20s", label);
	text(to, buf);
	add(to, value);
	text(to, "\n");
}

static void convert_transaction(struct hf_walk_bytes *to, const struct line *l)
{
	/* behind id, delta, clock, metadata, channel */
	static const char *const labels[] = {"Code", "Param", "Size", "Source", "Data", NULL, "Mask"};
	const struct field *f = l->fields;
	const char channel = f[4].p[0];
	struct field name, word, value;

	CHECK(element(&f[2], 1, ':', &name));
	labelled(to, "TXN_ID", &f[0]);
	labelled(to, "CLOCK", &name);
	labelled(to, "DELTA", &f[1]);
	for (size_t i = 0; element(&f[3], i, ',', &word); i++) {
		text(to, i ? ", " : "METADATA            [");
		CHECK(element(&word, 1, ':', &value));
		add(to, &value);
	}
	text(to, is(&f[3], "-") ? "" : "]\n");
	text(to, "CHANNEL             CHANNEL_");
	hf_bytes_add(to, &channel, 1);
	text(to, " \n");
	if (channel == 'E')
		labelled(to, "Sink", &f[5]);
	for (size_t i = 5; channel != 'E' && i < l->count; i++) {
		const char *label = labels[i - 5];

		if (label && (strcmp(label, "Data") == 0 || strcmp(label, "Mask") == 0)) {
			text(to, label);
			text(to, "                ");
			convert_list(to, &f[i], *label == 'D' ? 2 : 1, *label == 'D' ? "" : "0");
		} else {
			labelled(to, label ? label : channel == 'D' ? "Sink" : "Address", &f[i]);
		}
	}
}

static void test_transactions(void)
{
	static const char header[] = "0 IDENTIFIER STF\n"
				     "4 VERSION 1.6\n"
				     "13 TRACE_INFO Transaction_example 1.0.0 STF transaction example\n"
				     "43 TRACE_INFO_FEATURE 0000000000100000 TRANSACTIONS\n"
				     "52 PROTOCOL_ID TILELINK\n"
				     "54 CLOCK_ID 1 system_clock\n"
				     "70 END_HEADER\n"
				     "71 TRANSACTION id=1 ";
	struct hf_walk_bytes b = hf_stft_load("stf/edge/txn.stf"), golden = hf_stft_text("stf/edge/txn.transactions.txt");
	struct hf_walk_bytes all = dump(&b), ours = {0};
	struct line l;

	CHECK(strncmp((const char *)all.p, header, sizeof header - 1) == 0);
	for (const char *p = (const char *)all.p; *p; p = l.next) {
		l = take_apart(p);
		if (is(&l.name, "TRANSACTION"))
			convert_transaction(&ours, &l);
	}
	hf_bytes_add(&ours, "", 1);
	CHECK_STR((const char *)ours.p, (const char *)golden.p);
	hf_bytes_free(&ours);
	hf_bytes_free(&all);
	hf_bytes_free(&golden);
	hf_bytes_free(&b);
}

/* ---- malformed streams ---- */

static void test_bad(void)
{
	static const struct {
		const char *name, *last;
	} files[] = {
		{"bad-descriptor-0.stf", "# offset 353: descriptor 0 does not exist; 711 bytes remain\n"},
		{"bad-descriptor-255.stf", "# offset 353: descriptor 255 does not exist; 711 bytes remain\n"},
		{"bad-truncated-record.stf", "# offset 1060: the stream ends inside this record; 2 bytes remain\n"},
		{"bad-comment-length-body.stf", "# offset 429: the stream ends inside this record\n"},
		{"bad-vector-without-vlen.stf",
		 "# offset 150: vector register without VLEN_CONFIG in the header; 291 bytes remain\n"},
		{"bad-isa-in-body.stf", "1063 INST_OPCODE16 8fd5\n"},
	};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char name[100];
		struct hf_walk_bytes b, all;
		const char *last;

		snprintf(name, sizeof name, "stf/bad/%s", files[i].name);
		b = hf_stft_load(name);
		all = dump(&b);
		last = (const char *)all.p + all.n - 2;
		while (last[-1] != '\n')
			last--;
		CHECK_STR(last, files[i].last);
		hf_bytes_free(&all);
		hf_bytes_free(&b);
	}
}

/* ---- entering ---- */

static void check_entries(const char *name, size_t step)
{
	struct hf_walk_bytes b = hf_stft_load(name);
	struct hf_events all;
	struct hf_dec *dec, *other;
	struct hf_stft t;
	size_t n;

	hf_stft_open(&t, &b);
	all = hf_stft_events(t.stream, t.src, HF_HART_RECORDS, 100);
	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &dec), 0);
	for (size_t i = 0; i < all.n; i++) {
		uint8_t blob[HF_STATE_MAX];
		struct hf_event ev[200];
		uint64_t discard;

		if (i % step == 0) {
			const size_t size = hf_dec_save(dec, blob, &discard);

			CHECK(size < 16);
			CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &other), 0);
			CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
			CHECK_EQ(hf_dec_next(other, ev, 200, &n), 0);
			CHECK(n <= all.n - i && memcmp(ev, &all.ev[i], n * sizeof *ev) == 0);
			hf_dec_free(other);
		}
		CHECK_EQ(hf_dec_next(dec, ev, 1, &n), 0);
	}
	hf_dec_free(dec);
	hf_events_free(&all);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

int main(void)
{
	hf_stft_corpus();
	test_goldens();
	test_transactions();
	test_bad();
	check_entries("stf/edge/all64.stf", 1);
	check_entries("stf/edge/all32.stf", 1);
	check_entries("stf/edge/pid.stf", 1);
	check_entries("stf/edge/txn.stf", 1);
	check_entries("stf/edge/header-only.stf", 1);
	check_entries("stf/bmi_pmp.bare/bmi_pmp.bare.stf", 1);
	check_entries("stf/harts/harts.zstf", 997);
	return 0;
}
