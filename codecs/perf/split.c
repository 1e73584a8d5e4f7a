/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/split.h"

#include "codecs/perf/recordings.h"
#include "codecs/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct records {
	struct hf_records text; /* first */
	struct hf_reader reader; /* of nothing: parts are told, not read */
	uint32_t part;
};

static const struct hf_setup_part *part_at(const struct hf_dec *dec)
{
	const struct hf_setup *setup = dec->stream->setup;
	const uint32_t part = ((const struct records *)dec)->part;

	return part < setup->part_count ? &setup->parts[part] : NULL;
}

static int put(struct hf_records *text)
{
	const struct hf_setup_part *part = part_at(&text->dec);
	char line[256];
	size_t n;

	if (!part) {
		text->ended = true;
		return 0;
	}
	n = (size_t)snprintf(line, sizeof line, "%" PRIu64 " bytes=%" PRIu64 " flags=0x%" PRIx64, part->offset, part->size,
			     part->detail);
	if (part->hart != HF_SETUP_ANY)
		n += (size_t)snprintf(line + n, sizeof line - n, " cpu=%" PRIu32, part->hart);
	if (part->thread != HF_SETUP_NO_THREAD)
		n += (size_t)snprintf(line + n, sizeof line - n, " tid=%" PRIu32, part->thread);
	if (part->time)
		n += (size_t)snprintf(line + n, sizeof line - n, " time=%" PRIu64, part->time);
	line[n++] = '\n';
	memcpy(hf_records_text(text), line, n);
	hf_records_keep(text, hf_records_text(text) + n);
	((struct records *)text)->part++;
	return 0;
}

#define FIELD(member, max) HF_FIELD_ROW(struct records, member, max)
static const struct hf_field_row fields[] = {FIELD(part, UINT32_MAX)};

static void place(struct hf_records *text, struct hf_fields *f)
{
	HF_FIELD_ROWS(f, fields, text);
}

static const struct hf_records_ops text_ops = {.put = put, .place = place};

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct records *r = (struct records *)dec;

	(void)src;
	hf_records_begin(&r->text, &text_ops, &r->reader);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	(void)dec;
}

static uint64_t offset(const struct hf_dec *dec)
{
	const struct hf_setup *setup = dec->stream->setup;
	const struct hf_setup_part *part = part_at(dec), *last = setup->parts + setup->part_count - 1;

	return part ? part->offset : setup->part_count ? last->offset + last->size : 0;
}

const struct hf_dec_ops hf_perf_split_ops = {
	.size = sizeof(struct records),
	.init = init,
	.fini = fini,
	.next = hf_records_next,
	.state = hf_records_state,
	.offset = offset,
};

int hf_perf_split_open(const struct hf_setup *setup, struct hf_stream **ret_stream)
{
	struct hf_stream *stream = calloc(1, sizeof *stream);

	*ret_stream = stream;
	if (!stream)
		return HF_ERR_NOMEM;
	stream->setup = setup;
	stream->info = (struct hf_stream_info){.arch = HF_ARCH_RISCV, .json = ""};
	return 0;
}

void hf_perf_split_close(struct hf_stream *stream)
{
	free(stream);
}
