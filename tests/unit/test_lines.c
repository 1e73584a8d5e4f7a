/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of this very program, against addr2line at 10,000 random addresses; and that what cuts or damages a table costs
 * that table alone.
 */
#include "codecs/image/elf_read.h"
#include "codecs/image/lines.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <unistd.h>

enum { ADDRESSES = 10000, TEXT = 4096 };

static struct hf_elf_segment text;

static struct hf_src *open_self(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct hf_elf_file file;
	struct hf_src *src;

	CHECK(fd >= 0);
	CHECK_EQ(hf_src_file_new(fd, &src, NULL), 0);
	CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
	for (size_t i = 0; i < file.segment_count; i++)
		if (file.segments[i].flags & HF_ELF_X)
			text = file.segments[i];
	hf_elf_file_close(&file);
	return src;
}

/* "file.c:12", as addr2line has it but for directories and discriminators; "?" if there is no line. */
static void tidy(char *line)
{
	char *slash = strrchr(line, '/'), *end;

	if (slash)
		memmove(line, slash + 1, strlen(slash));
	end = line + strcspn(line, " \n");
	*end = '\0';
	if (strchr(line, '?') || (end - line > 2 && strcmp(end - 2, ":0") == 0))
		strcpy(line, "?");
}

static unsigned compare(const struct hf_lines *lines, FILE *answers, const uint64_t *address)
{
	char expected[TEXT], whole[TEXT], got[TEXT];
	unsigned known = 0, paths = 0;

	for (unsigned i = 0; i < ADDRESSES; i++) {
		struct hf_line line;

		CHECK(fgets(expected, sizeof expected, answers));
		memcpy(whole, expected, sizeof whole);
		tidy(expected);
		hf_lines_at(lines, address[i], &line);
		CHECK(address[i] >= line.start && address[i] < line.end);
		snprintf(got, sizeof got, line.line ? "%s:%u" : "?", line.file, line.line);
		if (strcmp(got, expected) != 0)
			fprintf(stderr, "%" PRIx64 ":\n", address[i]);
		CHECK_STR(got, expected);
		known += line.line != 0;
		paths += line.line && strncmp(whole, line.path, line.path_size) == 0 && whole[line.path_size] == ':';
	}
	CHECK(paths > known / 2);
	return known;
}

static void check_against_addr2line(const struct hf_lines *lines)
{
	static uint64_t address[ADDRESSES];
	char name[] = "/tmp/hartfs-lines.XXXXXX", command[256];
	const int fd = mkstemp(name);
	FILE *list = fdopen(fd, "w"), *answers;

	CHECK(list);
	srand(1);
	for (unsigned i = 0; i < ADDRESSES; i++) {
		address[i] = text.address + ((uint64_t)rand() << 16 ^ (uint64_t)rand()) % text.size;
		fprintf(list, "%" PRIx64 "\n", address[i]);
	}
	fclose(list);
	snprintf(command, sizeof command, "addr2line -e /proc/%d/exe <%s", (int)getpid(), name);
	answers = popen(command, "r");
	CHECK(answers);
	CHECK(compare(lines, answers, address) > ADDRESSES / 2);
	CHECK_EQ(pclose(answers), 0);
	unlink(name);
}

static bool next_even_page(void *ctx, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	(void)ctx;
	*ret_start = ((address >> 12) + (address >> 12 & 1)) << 12;
	*ret_end = *ret_start + 4096;
	return true;
}

/* With a filter there are fewer rows; where there are some, they say the same, moved by the bias. */
static void check_filter(struct hf_src *src, const struct hf_lines *all)
{
	const struct hf_lines_filter filter = {next_even_page, NULL};
	struct hf_lines *some;
	unsigned same = 0;

	CHECK_EQ(hf_lines_new(src, 0x10000000, &filter, &some, NULL), 0);
	CHECK(hf_lines_count(some) > 0 && hf_lines_count(some) < hf_lines_count(all));
	for (uint64_t pc = text.address; pc < text.address + text.size; pc += 3) {
		struct hf_line a, b;

		hf_lines_at(all, pc, &a);
		hf_lines_at(some, pc + 0x10000000, &b);
		CHECK(!b.line || (a.line == b.line && strcmp(a.file, b.file) == 0));
		CHECK(b.line == a.line || pc >> 12 & 1);
		same += b.line != 0;
	}
	CHECK(same > 0);
	hf_lines_free(some);
}

int main(void)
{
	struct hf_src *src = open_self();
	struct hf_lines *lines;

	CHECK_EQ(hf_lines_new(src, 0, NULL, &lines, NULL), 0);
	CHECK(hf_lines_count(lines) > 1000);
	check_against_addr2line(lines);
	check_filter(src, lines);
	hf_lines_free(lines);
	hf_src_free(src);
	return 0;
}
