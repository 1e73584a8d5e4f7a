/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a recorded program shares with the recorder, which the program may write as it likes. Whatever is
 * there: the capture that is left is whole, and has as many instructions as is said. Input: a byte that means nothing;
 * then steps of a byte what, one how many bytes, and these.
 */
#include "mountd/record_ring.c"

#include "codecs/base/bytes.h"
#include "tests/lib/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

enum { BYTES, HEADER, STATE, WRITTEN, READ, GROUPS, LOAD, TAKE, STEPS };
/* Each slot has pages of its own. */
static const size_t slots[] = {0, RING_SLOTS - 1};
static const char *const loads[] = {"elf", "pipe", "endless", "", ".", "x.d/../elf", "lost", "names,of;\"#\n="};
static struct ring *shared;
static char dir[] = "/dev/shm/hartfs-ring-XXXXXX";
static int dirfd_of_it = -1;

void hf_say(FILE *to, const char *format, ...)
{
	(void)to;
	(void)format;
}

/* The captures, or the copies of files. */
static void remove_all(const char *in)
{
	const int fd = openat(dirfd_of_it, in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fdopendir(fd);

	MUST(list);
	for (struct dirent *entry; (entry = readdir(list));)
		if (*entry->d_name != '.' &&
		    (*in != '.' || (*entry->d_name == 'x' && strcmp(entry->d_name, "x.d") != 0)))
			MUST(unlinkat(fd, entry->d_name, 0) == 0);
	closedir(list);
}

static void clean_up(void)
{
	unlinkat(dirfd_of_it, "elf", 0);
	unlinkat(dirfd_of_it, "pipe", 0);
	unlinkat(dirfd_of_it, "endless", 0);
	unlinkat(dirfd_of_it, "x.d", AT_REMOVEDIR);
	rmdir(dir);
}

static void set_up(void)
{
	static const uint8_t elf[] = "\177ELF\2\1\1";
	struct hf_record_ring *r = hf_record_ring_new();
	int fd;

	MUST(r && mkdtemp(dir));
	shared = r->shared;
	free(r);
	dirfd_of_it = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(mkdirat(dirfd_of_it, "x.d", 0700) == 0 && mkfifoat(dirfd_of_it, "pipe", 0600) == 0 &&
	     symlinkat("/dev/zero", dirfd_of_it, "endless") == 0);
	fd = openat(dirfd_of_it, "elf", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, elf, sizeof elf) == sizeof elf);
	close(fd);
	atexit(clean_up);
}

static void load(const uint8_t *p, size_t n)
{
	const uint32_t at = atomic_load(&shared->loads);
	struct ring_load *to = &shared->load[at % 4];

	if (at < 4) {
		to->address = n > 1 ? p[1] * UINT64_C(0x1000) : UINT64_MAX;
		snprintf(to->path, sizeof to->path, "%s/%s", dir, loads[n ? p[0] % 8 : 0]);
	}
	atomic_store(&shared->loads, n > 2 && p[2] == 255 ? UINT32_MAX : at < 4 ? at + 1 : at);
}

static void put(struct ring_slot *s, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->bytes[(s->written + i) % RING_BYTES] = p[i];
	s->written += n;
}

/* As the plugin does it, unless the numbers have been written over. */
static void step(struct hf_record_ring *r, struct ring_slot *s, unsigned what, const uint8_t *p, size_t n)
{
	static const uint8_t header[] = "\1STF\2\1\0\0\0\6\0\0\0\4\1\0\5\2\0"
					"\7\x20\4\x9\0\0\0\0\0\x8\1\0\0\0\0\0\0\0\0\0\0\0\x9\0\1\0\0\0\0\0\0\x13";
	static const uint8_t group[] = {HF_STF_INST_OPCODE16, 1, 0};
	uint64_t number = 0;

	memcpy(&number, p, n < 8 ? n : 8);
	switch (what % STEPS) {
	case BYTES:
		put(s, p, n);
		s->written += what & 0x20 ? n * 999 : 0;
		break;
	case HEADER:
		put(s, header, sizeof header - 1);
		break;
	case STATE:
		s->state = (uint32_t)number;
		break;
	case WRITTEN:
		s->written = number;
		break;
	case READ:
		s->read = number;
		break;
	case GROUPS:
		for (size_t i = 0; i < number % 65536; i++)
			put(s, group, sizeof group);
		break;
	case LOAD:
		load(p, n);
		break;
	default:
		hf_record_ring_take(r);
	}
}

/* How many instructions the frames have that the table names. */
static uint64_t read_capture(void)
{
	static const struct hf_stf_layout layout = {.event64 = true};
	static uint8_t file[1 << 21], bytes[1 << 22];
	const int fd = openat(dirfd_of_it, "x.zstf", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, file, sizeof file);
	uint64_t insns = 0, end, size;

	if (fd < 0)
		return 0;
	close(fd);
	MUST(n > 20 && (size_t)n < sizeof file);
	end = hf_get64(file + 12);
	MUST(end <= (size_t)n - 8 && end + 8 + 24 * hf_get64(file + end) == (size_t)n);
	for (size_t at = 20, frame; at < end; at += frame) {
		frame = ZSTD_findFrameCompressedSize(file + at, end - at);
		MUST(!ZSTD_isError(frame) && frame <= end - at);
		MUST(insns % CHUNK == 0);
		const size_t got = ZSTD_decompress(bytes, sizeof bytes, file + at, frame);
		MUST(!ZSTD_isError(got));
		for (const uint8_t *p = bytes; p < bytes + got; p += size) {
			MUST(!hf_stf_record_size(&layout, p, (size_t)(bytes + got - p), &size));
			insns += *p == HF_STF_INST_OPCODE16 || *p == HF_STF_INST_OPCODE32;
		}
	}
	return insns;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *p = bytes + 1, *end = bytes + n;
	static struct hf_record_ring r;
	struct hf_record_result result;

	if (!shared)
		set_up();
	if (!n || n > 1024)
		return 0;
	r = (struct hf_record_ring){.shared = shared};
	memset(shared, 0, offsetof(struct ring, load));
	for (size_t i = 0; i < 2; i++)
		memset(&shared->slot[slots[i]], 0, offsetof(struct ring_slot, bytes));
	hf_record_ring_into(&r, dirfd_of_it, "x");
	for (; end - p >= 2; p += p[1] + 2) {
		if (p[1] > end - p - 2)
			break;
		step(&r, &shared->slot[slots[p[0] >> 7]], p[0] & 0x7f, p + 2, p[1]);
	}
	hf_record_ring_end(&r);
	hf_record_ring_result(&r, &result);
	MUST(result.insns == read_capture());
	remove_all(".");
	remove_all("x.d");
	return 0;
}
