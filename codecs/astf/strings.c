/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as String and String continuation records (ASTF 4.8). */
#include "codecs/astf/encoder.h"

#include <stdarg.h>
#include <stdio.h>

/* The size field has 16 bits: longer texts become several strings. */
#define STRING_MAX 65535u
#define REMARK_MAX 300

/* Begins the next record of the text in extra. */
static void begin_record(struct hf_astf_enc *e)
{
	struct hf_astf_enc_state *s = &e->s;
	struct hf_astf_record rec = {{HF_ASTF_STRING_CONT}};

	s->text_at = 1;
	if (!s->piece) {
		s->piece = s->text < STRING_MAX ? s->text : STRING_MAX;
		rec.word[0] = HF_ASTF_STRING;
		HF_ASTF_PUT(&rec, STRING, size, s->piece);
		s->text_at = 4;
	}
	s->extra = rec;
}

static void end_record(struct hf_astf_enc *e, struct hf_sink *sink)
{
	hf_astf_write(sink, &e->s.extra);
	e->s.extra = (struct hf_astf_record){{0}};
	e->s.text_at = 0;
}

void hf_astf_enc_text(struct hf_astf_enc *e, uint32_t size)
{
	e->s.text = size;
	e->s.piece = 0;
	e->s.text_at = 0;
}

void hf_astf_enc_text_data(struct hf_astf_enc *e, struct hf_sink *sink, const uint8_t *bytes, uint32_t n)
{
	struct hf_astf_enc_state *s = &e->s;

	for (uint32_t i = 0; i < n && s->text; i++) {
		if (!s->text_at)
			begin_record(e);
		((uint8_t *)s->extra.word)[s->text_at++] = bytes[i];
		s->text--;
		s->piece--;
		if (s->text_at == HF_ASTF_SIZE || !s->piece)
			end_record(e, sink);
	}
}

void hf_astf_enc_text_end(struct hf_astf_enc *e, struct hf_sink *sink)
{
	static const uint8_t zeros[64];

	while (e->s.text)
		hf_astf_enc_text_data(e, sink, zeros, sizeof zeros);
}

void hf_astf_enc_remark(struct hf_astf_enc *e, struct hf_sink *sink, const char *format, ...)
{
	char text[REMARK_MAX] = "hartfs: ";
	const size_t prefix = strlen(text);
	va_list args;
	size_t n;

	va_start(args, format);
	vsnprintf(text + prefix, sizeof text - prefix, format, args);
	va_end(args);
	n = strlen(text);
	hf_astf_enc_text(e, (uint32_t)n);
	hf_astf_enc_text_data(e, sink, (const uint8_t *)text, (uint32_t)n);
}
