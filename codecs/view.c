/* SPDX-License-Identifier: Apache-2.0 */
/* The guards around the functions of a view. */
#include "codecs/codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *hf_enc_refusal(const struct hf_enc_ops *ops, const struct hf_stream_info *info)
{
	if (!(info->flags & HF_STREAM_HARTS))
		return "the source holds no instructions";
	return ops->refuses ? ops->refuses(info) : NULL;
}

static size_t size_of(const struct hf_enc_ops *ops)
{
	return ops->size ? ops->size : sizeof(struct hf_enc);
}

int hf_enc_new(const struct hf_enc_ops *ops, const struct hf_stream *stream, uint32_t hart,
	       const struct hf_enc_env *env, struct hf_enc **ret_enc)
{
	struct hf_enc *enc = malloc(size_of(ops));
	int err;

	if (!enc)
		return HF_ERR_NOMEM;
	*enc = (struct hf_enc){.ops = ops, .stream = stream, .hart = hart};
	err = hf_enc_reset(enc, env);
	if (err)
		free(enc);
	else
		*ret_enc = enc;
	return err;
}

int hf_enc_reset(struct hf_enc *enc, const struct hf_enc_env *env)
{
	struct hf_enc head = *enc;

	head.env = env;
	memset(enc, 0, size_of(head.ops));
	*enc = head;
	return head.ops->init ? head.ops->init(enc) : 0;
}

void hf_enc_free(struct hf_enc *enc)
{
	free(enc);
}

void hf_enc_end(struct hf_enc *enc, struct hf_sink *sink)
{
	if (enc->ops->end)
		enc->ops->end(enc, sink);
}

static uint8_t state_version(const struct hf_enc *enc)
{
	return enc->ops->version & 0x7f;
}

size_t hf_enc_save(struct hf_enc *enc, uint8_t *blob)
{
	struct hf_fields f = hf_fields_save(blob + 1, HF_STATE_MAX - 1);

	if (!enc->ops->state)
		return 0;
	*blob = state_version(enc);
	enc->ops->state(enc, &f);
	assert(!f.err);
	return (size_t)(f.to - blob);
}

int hf_enc_load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	struct hf_fields f = hf_fields_load(blob + 1, size ? size - 1 : 0);

	if (!enc->ops->state)
		return size == 0 ? 0 : HF_ERR_STATE;
	if (!size || *blob != state_version(enc))
		return HF_ERR_STATE;
	enc->ops->state(enc, &f);
	return hf_fields_end(&f);
}
