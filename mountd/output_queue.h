/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning of a view on standard output, while the capture is being indexed and its bytes come as they are made. The
 * index never waits for whoever reads: what does not fit into a buffer is left to those who read the view when the index
 * is there. Thread-safe.
 */
#ifndef HF_MOUNTD_OUTPUT_QUEUE_H
#define HF_MOUNTD_OUTPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_output_queue;

/* For length bytes from offset on; NULL: there is no memory or thread for it. */
struct hf_output_queue *hf_output_queue_new(uint64_t offset, uint64_t length);
/* Bytes of the view at offset, an hf_tap_fn; ctx: a struct hf_output_queue. Those that were there before, and those
 * behind a hole, are passed over. NULL: the bytes until now were not the view's, and no more are taken if any of them
 * are out. */
void hf_output_queue_put(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n);
/* Whether writing failed: nobody wants more. */
bool hf_output_queue_failed(struct hf_output_queue *queue);
/* Waits until all is written that came, and frees queue (NULL: nothing came). Returns up to where in the view bytes are
 * out, or *ret_errno why not all of them. *ret_stale: they were not the view's. */
uint64_t hf_output_queue_finish(struct hf_output_queue *queue, bool *ret_stale, int *ret_errno);

#endif
