/* SPDX-License-Identifier: Apache-2.0 */
/* The guards around the functions of a codec: who allocates, what is called when, and how a state is framed. */
#include "codecs/codec.h"

#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "codecs/source/errors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { EM_ARM = 40, EM_AARCH64 = 183, EM_RISCV = 243 };

bool hf_arch_has_machine(uint8_t arch, uint16_t machine)
{
	switch (arch) {
	case HF_ARCH_RISCV:
		return machine == EM_RISCV;
	case HF_ARCH_ARM:
		return machine == EM_AARCH64 || machine == EM_ARM;
	default:
		return true;
	}
}

int hf_stream_open(const struct hf_codec *codec, struct hf_src *src, const struct hf_setup *setup,
		   struct hf_stream **ret_stream, struct hf_diag *diag)
{
	struct hf_setup_error error = {.line = 0};
	int err = setup && codec->check ? codec->check(setup, &error) : 0;

	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, error.line);
	err = codec->open(src, setup, ret_stream, diag);
	if (!err) {
		(*ret_stream)->codec = codec;
		(*ret_stream)->setup = setup;
	}
	return err;
}

int hf_dec_new(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, struct hf_dec **ret_dec)
{
	const struct hf_dec_ops *ops = hart == HF_HART_RECORDS ? stream->codec->records : stream->codec->dec;
	struct hf_dec *dec;
	int err;

	*ret_dec = NULL;
	if (!ops)
		return HF_ERR_NOT_FOUND;
	dec = calloc(1, ops->size);
	if (!dec)
		return HF_ERR_NOMEM;
	*dec = (struct hf_dec){.ops = ops, .stream = stream, .hart = hart, .stop = src->stop};
	err = ops->init(dec, src);
	if (err)
		hf_dec_free(dec);
	else
		*ret_dec = dec;
	return err;
}

void hf_dec_free(struct hf_dec *dec)
{
	if (!dec)
		return;
	dec->ops->fini(dec);
	free(dec);
}

const uint32_t *hf_dec_harts(const struct hf_dec *dec, size_t *ret_n)
{
	if (dec->ops->harts)
		return dec->ops->harts(dec, ret_n);
	*ret_n = 1;
	return &dec->hart;
}

/* What stands before a state that says more than a codec's own, with two numbers. None of these begins so, but with a
 * version below 0x80. */
enum { TAG = 4 };
static const uint8_t cut_tag[TAG] = {0xff, 'c', 'u', 't'}, doubt_tag[TAG] = {0xff, 'd', 'b', 't'};
static_assert(TAG + 16 == HF_MARK_SIZE, "a tag and two numbers");

static bool has_tag(const uint8_t *blob, size_t size, const uint8_t *tag)
{
	return size >= HF_MARK_SIZE && !memcmp(blob, tag, TAG);
}

bool hf_dec_is_marked(const uint8_t *blob, size_t size)
{
	return has_tag(blob, size, cut_tag) || has_tag(blob, size, doubt_tag);
}

static void put_mark(uint8_t *blob, const uint8_t *tag, const struct hf_event *ev)
{
	memcpy(blob, tag, TAG);
	hf_put64(blob + TAG, ev->loss.offset);
	hf_put64(blob + TAG + 8, ev->loss.detail);
}

static struct hf_event event_of(const uint8_t *blob)
{
	const bool cut = has_tag(blob, HF_MARK_SIZE, cut_tag);

	return (struct hf_event){.kind = cut ? HF_EVENT_GAP : HF_EVENT_DOUBT,
				 .code = cut ? -HF_ERR_EXPANSION : -HF_ERR_BOX_DOUBT,
				 .loss = {.offset = hf_get64(blob + TAG), .detail = hf_get64(blob + TAG + 8)}};
}

void hf_dec_cut(struct hf_dec *dec, uint64_t offset, uint64_t events, uint8_t *blob, struct hf_event *ret_gap)
{
	put_mark(blob, cut_tag, &(struct hf_event){.loss = {.offset = offset, .detail = events}});
	dec->cut = true;
	dec->first.kind = HF_EVENT_NONE;
	*ret_gap = event_of(blob);
}

size_t hf_dec_doubt(struct hf_dec *dec, uint64_t offset, uint64_t bytes, uint8_t *blob, size_t size)
{
	memmove(blob + HF_MARK_SIZE, blob, size);
	put_mark(blob, doubt_tag, &(struct hf_event){.loss = {.offset = offset, .detail = bytes}});
	dec->first = event_of(blob);
	return HF_MARK_SIZE + size;
}

static int next_event(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	if (dec->first.kind == HF_EVENT_NONE)
		return dec->cut ? (int)HF_NOTE_END : dec->ops->next(dec, ev, max, ret_n);
	*ev = dec->first;
	*ret_n = 1;
	dec->first.kind = HF_EVENT_NONE;
	return 0;
}

int hf_dec_next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	*ret_n = 0;
	if (hf_stop_wanted(dec->stop))
		return dec->err = HF_ERR_CANCELLED;
	if (!dec->err) {
		dec->err = next_event(dec, ev, max, ret_n);
		if (!dec->err && *ret_n == 0)
			dec->err = HF_ERR_BUG;
	}
	return dec->err;
}

static uint8_t state_version(uint32_t version)
{
	return version & 0x7f;
}

size_t hf_dec_save(struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard)
{
	struct hf_fields f = hf_fields_save(blob + 1, HF_STATE_MAX - 1);

	*blob = state_version(dec->stream->codec->version);
	*ret_discard = dec->ops->state(dec, &f);
	assert(!f.err);
	return (size_t)(f.to - blob);
}

static int load_state(struct hf_dec *dec, const uint8_t *blob, size_t size)
{
	struct hf_fields f = hf_fields_load(blob + 1, size ? size - 1 : 0);

	if (!size || *blob != state_version(dec->stream->codec->version))
		return HF_ERR_STATE;
	dec->ops->state(dec, &f);
	return hf_fields_end(&f);
}

static int discard_events(struct hf_dec *dec, uint64_t discard)
{
	struct hf_event ev[64];

	while (!dec->err && discard) {
		size_t n;
		int err = hf_dec_next(dec, ev, discard < 64 ? (size_t)discard : 64, &n);

		/* What the source refuses is not the state's fault. */
		if (hf_err_is_passing(err) || (err < 0 && hf_err_class(err) == HF_CLASS_state))
			return err;
		if (err)
			return dec->err = HF_ERR_STATE;
		discard -= n;
	}
	return dec->err;
}

int hf_dec_load(struct hf_dec *dec, const uint8_t *blob, size_t size, uint64_t discard)
{
	const bool doubt = has_tag(blob, size, doubt_tag);
	const size_t before = doubt ? HF_MARK_SIZE : 0;
	int err = 0;

	dec->first.kind = HF_EVENT_NONE;
	dec->cut = size == HF_MARK_SIZE && has_tag(blob, size, cut_tag);
	dec->err = dec->cut ? 0 : load_state(dec, blob + before, size - before);
	if (!dec->cut)
		err = discard_events(dec, discard);
	if (!err && (dec->cut || doubt))
		dec->first = event_of(blob);
	return err;
}

size_t hf_dec_begin(const struct hf_dec *dec, const struct hf_event *insn, uint64_t ordinal, struct hf_event *ret_ev)
{
	struct hf_event context = {.kind = HF_EVENT_CONTEXT};
	uint64_t record = 0;

	if (dec->ops->begin)
		dec->ops->begin(dec, &context, &record);
	if (insn->insn.mode != HF_MODE_UNKNOWN) {
		context.fields |= HF_CONTEXT_MODE;
		context.context.mode = insn->insn.mode;
	}
	ret_ev[0] = (struct hf_event){
		.kind = HF_EVENT_BEGIN,
		.isa = insn->insn.isa,
		.begin = {.ordinal = ordinal, .record = record, .pc = insn->insn.pc},
	};
	ret_ev[1] = context;
	return HF_BEGIN_EVENTS;
}

unsigned hf_stream_xlen(const struct hf_stream *stream, uint32_t hart)
{
	return stream->codec && stream->codec->xlen ? stream->codec->xlen(stream, hart) : stream->info.xlen;
}

unsigned hf_stream_isa(const struct hf_stream *stream, uint32_t hart)
{
	if (!stream->codec || !stream->codec->xlen)
		return stream->info.isa;
	return hf_stream_xlen(stream, hart) == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
}

void hf_stream_close(struct hf_stream *stream)
{
	if (stream)
		stream->codec->close(stream);
}
