/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/diff_print.h"

#include "mountd/json_text.h"
#include "mountd/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines on their way out. */
struct lines {
	struct hf_diff_print *print;
	char sign; /* 0: as JSON, with commas between them */
	bool any;
};

static void put_line(struct lines *l, const char *text, size_t size)
{
	if (l->sign) {
		putchar(l->sign);
		fwrite(text, 1, size, stdout);
		putchar('\n');
	} else {
		if (l->any)
			putchar(',');
		hf_print_json_text(text, size);
	}
	l->any = true;
}

static void put_lines(struct lines *l, const char *p, const char *end)
{
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		put_line(l, p, (size_t)(stop - p));
		p = stop + 1;
	}
}

/* The listing of some instructions, malloc'ed. */
static int read_listing(const struct hf_diff_side_print *side, uint64_t first, uint64_t count, char **ret_text,
			size_t *ret_size, struct hartfs_diag *diag)
{
	char path[PATH_MAX + 100];
	struct hartfs_view *view;
	int error;

	*ret_text = NULL;
	snprintf(path, sizeof path, "%s/hart%u/at/%llu-%llu/listing.txt", side->view_dir, side->hart,
		 (unsigned long long)first, (unsigned long long)(first + count - 1));
	error = hartfs_view_open(side->archive, path, &view, diag);
	if (error)
		return error;
	*ret_text = malloc(hartfs_view_size(view) + 1);
	if (*ret_text)
		error = hartfs_view_read(view, 0, *ret_text, hartfs_view_size(view), ret_size, diag);
	else
		error = hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, diag);
	hartfs_view_close(view);
	return error;
}

static void put_some(struct lines *l, unsigned i, uint64_t first, uint64_t count)
{
	const struct hf_diff_side_print *side = &l->print->side[i];
	struct hartfs_diag diag;
	char *text;
	size_t size;
	int error;

	if (!count || l->print->error)
		return;
	error = read_listing(side, first, count, &text, &size, &diag);
	if (error)
		hf_paths_complain("diff", side->shown, &diag);
	else
		put_lines(l, text, text + size);
	l->print->error = error;
	free(text);
}

/* Of many the first and the last. */
static void put_all(struct lines *l, unsigned i, uint64_t first, uint64_t count)
{
	const uint64_t left_out = count > 3 * HF_DIFF_SHOWN ? count - 2 * HF_DIFF_SHOWN : 0;
	char note[128];
	int n;

	if (!left_out) {
		put_some(l, i, first, count);
		return;
	}
	put_some(l, i, first, HF_DIFF_SHOWN);
	n = snprintf(note, sizeof note, "# %llu instructions, %llu to %llu, are not shown", (unsigned long long)left_out,
		     (unsigned long long)(first + HF_DIFF_SHOWN),
		     (unsigned long long)(first + HF_DIFF_SHOWN + left_out - 1));
	put_line(l, note, (size_t)n);
	put_some(l, i, first + HF_DIFF_SHOWN + left_out, HF_DIFF_SHOWN);
}

static const char *kind_name(enum hf_diff_kind kind)
{
	static const char *const names[] = {
		[HF_DIFF_FLOW] = "flow", [HF_DIFF_ACCESS] = "accesses", [HF_DIFF_APART] = "apart"};

	return names[kind];
}

static void put_json(struct hf_diff_print *print, const struct hf_diff_part *part)
{
	printf("{\"kind\":\"%s\"", kind_name(part->kind));
	for (unsigned i = 0; i < 2; i++) {
		struct lines lines = {.print = print};

		printf(",\"%s\":{\"hart\":%u,\"ordinal\":%llu,\"count\":%llu,\"lines\":[", i ? "b" : "a", print->side[i].hart,
		       (unsigned long long)part->ordinal[i], (unsigned long long)part->count[i]);
		put_all(&lines, i, part->ordinal[i], part->count[i]);
		printf("]}");
	}
	if (part->no_code)
		printf(",\"common\":false");
	printf(",\"same\":%llu,\"last\":%s}\n", (unsigned long long)part->same, part->last ? "true" : "false");
}

static void put_head(struct hf_diff_print *print, const struct hf_diff_part *part)
{
	if (!print->begun)
		for (unsigned i = 0; i < 2; i++)
			printf("%s %s hart %u\n", i ? "+++" : "---", print->side[i].shown, print->side[i].hart);
	printf("@@ -%llu,%llu +%llu,%llu @@", (unsigned long long)part->ordinal[0], (unsigned long long)part->count[0],
	       (unsigned long long)part->ordinal[1], (unsigned long long)part->count[1]);
	if (part->kind == HF_DIFF_ACCESS)
		printf(" accesses differ");
	if (part->no_code)
		printf(" no code in common");
	else if (part->kind == HF_DIFF_APART)
		printf(" no realignment found within %llu instructions", (unsigned long long)HF_DIFF_AHEAD);
	putchar('\n');
}

static void put_text(struct hf_diff_print *print, const struct hf_diff_part *part)
{
	const uint64_t first = print->begun ? print->next : print->side[0].from;
	const uint64_t equal = part->ordinal[0] - first, before = equal < print->context ? equal : print->context;
	const uint64_t after = part->same < print->context ? part->same : print->context;

	put_head(print, part);
	put_some(&(struct lines){.print = print, .sign = ' '}, 0, part->ordinal[0] - before, before);
	for (unsigned i = 0; i < 2; i++)
		put_all(&(struct lines){.print = print, .sign = i ? '+' : '-'}, i, part->ordinal[i], part->count[i]);
	put_some(&(struct lines){.print = print, .sign = ' '}, 0, part->ordinal[0] + part->count[0], after);
	print->next = part->ordinal[0] + part->count[0] + after;
}

bool hf_diff_print_part(struct hf_diff_print *print, const struct hf_diff_part *part)
{
	if (print->json)
		put_json(print, part);
	else
		put_text(print, part);
	print->begun = true;
	return !print->error && !ferror(stdout);
}
