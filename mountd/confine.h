/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When and how strictly a command confines itself, and what it does about bytes that it has to look at before it can.
 */
#ifndef HF_MOUNTD_CONFINE_H
#define HF_MOUNTD_CONFINE_H

#include "mountd/options.h"
#include "mountd/sandbox.h"

/* Loads what disassembles: confined it could not be reached any more. False after saying why. While there is one thread. */
bool hf_load_disassembler(void);

/*
 * Confines this process to places, as settings ask for; once it has, another call changes nothing and gives the same
 * result. What is in force and what is missing is logged. False after saying why: settings require more than this
 * machine has.
 */
bool hf_confine(const struct hf_settings *settings, const struct hf_sandbox_places *places);

/* Confines the supervisor of a mount as far as that can be, once its server has mounted; what is missing is logged. */
void hf_confine_supervisor(const struct hf_settings *settings, pid_t server, bool has_log_file);

/* What hf_confine found, in a few words, for status.json. */
const char *hf_confine_state(void);

/*
 * Calls fn(ctx, result) in a child that is confined to reading beneath dir_fd, and brings home result, size bytes that
 * the caller has set to what shall hold if fn never comes to it. For descriptions that say where an archive begins:
 * they are read before it is known what to confine the process to. False after saying why: the child could not be
 * made, died, or settings require more than this machine has. While there is one thread.
 */
bool hf_confine_call(const struct hf_settings *settings, int dir_fd, void (*fn)(void *ctx, void *result), void *ctx,
		     void *result, size_t size);

#endif
