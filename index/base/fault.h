/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the index directory failed: what was being done there, to which file, and the system's error. A function of this
 * folder that fails for it returns HF_ERR_INDEX_DIR and leaves the rest here, for the thread that called it.
 */
#ifndef HF_INDEX_FAULT_H
#define HF_INDEX_FAULT_H

#include <stdbool.h>
#include <stddef.h>

struct hf_fault {
	int errnum;        /* of errno.h; 0: none */
	const char *doing; /* "writing", static */
	char file[256];    /* its name in the directory; "" if that is not known */
};

/* Notes it and returns HF_ERR_INDEX_DIR; or, of what is not the directory's fault, HF_ERR_NOMEM or (no descriptor is
 * left) HF_ERR_FILES or HF_ERR_FILES_SYSTEM. file may be NULL. Leaves errno as it is. */
int hf_fault_set(const char *doing, const char *file, int errnum);
/* The same of an open file, by its descriptor. */
int hf_fault_set_fd(const char *doing, int fd, int errnum);

/* The last one that this thread met; hf_fault_take forgets it. */
const struct hf_fault *hf_fault_last(void);
void hf_fault_take(struct hf_fault *ret_fault);
/* Makes it the last one again, after work that may have met others. */
void hf_fault_put_back(const struct hf_fault *fault);

/* The directory has no room: what could be freed there would help. */
bool hf_fault_is_room(const struct hf_fault *fault);
/* The error is that of one file and says nothing of others: something is in its way. */
bool hf_fault_is_of_file(const struct hf_fault *fault);

/* "writing failed: No space left on device (FILE)", as snprintf gives it. */
#define HF_FAULT_SIZE 512
int hf_fault_format(const struct hf_fault *fault, char *buf, size_t size);

#endif
