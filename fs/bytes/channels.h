/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hartN/text/CHANNEL.txt: what software wrote to a channel. All channels of a hart are in one view of frames
 * (codecs/text/text.h): a file is what of it is of its channel, its pieces are the rows of that view's table, and the
 * entries of rows say where in the file they begin.
 */
#ifndef HF_BYTES_CHANNELS_H
#define HF_BYTES_CHANNELS_H

#include "fs/bytes/made.h"

/* What stays in memory of harts whose texts nobody reads. */
#define HF_CHANNELS_KEPT 256
#define HF_CHANNELS_BYTES ((size_t)4 << 20)

struct hf_channels {
	struct hf_made made; /* first */
	/* set when it is made */
	struct hf_channel {
		uint32_t number;
		uint64_t size;
		uint64_t owner; /* in the cache */
	} *channel;
	size_t count;
};

extern const struct hf_made_kind hf_made_channels;

/* The view of frames; HF_VIEW_COUNT: there is none. */
size_t hf_views_channels(void);

/* Those of a hart, to be given back with hf_made_put: HF_ERR_NOT_FOUND if it wrote to none. Waits until they are made. */
int hf_channels_get(struct hf_mades *mades, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		    struct hf_channels **ret_channels);
/* The file of one, with a reference: hf_bytes_unref. HF_ERR_NOT_FOUND. */
int hf_channels_bytes(struct hf_mades *mades, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		      uint32_t number, struct hf_bytes *ret_bytes);

#endif
