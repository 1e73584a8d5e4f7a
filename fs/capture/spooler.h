/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When spools are made: a stream that cannot be entered in the middle and is read again and again asks for one, and a
 * thread of its own makes them, one after another. Internal to this folder.
 */
#ifndef HF_FS_SPOOLER_H
#define HF_FS_SPOOLER_H

#include <pthread.h>
#include <stdbool.h>

struct hf_capture;
struct hf_open;

struct hf_spooler {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread, stop;
	struct hf_capture *first, *last; /* those that want one */
};

void hf_spooler_init(struct hf_spooler *spooler);
/* Ends the thread; what is wanted from then on is not made. fs->closing is set. */
void hf_spooler_stop(struct hf_spooler *spooler);
void hf_spooler_fini(struct hf_spooler *spooler);

/* Lets the source of a capture that is being opened use spools, if the options allow them. */
void hf_spooler_attach(struct hf_open *open);

#endif
