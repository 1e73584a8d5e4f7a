/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/attrs.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"

#include <stdlib.h>

enum {
	ATTR_MIN = 48, /* as far as what is read here goes */
	ATTR_DEFAULT = 64,
	ATTR_ENTRY_MAX = 4096,
	SAMPLE_ID_ALL = 18,
};

/* Bits of sample_type that stand for 8 bytes of the trailer, in its order. */
static const uint8_t parts[] = {1 /* TID */, 2 /* TIME */, 6 /* ID */, 9 /* STREAM_ID */, 7 /* CPU */, 16 /* IDENTIFIER */};
enum { PARTS = sizeof parts, BIT_ID = 6, BIT_IDENTIFIER = 16 };

/* Words from the end of the record to that part, at least 1; 0: it has none. */
static unsigned words_back(uint64_t sample_type, unsigned bit)
{
	unsigned back = 0;

	for (unsigned i = PARTS; i-- > 0;) {
		back += (unsigned)(sample_type >> parts[i] & 1);
		if (parts[i] == bit)
			return sample_type >> bit & 1 ? back : 0;
	}
	return 0;
}

/* Where the event has its id, counted so; 0: nowhere. */
static unsigned id_place(const struct hf_perf_attr *attr)
{
	return words_back(attr->sample_type, attr->sample_type >> BIT_IDENTIFIER & 1 ? BIT_IDENTIFIER : BIT_ID);
}

/* bytes[n]: an attribute, as far as it is there. */
static int add_attr(struct hf_perf_attrs *attrs, const uint8_t *bytes, size_t n)
{
	unsigned place;
	int err = attrs->count < HF_PERF_ATTRS_MAX ? hf_array_room(&attrs->row, attrs->count, sizeof *attrs->row) : HF_ERR_LIMIT;

	if (err || n < ATTR_MIN)
		return err;
	attrs->row[attrs->count++] = (struct hf_perf_attr){.type = hf_get32(bytes),
							   .config = hf_get64(bytes + 8),
							   .sample_type = hf_get64(bytes + 24),
							   .flags = hf_get64(bytes + 40)};
	place = id_place(&attrs->row[attrs->count - 1]);
	attrs->id_place = attrs->count == 1 || attrs->id_place == place ? place : 0;
	return 0;
}

/* Ids of the attribute that was added last. */
static int add_ids(struct hf_perf_attrs *attrs, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i + 8 <= n && attrs->count; i += 8) {
		int err = attrs->id_count < HF_PERF_IDS_MAX ? hf_array_room(&attrs->id, attrs->id_count, sizeof *attrs->id)
							    : HF_ERR_LIMIT;

		if (err)
			return err;
		attrs->id[attrs->id_count++] =
			(struct hf_perf_id){.id = hf_get64(bytes + i), .attr = (uint32_t)attrs->count - 1};
		attrs->sorted = false;
	}
	return 0;
}

/* One entry of the header's table. */
static int read_entry(struct hf_perf_attrs *attrs, struct hf_perf_file *file, uint64_t at, size_t size)
{
	uint8_t *entry, *ids = NULL;
	size_t n, id_size = 0;
	int err = hf_perf_read(file->reader.src, at, size, &entry, &n, NULL);

	if (err)
		return err;
	if (n == size)
		err = add_attr(attrs, entry, size - 16);
	if (!err && n == size && hf_get64(entry + size - 8) <= UINT64_C(8) * HF_PERF_IDS_MAX)
		err = hf_perf_read(file->reader.src, hf_get64(entry + size - 16), (size_t)hf_get64(entry + size - 8), &ids,
				   &id_size, NULL);
	if (!err)
		err = add_ids(attrs, ids, id_size);
	free(ids);
	free(entry);
	return err;
}

int hf_perf_attrs_read(struct hf_perf_attrs *attrs, struct hf_perf_file *file)
{
	const uint64_t size = file->attr_size, all = file->reader.src->size;
	int err = 0;

	if (file->pipe || size < ATTR_DEFAULT + 16 || size > ATTR_ENTRY_MAX)
		return 0;
	for (uint64_t at = 0; !err && size <= file->attrs_size && at <= file->attrs_size - size; at += size) {
		if (file->attrs_at > all || at > all - file->attrs_at)
			break;
		err = read_entry(attrs, file, file->attrs_at + at, (size_t)size);
	}
	return err;
}

int hf_perf_attrs_add_record(struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const size_t n = record->size - 8;
	size_t size = n >= 8 ? hf_get32(record->bytes + 12) : 0;
	int err;

	size = size ? size : ATTR_DEFAULT;
	if (size > n || size < ATTR_MIN)
		return 0;
	err = add_attr(attrs, record->bytes + 8, size);
	return err ? err : add_ids(attrs, record->bytes + 8 + size, n - size);
}

void hf_perf_attrs_free(struct hf_perf_attrs *attrs)
{
	free(attrs->row);
	free(attrs->id);
	*attrs = (struct hf_perf_attrs){.row = NULL};
}

/* ---- trailers ---- */

static int by_id(const void *a, const void *b)
{
	const struct hf_perf_id *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

/* The event with that id, or NULL. */
static const struct hf_perf_attr *find_id(struct hf_perf_attrs *attrs, uint64_t id)
{
	size_t n;

	if (!attrs->sorted && attrs->id_count)
		qsort(attrs->id, attrs->id_count, sizeof *attrs->id, by_id);
	attrs->sorted = true;
	n = HF_COUNT_UP_TO(attrs->id, attrs->id_count, id, id);
	return n && attrs->id[n - 1].id == id ? &attrs->row[attrs->id[n - 1].attr] : NULL;
}

uint32_t hf_perf_attrs_type(struct hf_perf_attrs *attrs, uint64_t id)
{
	const struct hf_perf_attr *attr = find_id(attrs, id);

	return attr ? attr->type : UINT32_MAX;
}

/* The event that a record is of: the first, if nothing says another. */
static const struct hf_perf_attr *attr_of(struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const struct hf_perf_attr *attr;

	if (attrs->count < 2 || !attrs->id_place || record->size < 8 + 8 * attrs->id_place)
		return attrs->count ? &attrs->row[0] : NULL;
	attr = find_id(attrs, hf_get64(record->bytes + record->size - 8 * attrs->id_place));
	return attr ? attr : &attrs->row[0];
}

/* The event whose trailer the record has; NULL: it has none. */
static const struct hf_perf_attr *trailed(struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const struct hf_perf_attr *attr =
		record->type < HF_PERF_USER && record->type != HF_PERF_SAMPLE ? attr_of(attrs, record) : NULL;
	unsigned words = 0;

	if (!attr || !(attr->flags >> SAMPLE_ID_ALL & 1))
		return NULL;
	for (unsigned i = 0; i < PARTS; i++)
		words += (unsigned)(attr->sample_type >> parts[i] & 1);
	return record->size >= 8 + 8 * words ? attr : NULL;
}

struct hf_perf_trailer hf_perf_trailer_of(struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const struct hf_perf_attr *attr = trailed(attrs, record);
	struct hf_perf_trailer trailer = {.has_tid = false};
	const uint8_t *p = record->bytes + record->size;

	for (unsigned i = PARTS; attr && i-- > 0;) {
		if (!(attr->sample_type >> parts[i] & 1))
			continue;
		p -= 8;
		if (parts[i] == 1) {
			trailer.has_tid = true;
			trailer.pid = hf_get32(p);
			trailer.tid = hf_get32(p + 4);
		} else if (parts[i] == 2) {
			trailer.has_time = true;
			trailer.time = hf_get64(p);
		} else if (parts[i] == 7) {
			trailer.has_cpu = true;
			trailer.cpu = hf_get32(p);
		}
	}
	return trailer;
}

uint32_t hf_perf_trailer_size(struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const struct hf_perf_attr *attr = trailed(attrs, record);
	uint32_t size = 0;

	for (unsigned i = 0; attr && i < PARTS; i++)
		size += attr->sample_type >> parts[i] & 1 ? 8 : 0;
	return size;
}
