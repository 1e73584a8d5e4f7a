/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a profile, by number: those whose code ran, and those that were called. A function is that of the symbol;
 * where none covers the code, what follows a call's target, or the first of the code that ran there, up to the next such
 * place or to another file. It is named by the place in its file: "libc.so.6+0x78c96". Internal to fs/profile/ and fs/rows/.
 */
#ifndef HF_FS_PROFILE_FUNCTIONS_TABLE_H
#define HF_FS_PROFILE_FUNCTIONS_TABLE_H

#include "fs/profile/texts.h"

struct hf_function {
	uint64_t start;
	const struct hf_symbol *symbol; /* NULL: it has none */
	const struct hf_object *object; /* the file of one without a symbol, as far as that is known */
};

struct hf_functions {
	struct hf_function *at; /* by start; the first is that of nodes whose place is not known, with start 0 */
	size_t count;
	uint32_t *row; /* rows of the counts, by function and then as there: those of n are row[first[n]..first[n + 1]) */
	size_t *first;
};

enum { HF_FUNCTION_NONE };

/* To be freed after success. HF_ERR_NOMEM. */
int hf_functions_new(const struct hf_profiled *of, struct hf_functions *ret_functions);
void hf_functions_free(struct hf_functions *functions);

/* The number of the function in which pc lies. */
uint32_t hf_functions_of(const struct hf_functions *functions, const struct hf_profiled *of, uint64_t pc);
/* That of a node of the tree of calls: of HF_CALL_UNKNOWN, and of what is beyond the limits, it is none. */
uint32_t hf_functions_of_node(const struct hf_functions *functions, const struct hf_profiled *of,
			      const struct hf_call_node *node);
/* Its name: "memcpy", "libc.so.6+0x78c96", "0x80000000", or "?". */
void hf_functions_put_name(const struct hf_functions *functions, uint32_t number, struct hf_sink *sink);
/* The name of the file in which it lies, "-" if none is known. */
const char *hf_functions_object(const struct hf_functions *functions, const struct hf_profiled *of, uint32_t number);

#endif
