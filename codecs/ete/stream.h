/* SPDX-License-Identifier: Apache-2.0 */
/* An ETE capture that was opened: which harts it has, how each is configured, and where their bytes are. */
#ifndef HF_ETE_STREAM_H
#define HF_ETE_STREAM_H

#include "codecs/codec.h"
#include "codecs/ete/config.h"
#include "codecs/source/pipeline.h"

struct hf_ete_hart {
	uint32_t id;
	struct hf_ete_config config;
};

struct hf_ete_stream {
	struct hf_stream stream; /* first */
	struct hf_ete_hart *harts; /* owned, ascending */
	uint32_t *ids;             /* owned: theirs */
	size_t hart_count;
	struct hf_setup_part whole; /* if the description says nothing of parts */
	const struct hf_setup_part *parts;
	size_t part_count;
	char version[16];
	unsigned unknown_ids; /* trace ids without a source, in the bytes that were looked at */
	char json[1280];
};

/* hf_codec.check, hf_codec.remark */
int hf_ete_check(const struct hf_setup *setup, struct hf_setup_error *error);
int hf_ete_remark(struct hf_setup *setup);
int hf_ete_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag);
void hf_ete_close(struct hf_stream *stream);

/* NULL if it has no such hart. */
const struct hf_ete_hart *hf_ete_find_hart(const struct hf_ete_stream *s, uint32_t id);

/* How the bytes of a part are framed; HF_CORESIGHT_LAYOUTS if nobody knows. */
enum hf_coresight_layout hf_ete_layout(const struct hf_setup_part *part);

/* Whether a part may hold bytes of that hart. */
bool hf_ete_part_has(const struct hf_ete_stream *s, const struct hf_setup_part *part, uint32_t id);

/* Starts pipeline at the beginning of a part (entry NULL) or inside it. */
void hf_ete_start_part(const struct hf_ete_stream *s, size_t part, uint32_t id, const struct hf_pipeline_entry *entry,
		       struct hf_pipeline *pipeline);

#endif
