/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_SIM_MEMORY_H
#define HF_SIM_MEMORY_H

/* One heap that never shrinks, whatever the program sets: only one thread runs at a time, and pages that come and go
 * cost more than what is tested. Large tables, of which a small capture uses little, stay outside: the heap would clear
 * each of their pages. So it would much of a large reserve at its end. */
void sim_keep_memory(void);

#endif
