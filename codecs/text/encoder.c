/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/text/text.h"

#include "codecs/base/bytes.h"
#include "codecs/views.h"

#include <string.h>

#define HEAD 5

struct text_state {
	uint8_t open; /* DATA comes of the channel at place at */
	uint32_t at;
	uint32_t count;
	struct hf_text_channel channel[HF_TEXT_CHANNELS];
};

struct text {
	struct hf_enc enc; /* first */
	struct text_state s;
};

const struct hf_text_channel *hf_text_channels(const struct hf_enc *enc, size_t *ret_n)
{
	const struct text_state *s = &((const struct text *)enc)->s;

	*ret_n = s->count;
	return s->channel;
}

size_t hf_text_frame(const uint8_t *p, size_t n, uint32_t *ret_channel, const uint8_t **ret_bytes, size_t *ret_n)
{
	if (n < HEAD || n - HEAD < p[4])
		return 0;
	*ret_channel = hf_get32(p);
	*ret_bytes = p + HEAD;
	*ret_n = p[4];
	return HEAD + (size_t)p[4];
}

/* The channel from here on, if there is room for it. */
static void begin(struct text_state *s, uint64_t number)
{
	s->open = 0;
	for (s->at = 0; s->at < s->count; s->at++)
		if (s->channel[s->at].number == number)
			break;
	if (s->at == HF_TEXT_CHANNELS || number > UINT32_MAX) {
		s->at = 0;
		return;
	}
	if (s->at == s->count)
		s->channel[s->count++] = (struct hf_text_channel){.number = (uint32_t)number};
	s->open = 1;
}

static void put_data(struct text_state *s, const struct hf_event *ev, struct hf_sink *sink)
{
	const size_t n = ev->used < sizeof ev->data.bytes ? ev->used : sizeof ev->data.bytes;
	uint8_t *p = hf_sink_room(sink, HEAD + sizeof ev->data.bytes);

	hf_put32(p, s->channel[s->at].number);
	p[4] = (uint8_t)n;
	memcpy(p + HEAD, ev->data.bytes, n);
	sink->p = p + HEAD + n;
	s->channel[s->at].size += n;
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct text_state *s = &((struct text *)enc)->s;

	for (; n; n--, ev++) {
		if (ev->kind == HF_EVENT_MARKER && ev->what == HF_MARKER_TEXT)
			begin(s, ev->marker.number);
		else if (ev->kind != HF_EVENT_DATA)
			s->open = 0;
		else if (s->open)
			put_data(s, ev, sink);
	}
}

static void state(struct hf_enc *enc, struct hf_fields *f)
{
	struct text_state *s = &((struct text *)enc)->s;

	HF_FIELD(f, s->open, 1);
	HF_FIELD(f, s->count, HF_TEXT_CHANNELS);
	HF_FIELD(f, s->at, HF_TEXT_CHANNELS - 1);
	hf_fields_require(f, s->at < s->count || (!s->open && !s->at));
	for (uint32_t i = 0; i < s->count && !f->err; i++) {
		HF_FIELD(f, s->channel[i].number, UINT32_MAX);
		HF_FIELD(f, s->channel[i].size, INT64_MAX);
	}
	if (f->loading && f->err)
		*s = (struct text_state){0};
}

static const char *refuses(const struct hf_stream_info *info)
{
	return info->flags & HF_STREAM_NO_TEXTS ? "the format has no text beside the flow" : NULL;
}

const struct hf_enc_ops hf_view_text = {
	.name = "text",
	.view = "text",
	.version = 1,
	.flags = HF_ENC_CHANNELS,
	.size = sizeof(struct text),
	.refuses = refuses,
	.put = put,
	.state = state,
};
