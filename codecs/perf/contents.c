/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/contents.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/perf/errors.h"

enum { ID_INDEX_AT = 16, ID_INDEX_ROW = 32 };

/* ID_INDEX tells of every event which CPU and thread it is of (id, idx, cpu, tid). */
static int take_index(struct hf_perf_contents *c, const struct hf_perf_record *record)
{
	const uint64_t n = record->size >= ID_INDEX_AT ? hf_get64(record->bytes + 8) : 0;
	int err = 0;

	for (uint64_t i = 0; i < n && !err && ID_INDEX_AT + (i + 1) * ID_INDEX_ROW <= record->size; i++) {
		const uint8_t *row = record->bytes + ID_INDEX_AT + i * ID_INDEX_ROW;

		if (hf_get64(row + 24) != UINT64_MAX || hf_get64(row + 16) == UINT64_MAX ||
		    c->cpu_wide_count == HF_PERF_IDS_MAX)
			continue;
		err = hf_array_room(&c->cpu_wide, c->cpu_wide_count, sizeof *c->cpu_wide);
		if (!err)
			c->cpu_wide[c->cpu_wide_count++] = hf_get64(row);
	}
	return err;
}

/* Whether the event of the trace is of CPUs: others are, too, in a recording of one process. */
static bool is_system_wide(struct hf_perf_contents *c)
{
	bool any = false;

	for (size_t i = 0; i < c->cpu_wide_count && !any; i++)
		any = hf_perf_attrs_type(&c->attrs, c->cpu_wide[i]) == c->units.pmu;
	return any;
}

static int take_info(struct hf_perf_contents *c, const struct hf_perf_record *record, struct hf_diag *diag)
{
	const uint32_t type = record->size < 16 ? 0 : hf_get32(record->bytes + 8);
	int err;

	c->riscv |= type == HF_PERF_RISCV;
	if (c->has_units || type != HF_PERF_CS_ETM)
		return 0;
	err = hf_perf_units_read(record, &c->units);
	if (err == HF_ERR_CORRUPT)
		return hf_diag_set(diag, HF_ERR_PERF_DAMAGED, HF_SPACE_FILE, record->at, 0);
	if (err == HF_ERR_UNSUPPORTED)
		return hf_diag_set(diag, HF_ERR_PERF_VERSION, HF_SPACE_FILE, record->at, hf_get64(record->bytes + 16));
	c->has_units = !err;
	return err;
}

static void take_clock(struct hf_perf_contents *c, const struct hf_perf_record *record)
{
	if (record->size < 32 || hf_get64(record->bytes + 8) >= 64)
		return;
	c->has_clock = true;
	c->shift = hf_get64(record->bytes + 8);
	c->mult = hf_get64(record->bytes + 16);
	c->zero = hf_get64(record->bytes + 24);
}

static int take(struct hf_perf_contents *c, const struct hf_perf_record *record, uint32_t file, struct hf_diag *diag)
{
	switch (record->type) {
	case HF_PERF_HEADER_ATTR: return hf_perf_attrs_add_record(&c->attrs, record);
	case HF_PERF_HEADER_FEATURE:
	case HF_PERF_HEADER_BUILD_ID: return hf_perf_features_add(&c->features, record);
	case HF_PERF_AUXTRACE_INFO: return take_info(c, record, diag);
	case HF_PERF_AUX:
	case HF_PERF_AUXTRACE:
	case HF_PERF_AUX_OUTPUT_HW_ID: return hf_perf_recordings_add(&c->recordings, &c->attrs, record, file);
	case HF_PERF_ID_INDEX: return take_index(c, record);
	case HF_PERF_LOST: c->lost += record->size >= 24 ? hf_get64(record->bytes + 16) : 0; return 0;
	case HF_PERF_TIME_CONV: take_clock(c, record); return 0;
	case HF_PERF_TEXT_POKE: return hf_perf_pokes_add(&c->pokes, &c->attrs, record);
	default: return hf_perf_maps_add(&c->maps, &c->attrs, record);
	}
}

static int read_records(struct hf_perf_contents *c, struct hf_perf_file *file, uint32_t number, struct hf_diag *diag)
{
	struct hf_perf_record record;
	int err;

	while (!(err = hf_perf_next(file, &record))) {
		err = take(c, &record, number, diag);
		if (err)
			return err;
	}
	if (file->broken != HF_NOWHERE && c->broken == HF_NOWHERE) {
		c->broken = file->broken;
		c->broken_in = number;
	}
	return err == HF_NOTE_END ? 0 : err;
}

static int read_first(struct hf_perf_contents *c, struct hf_src *src, struct hf_diag *diag)
{
	struct hf_perf_file file;
	int err = hf_perf_open(&file, src, diag);

	if (err)
		return err;
	c->pipe = file.pipe;
	c->killed = file.killed;
	err = hf_perf_attrs_read(&c->attrs, &file);
	if (!err)
		err = hf_perf_features_read(&c->features, &file);
	if (!err)
		err = read_records(c, &file, 0, diag);
	hf_perf_close(&file);
	return err;
}

static int read_more(struct hf_perf_contents *c, struct hf_src *src, uint32_t number, struct hf_diag *diag)
{
	struct hf_perf_file file;
	int err = hf_perf_open_records(&file, src);

	if (err)
		return err;
	err = read_records(c, &file, number, diag);
	hf_perf_close(&file);
	return err;
}

int hf_perf_contents_read(struct hf_perf_contents *contents, struct hf_src *const *src, size_t count,
			  struct hf_diag *diag)
{
	int err = 0;

	*contents = (struct hf_perf_contents){.broken = HF_NOWHERE};
	for (size_t i = 0; i < count && !err; i++)
		err = i ? read_more(contents, src[i], (uint32_t)i, diag) : read_first(contents, src[0], diag);
	if (!err && !contents->has_units && !contents->riscv)
		err = hf_diag_set(diag, HF_ERR_PERF_DAMAGED, HF_SPACE_FILE, contents->broken, 0);
	if (err)
		return err;
	contents->system_wide = contents->features.system_wide || is_system_wide(contents);
	hf_perf_features_sort(&contents->features);
	return hf_perf_recordings_match(&contents->recordings);
}

void hf_perf_contents_free(struct hf_perf_contents *contents)
{
	hf_perf_attrs_free(&contents->attrs);
	hf_perf_features_free(&contents->features);
	hf_perf_units_free(&contents->units);
	hf_perf_recordings_free(&contents->recordings);
	hf_perf_maps_free(&contents->maps);
	hf_perf_pokes_free(&contents->pokes);
	free(contents->cpu_wide);
}
