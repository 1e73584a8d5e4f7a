/* SPDX-License-Identifier: Apache-2.0 */
/* What the encoder writes besides groups: its header, and remarks. */
#include "codecs/stf/encoder.h"

#include "codecs/isa/riscv.h"

#include <stdarg.h>
#include <stdio.h>

#define REMARK_MAX 600

void hf_stf_write_record(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_stf_record *rec)
{
	sink->p += hf_stf_record_emit(&e->layout, rec, hf_sink_room(sink, 64));
}

static void write_comment(struct hf_sink *sink, const char *text, size_t n)
{
	uint8_t *p = hf_sink_room(sink, HF_STF_SIZE_COMMENT + n);

	*p = HF_STF_COMMENT;
	hf_put32(p + 1, (uint32_t)n);
	memcpy(p + HF_STF_SIZE_COMMENT, text, n);
	sink->p += HF_STF_SIZE_COMMENT + n;
}

void hf_stf_write_remark(struct hf_sink *sink, const char *format, ...)
{
	char text[REMARK_MAX] = "hartfs: ";
	const size_t prefix = strlen(text);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text + prefix, sizeof text - prefix, format, args);
	va_end(args);
	n = n < 0 ? 0 : n;
	write_comment(sink, text, (size_t)n < sizeof text - prefix ? prefix + (size_t)n : sizeof text - 1);
}

static void remark_loss(struct hf_sink *sink, const char *what, const struct hf_event *ev)
{
	struct hf_diag diag;
	char text[HF_DIAG_SIZE];

	hf_event_diag(ev, &diag);
	hf_diag_format(&diag, text, sizeof text);
	if (ev->loss.bytes)
		hf_stf_write_remark(sink, "%s: %s, %llu bytes", what, text, (unsigned long long)ev->loss.bytes);
	else
		hf_stf_write_remark(sink, "%s: %s", what, text);
}

static void remark_trap(struct hf_sink *sink, const char *what, const struct hf_event *ev)
{
	const struct hf_ev_trap *trap = &ev->trap;
	char text[3][32] = {"", "", ""};

	if (ev->flags & HF_EVF_CAUSE)
		snprintf(text[0], sizeof text[0], ", cause %llu", (unsigned long long)trap->cause);
	if (ev->flags & HF_EVF_VALUE)
		snprintf(text[1], sizeof text[1], ", value 0x%llx", (unsigned long long)trap->value);
	if (ev->flags & HF_EVF_HANDLER)
		snprintf(text[2], sizeof text[2], ", handler 0x%llx", (unsigned long long)trap->handler);
	hf_stf_write_remark(sink, "%s%s%s%s", what, text[0], text[1], text[2]);
}

static void remark_time(struct hf_sink *sink, const char *what, const struct hf_event *ev)
{
	if (ev->flags & HF_EVF_NO_TIME)
		hf_stf_write_remark(sink, "%s, not known", what);
	else if (ev->flags & HF_EVF_BACK)
		hf_stf_write_remark(sink, "%s %llu, %llu events before", what, (unsigned long long)ev->time.value,
				    (unsigned long long)ev->time.back);
	else
		hf_stf_write_remark(sink, "%s %llu", what, (unsigned long long)ev->time.value);
}

/* One without an instruction, or without an address. */
static void remark_access(struct hf_sink *sink, const struct hf_event *ev)
{
	static const char *const kinds[4] = {"access", "load", "store", "load and store"};
	const char *kind = kinds[ev->flags & (HF_EVF_READ | HF_EVF_WRITE)];

	if (!(ev->flags & HF_EVF_NO_ADDRESS))
		hf_stf_write_remark(sink, "%s at 0x%llx without an instruction", kind, (unsigned long long)ev->word[0]);
	else if (ev->words)
		hf_stf_write_remark(sink, "%s of %u bytes, 0x%llx, at an address that is not known", kind, ev->mem.size,
				    (unsigned long long)ev->mem.data);
	else
		hf_stf_write_remark(sink, "%s of %u bytes at an address that is not known", kind, ev->mem.size);
}

void hf_stf_write_foreign(struct hf_sink *sink, const struct hf_event *ev)
{
	const unsigned long long first = ev->word[0];

	switch (ev->kind) {
	case HF_EVENT_GAP:
		remark_loss(sink, "gap", ev);
		break;
	case HF_EVENT_DOUBT:
		remark_loss(sink, "doubt", ev);
		break;
	case HF_EVENT_NOTE:
		remark_loss(sink, "note", ev);
		break;
	case HF_EVENT_TRAP:
		remark_trap(sink, ev->flags & HF_EVF_ASYNC ? "interrupt" : "exception", ev);
		break;
	case HF_EVENT_TRAP_RETURN:
		hf_stf_write_remark(sink, "return from a trap");
		break;
	case HF_EVENT_TIMESTAMP:
		remark_time(sink, "timestamp", ev);
		break;
	case HF_EVENT_CYCLES:
		remark_time(sink, "cycles", ev);
		break;
	case HF_EVENT_MARKER:
		hf_stf_write_remark(sink, "%s %llu: type %llu, value 0x%llx", hf_marker_name(ev->what),
				    (unsigned long long)ev->marker.number, (unsigned long long)ev->marker.type, first);
		break;
	case HF_EVENT_MEM:
	case HF_EVENT_BUS:
		remark_access(sink, ev);
		break;
	case HF_EVENT_REG:
		hf_stf_write_remark(sink, "register %u of class %u, value 0x%llx", ev->reg.number, ev->reg.class,
				    first);
		break;
	case HF_EVENT_TRANSACTION:
	case HF_EVENT_DEPENDENCY:
		hf_stf_write_remark(sink, "transaction %llu", first);
		break;
	case HF_EVENT_DISCONTINUITY:
		hf_stf_write_remark(sink, "not traced from here to the next instruction");
		break;
	case HF_EVENT_OPAQUE:
		hf_stf_write_remark(sink, "%u bytes of the source at offset %llu have no counterpart", ev->size, first);
		break;
	default:
		hf_stf_write_remark(sink, "event of kind %u", ev->kind);
	}
}

/* ---- header ---- */

static uint64_t features(const struct hf_stf_enc *e)
{
	const struct hf_stream_info *info = &e->enc.stream->info;
	uint64_t bits = HF_STF_FEATURE_EVENT64;

	if (e->source)
		return bits | (e->source->features & ~HF_STF_FEATURE_MULTI_CORE);
	if (!(info->flags & HF_STREAM_ONE_LEVEL))
		bits |= HF_STF_FEATURE_EVENT;
	if (info->arch == HF_ARCH_RISCV && hf_stream_xlen(e->enc.stream, e->enc.hart) == 64)
		bits |= HF_STF_FEATURE_RV64;
	if (info->vlen)
		bits |= HF_STF_FEATURE_VEC;
	if (e->s.flags & HF_STF_ENC_IDS)
		bits |= HF_STF_FEATURE_PROCESS_ID;
	return bits;
}

static void write_origin(struct hf_stf_enc *e, struct hf_sink *sink)
{
	const struct hf_stream *stream = e->enc.stream;

	hf_stf_write_remark(sink, "hart %u of a capture in %s %s", e->enc.hart,
			    stream->codec && stream->codec->title ? stream->codec->title : "another format",
			    stream->info.version ? stream->info.version : "");
	if (!e->source)
		hf_stf_write_remark(sink, "an id of PROCESS_ID_EXT that the capture does not say is 0");
}

/* The producers so far, and us. */
static void write_infos(struct hf_stf_enc *e, struct hf_sink *sink)
{
	static const char name[] = "hartfs";
	const struct hf_stf_record rec = {
		.descriptor = HF_STF_TRACE_INFO,
		.code = HF_STF_GENERATOR_EXTRACT,
		.major = 1,
		.count = sizeof name - 1,
	};

	if (e->source)
		hf_sink_write(sink, e->source->infos.p, e->source->infos.n);
	hf_stf_write_record(e, sink, &rec);
	hf_sink_write(sink, name, sizeof name - 1);
}

static void write_extended(struct hf_stf_enc *e, struct hf_sink *sink)
{
	struct hf_stf_record rec = {.descriptor = HF_STF_ISA_EXTENDED};
	char isa[32];

	if (!e->source && e->extensions) {
		rec.count = (uint32_t)snprintf(isa, sizeof isa, "rv%uimac%s%s%s", hf_stream_xlen(e->enc.stream, e->enc.hart),
					       e->extensions & HF_RISCV_ZCMP ? "_zcmp" : "",
					       e->extensions & HF_RISCV_ZCMT ? "_zcmt" : "",
					       e->extensions & HF_RISCV_ZFINX ? "_zfinx" : "");
		hf_stf_write_remark(sink, "of ISA_EXTENDED only zcmp, zcmt and zfinx are known");
		hf_stf_write_record(e, sink, &rec);
		hf_sink_write(sink, isa, rec.count);
	}
	if (!e->source || !e->source->has[HF_STF_ISA_EXTENDED])
		return;
	rec.count = (uint32_t)e->source->extended.n;
	hf_stf_write_record(e, sink, &rec);
	hf_sink_write(sink, e->source->extended.p, e->source->extended.n);
}

void hf_stf_write_header(struct hf_stf_enc *e, struct hf_sink *sink, uint64_t force_pc, uint8_t isa)
{
	const uint32_t vlen = e->enc.stream->info.vlen;
	const uint32_t *ids = e->s.ids;

	HF_STF_PUT(e, sink, IDENTIFIER, );
	HF_STF_PUT(e, sink, VERSION, .major = 1, .minor = 6);
	write_origin(e, sink);
	HF_STF_PUT(e, sink, ISA, .code = e->arch == HF_ARCH_ARM ? HF_STF_ISA_ARM : HF_STF_ISA_RISCV);
	HF_STF_PUT(e, sink, INST_IEM, .code = hf_stf_iem_of_isa(isa));
	write_infos(e, sink);
	HF_STF_PUT(e, sink, TRACE_INFO_FEATURE, .value = features(e));
	if (e->s.flags & HF_STF_ENC_IDS)
		HF_STF_PUT(e, sink, PROCESS_ID_EXT, .hw = ids[0], .pid = ids[1], .tid = ids[2]);
	HF_STF_PUT(e, sink, FORCE_PC, .address = force_pc);
	if (vlen)
		HF_STF_PUT(e, sink, VLEN_CONFIG, .code = vlen);
	write_extended(e, sink);
	HF_STF_PUT(e, sink, END_HEADER, );
	e->s.flags |= HF_STF_ENC_HEADER;
	e->s.next = force_pc;
	e->s.isa = isa;
}
