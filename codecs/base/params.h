/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of a view, "key=value,key=value": what a view takes is a table, which reads them, refuses all else and says
 * why. They come as -o VIEW.key=value, --param and hartfs.conf give them, in ascending order of keys and without the
 * view's name.
 */
#ifndef HF_BASE_PARAMS_H
#define HF_BASE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_param {
	const char *key;
	uint64_t max;             /* of a number, which is 0 to max */
	const char *const *words; /* ends with NULL: the value is one of them, as its place from 0. NULL: a number */
	bool (*read)(const char *text, size_t n, uint64_t *ret_value); /* or what this takes, */
	const char *what;					       /* and how messages call that */
};

#define HF_PARAM_NUMBER(name, most) {.key = name, .max = (most)}
#define HF_PARAM_WORD(name, list) {.key = name, .words = list}
#define HF_PARAM_READ(name, fn, says) {.key = name, .read = (fn), .what = (says)}
#define HF_PARAM_END {.key = NULL}

#define HF_PARAMS_MOST 32 /* rows of a table, HF_PARAM_END aside */

/*
 * Reads params (NULL: none) by the table, which ends with HF_PARAM_END: value[i] becomes that of its row i, or stays as
 * it is where params do not have it. HF_ERR_SETUP_VALUE for a key or a value that the table does not have; why[size],
 * which may be NULL, then says what is wrong in the words of that view.
 */
int hf_params_parse(const char *params, const struct hf_param *table, const char *view, uint64_t *value, char *why,
		   size_t size);

/* The value of key with its length, or NULL. */
const char *hf_params_get(const char *params, const char *key, size_t *ret_size);

#endif
