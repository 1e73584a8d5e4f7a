/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V E-Trace as a codec. */
#include "codecs/etrace/stream.h"

#include "codecs/etrace/decoder.h"
#include "codecs/etrace/encoder.h"
#include "codecs/etrace/records.h"
#include "codecs/setup/errors.h"

#include <stdio.h>
#include <stdlib.h>

/* What is looked through for the first source id, in each part: messages, and bytes. A source over a container can go back
 * so far, and a file of nothing but nulls has no end worth waiting for. */
#define LOOK 4096
#define LOOK_BYTES HF_BLOCK_AIM

static void bound(struct hf_etrace_framer *f)
{
	const uint64_t start = f->setup && f->at.part < f->setup->part_count ? f->setup->parts[f->at.part].offset : 0;

	if (f->pipeline.end > start && f->pipeline.end - start > LOOK_BYTES)
		f->pipeline.end = start + LOOK_BYTES;
}

/* The first source id of the stream, or the lowest whose bytes it has (CoreSight). */
static int find_first(struct hf_etrace_stream *s, const struct hf_setup *setup, struct hf_src *src)
{
	struct hf_etrace_framer *f = malloc(sizeof *f);
	struct hf_etrace_message msg;
	int err = f ? hf_etrace_framer_init(f, &s->params, setup, src, 0) : HF_ERR_NOMEM;

	for (int i = 0; i < LOOK && !err; i++) {
		bound(f);
		err = hf_etrace_framer_next(f, &msg);
		if (err || msg.kind > HF_ETRACE_MESSAGE_DATA)
			continue;
		s->stream.info.first_hart = msg.source;
		break;
	}
	for (uint32_t id = HF_CORESIGHT_ID_MAX; f && id; id--)
		if (s->params.framing == HF_ETRACE_FRAMING_CORESIGHT && f->pipeline.seen[id / 64] >> id % 64 & 1)
			s->stream.info.first_hart = id;
	if (f)
		hf_etrace_framer_fini(f);
	free(f);
	return err == HF_ERR_NOMEM || err == HF_ERR_CANCELLED ? err : 0;
}

static int check_framings(const struct hf_etrace_params *params, const struct hf_setup *setup,
			  struct hf_setup_error *error)
{
	const size_t parts = setup->part_count ? setup->part_count : 1;
	const struct hf_setup_value *format = hf_setup_get(setup, HF_SETUP_ANY, "format");

	for (size_t i = 0; i < parts; i++)
		if (hf_etrace_framing_of_part(params, setup, i) == HF_ETRACE_FRAMING_NONE)
			return hf_setup_fail(error, HF_ERR_SETUP_NO_FRAMING, format ? format->file : "",
					     format ? format->line : 0, "[capture] has no 'framing', which says how packets are "
					     "delimited: te_inst_raw, encap, smi, coresight, pulp or esp32");
	return 0;
}

static int check(const struct hf_setup *setup, struct hf_setup_error *error)
{
	struct hf_etrace_params params, own;
	int err = hf_etrace_params_read(setup, HF_SETUP_ANY, &params, error);

	for (size_t i = 0; i < setup->value_count && !err; i++)
		if (setup->values[i].hart != (i ? setup->values[i - 1].hart : HF_SETUP_ANY))
			err = hf_etrace_params_read(setup, setup->values[i].hart, &own, error);
	return err ? err : check_framings(&params, setup, error);
}

static unsigned xlen(const struct hf_stream *stream, uint32_t hart)
{
	struct hf_etrace_params params;

	hf_etrace_params_read(stream->setup, hart, &params, NULL); /* it was checked before */
	return hf_etrace_xlen(stream->setup, hart, &params);
}

static int open_stream(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		       struct hf_diag *diag)
{
	struct hf_etrace_stream *s;
	int err;

	if (!setup)
		return hf_diag_set(diag, HF_ERR_SETUP_MISSING, HF_SPACE_FILE, HF_NOWHERE, 0);
	s = calloc(1, sizeof *s);
	if (!s)
		return HF_ERR_NOMEM;
	err = hf_etrace_params_read(setup, HF_SETUP_ANY, &s->params, NULL);
	s->stream.codec = &hf_codec_etrace;
	if (!err)
		err = find_first(s, setup, src);
	if (err) {
		free(s);
		return err;
	}
	s->stream.info.arch = HF_ARCH_RISCV;
	s->stream.info.xlen = (uint8_t)hf_etrace_xlen(setup, HF_SETUP_ANY, &s->params);
	s->stream.info.isa = s->stream.info.xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	s->stream.info.flags = HF_STREAM_HARTS | HF_STREAM_NO_TEXTS;
	if (hf_etrace_framing_has_sources(&s->params, setup))
		s->stream.info.flags |= HF_STREAM_MANY;
	s->stream.info.version = hf_etrace_versions[s->params.version];
	s->stream.info.header = &s->params;
	snprintf(s->json, sizeof s->json, "\"iaddress_width\":%u,\"iaddress_lsb\":%u", s->params.iaddress_width,
		 s->params.iaddress_lsb);
	s->stream.info.json = s->json;
	*ret_stream = &s->stream;
	return 0;
}

static void close_stream(struct hf_stream *stream)
{
	free(stream);
}

static const char *const suffixes[] = {NULL};

const struct hf_codec hf_codec_etrace = {
	.name = "etrace",
	.title = "RISC-V E-Trace (Efficient Trace)",
	.version = 10,
	.suffixes = suffixes,
	.keys = hf_etrace_keys,
	.xlen = xlen,
	.program_arch = HF_ARCH_RISCV,
	.check = check,
	.open = open_stream,
	.close = close_stream,
	.dec = &hf_etrace_dec_ops,
	.records = &hf_etrace_records_ops,
};
