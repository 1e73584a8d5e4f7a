/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of view directories: the capture's name with the dots of its trace and compression extensions turned into
 * '@'. Pure functions of names; who is asked what exists in the directory is the caller's business.
 */
#ifndef HF_FS_NAMES_H
#define HF_FS_NAMES_H

#include "codecs/codec.h"

#include <limits.h>

/* Stands for the format of a description that does not tell it. */
#define HF_NAME_UNKNOWN "capture"

/* The directory that .hartfs files are in. */
#define HF_NAME_CONTROL ".hartfs"

/*
 * The name that a capture called name wants: "x.stf.xz" gives "x@stf@xz". A name without any known extension gets
 * '@' and the codec's name behind it, and so does one of a capture with a description. Returns the length, which may
 * exceed NAME_MAX: buf then holds a cut form.
 */
size_t hf_name_view(const char *name, const struct hf_codec *codec, bool described, char buf[NAME_MAX + 1]);

/* The ELF with the symbols of a capture called name: "x.stf.xz" gives "x.elf". Returns the length as hf_name_view. */
size_t hf_name_elf(const char *name, char buf[NAME_MAX + 1]);
/* The directory with the program of such a capture, its libraries and their debug files: "x.d". */
size_t hf_name_program_dir(const char *name, char buf[NAME_MAX + 1]);

/*
 * The codec whose format a name claims: "x.stf", "x.stf.gz", "x.zstf"; NULL if it claims none. Names never decide what
 * a file is, but a file that claims a format and is not of it is worth an error line.
 */
const struct hf_codec *hf_name_claim(const char *name);

/* The name instead when hf_name_view's is taken or too long: it ends with '~' and 8 hex digits of name's hash. */
void hf_name_substitute(const char *name, const struct hf_codec *codec, bool described, unsigned salt,
			char buf[NAME_MAX + 1]);

/* Whether a name has the form of a substitute, and is the one of name with some codec and salt < HF_NAME_SALTS. */
bool hf_name_is_substitute(const char *view);
bool hf_name_substitute_of(const char *view, const char *name);
#define HF_NAME_SALTS 4

/*
 * The names that could have led to a view name, in the order in which they have a claim to it: emit gets each until it
 * returns false. Whether hf_name_view really leads from there to the view name is the caller's to check.
 */
typedef bool (*hf_name_fn)(void *ctx, const char *name);
void hf_name_origins(const char *view, hf_name_fn emit, void *ctx);
/* More extensions in a row than this are not turned. */
#define HF_NAME_CHAIN 8

#endif
