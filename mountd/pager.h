/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_MOUNTD_PAGER_H
#define HF_MOUNTD_PAGER_H

/* If standard output is a terminal, what is written to it from now on goes through $PAGER, or less if there is one; the
 * process then waits for that at its end. PAGER= or PAGER=cat: it does not. */
void hf_pager_start(void);

#endif
