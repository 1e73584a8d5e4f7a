/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/faults.h"

#include "tests/sim/sched.h"

#include <string.h>

#define SECOND INT64_C(1000000000)

struct sim_faults sim_faults = {.descriptors = 1024};

static _Thread_local int64_t delays_ns;

int64_t sim_delays_of_self(void)
{
	return delays_ns;
}

static bool is_meant(const struct sim_fault *f, const struct sim_inode *inode)
{
	const struct sim_inode *target;

	if (inode->part != f->part)
		return false;
	if (!f->path)
		return true;
	target = sim_disk_find(f->part, f->path);
	if (!target || target == inode)
		return target;
	for (const struct sim_entry *e = target->entries; e; e = e->next)
		if (e->inode == inode)
			return true;
	return false;
}

static void delay(int64_t ns)
{
	const bool long_one = ns >= SECOND;

	sim_faults.stalled += long_one;
	if (sim_faults.stalled > sim_faults.stalled_most)
		sim_faults.stalled_most = sim_faults.stalled;
	sim_wait("a slow call", &sim_faults, sim_now_ns() + ns);
	sim_faults.stalled -= long_one;
	delays_ns += ns;
}

int sim_fault_strikes(enum sim_call call, const struct sim_inode *inode, size_t *size)
{
	int errnum = 0;

	for (unsigned i = 0; i < sim_faults.count && !errnum && !sim_faults.calm; i++) {
		struct sim_fault *f = &sim_faults.fault[i];

		if (!f->left || !(f->calls & call) || !is_meant(f, inode) || !sim_one_in(f->one_in))
			continue;
		f->left--;
		sim_faults.struck++;
		sim_step(f->kind, inode->name, 0);
		if (f->is_short && size && *size > 1)
			*size = 1 + (size_t)sim_below(*size - 1);
		if (f->delay_ns)
			delay(f->delay_ns);
		errnum = f->errnum;
	}
	return errnum;
}
