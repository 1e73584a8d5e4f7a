/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the simulated disks, and the calls on them as the linker puts them in place (calls.c, names.c). */
#ifndef HF_SIM_CALLS_H
#define HF_SIM_CALLS_H

#include "tests/sim/disk.h"

#include <dirent.h>

/* Lower ones are the machine's own. */
#define SIM_FD 5000
enum { SIM_FDS = 1024 };

/* What the kernel calls an open file: descriptors made by dup share it. */
struct sim_open {
	struct sim_inode *inode;
	int flags;
	uint64_t at;
	unsigned descriptors;
};

/* A descriptor of it, or -1 and errno. */
int sim_fd_new(struct sim_inode *inode, int flags);
/* NULL and errno: it is none. */
struct sim_open *sim_fd_get(int fd);
int sim_fd_dup(int fd);
int sim_fd_close(int fd);
unsigned sim_fd_count(void);
static inline bool sim_fd_is(int fd)
{
	return fd >= SIM_FD;
}

/* A descriptor of a root, for struct hf_fs_options. */
int sim_open_root(enum sim_part part, int flags);

#endif
