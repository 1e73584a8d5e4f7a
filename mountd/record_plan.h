/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is needed to record a program: the QEMU for its machine, the plugin and the libraries, all of them found before
 * anything runs.
 */
#ifndef HF_MOUNTD_RECORD_PLAN_H
#define HF_MOUNTD_RECORD_PLAN_H

#include "mountd/options.h"

#include <limits.h>

struct hf_record_plan {
	char *qemu, *plugin;
	char *program;	     /* NULL: a whole machine */
	char *sysroot;	     /* for QEMU's -L; NULL: QEMU finds the libraries itself, or needs none */
	char name[NAME_MAX]; /* the capture's */
};

/* False after saying why. To be freed in both cases. */
bool hf_record_plan_make(const struct hf_settings *settings, struct hf_record_plan *ret_plan);
void hf_record_plan_free(struct hf_record_plan *plan);

bool hf_record_is_elf(const char *path);

#endif
