/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/memory.h"

#include <malloc.h>

int __real_mallopt(int option, int value);
int __wrap_mallopt(int option, int value);

int __wrap_mallopt(int option, int value)
{
	(void)option;
	(void)value;
	return 1;
}

void sim_keep_memory(void)
{
	__real_mallopt(M_ARENA_MAX, 1);
	__real_mallopt(M_MMAP_THRESHOLD, 1 << 20);
	__real_mallopt(M_TRIM_THRESHOLD, 1 << 30);
	__real_mallopt(M_TOP_PAD, 1 << 20);
}
