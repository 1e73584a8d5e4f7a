/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int hf_sink_refill(struct hf_sink *sink)
{
	int err = sink->err ? sink->err : sink->flush(sink);

	if (err) {
		sink->err = err;
		sink->flushed += (uint64_t)(sink->p - sink->start);
		sink->p = sink->start;
	}
	return err;
}

void hf_sink_write(struct hf_sink *sink, const void *data, size_t n)
{
	const uint8_t *from = data;

	while (n) {
		size_t piece = n < HF_SINK_ROOM ? n : HF_SINK_ROOM;

		memcpy(hf_sink_room(sink, piece), from, piece);
		sink->p += piece;
		from += piece;
		n -= piece;
	}
}

void hf_sink_printf(struct hf_sink *sink, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0)
		hf_sink_write(sink, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void init(struct hf_sink *sink, uint8_t *buf, size_t cap, int (*flush)(struct hf_sink *))
{
	*sink = (struct hf_sink){.start = buf, .p = buf, .end = buf + cap, .flush = flush};
}

static int flush_full(struct hf_sink *sink)
{
	(void)sink;
	return HF_ERR_LIMIT;
}

void hf_sink_init_buffer(struct hf_sink *sink, uint8_t *buf, size_t cap)
{
	init(sink, buf, cap, flush_full);
}

static int flush_grow(struct hf_sink *sink)
{
	size_t used = (size_t)(sink->p - sink->start);
	size_t cap = (size_t)(sink->end - sink->start) * 2;
	uint8_t *bigger = realloc(sink->start, cap);

	if (!bigger)
		return HF_ERR_NOMEM;
	sink->start = bigger;
	sink->p = bigger + used;
	sink->end = bigger + cap;
	return 0;
}

int hf_sink_init_memory(struct hf_sink *sink, size_t cap)
{
	uint8_t *buf;

	if (cap < 2 * HF_SINK_ROOM)
		cap = 2 * HF_SINK_ROOM;
	buf = malloc(cap);
	/* Whoever fails ends it all the same. */
	*sink = (struct hf_sink){.start = NULL};
	if (!buf)
		return HF_ERR_NOMEM;
	init(sink, buf, cap, flush_grow);
	return 0;
}

void hf_sink_fini_memory(struct hf_sink *sink)
{
	free(sink->start);
	sink->start = sink->p = sink->end = NULL;
}

static int flush_drop(struct hf_sink *sink)
{
	sink->flushed += (uint64_t)(sink->p - sink->start);
	sink->p = sink->start;
	return 0;
}

void hf_sink_init_count(struct hf_sink *sink, uint8_t *buf, size_t cap)
{
	init(sink, buf, cap, flush_drop);
	sink->counts = true;
}
