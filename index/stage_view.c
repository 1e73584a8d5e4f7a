/* SPDX-License-Identifier: Apache-2.0 */
#include "index/stage.h"

#include "codecs/isa/disasm.h"

#include <stdlib.h>
#include <xxhash.h>

/* Small enough to stay in the second-level cache, large enough that the checksum runs at full speed. */
#define SINK_SIZE ((size_t)32 << 10)

static int flush_hash(struct hf_sink *sink)
{
	struct hf_hash_sink *out = (struct hf_hash_sink *)sink;
	size_t n = (size_t)(sink->p - sink->start);

	XXH3_64bits_update(out->state, sink->start, n);
	if (out->tap && n)
		out->tap->put(out->tap->ctx, out->base + sink->flushed, sink->start, n);
	sink->flushed += n;
	sink->p = sink->start;
	return 0;
}

static void start_hash(struct hf_hash_sink *out)
{
	XXH3_64bits_reset(out->state);
	out->sink = (struct hf_sink){
		.start = out->buf, .p = out->buf, .end = out->buf + SINK_SIZE, .flush = flush_hash};
}

/* Of all bytes since the last time. */
static void take_hash(struct hf_hash_sink *out, uint64_t *ret_size, uint64_t *ret_sum)
{
	flush_hash(&out->sink);
	*ret_size = out->sink.flushed;
	*ret_sum = XXH3_64bits_digest(out->state);
	start_hash(out);
}

static int open_encoder(struct hf_view_lane *lane, const struct hf_view_part *part, const struct hf_stream *stream,
			uint32_t hart, bool resume)
{
	int err;

	lane->out.state = XXH3_createState();
	lane->out.buf = malloc(SINK_SIZE);
	if (!lane->out.state || !lane->out.buf)
		return HF_ERR_NOMEM;
	start_hash(&lane->out);
	err = hf_enc_new(part->key->ops, stream, hart, &lane->env, &lane->enc);
	if (err) {
		lane->enc = NULL;
		return err;
	}
	if (resume) {
		lane->row = part->resume;
		lane->out.base = lane->row.offset;
		return hf_enc_load(lane->enc, lane->row.entry, lane->row.entry_size);
	}
	lane->row.entry_size = (uint32_t)hf_enc_save(lane->enc, lane->row.entry);
	return 0;
}

int hf_view_lane_open(struct hf_view_lane *lane, const struct hf_view_part *part, const struct hf_stream *stream,
		      uint32_t hart, const struct hf_enc_env *env, const struct hf_tap *tap, bool own_disasm, bool resume)
{
	int err = 0;

	*lane = (struct hf_view_lane){.env = *env};
	lane->env.params = part->key->options;
	if (tap && tap->ops == part->key->ops && tap->hart == hart)
		lane->out.tap = tap;
	if (env->disasm && own_disasm) {
		err = hf_disasm_new(&lane->disasm);
		lane->env.disasm = lane->disasm;
	}
	if (!err)
		err = open_encoder(lane, part, stream, hart, resume);
	if (err)
		hf_view_lane_close(lane);
	return err;
}

void hf_view_lane_close(struct hf_view_lane *lane)
{
	hf_enc_free(lane->enc);
	hf_disasm_free(lane->disasm);
	XXH3_freeState(lane->out.state);
	free(lane->out.buf);
	*lane = (struct hf_view_lane){0};
}

void hf_view_lane_end_chunk(struct hf_view_lane *lane, bool last)
{
	if (last)
		hf_enc_end(lane->enc, &lane->out.sink);
	take_hash(&lane->out, &lane->row.size, &lane->row.checksum);
}

void hf_view_lane_next_chunk(struct hf_view_lane *lane)
{
	lane->row.offset += lane->row.size;
	lane->out.base = lane->row.offset;
	lane->row.entry_size = (uint32_t)hf_enc_save(lane->enc, lane->row.entry);
}
