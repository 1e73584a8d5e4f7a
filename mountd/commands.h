/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands: each takes its settings and returns the exit status (enum hf_exit). */
#ifndef HF_MOUNTD_COMMANDS_H
#define HF_MOUNTD_COMMANDS_H

#include "mountd/options.h"

int hf_command_mount(const struct hf_settings *settings);
int hf_command_umount(const struct hf_settings *settings);
int hf_command_index(const struct hf_settings *settings);
int hf_command_ls(const struct hf_settings *settings);
int hf_command_info(const struct hf_settings *settings);
int hf_command_cat(const struct hf_settings *settings);
int hf_command_find(const struct hf_settings *settings);
int hf_command_state(const struct hf_settings *settings);
int hf_command_slice(const struct hf_settings *settings);
int hf_command_convert(const struct hf_settings *settings);
int hf_command_diff(const struct hf_settings *settings);
int hf_command_top(const struct hf_settings *settings);
int hf_command_sql(const struct hf_settings *settings);
int hf_command_serve(const struct hf_settings *settings);
int hf_command_wait(const struct hf_settings *settings);
/* What index --prune does last. */
int hf_prune_indexes(const struct hf_settings *settings);
/* Says how much of the index directory an older version made, if anything. */
void hf_tell_old_indexes(const struct hf_settings *settings);
int hf_command_record(const struct hf_settings *settings);
int hf_command_complete(const struct hf_settings *settings);
int hf_command_verify(const struct hf_settings *settings);

#endif
