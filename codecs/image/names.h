/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a hostile file as they are shown: printable, and no longer than they may be. */
#ifndef HF_IMAGE_NAMES_H
#define HF_IMAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer names are cut, and end with "...". */
#define HF_SYMBOL_NAME_MAX 200 /* of functions */
#define HF_LINES_NAME_MAX 100  /* of source files */
#define HF_LINES_PATH_MAX 1024 /* of their directories; longer ones are not kept */

/* Bytes of all names of a store. */
#define HF_NAMES_MAX ((size_t)64 << 20)

/* One behind the other, each with its zero byte. */
struct hf_names {
	char *at;
	size_t size, cap;
};

/* A name in to[max + 1]. blanks: it may have any printable character, else none that is a blank, '<' or '>'. Returns its
 * length. */
size_t hf_name_copy(char *to, const char *name, size_t max, bool blanks);

/* The last component of the path of a source file, in to[HF_LINES_NAME_MAX + 1]: printable, and without blanks, '<' and
 * '>'. Returns its length. */
size_t hf_name_file(char *to, const char *path);

/* Adds a name; *ret_offset is where it begins. HF_ERR_ELF_LIMIT, HF_ERR_NOMEM. */
int hf_names_add(struct hf_names *names, const char *name, size_t size, uint32_t *ret_offset);

#endif
