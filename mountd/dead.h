/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts that nobody serves any more: how to tell, without waiting for an answer that never comes, and how to end them
 * so that whoever waits in one gets an error. The kernel ends a connection by itself when the last process that holds its
 * device is gone; a process that was killed but cannot end, since it waits in the kernel, keeps it.
 */
#ifndef HF_MOUNTD_DEAD_H
#define HF_MOUNTD_DEAD_H

#include "mountd/mounts.h"

enum hf_life {
	HF_LIVES,
	HF_SILENT, /* it did not answer within seconds, and its server is not to be seen */
	HF_DEAD,   /* requests fail, or its server was killed and cannot answer */
};

/* Whether a process has been killed, though it may not have ended. Also true if there is none. */
bool hf_dead_process(pid_t pid);

/* Of a mount of ours that is at path. Takes no longer than a few seconds. */
enum hf_life hf_dead_ask(const char *path, const struct hf_mount_entry *entry);
/* Ends the connection of a mount of ours at path, if the caller may, and detaches it, even if it is in use. As
 * hf_mounts_detach. */
int hf_dead_clear(const char *path, const struct hf_mount_entry *entry);
/* The same with the mount of that device number, if it is still there. Number 0: with any dead mount of ours there, for who
 * tried to mount and has lost the server before it could tell the number. */
void hf_dead_clear_own(const char *path, dev_t dev);

/* A descriptor that tells whether the connection of that device, and no later one of the same number, is still there. -1 as
 * below. */
int hf_dead_watch(dev_t dev);
/* True also if watch is -1: nobody knows. */
bool hf_dead_connected(int watch);
/* A descriptor with which the connection of that device, and no later one of the same number, can be ended at any time.
 * -1 if there is none to be had: the fusectl file system is not mounted, and this is not root. */
int hf_dead_handle(dev_t dev);
/* Ends the connection: requests of all who wait fail. */
void hf_dead_abort(int handle);

#endif
