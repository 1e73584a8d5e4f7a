/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder as codec.h wants it: the window, the way of events to the caller, the state. */
#include "codecs/astf/decoder.h"

#include <stdlib.h>

/* The window that the longest string needs: 65,535 bytes in 2,115 records. */
#define WINDOW_MAX (2 * HF_READER_CAP)

static void enter(struct hf_astf_dec *d, const struct hf_astf_sync *sync)
{
	d->sync = d->now = *sync;
	d->done = 0;
	d->queued = d->given = 0;
	d->text = d->text_given = 0;
	d->ended = false;
}

static int init(struct hf_dec *dec, struct hf_src *src)
{
	const struct hf_astf_record *h = dec->stream->info.header;
	struct hf_astf_dec *d = (struct hf_astf_dec *)dec;
	int err;

	if (dec->hart != 0)
		return HF_ERR_NOT_FOUND;
	err = hf_reader_init(&d->reader, src, HF_READER_CAP);
	if (err)
		return err;
	d->basic = HF_ASTF_GET(h, HEADER, single_el);
	d->timestamps = HF_ASTF_GET(h, HEADER, timestamps);
	enter(d, &(struct hf_astf_sync){.offset = HF_ASTF_SIZE});
	return 0;
}

static void fini(struct hf_dec *dec)
{
	hf_reader_fini(&((struct hf_astf_dec *)dec)->reader);
}

static const uint8_t *at(const struct hf_astf_dec *d, uint64_t offset)
{
	return hf_reader_at(&d->reader, offset);
}

/* Bytes from offset on that are in the window; offset is. */
static size_t there(const struct hf_astf_dec *d, uint64_t offset)
{
	return hf_reader_there(&d->reader, offset);
}

/* Makes n bytes from offset on lie in the window, or all that there are. */
static int need(struct hf_astf_dec *d, uint64_t offset, size_t n)
{
	const int err = hf_reader_need(&d->reader, offset, n, WINDOW_MAX);

	return err < 0 ? err : 0;
}

/* ---- steps ---- */

/* The step is told: the next one begins. */
static void commit(struct hf_astf_dec *d)
{
	d->sync = d->now;
	d->done = 0;
	d->queued = d->given = 0;
	d->text = d->text_given = 0;
}

/* Steps that have room in the caller's own array; stops in front of a string or where the window runs out. */
static void run(struct hf_astf_dec *d, struct hf_event *ev, size_t max, size_t *n)
{
	hf_astf_run(d, at(d, d->now.offset), there(d, d->now.offset), ev, max, n);
	d->sync = d->now;
}

/* A step to the queue. */
static int queue_step(struct hf_astf_dec *d)
{
	struct hf_astf_step s = {.d = d, .now = &d->now, .ev = d->queue};
	size_t n = HF_ASTF_LOOK;
	int err;

	if (there(d, d->sync.offset) >= HF_ASTF_SIZE && *at(d, d->sync.offset) == HF_ASTF_STRING) {
		n = HF_ASTF_SIZE * (size_t)hf_astf_string_records(hf_get16(at(d, d->sync.offset) + 2));
		err = need(d, d->sync.offset, n);
		if (err)
			return err;
	}
	s.p = at(d, d->sync.offset);
	s.have = there(d, d->sync.offset);
	if (s.have >= HF_ASTF_SIZE) {
		hf_astf_step(&s);
	} else {
		hf_astf_step_end(&s);
		d->ended = true;
	}
	d->queued = s.n;
	return 0;
}

static size_t give_queue(struct hf_astf_dec *d, struct hf_event *ev, size_t max)
{
	const size_t left = d->queued - d->given, n = left < max ? left : max;

	memcpy(ev, d->queue + d->given, n * sizeof *ev);
	d->given += (unsigned)n;
	d->done += n;
	return n;
}

/* The next bytes of the string, which is in the window. */
static void give_text(struct hf_astf_dec *d, struct hf_event *ev)
{
	const uint32_t left = d->text - d->text_given;
	const uint8_t *p = at(d, d->sync.offset);

	*ev = (struct hf_event){.kind = HF_EVENT_DATA};
	ev->used = left < sizeof ev->data.bytes ? (uint16_t)left : (uint16_t)sizeof ev->data.bytes;
	for (uint32_t i = 0; i < ev->used; i++)
		ev->data.bytes[i] = *hf_astf_string_byte(p, d->text_given + i);
	d->text_given += ev->used;
	d->done++;
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_astf_dec *d = (struct hf_astf_dec *)dec;
	size_t n = 0;
	int err = 0;

	while (!err && n < max) {
		if (d->given < d->queued) {
			n += give_queue(d, ev + n, max - n);
		} else if (d->text_given < d->text) {
			give_text(d, ev + n++);
		} else if (d->ended) {
			break;
		} else {
			commit(d);
			err = need(d, d->sync.offset, HF_ASTF_LOOK);
			if (!err)
				run(d, ev, max, &n);
			if (!err && n < max)
				err = need(d, d->sync.offset, HF_ASTF_LOOK);
			if (!err && n < max)
				err = queue_step(d);
		}
	}
	*ret_n = n;
	if (n)
		return 0;
	if (!err)
		return HF_NOTE_END;
	dec->diag = d->reader.diag;
	dec->diag.code = err;
	return err;
}

/* ---- state ---- */

static const struct hf_field_row fields[] = {
	HF_FIELD_ROW(struct hf_astf_sync, offset, INT64_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, index, INT64_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, expected, UINT64_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, time, UINT64_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, fault, UINT64_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, pid, UINT32_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, tid, UINT32_MAX),
	HF_FIELD_ROW(struct hf_astf_sync, flags, HF_ASTF_ALL),
	HF_FIELD_ROW(struct hf_astf_sync, noted, HF_ASTF_NOTED_ALL),
	HF_FIELD_ROW(struct hf_astf_sync, state, HF_STATE_ALL),
	HF_FIELD_ROW(struct hf_astf_sync, evl, 15),
	HF_FIELD_ROW(struct hf_astf_sync, mode, HF_MODE_COUNT - 1),
};

static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_astf_dec *d = (struct hf_astf_dec *)dec;
	struct hf_astf_sync sync = {0};

	if (!f->loading)
		sync = d->sync;
	HF_FIELD_ROWS(f, fields, &sync);
	hf_fields_require(f, sync.offset >= HF_ASTF_SIZE && sync.offset % HF_ASTF_SIZE == 0);
	if (f->loading && !f->err)
		enter(d, &sync);
	return d->done;
}

static uint64_t offset(const struct hf_dec *dec)
{
	return ((const struct hf_astf_dec *)dec)->now.offset;
}

static void begin(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record)
{
	hf_astf_begin(&((const struct hf_astf_dec *)dec)->now, ret_context, ret_record);
}

const struct hf_dec_ops hf_astf_dec_ops = {
	.size = sizeof(struct hf_astf_dec),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
	.begin = begin,
};
