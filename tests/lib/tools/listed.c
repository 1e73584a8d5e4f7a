/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listed [-s] WHAT [FIELDS] <LISTING: what tests compare of a listing, in the form of the goldens. It knows only the
 * text, not the code that made it. awk does the same ten times as slowly, and listings are what tests read most.
 * -s: a sum of that text.
 *
 *   pc     of the retired instructions
 *   pcs    pc opcode: of the retired instructions
 *   insts  the same of all instruction records, attempts too
 *   mem    index kind address bytes attr data...: of the memory accesses; index counts instruction records from 0
 *   modes  mode pc opcode as they stand: of the retired instructions; FIELDS is the mode where none is known
 *   notes  retired instructions before, and the line: of each line that begins with #
 *   places the line of the first retired instruction at each pc, and of the next one there whose opcode is another
 *   flow   pc opcode as they stand, and between them the traps: "trap", retired instructions before, kind and cause, or
 *          nothing if FIELDS is 1,4 and not 1-4, target
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS_MOST = 256 };

struct line {
	char *text;
	size_t room;
	char *field[FIELDS_MOST];
	int fields;
};

static uint64_t retired, records, sum = UINT64_C(0xcbf29ce484222325);
static bool whole_traps;
static const char *fields;

static const char *strip(const char *s)
{
	while (s[0] == '0' && s[1])
		s++;
	return *s ? s : "0";
}

/* Cuts the line into fields, at most so many. */
static void cut(struct line *l, int most)
{
	char *at = l->text;

	for (l->fields = 0; l->fields < most; *at++ = 0) {
		while (*at == ' ')
			at++;
		if (!*at)
			return;
		l->field[l->fields++] = at;
		at = strchrnul(at, ' ');
		if (!*at)
			return;
	}
	if (most == FIELDS_MOST) {
		fprintf(stderr, "listed: a line has %d fields or more\n", FIELDS_MOST);
		exit(2);
	}
}

static const char *field(const struct line *l, int i)
{
	return i < l->fields ? l->field[i] : "";
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static void put(const char *text)
{
	fputs_unlocked(text, stdout);
}

static void put_insn(struct line *l, int pc)
{
	put(l->fields > pc ? strip(l->field[pc]) : "0");
	put(" ");
	put(field(l, pc + 1));
	put("\n");
}

static void pc(struct line *l)
{
	if (*l->text == '#')
		return;
	cut(l, 3);
	put(strip(field(l, 2)));
	put("\n");
}

static void pcs(struct line *l)
{
	if (*l->text == '#')
		return;
	cut(l, 4);
	put_insn(l, 2);
}

static void insts(struct line *l)
{
	const bool attempt = begins(l->text, "# attempt");

	if (*l->text == '#' && !attempt)
		return;
	cut(l, 5);
	put_insn(l, attempt ? 3 : 2);
}

static void modes(struct line *l)
{
	if (*l->text == '#')
		return;
	cut(l, 4);
	for (int i = 1; i < 4; i++) {
		put(i == 1 && fields && !strcmp(field(l, i), "?") ? fields : field(l, i));
		put(i < 3 ? " " : "\n");
	}
}

static void places(struct line *l)
{
	enum { SLOTS = 1 << 20 };
	static struct {
		unsigned long long pc, opcode_and_1;
	} slots[SLOTS];
	static size_t used;
	char *at = l->text;
	unsigned long long pc, opcode;
	size_t i;

	if (*at == '#')
		return;
	for (int skip = 0; skip < 2; skip++)
		at = strchrnul(at, ' ') + strspn(strchrnul(at, ' '), " ");
	pc = strtoull(at, &at, 16);
	opcode = strtoull(at, NULL, 16);
	for (i = pc * 0x9e3779b97f4a7c15 >> 44; slots[i].opcode_and_1 && slots[i].pc != pc; i = (i + 1) % SLOTS)
		;
	if (slots[i].opcode_and_1 == opcode + 1)
		return;
	used += !slots[i].opcode_and_1;
	if (used == SLOTS) {
		fprintf(stderr, "listed: too many places\n");
		exit(2);
	}
	slots[i].pc = pc;
	slots[i].opcode_and_1 = opcode + 1;
	put(l->text);
	put("\n");
}

static void notes(struct line *l)
{
	if (*l->text == '#')
		printf("%llu %s\n", (unsigned long long)retired, l->text);
}

static void flow(struct line *l)
{
	const char *cause = "-", *target = "-";

	if (*l->text != '#') {
		cut(l, 4);
		put(field(l, 2));
		put(" ");
		put(field(l, 3));
		put("\n");
		return;
	}
	if (!begins(l->text, "# trap "))
		return;
	cut(l, FIELDS_MOST);
	for (int i = 3; i < l->fields; i++) {
		if (begins(l->field[i], "cause="))
			cause = l->field[i] + 6;
		if (!strcmp(l->field[i], "->"))
			target = field(l, i + 1);
	}
	printf("trap %llu ", (unsigned long long)retired);
	if (whole_traps)
		printf("%s %s", field(l, 2), cause);
	printf(" %s\n", target);
}

/* Takes the first of it out of the text. */
static void remove_text(char *from, size_t n)
{
	if (from)
		memmove(from, from + n, strlen(from + n) + 1);
}

static void remove_stored(char *text)
{
	char *at = strstr(text, "stored=");
	size_t n;

	if (!at)
		return;
	n = 7 + strspn(at + 7, "0123456789");
	if (at > text && at[-1] == ',') {
		at--;
		n++;
	}
	remove_text(at, n);
}

/* ADDRESS[{attr=ATTR}][=DATA], with more between the braces. */
static void put_access(const char *kind, size_t kind_length, char *text)
{
	char *data = text + strlen(text), *at, *word;
	const char *attr = "0";

	remove_stored(text);
	remove_text(strstr(text, "{}"), 2);
	at = strchr(text, '=');
	if (at && text[strspn(text, "0123456789abcdef")] != '{') {
		*at = 0;
		data = at + 1;
	}
	if ((at = strstr(text, "{attr="))) {
		attr = at + 6;
		if ((at = strstr(attr, "}=")))
			data = at + 2;
		if ((at = strchr(attr, '}')))
			*at = 0;
		*strchr(text, '{') = 0;
	}
	printf("%llu %.*s %s %s %s", (unsigned long long)records, (int)kind_length, kind, strip(text),
	       kind + kind_length, strip(attr));
	while (data && *data && (word = strsep(&data, "_")))
		printf(" %s", strip(word));
	putchar('\n');
}

static void mem(struct line *l)
{
	if (*l->text == '#' && !begins(l->text, "# attempt"))
		return;
	cut(l, FIELDS_MOST);
	for (int i = 4; i + 1 < l->fields; i++) {
		const char *kind = l->field[i];
		const size_t n = (kind[0] == 'R') + (kind[kind[0] == 'R'] == 'W');

		if (n && kind[n] && !kind[n + strspn(kind + n, "0123456789")])
			put_access(kind, n, l->field[i + 1]);
	}
	records++;
}

static const struct {
	const char *name;
	void (*line)(struct line *l);
} whats[] = {{"pc", pc},       {"pcs", pcs},	 {"insts", insts}, {"mem", mem},
	     {"modes", modes}, {"notes", notes}, {"places", places}, {"flow", flow}};

static ssize_t add_to_sum(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return (ssize_t)n;
}

int main(int argc, char **argv)
{
	void (*take)(struct line * l) = NULL;
	struct line line = {0};
	const bool sums = argc > 1 && !strcmp(argv[1], "-s");
	ssize_t n;

	argc -= sums;
	argv += sums;
	for (size_t i = 0; i < sizeof whats / sizeof *whats && argc > 1; i++)
		if (!strcmp(argv[1], whats[i].name))
			take = whats[i].line;
	if (!take) {
		fprintf(stderr, "listed: pc, pcs, insts, mem, modes, notes, places or flow\n");
		return 2;
	}
	__fsetlocking(stdin, FSETLOCKING_BYCALLER);
	fields = argc > 2 ? argv[2] : NULL;
	whole_traps = fields && !strcmp(fields, "1-4");
	if (sums)
		stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = add_to_sum});
	while ((n = getline(&line.text, &line.room, stdin)) > 0) {
		const bool is_retired = *line.text != '#';

		if (line.text[n - 1] == '\n')
			line.text[n - 1] = 0;
		take(&line);
		retired += is_retired;
	}
	free(line.text);
	if (fflush(stdout) || ferror(stdin))
		return 2;
	if (sums)
		dprintf(STDOUT_FILENO, "%016llx\n", (unsigned long long)sum);
	return 0;
}
