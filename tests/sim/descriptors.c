/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/calls.h"

#include "tests/sim/faults.h"
#include "tests/sim/sched.h"

#include <errno.h>
#include <stdlib.h>

static struct sim_open *table[SIM_FDS];

struct sim_open *sim_fd_get(int fd)
{
	if (fd >= SIM_FD && fd < SIM_FD + SIM_FDS && table[fd - SIM_FD])
		return table[fd - SIM_FD];
	/* Nobody who counts his descriptors ever sees that. */
	sim_fail("a call with descriptor %d, which is not open", fd);
}

static int put(struct sim_open *open)
{
	for (unsigned i = 0; i < SIM_FDS && (i < sim_faults.descriptors || sim_faults.calm); i++)
		if (!table[i]) {
			table[i] = open;
			open->descriptors++;
			return SIM_FD + (int)i;
		}
	errno = EMFILE;
	return -1;
}

int sim_fd_new(struct sim_inode *inode, int flags)
{
	struct sim_open *open = calloc(1, sizeof *open);
	int fd;

	if (!open)
		abort();
	open->inode = inode;
	open->flags = flags;
	inode->opens++;
	fd = put(open);
	if (fd < 0) {
		inode->opens--;
		free(open);
		sim_inode_tidy(inode);
	}
	return fd;
}

int sim_fd_dup(int fd)
{
	return put(sim_fd_get(fd));
}

int sim_fd_close(int fd)
{
	struct sim_open *open = sim_fd_get(fd);

	table[fd - SIM_FD] = NULL;
	if (--open->descriptors)
		return 0;
	if (open->inode->lock == open)
		open->inode->lock = NULL;
	open->inode->opens--;
	sim_inode_tidy(open->inode);
	free(open);
	return 0;
}

unsigned sim_fd_count(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SIM_FDS; i++)
		n += table[i] != NULL;
	return n;
}

int sim_open_root(enum sim_part part, int flags)
{
	return sim_fd_new(sim_disk_root(part), flags);
}
