/* SPDX-License-Identifier: Apache-2.0 */
/* The header as members of info.json. */
#include "codecs/base/json_text.h"
#include "codecs/isa/names.h"
#include "codecs/stf/header.h"

#include <stdlib.h>

static void number(struct hf_sink *out, const char *key, uint64_t value)
{
	hf_sink_printf(out, "\"%s\":%llu,", key, (unsigned long long)value);
}

/* STF strings have no stated encoding. */
static void quote(struct hf_sink *out, const uint8_t *p, size_t n)
{
	hf_put_json_text(out, (const char *)p, n, HF_JSON_LATIN1);
}

/* The members that fn makes of the records of the header, one after another: it returns the size of the one at p. */
static void members_list(struct hf_sink *out, const char *key, const struct hf_stf_bytes *records,
			 size_t (*fn)(struct hf_sink *out, const uint8_t *p))
{
	if (records->n == 0)
		return;
	hf_sink_printf(out, "\"%s\":[", key);
	for (size_t at = 0; at < records->n;) {
		if (at)
			hf_sink_printf(out, ",");
		at += fn(out, records->p + at);
	}
	hf_sink_printf(out, "],");
}

static size_t comment(struct hf_sink *out, const uint8_t *p)
{
	quote(out, p + HF_STF_SIZE_COMMENT, hf_get32(p + 1));
	return HF_STF_SIZE_COMMENT + hf_get32(p + 1);
}

static size_t generator(struct hf_sink *out, const uint8_t *p)
{
	const char *name = hf_stf_generator_name(p[1]);

	if (name)
		hf_sink_printf(out, "{\"name\":\"%s\"", name);
	else
		hf_sink_printf(out, "{\"name\":\"generator %u\"", p[1]);
	hf_sink_printf(out, ",\"version\":\"%u.%u.%u\",\"comment\":", p[2], p[3], p[4]);
	quote(out, p + HF_STF_SIZE_TRACE_INFO, hf_get16(p + 5));
	hf_sink_printf(out, "}");
	return HF_STF_SIZE_TRACE_INFO + hf_get16(p + 5);
}

static size_t clock_name(struct hf_sink *out, const uint8_t *p)
{
	hf_sink_printf(out, "{\"id\":%u,\"name\":", p[1]);
	quote(out, p + HF_STF_SIZE_CLOCK_ID, hf_get16(p + 2));
	hf_sink_printf(out, "}");
	return HF_STF_SIZE_CLOCK_ID + hf_get16(p + 2);
}

static void members_features(struct hf_sink *out, const struct hf_stf_header *h)
{
	hf_sink_printf(out, "\"features\":[");
	for (uint64_t left = h->features; left; left &= left - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(left);
		const char *name = hf_stf_feature_name(bit), *comma = left == h->features ? "" : ",";

		if (name)
			hf_sink_printf(out, "%s\"%s\"", comma, name);
		else
			hf_sink_printf(out, "%s\"bit %u\"", comma, bit);
	}
	hf_sink_printf(out, "],");
}

static void members_isa(struct hf_sink *out, const struct hf_stf_header *h)
{
	if (!h->has[HF_STF_ISA])
		return;
	hf_sink_printf(out, "\"isa\":\"%s\",", h->isa == HF_STF_ISA_ARM ? "ARM" : "RISC-V");
	hf_sink_printf(out, "\"encoding\":\"%s\",", hf_isa_name(hf_stf_isa_of_iem(h->isa, h->iem)));
	hf_sink_printf(out, "\"first_pc\":\"%016llx\",", (unsigned long long)h->force_pc);
	hf_sink_printf(out, "\"access_sizes\":\"%s%s\",", h->bits ? "bits" : "bytes",
		       h->unit_shown ? "" : " (assumed)");
}

char *hf_stf_header_json(const struct hf_stf_header *h)
{
	struct hf_sink sink, *out = &sink;

	if (hf_sink_init_memory(out, 0))
		return NULL;
	hf_sink_printf(out, "\"stf_version\":\"%u.%u\",", h->major, h->minor);
	members_isa(out, h);
	if (h->has[HF_STF_ISA_EXTENDED]) {
		hf_sink_printf(out, "\"isa_extended\":");
		quote(out, h->extended.p, h->extended.n);
		hf_sink_printf(out, ",");
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
			hf_sink_printf(out, "\"protocol\":\"TileLink\",");
		else
			number(out, "protocol", h->layout.protocol);
	}
	members_list(out, "clocks", &h->clocks, clock_name);
	if (h->cut)
		hf_sink_printf(out, "\"strings_cut\":true,");
	members_features(out, h);
	number(out, "header_bytes", h->body);
	if (sink.err)
		hf_sink_fini_memory(out);
	else
		sink.p[-1] = 0; /* the last comma */
	return (char *)sink.start;
}
