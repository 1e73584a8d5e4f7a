/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock: from here on files are opened in the places given and nowhere else. The kernel's newest version is used, up
 * to the newest that is known here.
 */
#ifndef HF_MOUNTD_LANDLOCK_H
#define HF_MOUNTD_LANDLOCK_H

#include "mountd/sandbox.h"

/* The newest version whose rights are known. */
#define HF_LANDLOCK_KNOWN 7

/*
 * For the calling thread and those it makes afterwards. Returns the kernel's version, which may be newer than what is
 * known, 0 if the kernel has no Landlock or has it switched off, or a negative errno. *ret_known: the version of which
 * all rights are taken.
 */
int hf_landlock_enter(const struct hf_sandbox_places *places, int *ret_known);

#endif
