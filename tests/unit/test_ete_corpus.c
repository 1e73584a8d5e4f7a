/* SPDX-License-Identifier: Apache-2.0 */
/* The ETE corpus: pcs of every buffer and crafted case equal those that others found. */
#include "codecs/ete/stream.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#include <dirent.h>
#include <unistd.h>

#define PCS_MAX 200000

static struct line {
	uint64_t pc;
	uint8_t isa;
	uint32_t loose; /* more instructions may stand before it: a Q element whose path others do not tell */
} golden[PCS_MAX];

static size_t golden_count;

static void load_pcs(const char *path)
{
	uint32_t loose = 0;
	char text[256];
	FILE *file = fopen(path, "r");

	if (!file) {
		fprintf(stderr, "%s is not there\n", path);
		exit(1);
	}
	while (fgets(text, sizeof text, file)) {
		unsigned long long pc;
		unsigned long count;
		char isa[8] = "";

		if (sscanf(text, "# nopath %*s %*s %lu", &count) == 1)
			loose += (uint32_t)count;
		if (sscanf(text, "%llx %7s", &pc, isa) != 2 || *text == '#')
			continue;
		CHECK(golden_count < PCS_MAX);
		golden[golden_count++] = (struct line){
			.pc = pc,
			.isa = strcmp(isa, "A64") == 0 ? HF_ISA_A64 : strcmp(isa, "A32") == 0 ? HF_ISA_A32 : HF_ISA_T32,
			.loose = loose,
		};
		loose = 0;
	}
	fclose(file);
}

/* The retired instructions are golden, those that are loose aside. Returns how many there were of those. */
static size_t compare(const char *name, uint32_t hart, const struct hf_event *ev, size_t n)
{
	size_t g = 0, extra = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		if (g < golden_count && ev[i].insn.pc == golden[g].pc && ev[i].insn.isa == golden[g].isa) {
			g++;
			run = 0;
		} else if (g < golden_count && run < golden[g].loose) {
			run++;
			extra++;
		} else {
			fprintf(stderr, "%s hart %u: instruction %zu is %" PRIx64 ", not %" PRIx64 "\n", name, hart, g,
				ev[i].insn.pc, g < golden_count ? golden[g].pc : 0);
			exit(1);
		}
	}
	if (g != golden_count) {
		fprintf(stderr, "%s hart %u: %zu instructions of %zu\n", name, hart, g, golden_count);
		exit(1);
	}
	return extra;
}

static void test_snapshot(const char *corpus, const char *name)
{
	struct ete_capture c;
	const struct hf_ete_stream *s;
	char path[4096];

	snprintf(path, sizeof path, "%s/snapshots/%s", corpus, name);
	ete_open(&c, path);
	s = (const struct hf_ete_stream *)c.stream;
	for (size_t h = 0; h < s->hart_count; h++) {
		struct hf_event *ev;
		size_t n, extra;

		golden_count = 0;
		for (size_t p = 0; p < s->part_count; p++) {
			snprintf(path, sizeof path, "%s/golden/%s/%s.id%x.pc", corpus, name, s->parts[p].name,
				 HF_ETE_TRACE_ID(s->harts[h].id));
			/* a buffer with the frames of other sources has no list for this one */
			if (hf_ete_part_has(s, &s->parts[p], s->harts[h].id) &&
			    (access(path, F_OK) == 0 || hf_ete_layout(&s->parts[p]) == HF_CORESIGHT_NONE))
				load_pcs(path);
		}
		ev = ete_events(&c, s->harts[h].id, 4096, &n);
		extra = compare(name, s->harts[h].id, ev, n);
		printf("%s hart %u: %zu instructions, %zu more in Q elements\n", name, s->harts[h].id, golden_count,
		       extra);
		CHECK(extra == 0 || (strcmp(name, "q_elem") == 0 && extra <= 36));
		free(ev);
	}
	ete_close(&c);
}

static void test_crafted(const char *corpus, const char *name)
{
	struct ete_capture c;
	struct hf_event *ev;
	char path[4096];
	size_t n;

	snprintf(path, sizeof path, "%s/crafted/%s", corpus, name);
	ete_open(&c, path);
	snprintf(path, sizeof path, "%s/crafted/%s/expected.pc", corpus, name);
	golden_count = 0;
	load_pcs(path);
	ev = ete_events(&c, 1, 64, &n);
	compare(name, 1, ev, n);
	printf("%s: %zu instructions\n", name, golden_count);
	free(ev);
	ete_close(&c);
}

static void each(const char *corpus, const char *folder, void (*test)(const char *, const char *))
{
	char path[4096];
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir;

	snprintf(path, sizeof path, "%s/%s", corpus, folder);
	dir = opendir(path);
	CHECK(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			test(corpus, entry->d_name);
			count++;
		}
	closedir(dir);
	CHECK(count > 10);
}

int main(void)
{
	const char *corpus = ete_corpus();

	each(corpus, "crafted", test_crafted);
	each(corpus, "snapshots", test_snapshot);
	return 0;
}
