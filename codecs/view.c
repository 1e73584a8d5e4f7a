/* SPDX-License-Identifier: Apache-2.0 */
/* The list of views, and what an encoder does that has not all hooks. */
#include "codecs/codec.h"

#include <stdlib.h>

const struct hf_enc_ops *const hf_views_all[] = {
#define HF_VIEW(name) &hf_view_##name,
#include "codecs/views.def"
#undef HF_VIEW
	NULL,
};

const struct hf_enc_ops *const *hf_views = hf_views_all;

const char *hf_enc_refusal(const struct hf_enc_ops *ops, const struct hf_stream_info *info)
{
	if (!(info->flags & HF_STREAM_HARTS))
		return "the source holds no instructions";
	return ops->refuses ? ops->refuses(info) : NULL;
}

int hf_enc_new(const struct hf_enc_ops *ops, const struct hf_stream *stream, uint32_t hart,
	       const struct hf_enc_env *env, struct hf_enc **ret_enc)
{
	struct hf_enc *enc = calloc(1, ops->size ? ops->size : sizeof *enc);
	int err = enc ? 0 : HF_ERR_NOMEM;

	if (err)
		return err;
	*enc = (struct hf_enc){.ops = ops, .stream = stream, .hart = hart, .env = env};
	err = ops->init ? ops->init(enc) : 0;
	if (err)
		free(enc);
	else
		*ret_enc = enc;
	return err;
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

size_t hf_enc_save(const struct hf_enc *enc, uint8_t *blob)
{
	return enc->ops->save ? enc->ops->save(enc, blob) : 0;
}

int hf_enc_load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	if (enc->ops->load)
		return enc->ops->load(enc, blob, size);
	return size == 0 ? 0 : HF_ERR_STATE;
}
