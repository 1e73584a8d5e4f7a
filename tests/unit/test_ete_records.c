/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt of the ETE corpus: packets, offsets, addresses and counts are those of the golden packet lists. */
#include "codecs/ete/decoder.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#include <dirent.h>

static char *text;
static size_t text_size;

/* The text of all records, from a decoder that is asked for batch events at a time. */
static void load_text(const struct ete_capture *c, size_t batch)
{
	size_t n;
	struct hf_event *ev = ete_events(c, HF_HART_RECORDS, batch, &n);

	free(text);
	text = malloc(24 * n + 1);
	CHECK(text);
	text_size = 0;
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(ev[i].kind, HF_EVENT_DATA);
		memcpy(text + text_size, ev[i].data.bytes, ev[i].used);
		text_size += ev[i].used;
	}
	text[text_size] = '\0';
	free(ev);
}

static const struct {
	const char *theirs, *ours;
} names[] = {
	{"I_ADDR_CTXT_", "TARGET_CONTEXT"}, {"I_ADDR_", "TARGET"}, {"I_ASYNC", "ASYNC"}, {"I_ATOM_", "ATOM"},
	{"I_CANCEL_F1", "CANCEL_F1"}, {"I_CCNT_F1", "CYCLE_COUNT_F1"}, {"I_CCNT_F2", "CYCLE_COUNT_F2"},
	{"I_CCNT_F3", "CYCLE_COUNT_F3"}, {"I_COMMIT", "COMMIT"}, {"I_CTXT", "CONTEXT"}, {"I_EVENT", "EVENT"},
	{"I_EXCEPT", "EXCEPTION"}, {"I_ITE", "INSTRUMENTATION"}, {"I_MISPREDICT", "MISPREDICT"}, {"I_Q", "Q"},
	{"I_SCR_ADDR_", "SOURCE"}, {"I_SRC_ADDR_", "SOURCE"}, {"I_TIMESTAMP", "TIMESTAMP"},
	{"I_TRACE_INFO", "TRACE_INFO"}, {"I_TRACE_ON", "TRACE_ON"}, {"I_TRANS_COMMIT", "TRANSACTION_COMMIT"},
	{"I_TRANS_FAIL", "EXCEPTION"}, {"I_TRANS_ST", "TRANSACTION_START"}, {"I_TS_MARKER", "TIMESTAMP_MARKER"},
};

static const char *our_name(const char *theirs)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(theirs, names[i].theirs, strlen(names[i].theirs)) == 0)
			return names[i].ours;
	fprintf(stderr, "%s?\n", theirs);
	exit(1);
}

/* If theirs says key, ours has to say our_key with the same number; a key that ends with "0x" is before hexadecimal. */
static void same_number(const char *line, const char *their_key, const char *ours, const char *our_key, int base)
{
	const char *a = strstr(line, their_key), *b = strstr(ours, our_key);

	if (!a)
		return;
	CHECK(b);
	CHECK_EQ(strtoull(a + strlen(their_key), NULL, strstr(their_key, "0x") ? 16 : 10),
		 strtoull(b + strlen(our_key), NULL, base));
}

/* A row of theirs against our line at p; returns the line behind. */
static char *check_row(char *row, char *p)
{
	char *end = strchr(p, '\n'), name[64], theirs[64], hex[128];
	unsigned long offset, at;

	CHECK(end);
	*end = '\0';
	CHECK(sscanf(p, "%lu %63s", &offset, name) == 2);
	CHECK(sscanf(row, "%lu %*s %127s %63s", &at, hex, theirs) == 3);
	if (offset != at || strcmp(our_name(theirs), name) != 0) {
		fprintf(stderr, "%s\nis not\n%s\n", p, row);
		exit(1);
	}
	if (strcmp(name, "Q") != 0)
		same_number(row, "Addr=0x", p, "address=", 16);
	if (strncmp(name, "CYCLE", 5) == 0 && !strstr(p, "cycles=?"))
		same_number(row, "Count=0x", p, "cycles=", 10);
	same_number(row, "Commit(", p, strcmp(name, "COMMIT") == 0 ? "COMMIT " : "commit=", 10);
	same_number(row, "Updated val = 0x", p, "TIMESTAMP ", 16);
	same_number(row, "Payload=0x", p, "value=", 16);
	same_number(row, "Cancel(", p, "CANCEL_F1 ", 10);
	if (strcmp(name, "ATOM") == 0) {
		const char *atoms = strstr(row, "; ");

		CHECK(atoms && strncmp(atoms + 2, strstr(p, "ATOM ") + 5, strlen(strstr(p, "ATOM ") + 5)) == 0);
	}
	return end + 1;
}

static char *check_part(const char *corpus, const char *name, const struct hf_setup_part *part, char *p)
{
	char path[4096], row[4096];
	bool embedded = false;
	FILE *file;

	snprintf(path, sizeof path, "%s/golden/%s/%s.pkts.tsv", corpus, name, part->name);
	CHECK(strncmp(p, "# part ", 7) == 0);
	p = strchr(p, '\n') + 1;
	file = fopen(path, "r");
	if (!file) { /* an empty buffer has no list */
		CHECK_EQ(part->size, 0);
		return p;
	}
	while (fgets(row, sizeof row, file)) {
		unsigned long at;

		if (sscanf(row, "%lu", &at) != 1 || embedded) {
			embedded = false;
			continue;
		}
		/* their offsets begin with the buffer, ours with the stream */
		snprintf(path, sizeof path, "%lu%s", at + (unsigned long)part->offset, strchr(row, '\t'));
		p = check_row(path, p);
		embedded = strstr(row, "\tI_EXCEPT\t") != NULL;
	}
	fclose(file);
	return p;
}

static void test_snapshot(const char *corpus, const char *name)
{
	const struct hf_ete_stream *s;
	struct ete_capture c;
	char path[4096], *p, *first;

	if (strcmp(name, "infrastructure") == 0)
		return; /* their list goes on where ours synchronises again */
	snprintf(path, sizeof path, "%s/snapshots/%s", corpus, name);
	ete_open(&c, path);
	load_text(&c, 1);
	first = strdup(text);
	CHECK(first);
	load_text(&c, 1000);
	CHECK_STR(text, first);
	free(first);
	s = (const struct hf_ete_stream *)c.stream;
	p = text;
	for (size_t i = 0; i < s->part_count; i++)
		p = check_part(corpus, name, &s->parts[i], p);
	CHECK_STR(p, "");
	ete_close(&c);
}

/* Entered again before every event. */
static void test_entering(const char *corpus)
{
	struct ete_capture c;
	struct hf_event *all, ev;
	struct hf_dec *dec, *other;
	uint8_t blob[HF_STATE_MAX];
	uint64_t discard;
	char path[4096];
	size_t n, got, size;

	snprintf(path, sizeof path, "%s/snapshots/infrastructure", corpus);
	ete_open(&c, path);
	all = ete_events(&c, HF_HART_RECORDS, 1000, &n);
	CHECK_EQ(hf_dec_new(c.stream, c.src, HF_HART_RECORDS, &dec), 0);
	CHECK_EQ(hf_dec_new(c.stream, c.src, HF_HART_RECORDS, &other), 0);
	for (size_t i = 0; i < n; i++) {
		if (i % 97 == 0 || i < 300) {
			size = hf_dec_save(dec, blob, &discard);
			CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
			CHECK_EQ(hf_dec_next(other, &ev, 1, &got), 0);
			CHECK(memcmp(&ev, &all[i], sizeof ev) == 0);
		}
		CHECK_EQ(hf_dec_next(dec, &ev, 1, &got), 0);
	}
	CHECK_EQ(hf_dec_next(dec, &ev, 1, &got), HF_NOTE_END);
	hf_dec_free(dec);
	hf_dec_free(other);
	free(all);
	ete_close(&c);
}

int main(void)
{
	const char *corpus = ete_corpus();
	char path[4096];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof path, "%s/snapshots", corpus);
	dir = opendir(path);
	CHECK(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			test_snapshot(corpus, entry->d_name);
	closedir(dir);
	test_entering(corpus);
	free(text);
	return 0;
}
