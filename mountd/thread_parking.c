/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/thread_parking.h"

/* Several ask if one request of five comes from another thread than the one before it, or is a read: what a shell starts
 * one after the other asks more often than that each. */
enum { ANOTHER = 4, CROWD_MAX = 64, CROWDED = 32 };

/* So many wait for requests then. */
enum { READING_MAX = 4 };

/* Fewer requests than this between two looks: each takes long. */
enum { SLOW = 8 };

void hf_thread_parking_init(struct hf_thread_parking *all)
{
	*all = (struct hf_thread_parking){.parked = 0};
	sem_init(&all->more, 0, 0);
}

void hf_thread_parking_fini(struct hf_thread_parking *all)
{
	sem_destroy(&all->more);
}

/* One too many is let in when two ask at once; it is parked again soon. */
static void let_in(struct hf_thread_parking *all)
{
	if (atomic_load(&all->parked) > 0)
		sem_post(&all->more);
}

static bool is_crowded(const struct hf_thread_parking *all)
{
	return atomic_load(&all->crowd) >= CROWDED;
}

bool hf_thread_parking_enter(struct hf_thread_parking *all)
{
	if (atomic_load(&all->reading) >= (is_crowded(all) ? READING_MAX : 1)) {
		atomic_fetch_add(&all->parked, 1);
		sem_wait(&all->more);
		atomic_fetch_sub(&all->parked, 1);
		return false;
	}
	atomic_fetch_add(&all->reading, 1);
	return true;
}

/* Threads that do this at once may lose a step of each other: it is an estimate. */
static void note_asker(struct hf_thread_parking *all, uint32_t asker, bool read)
{
	const int crowd = atomic_load(&all->crowd);

	if ((asker && atomic_exchange(&all->asker, asker) != asker) || read)
		atomic_store(&all->crowd, crowd + ANOTHER < CROWD_MAX ? crowd + ANOTHER : CROWD_MAX);
	else if (crowd)
		atomic_store(&all->crowd, crowd - 1);
}

bool hf_thread_parking_leave(struct hf_thread_parking *all, uint32_t asker, bool read)
{
	const bool last = atomic_fetch_sub(&all->reading, 1) == 1;

	atomic_fetch_add(&all->received, 1);
	note_asker(all, asker, read);
	if (last && is_crowded(all))
		let_in(all);
	return !atomic_load(&all->watched) && !atomic_exchange(&all->watched, true);
}

bool hf_thread_parking_look(struct hf_thread_parking *all, unsigned *seen)
{
	const unsigned received = atomic_load(&all->received), since = received - *seen;
	const bool reading = atomic_load(&all->reading) > 0;

	*seen = received;
	if (!reading && since < SLOW)
		let_in(all);
	/* If all are at something, the one that is done first takes the next request. */
	if (since || (!reading && atomic_load(&all->parked) > 0))
		return true;
	atomic_store(&all->watched, false);
	/* One that came just before that did not ask for it. */
	return atomic_load(&all->received) != received && !atomic_exchange(&all->watched, true);
}
