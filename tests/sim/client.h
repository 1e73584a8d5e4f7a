/* SPDX-License-Identifier: Apache-2.0 */
/* Those who read: what they ask is drawn from the seed, what they get is compared with the truth. */
#ifndef HF_SIM_CLIENT_H
#define HF_SIM_CLIENT_H

#include "tests/sim/world.h"

/* A client's thread; arg is not used. */
void *sim_client_run(void *arg);

/* Faults have ended: every capture must come to show all of its views, with their bytes, and nothing else. */
void sim_client_settle(void);

#endif
