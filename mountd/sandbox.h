/*
 * Confines the server: it decodes files that nobody vouches for, so it keeps no access that it does not need.
 */
#ifndef HF_MOUNTD_SANDBOX_H
#define HF_MOUNTD_SANDBOX_H

/*
 * From here on the calling thread and its future threads read beneath archive_fd, read and write beneath index_fd, and
 * open nothing else; no new privileges, no TCP. Returns the version of Landlock in use, 0 if the kernel has none, or
 * a negative errno. Descriptors that are open stay usable.
 */
int hf_sandbox_enter(int archive_fd, int index_fd);

#endif
