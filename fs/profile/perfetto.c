/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.perfetto: the stack of calls against time, for the viewer Perfetto. Numbers of fields are those of its schema,
 * protos/perfetto/trace. An instruction is a nanosecond, or a tick of the trace's time.
 */
#include "fs/base/human.h"
#include "fs/profile/activations.h"
#include "fs/profile/escape.h"
#include "fs/profile/frames.h"
#include "fs/profile/protobuf.h"
#include "fs/profile/timeline_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Bytes of the file: where there would be more, short calls are left out. */
#define FILE_MAX ((size_t)1 << 20)
/* Bytes of packets that are packed as one; a reader need take no more than 512 KiB. */
#define PACK_MAX ((size_t)256 << 10)
/* Of zlib: with more it takes ten times as long and becomes no smaller. */
#define PACK_LEVEL 6

/* Fields. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
};
enum { EVENT_TYPE = 9, EVENT_NAME_NUMBER = 10, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23 };
enum { TRACK_NUMBER = 1, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_ID = 1, PROCESS_NAME = 6, THREAD_PROCESS_ID = 1, THREAD_ID = 2, THREAD_NAME = 5 };
enum { INTERNED_NAMES = 2, INTERNED_NUMBER = 1, INTERNED_TEXT = 2, DEFAULTS_EVENT = 11 };

/* Types of events, flags of packets, and our two tracks. */
enum { BEGIN = 1, END = 2, INSTANT = 3 };
enum { CLEARED = 1, NEEDS = 2 };
enum { PROCESS_TRACK = 1, HART_TRACK = 2 };

struct trace {
	const struct hf_profiled *of;
	struct hf_activations calls;
	struct hf_frames frames;
	struct hf_sink *out;   /* the file */
	struct hf_sink packed; /* packets that are not in it yet */
	uint8_t *named;	       /* of each name, whether it was given */
	int err;
};

/* ---- packets ---- */

static void put_packet(struct hf_sink *sink, const struct hf_proto *packet)
{
	uint8_t head[16];
	size_t n = hf_proto_varint(head, TRACE_PACKET << 3 | 2);

	n += hf_proto_varint(head + n, packet->n);
	hf_sink_write(sink, head, n);
	hf_sink_write(sink, packet->bytes, packet->n);
}

/* Packets that wait become one that has them packed. */
static int flush(struct trace *t)
{
	const size_t size = (size_t)hf_sink_total(&t->packed);
	uLongf n = compressBound(size);
	uint8_t *bytes = malloc(n), head[16], inner[16];
	size_t k;

	if (!bytes || t->packed.err || compress2(bytes, &n, t->packed.start, size, PACK_LEVEL) != Z_OK) {
		free(bytes);
		return HF_ERR_NOMEM;
	}
	k = hf_proto_varint(inner, PACKET_COMPRESSED << 3 | 2);
	k += hf_proto_varint(inner + k, n);
	hf_sink_write(t->out, head, hf_proto_varint(head, TRACE_PACKET << 3 | 2));
	hf_sink_write(t->out, head, hf_proto_varint(head, k + n));
	hf_sink_write(t->out, inner, k);
	hf_sink_write(t->out, bytes, n);
	free(bytes);
	t->packed.p = t->packed.start;
	return 0;
}

static uint64_t sequence_of(const struct trace *t)
{
	return (t->of->hart & 0x7fffffff) + UINT64_C(1);
}

/* An event of the hart's track. names: of what is interned with it, or empty. */
static void put_event(struct trace *t, uint64_t ordinal, const struct hf_proto *event, const struct hf_proto *names)
{
	struct hf_proto packet;

	packet.n = 0;
	hf_proto_put_number(&packet, PACKET_TIMESTAMP, hf_clock_at(&t->calls.clock, ordinal));
	hf_proto_put_number(&packet, PACKET_SEQUENCE, sequence_of(t));
	hf_proto_put_message(&packet, PACKET_EVENT, event);
	if (names && names->n)
		hf_proto_put_message(&packet, PACKET_INTERNED, names);
	hf_proto_put_number(&packet, PACKET_FLAGS, NEEDS);
	put_packet(&t->packed, &packet);
	if (!t->err && hf_sink_total(&t->packed) > PACK_MAX - HF_PROTO_ROOM)
		t->err = flush(t);
}

/* ---- what it is about ---- */

static void put_track(struct trace *t, const struct hf_proto *track)
{
	struct hf_proto packet;

	packet.n = 0;
	hf_proto_put_number(&packet, PACKET_SEQUENCE, sequence_of(t));
	hf_proto_put_message(&packet, PACKET_TRACK, track);
	put_packet(t->out, &packet);
}

/* A text of others, as UTF-8. */
static void put_text(struct hf_proto *message, unsigned field, const char *text, size_t size)
{
	uint8_t bytes[HF_SINK_ROOM];
	struct hf_sink sink;

	hf_sink_init_buffer(&sink, bytes, sizeof bytes);
	hf_escape_nothing(&sink, text, size);
	hf_proto_put_bytes(message, field, bytes, (size_t)hf_sink_total(&sink));
}

static void put_tracks(struct trace *t)
{
	const char *path = t->of->source ? t->of->source->open->capture->path : "capture";
	char unit[64] = "1 ns is 1 instruction", name[sizeof "...: " + 200 + sizeof unit];
	struct hf_proto track, inner;

	if (t->calls.clock.state == HF_CLOCK_KNOWN)
		snprintf(unit, sizeof unit, "%" PRIu64 " ns is 1 tick of the trace's time", t->calls.clock.scale);
	snprintf(name, sizeof name, "%s%.200s: %s", strlen(path) > 200 ? "..." : "",
		 strlen(path) > 200 ? path + strlen(path) - 200 : path, unit);
	track.n = inner.n = 0;
	hf_proto_put_number(&track, TRACK_NUMBER, PROCESS_TRACK);
	hf_proto_put_number(&inner, PROCESS_ID, 1);
	put_text(&inner, PROCESS_NAME, name, strlen(name));
	hf_proto_put_message(&track, TRACK_PROCESS, &inner);
	put_track(t, &track);
	track.n = inner.n = 0;
	hf_proto_put_number(&track, TRACK_NUMBER, HART_TRACK);
	hf_proto_put_number(&track, TRACK_PARENT, PROCESS_TRACK);
	hf_proto_put_number(&inner, THREAD_PROCESS_ID, 1);
	/* 0 would be the idle thread. */
	hf_proto_put_number(&inner, THREAD_ID, sequence_of(t));
	snprintf(name, sizeof name, "hart%" PRIu32, t->of->hart);
	hf_proto_put_bytes(&inner, THREAD_NAME, name, strlen(name));
	hf_proto_put_message(&track, TRACK_THREAD, &inner);
	put_track(t, &track);
}

/* All events are of the hart's track, unless they say another one. */
static void put_first(struct trace *t)
{
	struct hf_proto packet, defaults, event;

	packet.n = defaults.n = event.n = 0;
	hf_proto_put_number(&packet, PACKET_SEQUENCE, sequence_of(t));
	hf_proto_put_number(&event, EVENT_TRACK, HART_TRACK);
	hf_proto_put_message(&defaults, DEFAULTS_EVENT, &event);
	hf_proto_put_message(&packet, PACKET_DEFAULTS, &defaults);
	hf_proto_put_number(&packet, PACKET_FLAGS, CLEARED);
	put_packet(t->out, &packet);
}

static void put_instant(struct trace *t, const char *text)
{
	struct hf_proto event;

	event.n = 0;
	hf_proto_put_number(&event, EVENT_TYPE, INSTANT);
	hf_proto_put_bytes(&event, EVENT_NAME, text, strlen(text));
	put_event(t, 0, &event, NULL);
}

/* What its clock is, if the trace tells of time. */
static void put_clock(struct trace *t)
{
	static const char *const reasons[] = {
		[HF_CLOCK_KNOWN] = "between two timestamps the time is spread evenly over the instructions",
		[HF_CLOCK_BACK] = "clock: instructions, as the time of the trace goes back",
		[HF_CLOCK_LARGE] = "clock: instructions, as times of the trace are larger than 2^63",
		[HF_CLOCK_FEW] = "clock: instructions, as of most of them the trace tells no time",
	};
	const struct hf_clock *clock = &t->calls.clock;
	char text[HF_ESCAPE_NAME], before[HF_HUMAN_SIZE], after[HF_HUMAN_SIZE];

	if (clock->state == HF_CLOCK_NONE)
		return;
	put_instant(t, reasons[clock->state]);
	if (clock->step)
		put_instant(t, "left out: times, as there are too many");
	if (!clock->before && !clock->after)
		return;
	snprintf(text, sizeof text,
		 "no time is known of %s instructions at the beginning and %s at the end: "
		 "they take none here",
		 hf_human_count(before, clock->before), hf_human_count(after, clock->after));
	put_instant(t, text);
}

/* What the file leaves out, at its beginning. */
static void put_limits(struct trace *t)
{
	char text[HF_ESCAPE_NAME], count[HF_HUMAN_SIZE], least[HF_HUMAN_SIZE];

	if (!t->calls.exact)
		put_instant(t, "sampled: what ran where a chunk of instructions begins; calls between are not here");
	if (t->calls.left_out) {
		snprintf(text, sizeof text, "left out: %s calls of fewer than %s instructions",
			 hf_human_count(count, t->calls.left_out), hf_human_count(least, t->calls.least));
		put_instant(t, text);
	}
	if (t->calls.beyond)
		put_instant(t, "left out: calls deeper than the limit");
}

/* ---- calls ---- */

static void put_begin(struct trace *t, const struct hf_activation *call)
{
	const uint32_t name = t->frames.name_of[call->node];
	struct hf_proto event, names, interned;

	event.n = names.n = interned.n = 0;
	hf_proto_put_number(&event, EVENT_TYPE, BEGIN);
	hf_proto_put_number(&event, EVENT_NAME_NUMBER, name + UINT64_C(1));
	if (call->resumed)
		hf_proto_put_bytes(&event, EVENT_CATEGORY, "resumed", strlen("resumed"));
	if (!t->named[name]) {
		hf_proto_put_number(&interned, INTERNED_NUMBER, name + UINT64_C(1));
		put_text(&interned, INTERNED_TEXT, t->frames.bytes + t->frames.name[name].at,
			 t->frames.name[name].size);
		hf_proto_put_message(&names, INTERNED_NAMES, &interned);
		t->named[name] = 1;
	}
	put_event(t, call->begin, &event, &names);
}

static void put_end(struct trace *t, const struct hf_activation *call)
{
	struct hf_proto event;

	event.n = 0;
	hf_proto_put_number(&event, EVENT_TYPE, END);
	put_event(t, call->end, &event, NULL);
}

static void put_calls(struct trace *t)
{
	const struct hf_activation *at = t->calls.at;
	size_t *open = malloc((HF_CALL_DEPTH + 2) * sizeof *open), depth = 0;

	if (!open)
		t->err = HF_ERR_NOMEM;
	for (size_t i = 0; i < t->calls.count && !t->err; i++) {
		while (depth && at[open[depth - 1]].end <= at[i].begin)
			put_end(t, &at[open[--depth]]);
		put_begin(t, &at[i]);
		open[depth++] = i;
	}
	while (depth && !t->err)
		put_end(t, &at[open[--depth]]);
	free(open);
}

static int put_all(struct trace *t)
{
	memset(t->named, 0, t->frames.names);
	put_first(t);
	put_tracks(t);
	put_clock(t);
	put_limits(t);
	put_calls(t);
	if (!t->err)
		t->err = flush(t);
	return t->err;
}

/* Once more, with fewer calls, until it is small enough. */
static int put_within(struct trace *t, struct hf_sink *sink)
{
	struct hf_sink file;
	int err = hf_sink_init_memory(&file, 0);

	if (err)
		return err;
	t->out = &file;
	while (!(err = put_all(t)) && hf_sink_total(&file) > FILE_MAX && t->calls.count > 1) {
		/* A little less than would fit if all took the same. */
		const double share = 0.95 * (double)FILE_MAX / (double)hf_sink_total(&file);

		file.p = file.start;
		err = hf_activations_drop(&t->calls, (size_t)((double)t->calls.count * share) + 1);
		if (err)
			break;
	}
	if (!err)
		err = file.err;
	if (!err)
		hf_sink_write(sink, file.start, (size_t)hf_sink_total(&file));
	hf_sink_fini_memory(&file);
	return err;
}

static int put_trace(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct trace t = {.of = of};
	int err = hf_frames_make(of, &t.frames);

	if (!err)
		err = hf_activations_make(of, &t.calls);
	if (!err)
		err = hf_sink_init_memory(&t.packed, 0);
	if (!err) {
		t.named = malloc(t.frames.names + (size_t)1);
		err = t.named ? put_within(&t, sink) : HF_ERR_NOMEM;
		free(t.named);
		hf_sink_fini_memory(&t.packed);
	}
	hf_activations_free(&t.calls);
	hf_frames_free(&t.frames);
	return err ? err : sink->err;
}

int hf_profile_perfetto(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct hf_summary_tree *tree;
	struct hf_profiled whole;
	int err = hf_profile_for_timeline(of, &whole, &tree);

	if (!err)
		err = put_trace(&whole, sink);
	hf_summary_tree_free(tree);
	return err;
}
