/*
 * View parameters: "VIEW.key=value", where VIEW is the name of the codec that makes the view. hartfs.conf in the root of
 * the archive has a line for each; what is given for a mount wins.
 */
#ifndef HF_FS_PARAMS_H
#define HF_FS_PARAMS_H

#include "fs/archive.h"

#define HF_PARAMS_FILE "hartfs.conf"

/*
 * All of them, comma-separated and in ascending order, for the caller to free. HF_ERR_SETUP_VALUE or HF_ERR_SETUP_SYNTAX
 * if one is wrong, and why[size] says which: "hartfs.conf:3: VIEW.key=value: …". given may be NULL; a parameter in it may
 * have before it, with a blank between, how it was given ("-o"), which is repeated in messages.
 */
int hf_params_read(const struct hf_archive *archive, const char *given, char **ret_params, char *why, size_t size);

/* Those of one codec, without its name; malloc'ed, NULL: out of memory. */
char *hf_params_of(const char *params, const char *codec);

#endif
