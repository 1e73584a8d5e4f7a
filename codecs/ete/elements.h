/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 1 (K10.5.2): what a packet says, with its history, becomes the elements that wait for their resolution. */
#ifndef HF_ETE_ELEMENTS_H
#define HF_ETE_ELEMENTS_H

#include "codecs/ete/resolve.h"

/*
 * Puts the elements of packet, at that stream offset, into r; the history is as after it. HF_ERR_ETE_COMMIT or
 * HF_ERR_ETE_QUEUE as with resolve.h. OVERFLOW, DISCARD, ASYNC and IGNORE have none.
 */
int hf_ete_elements_put(struct hf_ete_resolve *r, const struct hf_ete_packet *packet,
			const struct hf_ete_meaning *meaning, uint32_t threshold, uint64_t offset);

#endif
