/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program of tests/lib/rvprogram.h and says what it does as events: instructions, accesses with data, traps. */
#ifndef HF_TEST_RVMACHINE_H
#define HF_TEST_RVMACHINE_H

#include "codecs/event.h"
#include "tests/lib/rvprogram.h"

#include <stdbool.h>

/* The most events of one instruction or interrupt: itself, its access, exception or return. */
#define HF_RVMACHINE_EVENTS 2

struct hf_rvmachine;

struct hf_rvmachine *hf_rvmachine_new(const struct hf_rvprogram *program, uint64_t seed);
void hf_rvmachine_free(struct hf_rvmachine *machine);

/*
 * Runs until that many instructions, retired or not, and interrupts have begun, or less than HF_RVMACHINE_EVENTS events
 * have room in ev[max]. Returns the events; *ret_begun is how many have begun.
 */
size_t hf_rvmachine_run(struct hf_rvmachine *machine, uint64_t most, struct hf_event *ev, size_t max, uint64_t *ret_begun);
/* Where the flow is. */
uint64_t hf_rvmachine_pc(const struct hf_rvmachine *machine);
/* Instructions retired since the start, and traps. */
uint64_t hf_rvmachine_retired(const struct hf_rvmachine *machine);
uint64_t hf_rvmachine_traps(const struct hf_rvmachine *machine);

#endif
