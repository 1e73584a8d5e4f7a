/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept beside a recording for people: how it was made, and the sources of what ran. */
#ifndef HF_MOUNTD_RECORD_NOTES_H
#define HF_MOUNTD_RECORD_NOTES_H

#include "mountd/options.h"

/* The text as a shell takes it as one word; to be freed. NULL: there is no memory. */
char *hf_record_quote(const char *text);

/*
 * Writes recording.txt into the directory NAME.d of the one at dirfd: the command and the time. With --sources also copies
 * the source files that the DWARF of the ELF files there names, into NAME.d/sources. False after saying what went wrong; a
 * source file that is not there is none of that, it is counted.
 */
bool hf_record_notes(const struct hf_settings *settings, int dirfd, const char *name);

#endif
