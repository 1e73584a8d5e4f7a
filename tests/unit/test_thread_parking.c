/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads of a mount wait for requests of the kernel. */
#include "mountd/thread_parking.c"

#include "tests/lib/check.h"

#include <pthread.h>
#include <sched.h>

/* A second thread, as long as one waits already. */
struct second {
	struct hf_thread_parking *all;
	atomic_int entered;
	pthread_t thread;
};

static void *enter_second(void *arg)
{
	struct second *second = arg;

	while (!hf_thread_parking_enter(second->all))
		;
	atomic_store(&second->entered, 1);
	return NULL;
}

static void park_second(struct second *second, struct hf_thread_parking *all)
{
	*second = (struct second){.all = all};
	CHECK_EQ(pthread_create(&second->thread, NULL, enter_second, second), 0);
	while (!atomic_load(&all->parked))
		sched_yield();
	CHECK_EQ(atomic_load(&second->entered), 0);
}

static void test_one_after_the_other(void)
{
	struct hf_thread_parking all;
	unsigned seen = 0;

	hf_thread_parking_init(&all);
	CHECK(hf_thread_parking_enter(&all));
	CHECK(hf_thread_parking_leave(&all, 10, false));
	/* Once is enough. */
	for (int i = 0; i < 100; i++) {
		CHECK(hf_thread_parking_enter(&all));
		CHECK(!hf_thread_parking_leave(&all, i % 20 ? 10 : 11, false));
	}
	CHECK(hf_thread_parking_enter(&all));
	CHECK(hf_thread_parking_look(&all, &seen));
	/* Nothing came since. */
	CHECK(!hf_thread_parking_look(&all, &seen));
	CHECK(hf_thread_parking_leave(&all, 10, false));
	CHECK(!is_crowded(&all));
	hf_thread_parking_fini(&all);
}

static void test_long_request(void)
{
	struct hf_thread_parking all;
	struct second second;
	unsigned seen = 0;

	hf_thread_parking_init(&all);
	CHECK(hf_thread_parking_enter(&all));
	park_second(&second, &all);
	hf_thread_parking_leave(&all, 10, false);
	/* Now the first is at something, and nobody waits. */
	CHECK(hf_thread_parking_look(&all, &seen));
	CHECK_EQ(pthread_join(second.thread, NULL), 0);
	CHECK_EQ(atomic_load(&all.reading), 1);
	/* With all at something there is nobody to let in, and nothing to look for. */
	hf_thread_parking_leave(&all, 10, false);
	CHECK(hf_thread_parking_look(&all, &seen));
	CHECK(!hf_thread_parking_look(&all, &seen));
	hf_thread_parking_fini(&all);
}

static void test_several_in_turn(void)
{
	struct hf_thread_parking all;
	struct second second;

	hf_thread_parking_init(&all);
	CHECK(hf_thread_parking_enter(&all));
	park_second(&second, &all);
	hf_thread_parking_leave(&all, 10, false);
	for (uint32_t asker = 11; asker < 11 + CROWDED / ANOTHER; asker++) {
		CHECK(hf_thread_parking_enter(&all));
		hf_thread_parking_leave(&all, asker, false);
	}
	CHECK_EQ(pthread_join(second.thread, NULL), 0);
	/* They wait together. */
	CHECK(hf_thread_parking_enter(&all));
	CHECK_EQ(atomic_load(&all.reading), 2);
	/* What the kernel asks on its own is nobody. */
	for (int i = 0; i < CROWD_MAX; i++) {
		hf_thread_parking_leave(&all, i % 2 ? 10 : 0, false);
		atomic_fetch_add(&all.reading, 1);
	}
	CHECK(!is_crowded(&all));
	/* Of one reader several reads are under way. */
	for (int i = 0; i < CROWDED / ANOTHER; i++) {
		hf_thread_parking_leave(&all, 10, true);
		atomic_fetch_add(&all.reading, 1);
	}
	CHECK(is_crowded(&all));
	hf_thread_parking_fini(&all);
}

int main(void)
{
	test_one_after_the_other();
	test_long_request();
	test_several_in_turn();
	return 0;
}
