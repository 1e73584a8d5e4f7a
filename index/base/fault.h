/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the index directory failed: what was being done there, to which file, and the system's error. A function of
 * index/ then returns HF_ERR_INDEX_DIR and leaves these details here, for the calling thread.
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

/* Notes the failure and returns HF_ERR_INDEX_DIR; or, if the directory is not to blame, HF_ERR_NOMEM, HF_ERR_FILES or
 * HF_ERR_FILES_SYSTEM (no descriptor is left). file may be NULL. Keeps errno. */
int hf_fault_set(const char *doing, const char *file, int errnum);
/* The same of an open file, by its descriptor. */
int hf_fault_set_fd(const char *doing, int fd, int errnum);

/* The last failure of this thread; hf_fault_take also forgets it. */
const struct hf_fault *hf_fault_last(void);
void hf_fault_take(struct hf_fault *ret_fault);
/* Makes this failure the last one again, after work that may have noted others. */
void hf_fault_put_back(const struct hf_fault *fault);

/* Whether the directory is full, so that freeing space there would help. */
bool hf_fault_is_room(const struct hf_fault *fault);
/* Whether something blocks this one file, so that others may still work. */
bool hf_fault_is_of_file(const struct hf_fault *fault);

/* "writing failed: No space left on device (FILE)", as snprintf gives it. */
#define HF_FAULT_SIZE 512
int hf_fault_format(const struct hf_fault *fault, char *buf, size_t size);

#endif
