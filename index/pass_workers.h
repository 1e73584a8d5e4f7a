/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a build: the building thread itself, and as many more as the build may use. Each takes whatever stage
 * of whatever lane is ready. Internal to index/.
 */
#ifndef HF_INDEX_CREW_H
#define HF_INDEX_CREW_H

#include "index/pass_run.h"

/* Harts at a time, the records among them: what they need of memory is some ten megabytes each. */
#define HF_CREW_LANES 8u
#define HF_CREW_THREADS 64u

struct hf_crew;

int hf_crew_new(struct hf_builder *b, struct hf_crew **ret_crew);
/* Ends the threads; the lanes stay as they are. */
void hf_crew_stop(struct hf_crew *crew);
/* With its lanes. */
void hf_crew_free(struct hf_crew *crew);

/* Whether there may ever be more than one thread. */
bool hf_crew_is_many(const struct hf_crew *crew);
/* How many lanes may be ahead of the one that is written, just now. */
size_t hf_crew_ahead(const struct hf_crew *crew);

/* The lane is the crew's from now on, also after an error. Those that come earlier are worked on with preference. */
int hf_crew_add(struct hf_crew *crew, struct hf_lane *lane);
/* Writes all of a lane, working on it and others meanwhile; then it is gone. After an error it is not. */
int hf_crew_finish(struct hf_crew *crew, struct hf_lane *lane, struct hf_lane_end *ret_end);
/* On the building thread, in the middle of long work: writes what there is and tells the progress. Else nothing. */
int hf_crew_pump(struct hf_crew *crew);

/* The lane that is being written, or NULL; and its code, which nobody changes until it is given back. */
struct hf_lane *hf_crew_hold_code(struct hf_crew *crew);
void hf_crew_release_code(struct hf_crew *crew, struct hf_lane *lane);

/* For the progress: of all lanes that are under way; returns how many that are. crew may be NULL. */
size_t hf_crew_sum(struct hf_crew *crew, uint64_t *ret_pos, uint64_t *ret_insns);

void hf_crew_lock(struct hf_crew *crew);
void hf_crew_unlock(struct hf_crew *crew);
/* With the lock: something may be ready now. */
void hf_crew_wake(struct hf_crew *crew);

/* Writes a record of the lane's tape (pass_write.c). */
int hf_lane_write(struct hf_lane *lane, const struct hf_tape_record *record);

#endif
