/*
 * Mounts as the kernel lists them, how to undo one as whoever we are, and how "hartfs umount" learns that the server
 * behind a mount is gone: the supervisor holds an abstract socket named after the device number and the time of the mount
 * as long as it lives.
 */
#ifndef HF_MOUNTD_MOUNTS_H
#define HF_MOUNTD_MOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

struct hf_mount_entry {
	dev_t dev;
	uid_t uid;       /* user_id= of a FUSE mount */
	char type[32];   /* "fuse.hartfs" */
};

/* The topmost mount at exactly that absolute path. Touches nothing but /proc. */
bool hf_mounts_find(const char *path, struct hf_mount_entry *ret_entry);
bool hf_mounts_is_ours(const struct hf_mount_entry *entry);

/* umount2, or fusermount3 (which explains its failures on standard error) for who may not. 0, an errno, or -1 when
 * the reason has been printed. */
int hf_mounts_detach(const char *path, bool lazy);

/* The supervisor's socket: a descriptor to keep open, or -1. */
int hf_mounts_announce(dev_t dev);
/* A descriptor that hangs up when the supervisor of the mount ends, or -1 if there is none to be seen. */
int hf_mounts_watch(const struct hf_mount_entry *entry);
bool hf_mounts_wait_gone(int fd, int seconds);

#endif
