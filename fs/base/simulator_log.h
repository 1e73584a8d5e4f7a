/* SPDX-License-Identifier: Apache-2.0 */
/* Text logs of simulators: no captures, but their users hear which log it is, and that it is not read. */
#ifndef HF_FS_SIMULATOR_LOG_H
#define HF_FS_SIMULATOR_LOG_H

/* So much of a file is enough. */
#define HF_SIMULATOR_LOG_HEAD (16 << 10)

/* "Spike commit log", by the first lines of a file, which are taken apart; NULL: it is none that is known. */
const char *hf_simulator_log_name(char *head);

#endif
