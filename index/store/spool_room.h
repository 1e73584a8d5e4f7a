/* SPDX-License-Identifier: Apache-2.0 */
/* The room that spools take. */
#ifndef HF_INDEX_SPOOL_ROOM_H
#define HF_INDEX_SPOOL_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* Number and bytes of the spools in a directory. */
void hf_spool_count(int dirfd, uint64_t *ret_count, uint64_t *ret_bytes);
/* Removes spools until those that are left and need bytes more are within limit, and the disk has room for them.
 * HF_ERR_LIMIT: that cannot be. except: the name of a private file that stays. */
int hf_spool_make_room(int dirfd, const char *except, uint64_t have, uint64_t need, uint64_t limit);
/* An index has no room on the disk: removes the spool used longest ago. False: there is none to be removed. */
bool hf_spool_give_way(int dirfd);

#endif
