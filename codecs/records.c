/* records.txt: the decoder of hart HF_HART_RECORDS makes the text, here it is only copied. */
#include "codecs/codec.h"

#include <stdlib.h>

static const char *refuses(const struct hf_stream_info *info)
{
	(void)info;
	return NULL;
}

static int create(const struct hf_stream *stream, uint32_t hart, const struct hf_enc_env *env, struct hf_enc **ret_enc)
{
	(void)stream;
	(void)hart;
	(void)env;
	*ret_enc = calloc(1, sizeof **ret_enc);
	return *ret_enc ? 0 : HF_ERR_NOMEM;
}

static void destroy(struct hf_enc *enc)
{
	free(enc);
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	(void)enc;
	for (size_t i = 0; i < n; i++) {
		const size_t used = ev[i].small <= sizeof ev[i].data.bytes ? ev[i].small : sizeof ev[i].data.bytes;

		if (ev[i].kind != HF_EVENT_DATA)
			continue;
		memcpy(hf_sink_room(sink, sizeof ev[i].data.bytes), ev[i].data.bytes, sizeof ev[i].data.bytes);
		sink->p += used;
	}
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	(void)enc;
	(void)sink;
}

static size_t save(const struct hf_enc *enc, uint8_t *blob)
{
	(void)enc;
	(void)blob;
	return 0;
}

static int load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	(void)enc;
	(void)blob;
	return size == 0 ? 0 : HF_ERR_STATE;
}

const struct hf_enc_ops hf_enc_records = {
	.view = "records.txt",
	.version = 1,
	.refuses = refuses,
	.create = create,
	.destroy = destroy,
	.put = put,
	.end = end,
	.save = save,
	.load = load,
};
