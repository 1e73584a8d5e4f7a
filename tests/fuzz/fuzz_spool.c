/*
 * Any bytes as a spool: it is not taken, or reading gives bytes or says that it is damaged. Input: bit 0 whether the
 * head is put right, behind the frames and before the table; two bytes, the stream's size in steps of 16; the file, if
 * the head is put right without one.
 */
#include "index/spool_format.h"
#include "tests/lib/check.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/indextest.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#define STEP 16
#define FILE_MAX 65536

static struct hf_ixtest t;

static void clean_up(void)
{
	hf_ixtest_fini(&t);
}

static void store(int fd, const void *bytes, size_t n)
{
	CHECK(write(fd, bytes, n) == (ssize_t)n);
}

static void make_file(const char *name, bool sealed, uint64_t stream_size, const uint8_t *bytes, size_t n)
{
	const uint64_t table = 8 + (hf_spool_frames(stream_size) + 1) * HF_SPOOL_ENTRY_SIZE + HF_SPOOL_FOOTER_SIZE;
	const int fd = openat(t.dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint8_t head[HF_SPOOL_HEAD_SIZE];

	CHECK(fd >= 0);
	if (sealed && table <= n) {
		hf_spool_head_put(&t.identity, stream_size, XXH3_64bits(bytes + n - table, table), head);
		store(fd, bytes, n - table);
		store(fd, head, sizeof head);
		store(fd, bytes + n - table, table);
	} else {
		store(fd, bytes, n);
	}
	close(fd);
}

static void look(uint64_t stream_size)
{
	static const uint64_t places[] = {0, 1, HF_SPOOL_FRAME - 1, HF_SPOOL_FRAME, 3 * HF_SPOOL_FRAME + 5};
	struct hf_spool *spool;
	uint8_t buf[64];
	int err = hf_spool_open(t.dirfd, &t.identity, stream_size, &spool);

	MUST(err == 0 || err == HF_ERR_NOT_FOUND);
	if (err)
		return;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		err = hf_spool_read(spool, places[i], buf, sizeof buf);
		MUST(err == 0 || err == HF_ERR_STATE);
		MUST(err || places[i] + sizeof buf <= stream_size);
	}
	hf_spool_unref(spool);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char name[HF_FILE_NAME_SIZE];
	uint64_t stream_size;

	if (n < 3 || n > FILE_MAX)
		return 0;
	if (!*t.dir) {
		hf_ixtest_init(&t);
		atexit(clean_up);
	}
	stream_size = STEP * (uint64_t)(bytes[1] | bytes[2] << 8);
	hf_spool_name(&t.identity, name);
	make_file(name, bytes[0] & 1, stream_size, bytes + 3, n - 3);
	look(stream_size);
	unlinkat(t.dirfd, name, 0);
	return 0;
}
