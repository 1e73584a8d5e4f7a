/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes and the record of where something went wrong. Every function of the project that can fail returns
 * int: 0 ok, a positive HF_NOTE_*, or a negative HF_ERR_*; the place goes to a caller-owned struct hf_diag.
 */
#ifndef HF_BASE_ERR_H
#define HF_BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What functions of every folder return. An error more here compiles everything anew: what can be said more exactly is an
 * error of a folder, in its errors.def, and who returns it includes its errors.h.
 */
enum hf_err {
	HF_ERR_NOMEM = -1,
	HF_ERR_IO = -2,
	HF_ERR_BUG = -3,
	HF_ERR_STATE = -4,
	HF_ERR_CANCELLED = -5,
	HF_ERR_CHANGED = -6,
	HF_ERR_NOT_FOUND = -7,
	HF_ERR_MISMATCH = -8,
	HF_ERR_UNKNOWN_FORMAT = -9,
	HF_ERR_UNSUPPORTED = -10,
	HF_ERR_LIMIT = -11,
	HF_ERR_TRUNCATED = -12,
	HF_ERR_CORRUPT = -13,
	HF_ERR_CHECKSUM = -14,
};

/* A row of an errors.def as an enumerator. */
#define HF_ERR(number, name, class, errnum, text) HF_ERR_##name = -(number),

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
	HF_CLASS_lost,
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

/* Whether a stored number is 0 or an error. */
bool hf_err_is_code(int64_t code);
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
