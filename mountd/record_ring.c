/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_ring.h"
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

struct thread {
	struct hf_record_file *file; /* NULL: no byte came yet */
	bool failed;		     /* nothing more is written */
	uint64_t insns;
};

struct hf_record_ring {
	struct ring *shared;
	int id;
	int dirfd;
	char name[NAME_MAX + 1];
	bool astf;
	uint32_t bell; /* when we looked last */
	struct thread thread[RING_SLOTS];
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

void hf_record_ring_into(struct hf_record_ring *r, int dirfd, const char *name, bool astf)
{
	r->dirfd = dirfd;
	snprintf(r->name, sizeof r->name, "%s", name);
	r->astf = astf;
	r->loads = hf_record_loads_new(dirfd, name);
}

/* The first error is told at once: the program may go on for long. */
static void fail(struct hf_record_ring *r, struct thread *t, int errnum)
{
	t->failed = true;
	atomic_store(&r->shared->stop, 1);
	if (r->result.errnum)
		return;
	r->result.errnum = errnum;
	hf_say(stderr, "hartfs record: %s: %s: the recording ends here, the program goes on", r->name,
	       errnum == EBADMSG ? "the program has written into the memory shared with QEMU" : strerror(errnum));
}

static void end_thread(struct hf_record_ring *r, struct thread *t)
{
	uint64_t chunks = 0;
	int err = t->file ? hf_record_file_close(t->file, &chunks) : 0;
	const uint64_t room = chunks * RING_CHUNK;

	if (err && !t->failed)
		fail(r, t, err);
	r->result.captures += chunks > 0;
	r->result.insns += t->insns < room ? t->insns : room;
	*t = (struct thread){0};
}

static bool open_file(struct hf_record_ring *r, struct thread *t, uint32_t number)
{
	char name[NAME_MAX + 32], part[16] = "";

	if (number)
		snprintf(part, sizeof part, ".t%u", number);
	snprintf(name, sizeof name, "%s%s%s", r->name, part, r->astf ? ".astf.zst" : ".zstf");
	t->file = hf_record_file_new(r->dirfd, name, !r->astf, RING_CHUNK);
	if (!t->file)
		fail(r, t, errno);
	return t->file;
}

/* Up to the next chunk, or to the end of what there is; and never around the ring's end. 0: what is there is nonsense.
 */
static uint64_t next_piece(struct hf_record_ring *r, struct thread *t, struct ring_slot *s, uint64_t at, uint64_t end)
{
	uint32_t marks = atomic_load(&s->marks_read), written = atomic_load(&s->marks_written);
	struct ring_mark mark = s->marks[marks % RING_MARKS];
	uint64_t piece = end - at, straight = RING_BYTES - at % RING_BYTES;

	if (marks != written && mark.at == at) {
		int err = t->failed ? 0 : hf_record_file_chunk(t->file, mark.pc);

		if (err)
			fail(r, t, err);
		atomic_store(&s->marks_read, ++marks);
		mark = s->marks[marks % RING_MARKS];
	}
	if (marks != written && mark.at <= at)
		return 0;
	if (marks != written && mark.at - at < piece)
		piece = mark.at - at;
	return piece < straight ? piece : straight;
}

/* Empties the ring of a thread. The program can write into it as it likes, so that nothing of it is believed. */
static bool take_slot(struct hf_record_ring *r, struct thread *t, struct ring_slot *s)
{
	uint64_t at = atomic_load(&s->read), end = atomic_load_explicit(&s->written, memory_order_acquire);

	if (at == end)
		return false;
	if (!t->file && !t->failed)
		open_file(r, t, atomic_load(&s->number));
	while (at != end) {
		uint64_t piece = end - at > RING_BYTES ? 0 : next_piece(r, t, s, at, end);
		int err = t->failed ? 0 : hf_record_file_write(t->file, s->bytes + at % RING_BYTES, piece);

		if (!piece && !t->failed)
			err = EBADMSG;
		if (err)
			fail(r, t, err);
		at = piece ? at + piece : end;
		atomic_store(&s->read, at);
		atomic_fetch_add(&s->moved, 1);
	}
	t->insns = atomic_load_explicit(&s->insns, memory_order_relaxed);
	ring_wake(&s->moved);
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
		end_thread(r, &r->thread[i]);
		atomic_store(&s->insns, 0);
		atomic_store(&s->written, 0);
		atomic_store(&s->read, 0);
		atomic_store(&s->marks_written, 0);
		atomic_store(&s->marks_read, 0);
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
	for (size_t i = 0; i < RING_SLOTS; i++)
		end_thread(r, &r->thread[i]);
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
