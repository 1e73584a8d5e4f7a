/* SPDX-License-Identifier: Apache-2.0 */
/* The header as members of info.json. */
#include "codecs/base/utf8.h"
#include "codecs/isa/names.h"
#include "codecs/stf/header.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
#define HF_STF_FEATURE(bit, name) {bit, name},
#include "codecs/stf/names.def"
};

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

static void members_comments(FILE *out, const struct hf_stf_header *h)
{
	const char *comma = "";

	if (h->comments.n == 0)
		return;
	fputs("\"comments\":[", out);
	for (size_t at = 0; at < h->comments.n;) {
		size_t n = hf_get32(h->comments.p + at + 1);

		fputs(comma, out);
		quote(out, h->comments.p + at + 5, n);
		comma = ",";
		at += 5 + n;
	}
	fputs("],", out);
}

static void members_generators(FILE *out, const struct hf_stf_header *h)
{
	const char *comma = "";

	if (h->infos.n == 0)
		return;
	fputs("\"generators\":[", out);
	for (size_t at = 0; at < h->infos.n;) {
		const uint8_t *p = h->infos.p + at;
		const char *name = hf_stf_generator_name(p[1]);
		size_t n = hf_get16(p + 5);

		fputs(comma, out);
		if (name)
			fprintf(out, "{\"name\":\"%s\"", name);
		else
			fprintf(out, "{\"name\":\"generator %u\"", p[1]);
		fprintf(out, ",\"version\":\"%u.%u.%u\",\"comment\":", p[2], p[3], p[4]);
		quote(out, p + 7, n);
		putc('}', out);
		comma = ",";
		at += 7 + n;
	}
	fputs("],", out);
}

static void members_clocks(FILE *out, const struct hf_stf_header *h)
{
	const char *comma = "";

	if (h->clocks.n == 0)
		return;
	fputs("\"clocks\":[", out);
	for (size_t at = 0; at < h->clocks.n;) {
		const uint8_t *p = h->clocks.p + at;
		size_t n = hf_get16(p + 2);

		fprintf(out, "%s{\"id\":%u,\"name\":", comma, p[1]);
		quote(out, p + 4, n);
		putc('}', out);
		comma = ",";
		at += 4 + n;
	}
	fputs("],", out);
}

static void members_features(FILE *out, const struct hf_stf_header *h)
{
	uint64_t left = h->features;
	const char *comma = "";

	fputs("\"features\":[", out);
	for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
		if (!(left & features[i].bit))
			continue;
		fprintf(out, "%s\"%s\"", comma, features[i].name);
		left &= ~features[i].bit;
		comma = ",";
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(left >> bit & 1))
			continue;
		fprintf(out, "%s\"bit %u\"", comma, bit);
		comma = ",";
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
	members_generators(out, h);
	members_comments(out, h);
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
	members_clocks(out, h);
	if (h->cut)
		fputs("\"strings_cut\":true,", out);
	members_features(out, h);
	number(out, "header_bytes", h->body);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	/* the last comma */
	text[size - 1] = 0;
	return text;
}
