/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes and the record of where something went wrong. Every function of the project that can fail returns
 * int: 0 ok, a positive HF_NOTE_*, or a negative HF_ERR_*; the place goes to a caller-owned struct hf_diag.
 */
#ifndef HF_BASE_ERR_H
#define HF_BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

enum hf_err_index {
#define HF_ERR(name, class, errnum, text) HF_ERRI_##name,
#include "codecs/base/errors.def"
#undef HF_ERR
	HF_ERRI_COUNT
};

/* HF_ERR_NOMEM is -1, and so on in the order of errors.def. */
enum hf_err {
#define HF_ERR(name, class, errnum, text) HF_ERR_##name = -(int)HF_ERRI_##name - 1,
#include "codecs/base/errors.def"
#undef HF_ERR
};

enum hf_note {
	HF_OK = 0,
	HF_NOTE_END = 1, /* nothing follows */
};

enum hf_err_class {
	HF_CLASS_nomem,
	HF_CLASS_io,
	HF_CLASS_bug,
	HF_CLASS_state,
	HF_CLASS_unsupported,
	HF_CLASS_limit,
	HF_CLASS_corrupt,
};

#define HF_NOWHERE UINT64_MAX

/* Which bytes hf_diag.offset counts. */
enum hf_space {
	HF_SPACE_STREAM, /* the decompressed stream (of a raw file: the file) */
	HF_SPACE_FILE,   /* the file as it lies in the archive */
};

/* Where and what. offset is HF_NOWHERE when there is no single place; detail is the %llu of the error's text. */
struct hf_diag {
	int code;
	enum hf_space space;
	uint64_t offset;
	uint64_t detail;
};

/* Fills *diag (which may be NULL). */
void hf_diag_fill(struct hf_diag *diag, int code, enum hf_space space, uint64_t offset, uint64_t detail);

/* The same, and returns code: here, so that who reads the caller, compilers too, knows that it is an error. */
static inline int hf_diag_set(struct hf_diag *diag, int code, enum hf_space space, uint64_t offset, uint64_t detail)
{
	hf_diag_fill(diag, code, space, offset, detail);
	return code;
}

const char *hf_err_name(int code);
enum hf_err_class hf_err_class(int code);
/* Memory or descriptors ran out. That says nothing of what was looked at and passes by itself: it is never remembered. */
bool hf_err_is_shortage(int code);
/* Whether it says nothing of the bytes that were read: another time there may be memory, a disk, or the will to go on. */
bool hf_err_is_passing(int code);
/* The errno value to give to the operating system. */
int hf_err_errno(int code);

/* Room for any of these texts with its terminator. */
#define HF_DIAG_SIZE 256

/*
 * Writes "file offset 353: descriptor 14 does not exist" (or "offset ..." for the stream) into buf, always
 * terminated; returns the length that was written.
 */
int hf_diag_format(const struct hf_diag *diag, char *buf, int size);

/* The error's text alone, in buf[HF_DIAG_SIZE]; returns buf. For errors without a detail. */
const char *hf_err_text(int code, char *buf);

#endif
