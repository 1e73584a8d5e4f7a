/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads wait for requests of the kernel. It gives each request to the thread that has waited longest, so
 * with several of them even one reader's requests go round, each time to a thread that must be woken and whose memory
 * is cold. Here the others are parked as long as one program asks after the other.
 */
#ifndef HF_MOUNTD_THREAD_PARKING_H
#define HF_MOUNTD_THREAD_PARKING_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hf_thread_parking {
	sem_t more;           /* parked threads wait for it */
	atomic_int parked;
	atomic_int reading;   /* threads that wait for a request */
	atomic_uint received; /* requests, so far */
	atomic_uint asker;    /* the thread that asked last, by its number */
	atomic_int crowd;     /* grows while several ask in turn */
	atomic_bool watched;  /* hf_thread_parking_look is called now and then */
};

/* How often to call hf_thread_parking_look. */
#define HF_THREAD_PARKING_LOOK_NS (10 * 1000000)

void hf_thread_parking_init(struct hf_thread_parking *all);
void hf_thread_parking_fini(struct hf_thread_parking *all);

/* Before a thread waits for a request. False: it was parked, and a signal or work for it ended that; ask again. */
bool hf_thread_parking_enter(struct hf_thread_parking *all);
/* When that is over. asker: the thread that asks, 0 if the kernel does not say. read: for bytes, which the kernel asks
 * for ahead, several at a time. True: hf_thread_parking_look must be called from now on. */
bool hf_thread_parking_leave(struct hf_thread_parking *all, uint32_t asker, bool read);

/* Lets another thread in if those that are not parked are long at what they have. *seen: its own, 0 at first. False:
 * nothing is going on, and it need not be called before hf_thread_parking_leave says so. */
bool hf_thread_parking_look(struct hf_thread_parking *all, unsigned *seen);

#endif
