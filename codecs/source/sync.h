/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where frames begin in a stream as on pins (SYNCED, DSTREAM): behind an FSYNC, or, if there is none for long, where frame
 * for frame keeps to the rules of the formatter and at no other of 16 places. The latter is a guess (HF_CORESIGHT_GUESSED):
 * it is checked with every frame, and told with the bytes that it leaves out.
 */
#ifndef HF_SOURCE_SYNC_H
#define HF_SOURCE_SYNC_H

#include "codecs/source/coresight.h"

/* Bytes that are looked at from cs->offset on, at most. */
#define HF_SYNC_LOOK (24u * 1024)

/*
 * As hf_coresight_take, but p[n] holds HF_SYNC_LOOK bytes, or is last: the stream ends behind it. What it says of a byte
 * depends on cs->start and on the bytes from that frame on alone. 0: nothing more can be taken.
 */
size_t hf_sync_take(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *ret_data);

#endif
