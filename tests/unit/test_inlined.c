/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was inlined where, against llvm-symbolizer at random addresses: of this very program, or of the ELF files that are
 * named on the command line.
 */
#include "codecs/image/elf_read.h"
#include "codecs/image/inlined.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <unistd.h>

enum { ADDRESSES = 10000, TEXT = 65536, FRAMES_MAX = 512 };

struct frame {
	char name[TEXT / 16], place[256]; /* "sort.c:42", or "?" */
};

static const char *const symbolizers[] = {"llvm-symbolizer-19", "llvm-symbolizer"};

static const char *find_symbolizer(void)
{
	char command[64];

	for (unsigned i = 0; i < sizeof symbolizers / sizeof symbolizers[0]; i++) {
		snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", symbolizers[i]);
		if (system(command) == 0)
			return symbolizers[i];
	}
	return NULL;
}

static struct hf_src *open_elf(const char *path, uint64_t *address)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hf_elf_segment text = {0};
	struct hf_elf_file file;
	struct hf_src *src;

	CHECK(fd >= 0);
	CHECK_EQ(hf_src_file_new(fd, &src, NULL), 0);
	CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
	for (size_t i = 0; i < file.segment_count; i++)
		if (file.segments[i].flags & HF_ELF_X)
			text = file.segments[i];
	hf_elf_file_close(&file);
	CHECK(text.size > 0);
	srand(1);
	for (unsigned i = 0; i < ADDRESSES; i++)
		address[i] = text.address + ((uint64_t)rand() << 16 ^ (uint64_t)rand()) % text.size;
	return src;
}

/* "/a/b.c:12:3" as "b.c:12"; "?" if it lacks one of them. */
static void tidy(char *line, char place[256])
{
	const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : line;
	char *column = strrchr(name, ':'), *number;

	CHECK(column);
	*column = '\0';
	number = strrchr(name, ':');
	CHECK(number);
	if (name[0] == '?' || strcmp(number, ":0") == 0)
		name = "?";
	CHECK(strlen(name) < 256);
	memcpy(place, name, strlen(name) + 1);
}

/* The frames of an address, innermost first, up to the empty line. */
static unsigned read_frames(FILE *answers, struct frame *frame)
{
	static char line[TEXT];
	unsigned n = 0;

	while (fgets(line, sizeof line, answers) && line[0] != '\n') {
		CHECK(n < FRAMES_MAX);
		line[strcspn(line, "\n")] = '\0';
		/* Names are compared as far as they are shown. */
		line[sizeof frame->name - 1] = '\0';
		memcpy(frame[n].name, line, strlen(line) + 1);
		CHECK(fgets(line, sizeof line, answers));
		tidy(line, frame[n].place);
		n++;
	}
	CHECK(n > 0);
	return n;
}

/* Raw names have no blanks, '<' and '>'. */
static bool same_name(const char *got, const char *want)
{
	const size_t n = strlen(got), all = n == HF_SYMBOL_NAME_MAX ? n - strlen("...") : n;

	for (size_t i = 0; i < all; i++)
		if (got[i] != (strchr(" <>", want[i]) ? want[i] ? '?' : 0 : want[i]))
			return false;
	return n == HF_SYMBOL_NAME_MAX || !want[n];
}

static bool same(const struct hf_inlined *inlined, uint64_t address, const struct frame *frame, unsigned n)
{
	struct hf_inlined_place place;
	struct hf_inlined_call call;
	char where[256];
	unsigned i = 0;

	hf_inlined_at(inlined, address, &place);
	CHECK(address >= place.start && address < place.end);
	for (uint32_t next = place.call; next; next = call.outer, i++) {
		hf_inlined_get(inlined, next, &call);
		snprintf(where, sizeof where, "%s:%u", call.file, call.line);
		if (i + 1 >= n || !same_name(call.name, frame[i].name) ||
		    strcmp(call.line && call.file_size ? where : "?", frame[i + 1].place) != 0)
			return false;
	}
	return i + 1 == n;
}

static void tell(const struct hf_inlined *inlined, uint64_t address, const struct frame *frame, unsigned n)
{
	struct hf_inlined_place place;
	struct hf_inlined_call call;

	fprintf(stderr, "%" PRIx64 ":\n", address);
	hf_inlined_at(inlined, address, &place);
	for (uint32_t next = place.call; next; next = call.outer) {
		hf_inlined_get(inlined, next, &call);
		fprintf(stderr, "  got  %s at %s:%u\n", call.name, call.file, call.line);
	}
	for (unsigned i = 0; i < n; i++)
		fprintf(stderr, "  want %s, %s\n", frame[i].name, frame[i].place);
}

static void check_against(const char *symbolizer, const char *path, const struct hf_inlined *inlined,
			  const uint64_t *address)
{
	static struct frame frame[FRAMES_MAX];
	char name[] = "/tmp/hartfs-inlined.XXXXXX", command[4096];
	const int fd = mkstemp(name);
	FILE *list = fdopen(fd, "w"), *answers;
	unsigned different = 0, deep = 0;

	CHECK(list);
	for (unsigned i = 0; i < ADDRESSES; i++)
		fprintf(list, "0x%" PRIx64 "\n", address[i]);
	fclose(list);
	snprintf(command, sizeof command, "%s --inlines --no-demangle --obj='%s' <%s", symbolizer, path, name);
	answers = popen(command, "r");
	CHECK(answers);
	for (unsigned i = 0; i < ADDRESSES; i++) {
		const unsigned n = read_frames(answers, frame);

		deep += n > 1;
		if (!same(inlined, address[i], frame, n) && different++ < 10)
			tell(inlined, address[i], frame, n);
	}
	pclose(answers);
	unlink(name);
	printf("%s: %u of %u addresses are in inlined code\n", path, deep, ADDRESSES);
	CHECK_EQ(different, 0);
	CHECK(deep > 0);
}

static void check_file(const char *symbolizer, const char *path)
{
	static uint64_t address[ADDRESSES];
	struct hf_src *src = open_elf(path, address);
	struct hf_inlined *inlined;

	CHECK_EQ(hf_inlined_new(src, 0, false, NULL, &inlined, NULL), 0);
	CHECK(hf_inlined_count(inlined) > 0);
	if (symbolizer)
		check_against(symbolizer, path, inlined, address);
	hf_inlined_free(inlined);
	hf_src_free(src);
}

int main(int argc, char **argv)
{
	const char *symbolizer = find_symbolizer();
	char self[64];

	if (!symbolizer)
		printf("NOT COMPARED: there is no llvm-symbolizer\n");
	snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());
	if (argc == 1)
		check_file(symbolizer, self);
	for (int i = 1; i < argc; i++)
		check_file(symbolizer, argv[i]);
	return 0;
}
