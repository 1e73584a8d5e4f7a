/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_ring.h"
#include "codecs/stf/records.h"
#include "contrib/capture/ring.h"
#include "mountd/log.h"
#include "mountd/record_file.h"
#include "mountd/record_loads.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

/* How long a look lasts if nobody wakes us: the program may have been killed. */
enum { LOOK_MS = 50 };

/* Instructions from one chunk of the capture to the next. */
enum { CHUNK = 65536 };

/* The records of a slot are those of a file: a header, which only the first of the capture keeps, then groups. */
struct thread {
	bool begun;    /* its header is read */
	uint64_t next; /* where its next instruction is, unless a record says otherwise */
	uint8_t place[HF_STF_SIZE_PROCESS_ID_EXT + HF_STF_SIZE_FORCE_PC]; /* the header's record, and one of next */
};

struct hf_record_ring {
	struct ring *shared;
	int id;
	int dirfd;
	char name[NAME_MAX + 1];
	uint32_t bell;		     /* when we looked last */
	struct hf_record_file *file; /* NULL: no byte came yet */
	bool failed;		     /* nothing more is written */
	struct thread thread[RING_SLOTS];
	uint8_t bytes[RING_BYTES]; /* taken out of a slot */
	struct hf_record_loads *loads;
	uint32_t loaded; /* of what the plugin told */
	struct hf_record_result result;
};

struct hf_record_ring *hf_record_ring_new(void)
{
	struct hf_record_ring *r = calloc(1, sizeof *r);
	void *shared;

	if (!r)
		return NULL;
	r->id = shmget(IPC_PRIVATE, sizeof(struct ring), IPC_CREAT | SHM_NORESERVE | 0600);
	shared = r->id < 0 ? (void *)-1 : shmat(r->id, NULL, 0);
	if (shared == (void *)-1) {
		free(r);
		return NULL;
	}
	/* It goes with the last process that has it; until then others can still have it by its number. */
	shmctl(r->id, IPC_RMID, NULL);
	r->shared = shared;
	r->shared->version = RING_VERSION;
	r->shared->reader = getpid();
	return r;
}

void hf_record_ring_free(struct hf_record_ring *r)
{
	if (!r)
		return;
	shmdt(r->shared);
	free(r);
}

int hf_record_ring_id(const struct hf_record_ring *r)
{
	return r->id;
}

void hf_record_ring_into(struct hf_record_ring *r, int dirfd, const char *name)
{
	r->dirfd = dirfd;
	snprintf(r->name, sizeof r->name, "%s", name);
	r->loads = hf_record_loads_new(dirfd, name);
}

/* The first error is told at once: the program may go on for long. */
static void fail(struct hf_record_ring *r, int errnum)
{
	r->failed = true;
	atomic_store(&r->shared->stop, 1);
	if (r->result.errnum)
		return;
	r->result.errnum = errnum;
	hf_say(stderr, "hartfs record: %s: %s: the recording ends here, the program goes on", r->name,
	       errnum == EILSEQ ? "the program has written into the memory shared with QEMU" : strerror(errnum));
}

/* The size of the record at p, 0 if it is none, or not whole. */
static size_t record_size(const uint8_t *p, size_t n)
{
	static const struct hf_stf_layout layout = {.event64 = true};
	uint64_t size;

	return n && !hf_stf_record_size(&layout, p, n, &size) && size <= n ? (size_t)size : 0;
}

/* Takes note of the header at p; its size, or 0. */
static size_t read_header(struct thread *t, const uint8_t *p, size_t n)
{
	size_t at = 0, size;

	while ((size = record_size(p + at, n - at)) && p[at] != HF_STF_END_HEADER) {
		if (p[at] == HF_STF_PROCESS_ID_EXT)
			memcpy(t->place, p + at, HF_STF_SIZE_PROCESS_ID_EXT);
		if (p[at] == HF_STF_FORCE_PC)
			t->next = hf_get64(p + at + 1);
		at += size;
	}
	t->place[HF_STF_SIZE_PROCESS_ID_EXT] = HF_STF_FORCE_PC;
	t->begun = size;
	return t->begun ? at + size : 0;
}

/* Writes what came of a thread, and before it, but for the first, whose it is and where. 0 or an errno. */
static int write_bytes(struct hf_record_ring *r, struct thread *t, const uint8_t *p, size_t n)
{
	const bool first = !r->file;
	size_t head = t->begun ? 0 : read_header(t, p, n);
	char name[NAME_MAX + 32];
	int err;

	if (!t->begun)
		return EILSEQ;
	r->result.threads += head > 0;
	if (first) {
		snprintf(name, sizeof name, "%s.zstf", r->name);
		r->file = hf_record_file_new(r->dirfd, name, CHUNK);
		if (!r->file)
			return errno;
		head = 0;
	}
	hf_put64(t->place + HF_STF_SIZE_PROCESS_ID_EXT + 1, t->next);
	err = first ? 0 : hf_record_file_write(r->file, t->place, sizeof t->place);
	if (!err)
		err = hf_record_file_write(r->file, p + head, n - head);
	t->next = hf_record_file_pc(r->file);
	return !err && hf_record_file_left(r->file) ? EILSEQ : err;
}

/* Empties the ring of a thread. The program can write into it as it likes, so that nothing of it is believed. */
static bool take_slot(struct hf_record_ring *r, struct thread *t, struct ring_slot *s)
{
	const uint64_t at = atomic_load(&s->read), end = atomic_load_explicit(&s->written, memory_order_acquire);
	const uint64_t n = end - at, straight = RING_BYTES - at % RING_BYTES;
	int err = n > RING_BYTES ? EILSEQ : 0;

	if (!n)
		return false;
	if (!err && !r->failed) {
		memcpy(r->bytes, s->bytes + at % RING_BYTES, n < straight ? n : straight);
		if (n > straight)
			memcpy(r->bytes + straight, s->bytes, n - straight);
	}
	atomic_store(&s->read, end);
	ring_wake(&s->moved);
	if (!err && !r->failed)
		err = write_bytes(r, t, r->bytes, n);
	if (err && !r->failed)
		fail(r, err);
	return true;
}

bool hf_record_ring_take(struct hf_record_ring *r)
{
	bool any = false;

	r->bell = atomic_load(&r->shared->bell);
	for (size_t i = 0; i < RING_SLOTS; i++) {
		struct ring_slot *s = &r->shared->slot[i];
		uint32_t state = atomic_load(&s->state);

		if (state == RING_FREE)
			continue;
		any |= take_slot(r, &r->thread[i], s);
		if (state != RING_DONE)
			continue;
		r->thread[i] = (struct thread){0};
		atomic_store(&s->written, 0);
		atomic_store(&s->read, 0);
		atomic_store(&s->state, RING_FREE);
		any = true;
	}
	for (uint32_t n = atomic_load(&r->shared->loads); r->loaded < n && r->loaded < RING_LOADS; any = true) {
		struct ring_load load = r->shared->load[r->loaded++];

		load.path[RING_PATH - 1] = 0;
		hf_record_loads_add(r->loads, load.path, &load.address);
	}
	return any;
}

void hf_record_ring_file(struct hf_record_ring *r, const char *path)
{
	hf_record_loads_add(r->loads, path, NULL);
	r->result.files++;
}

void hf_record_ring_wait(struct hf_record_ring *r)
{
	ring_wait(&r->shared->bell, r->bell, LOOK_MS);
}

void hf_record_ring_end(struct hf_record_ring *r)
{
	int err;

	hf_record_ring_take(r);
	err = r->file ? hf_record_file_close(r->file, &r->result.insns) : 0;
	r->file = NULL;
	if (err && !r->failed)
		fail(r, err);
	r->result.attached = atomic_load(&r->shared->attached);
	r->result.lost = atomic_load(&r->shared->lost);
	r->result.cut = atomic_load(&r->shared->cut);
	r->result.files += r->loaded;
	r->result.more_files = atomic_load(&r->shared->loads) > RING_LOADS;
	err = hf_record_loads_free(r->loads);
	r->loads = NULL;
	if (!r->result.errnum)
		r->result.errnum = err;
}

void hf_record_ring_result(const struct hf_record_ring *r, struct hf_record_result *ret_result)
{
	*ret_result = r->result;
}
