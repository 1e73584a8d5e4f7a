/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/features.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ID_AT = 12, ID_NAME_AT = 36 };

/* ---- build ids ---- */

struct hf_perf_build_id hf_perf_build_id_of(const uint8_t *bytes, size_t n, bool exact)
{
	struct hf_perf_build_id id = {.size = (uint8_t)(n < HF_PERF_BUILD_ID_MAX ? n : HF_PERF_BUILD_ID_MAX)};

	memcpy(id.byte, bytes, id.size);
	while (!exact && id.size && !id.byte[id.size - 1])
		id.size--;
	return id;
}

bool hf_perf_build_id_same(const struct hf_perf_build_id *a, const struct hf_perf_build_id *b)
{
	/* What is behind an id is zero, and so may be its last byte. */
	return a->size && b->size && memcmp(a->byte, b->byte, sizeof a->byte) == 0;
}

const char *hf_perf_build_id_text(const struct hf_perf_build_id *id, char *buf)
{
	static const char digits[] = "0123456789abcdef";
	char *t = buf;

	for (unsigned i = 0; i < id->size; i++) {
		*t++ = digits[id->byte[i] >> 4];
		*t++ = digits[id->byte[i] & 15];
	}
	*t = '\0';
	return buf;
}

static uint64_t hash_of(const char *name)
{
	return XXH3_64bits(name, strlen(name));
}

/* bytes[n] is a HEADER_BUILD_ID record, alone or in the section of the feature. */
static int add_id(struct hf_perf_features *features, const uint8_t *bytes, size_t n)
{
	const bool sized = n >= ID_NAME_AT && hf_get16(bytes + 4) & HF_PERF_MISC_ID_SIZE;
	struct hf_perf_named_id row;
	int err;

	if (n <= ID_NAME_AT || features->id_count == HF_PERF_BUILD_IDS_MAX)
		return 0;
	row.id = hf_perf_build_id_of(bytes + ID_AT, sized ? bytes[ID_AT + HF_PERF_BUILD_ID_MAX] : HF_PERF_BUILD_ID_MAX, sized);
	err = row.id.size ? hf_array_room(&features->id, features->id_count, sizeof row) : 0;
	if (err || !row.id.size)
		return err;
	row.name = strndup((const char *)bytes + ID_NAME_AT, n - ID_NAME_AT);
	if (!row.name)
		return HF_ERR_NOMEM;
	row.hash = hash_of(row.name);
	features->id[features->id_count++] = row;
	return 0;
}

static int add_ids(struct hf_perf_features *features, const uint8_t *bytes, size_t n)
{
	int err = 0;

	for (size_t at = 0; !err && n - at >= 8;) {
		const size_t size = hf_get16(bytes + at + 6);

		if (size < 8 || size > n - at)
			break;
		err = add_id(features, bytes + at, size);
		at += size;
	}
	return err;
}

static int by_hash(const void *a, const void *b)
{
	const struct hf_perf_named_id *left = a, *right = b;

	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

void hf_perf_features_sort(struct hf_perf_features *features)
{
	if (features->id_count)
		qsort(features->id, features->id_count, sizeof *features->id, by_hash);
}

struct hf_perf_build_id hf_perf_features_id(const struct hf_perf_features *features, const char *name)
{
	const uint64_t hash = hash_of(name);

	for (size_t i = HF_COUNT_UP_TO(features->id, features->id_count, hash, hash); i-- > 0 && features->id[i].hash == hash;)
		if (strcmp(features->id[i].name, name) == 0)
			return features->id[i].id;
	return (struct hf_perf_build_id){.size = 0};
}

/* ---- texts ---- */

/* Adds text[n], up to its 0, behind a blank; what may hold anything is made a line. */
static void add_word(char *to, const uint8_t *text, size_t n)
{
	size_t at = strlen(to);

	if (at && at + 1 < HF_PERF_TEXT)
		to[at++] = ' ';
	for (size_t i = 0; i < n && text[i] && at + 1 < HF_PERF_TEXT; i++)
		to[at++] = (char)(text[i] < ' ' || text[i] == 0x7f ? '?' : text[i]);
	to[at] = '\0';
}

/* A string at bytes[*at], behind its length; false: it is not whole. */
static bool take_string(const uint8_t *bytes, size_t n, size_t *at, char *to)
{
	size_t size;

	if (n - *at < 4)
		return false;
	size = hf_get32(bytes + *at);
	*at += 4;
	if (size > n - *at)
		return false;
	if (to)
		add_word(to, bytes + *at, size);
	*at += size;
	return true;
}

static void read_command(struct hf_perf_features *features, const uint8_t *bytes, size_t n)
{
	uint32_t count = n >= 4 ? hf_get32(bytes) : 0;

	for (size_t at = 4; count && take_string(bytes, n, &at, features->command); count--)
		;
}

/* Per event: the attribute, how many ids, the name, the ids. */
static void read_events(struct hf_perf_features *features, const uint8_t *bytes, size_t n)
{
	uint32_t count = n >= 8 ? hf_get32(bytes) : 0;
	const size_t attr = n >= 8 ? hf_get32(bytes + 4) : 0;

	for (size_t at = 8, ids; count && attr + 4 <= n - at; count--) {
		ids = hf_get32(bytes + at + attr);
		at += attr + 4;
		if (!take_string(bytes, n, &at, features->events) || ids > (n - at) / 8)
			return;
		at += 8 * ids;
	}
}

/* Keys and values, each with its 0. */
static void read_meta(struct hf_perf_features *features, const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		const char *key = (const char *)bytes + at, *value;
		const size_t key_size = strnlen(key, n - at) + 1;
		size_t value_size;

		if (key_size >= n - at)
			return;
		value = key + key_size;
		value_size = strnlen(value, n - at - key_size);
		if (strcmp(key, "system_wide_collection") == 0)
			features->system_wide = value_size == 4 && memcmp(value, "true", 4) == 0;
		if (strcmp(key, "event_type_info") == 0 && !*features->events)
			add_word(features->events, (const uint8_t *)value, strcspn(value, ","));
		if (strcmp(key, "simpleperf_version") == 0 && !*features->recorder) {
			add_word(features->recorder, (const uint8_t *)"simpleperf", 10);
			add_word(features->recorder, (const uint8_t *)value, value_size);
		}
		at += key_size + value_size + 1;
	}
}

/* bytes[n] has a 0 behind it. */
static int read_section(struct hf_perf_features *features, unsigned number, const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	switch (number) {
	case HF_PERF_BUILD_ID: return add_ids(features, bytes, n);
	case HF_PERF_OSRELEASE:
	case HF_PERF_CPUDESC: take_string(bytes, n, &at, features->machine); break;
	case HF_PERF_VERSION:
		add_word(features->recorder, (const uint8_t *)"perf", 4);
		take_string(bytes, n, &at, features->recorder);
		break;
	case HF_PERF_CMDLINE: read_command(features, bytes, n); break;
	case HF_PERF_EVENT_DESC: read_events(features, bytes, n); break;
	case HF_PERF_META_INFO: read_meta(features, bytes, n); break;
	case HF_PERF_DIR_FORMAT: features->several = n >= 8 && hf_get64(bytes) == 1; break;
	default: break;
	}
	return 0;
}

int hf_perf_features_read(struct hf_perf_features *features, struct hf_perf_file *file)
{
	static const uint8_t wanted[] = {HF_PERF_BUILD_ID, HF_PERF_OSRELEASE,  HF_PERF_VERSION,	   HF_PERF_CPUDESC,
					 HF_PERF_CMDLINE,  HF_PERF_EVENT_DESC, HF_PERF_DIR_FORMAT, HF_PERF_META_INFO};
	int err = 0;

	for (size_t i = 0; i < sizeof wanted && !err; i++) {
		uint8_t *bytes;
		size_t n;

		err = hf_perf_feature(file, wanted[i], &bytes, &n);
		if (!err) {
			bytes[n] = 0;
			err = read_section(features, wanted[i], bytes, n);
			free(bytes);
		}
		/* A section that cannot be read says nothing; the records may be good all the same. */
		if (err == HF_NOTE_END || (err < 0 && hf_err_class(err) == HF_CLASS_corrupt))
			err = 0;
	}
	return err;
}

int hf_perf_features_add(struct hf_perf_features *features, const struct hf_perf_record *record)
{
	uint8_t *bytes;
	int err;

	if (record->type == HF_PERF_HEADER_BUILD_ID)
		return add_id(features, record->bytes, record->size);
	if (record->size < 16)
		return 0;
	bytes = malloc(record->size);
	if (!bytes)
		return HF_ERR_NOMEM;
	memcpy(bytes, record->bytes + 16, record->size - 16);
	bytes[record->size - 16] = 0;
	err = read_section(features, hf_get64(record->bytes + 8) < HF_PERF_FEATURES ? record->bytes[8] : 0u, bytes,
			   record->size - 16);
	free(bytes);
	return err;
}

void hf_perf_features_free(struct hf_perf_features *features)
{
	for (size_t i = 0; i < features->id_count; i++)
		free(features->id[i].name);
	free(features->id);
	*features = (struct hf_perf_features){.id = NULL};
}
