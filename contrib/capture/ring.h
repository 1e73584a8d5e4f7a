/*
 * SPDX-License-Identifier: MIT
 *
 * What the plugin and "hartfs record" share: System V memory with a ring of bytes for each thread of the program. The
 * plugin writes, the recorder reads, compresses and puts into files. Whatever kills the program, the bytes in a ring
 * are those of whole instructions, and the recorder still has them. System V, since it outlives exec() and is no file
 * with a limit of its size.
 *
 * The program shares the plugin's process and may write anything here: the recorder believes nothing.
 */
#ifndef HARTFS_CAPTURE_RING_H
#define HARTFS_CAPTURE_RING_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	RING_VERSION = 3,
	RING_SLOTS = 512, /* threads that run at a time */
	RING_BYTES = 256 * 1024,
	RING_BELL = 64 * 1024, /* bytes after which the reader is woken */
	RING_LOADS = 512,
	RING_PATH = 4096,
};

enum ring_state { RING_FREE, RING_OPEN, RING_DONE };

struct ring_slot {
	_Atomic uint32_t state;	 /* enum ring_state; the reader sets RING_FREE, the writer all others */
	_Atomic uint32_t moved;	 /* futex: the reader has taken something */
	_Atomic uint64_t written, read; /* bytes of the stream */
	unsigned char bytes[RING_BYTES];
};

/* An ELF file that the program has in its memory. */
struct ring_load {
	uint64_t address; /* of the byte that is the file's first */
	char path[RING_PATH];
};

struct ring {
	uint32_t version;
	int32_t reader;		   /* process */
	_Atomic uint32_t attached; /* the plugin is loaded */
	_Atomic uint32_t bell;	   /* futex: something to read */
	_Atomic uint32_t stop;	   /* nothing more is wanted */
	_Atomic uint32_t lost;	   /* threads without a ring, as there are too many */
	_Atomic uint32_t cut;	   /* accesses that are left out, as an instruction has too many */
	_Atomic uint32_t loads;	   /* entries of load[]; one more than there is room for: some are missing */
	struct ring_load load[RING_LOADS];
	struct ring_slot slot[RING_SLOTS];
};

/* Until the word is no longer what was seen, or a while has gone by, or a signal came. */
static inline void ring_wait(_Atomic uint32_t *word, uint32_t seen, long milliseconds)
{
	const struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

static inline void ring_wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#endif
