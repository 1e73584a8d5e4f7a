/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts as the kernel lists them, how to undo one as whoever we are, and how other processes learn who is behind a
 * mount: the supervisor and the server each hold, as long as they live, an abstract socket named after the device number
 * and the time of the mount, which the server takes and tells the supervisor.
 */
#ifndef HF_MOUNTD_MOUNTS_H
#define HF_MOUNTD_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hf_mount_entry {
	dev_t dev;
	uid_t uid;       /* user_id= and group_id= of a FUSE mount */
	gid_t gid;
	char type[32];   /* "fuse.hartfs" */
};

/* The topmost mount at exactly that absolute path. Touches nothing but /proc. */
bool hf_mounts_find(const char *path, struct hf_mount_entry *ret_entry);
/* The mount at a path as a user gives it, or at what path links to: its place, to be freed, or NULL. Asks the mount
 * nothing, so that it may be a dead one. */
char *hf_mounts_at(const char *path, struct hf_mount_entry *ret_entry);
bool hf_mounts_is_ours(const struct hf_mount_entry *entry);
/* Whether the mount of ours with that device number is still the topmost at that path: another may have taken its place.
 * False for number 0. */
bool hf_mounts_holds(const char *path, dev_t dev, struct hf_mount_entry *ret_entry);

/* How far the kernel reads ahead in that mount, in bytes. Only root may say so; for all others it stays as it is. */
void hf_mounts_read_ahead(dev_t dev, uint32_t size);

/* umount2, or fusermount3 (which explains its failures on standard error) for who may not. 0, an errno, or -1 when
 * the reason has been printed. */
int hf_mounts_detach(const char *path, bool lazy);

enum hf_mounts_role {
	HF_MOUNTS_SUPERVISOR,
	HF_MOUNTS_SERVER,
	HF_MOUNTS_ROLES
};

/* The time of a mount that was just made, in ns of the monotonic clock. */
uint64_t hf_mounts_time(void);
/* The calling process's socket: a descriptor to keep open, or -1. since: hf_mounts_time in the server. */
int hf_mounts_announce(dev_t dev, uint64_t since, enum hf_mounts_role role);
/* A descriptor that hangs up when that process of the mount ends, or -1 if there is none to be seen: never one of an
 * earlier mount of the same device number whose other process lives. *ret_pid: its number, 0 if that is not to be seen. */
int hf_mounts_watch(const struct hf_mount_entry *entry, enum hf_mounts_role role, pid_t *ret_pid);
/* Whether it has ended within so many seconds; negative: however many it takes. */
bool hf_mounts_wait_gone(int fd, int seconds);

#endif
