/* SPDX-License-Identifier: Apache-2.0 */
/* The header as members of info.json. */
#include "codecs/base/utf8.h"
#include "codecs/isa/names.h"
#include "codecs/stf/header.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, "\"%s\":%llu,", key, (unsigned long long)value);
}

/* STF strings have no stated encoding: UTF-8 stays as it is, other bytes are taken for Latin-1. */
static void quote(FILE *out, const uint8_t *p, size_t n)
{
	putc('"', out);
	while (n) {
		size_t len = 1;

		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p >= 0x20 && *p < 0x7f)
			putc(*p, out);
		else if ((len = hf_utf8_length(p, n)) != 0)
			fwrite(p, 1, len, out);
		else
			fprintf(out, "\\u%04x", *p);
		len += len == 0;
		p += len;
		n -= len;
	}
	putc('"', out);
}

/* The members that fn makes of the records of the header, one after another: it returns the size of the one at p. */
static void members_list(FILE *out, const char *key, const struct hf_stf_bytes *records,
			 size_t (*fn)(FILE *out, const uint8_t *p))
{
	if (records->n == 0)
		return;
	fprintf(out, "\"%s\":[", key);
	for (size_t at = 0; at < records->n;) {
		if (at)
			putc(',', out);
		at += fn(out, records->p + at);
	}
	fputs("],", out);
}

static size_t comment(FILE *out, const uint8_t *p)
{
	quote(out, p + HF_STF_SIZE_COMMENT, hf_get32(p + 1));
	return HF_STF_SIZE_COMMENT + hf_get32(p + 1);
}

static size_t generator(FILE *out, const uint8_t *p)
{
	const char *name = hf_stf_generator_name(p[1]);

	if (name)
		fprintf(out, "{\"name\":\"%s\"", name);
	else
		fprintf(out, "{\"name\":\"generator %u\"", p[1]);
	fprintf(out, ",\"version\":\"%u.%u.%u\",\"comment\":", p[2], p[3], p[4]);
	quote(out, p + HF_STF_SIZE_TRACE_INFO, hf_get16(p + 5));
	putc('}', out);
	return HF_STF_SIZE_TRACE_INFO + hf_get16(p + 5);
}

static size_t clock_name(FILE *out, const uint8_t *p)
{
	fprintf(out, "{\"id\":%u,\"name\":", p[1]);
	quote(out, p + HF_STF_SIZE_CLOCK_ID, hf_get16(p + 2));
	putc('}', out);
	return HF_STF_SIZE_CLOCK_ID + hf_get16(p + 2);
}

static void members_features(FILE *out, const struct hf_stf_header *h)
{
	fputs("\"features\":[", out);
	for (uint64_t left = h->features; left; left &= left - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(left);
		const char *name = hf_stf_feature_name(bit), *comma = left == h->features ? "" : ",";

		if (name)
			fprintf(out, "%s\"%s\"", comma, name);
		else
			fprintf(out, "%s\"bit %u\"", comma, bit);
	}
	fputs("],", out);
}

static void members_isa(FILE *out, const struct hf_stf_header *h)
{
	if (!h->has[HF_STF_ISA])
		return;
	fprintf(out, "\"isa\":\"%s\",", h->isa == HF_STF_ISA_ARM ? "ARM" : "RISC-V");
	fprintf(out, "\"encoding\":\"%s\",", hf_isa_name(hf_stf_isa_of_iem(h->isa, h->iem)));
	fprintf(out, "\"first_pc\":\"%016llx\",", (unsigned long long)h->force_pc);
	fprintf(out, "\"access_sizes\":\"%s%s\",", h->bits ? "bits" : "bytes", h->unit_shown ? "" : " (assumed)");
}

char *hf_stf_header_json(const struct hf_stf_header *h)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "\"stf_version\":\"%u.%u\",", h->major, h->minor);
	members_isa(out, h);
	if (h->has[HF_STF_ISA_EXTENDED]) {
		fputs("\"isa_extended\":", out);
		quote(out, h->extended.p, h->extended.n);
		putc(',', out);
	}
	members_list(out, "generators", &h->infos, generator);
	members_list(out, "comments", &h->comments, comment);
	if (h->has[HF_STF_VLEN_CONFIG])
		number(out, "vlen", h->vlen);
	if (h->has[HF_STF_PROCESS_ID_EXT]) {
		number(out, "first_hw_thread", h->ids[0]);
		number(out, "first_pid", h->ids[1]);
		number(out, "first_tid", h->ids[2]);
	}
	if (h->has[HF_STF_PROTOCOL_ID]) {
		if (h->layout.protocol == HF_STF_PROTOCOL_TILELINK)
			fputs("\"protocol\":\"TileLink\",", out);
		else
			number(out, "protocol", h->layout.protocol);
	}
	members_list(out, "clocks", &h->clocks, clock_name);
	if (h->cut)
		fputs("\"strings_cut\":true,", out);
	members_features(out, h);
	number(out, "header_bytes", h->body);
	/* libc has no text, and no error, if there is no memory for it at the end. */
	if (fclose(out) != 0 || !text) {
		free(text);
		return NULL;
	}
	/* the last comma */
	text[size - 1] = 0;
	return text;
}
