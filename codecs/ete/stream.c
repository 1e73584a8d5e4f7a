/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/stream.h"

#include "codecs/base/array.h"
#include "codecs/ete/errors.h"
#include "codecs/itm/packet.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/read.h"
#include "codecs/source/pipeline.h"

#include <stdio.h>
#include <stdlib.h>

enum hf_coresight_layout hf_ete_layout(const struct hf_setup_part *part)
{
	static const struct {
		const char *framing;
		enum hf_coresight_layout layout;
	} layouts[] = {
		{"", HF_CORESIGHT_NONE},
		{"raw", HF_CORESIGHT_NONE},
		{"source_data", HF_CORESIGHT_NONE},
		{"coresight", HF_CORESIGHT_ALIGNED},
		{"coresight_sync", HF_CORESIGHT_SYNCED},
		{"dstream_coresight", HF_CORESIGHT_DSTREAM},
	};

	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (strcmp(part->framing, layouts[i].framing) == 0)
			return layouts[i].layout;
	return HF_CORESIGHT_LAYOUTS;
}

const struct hf_ete_hart *hf_ete_find_hart(const struct hf_ete_stream *s, uint32_t id)
{
	for (size_t i = 0; i < s->hart_count; i++)
		if (s->harts[i].id == id)
			return &s->harts[i];
	return NULL;
}

bool hf_ete_part_has(const struct hf_ete_stream *s, const struct hf_setup_part *part, uint32_t id)
{
	const struct hf_ete_hart *hart;

	if (hf_ete_layout(part) != HF_CORESIGHT_NONE) {
		hart = part->told ? hf_ete_find_hart(s, id) : NULL;
		return !part->told || (hart && hart->config.group == part->group &&
				       part->ids[hart->config.trace_id / 64] >> hart->config.trace_id % 64 & 1);
	}
	return part->hart == id || (part->hart == HF_SETUP_ANY && id == s->harts[0].id);
}

void hf_ete_start_part(const struct hf_ete_stream *s, size_t part, uint32_t id, const struct hf_pipeline_entry *entry,
		       struct hf_pipeline *pipeline)
{
	const struct hf_setup_part *p = &s->parts[part];
	const struct hf_ete_hart *hart = hf_ete_find_hart(s, id);

	hf_pipeline_start(pipeline, hf_ete_layout(p), hart ? hart->config.trace_id : 0, p->offset,
			  p->size == HF_NOWHERE ? HF_NOWHERE : p->offset + p->size, entry);
}

/* ---- opening ---- */

/* What was met while the harts were looked for. */
struct found {
	struct hf_setup_error refused; /* why the first source that is not decoded is not */
	unsigned refused_count;
	bool missing; /* registers of one of them */
	bool etm;
	bool m; /* one of them is of an M core */
	unsigned itms;
};

/* Whether the i-th value is the first of its source. */
static bool begins_source(const struct hf_setup *setup, size_t i)
{
	const uint32_t id = setup->values[i].hart;

	if (id == HF_SETUP_ANY)
		return false;
	for (size_t k = i; k-- > 0;)
		if (setup->values[k].hart == id)
			return false;
	return true;
}

static int add_hart(struct hf_ete_stream *s, const struct hf_setup *setup, uint32_t id, struct found *found)
{
	struct hf_ete_config config;
	struct hf_setup_error error = {.line = 0};
	bool missing;
	size_t i;
	int err = hf_ete_config_read(&config, setup, id, &missing, &error);

	if (err && (err != HF_ERR_ETE_SOURCE || !found->refused_count++))
		found->refused = error;
	if (err)
		return err == HF_ERR_ETE_SOURCE ? 0 : err;
	err = hf_array_room(&s->harts, s->hart_count, sizeof *s->harts);
	if (err)
		return err;
	for (i = s->hart_count++; i > 0 && s->harts[i - 1].id > id; i--)
		s->harts[i] = s->harts[i - 1];
	s->harts[i] = (struct hf_ete_hart){.id = id, .config = config};
	found->missing |= missing;
	found->etm |= config.etm;
	found->m |= config.m;
	found->itms += config.itm;
	return 0;
}

/* The names of all sources but the first, behind why that is not decoded. */
static void add_labels(const struct hf_setup *setup, const struct found *found, struct hf_setup_error *error)
{
	size_t n = strlen(error->text);
	unsigned count = 0;
	char label[128];

	for (size_t i = 0; i < setup->value_count; i++) {
		const unsigned left = found->refused_count - count;

		if (!begins_source(setup, i) || !count++)
			continue;
		hf_ete_config_label(setup, setup->values[i].hart, label, sizeof label);
		if (n + strlen(label) + 32 > sizeof error->text) {
			snprintf(error->text + n, sizeof error->text - n, " and %u more", left);
			return;
		}
		n += (size_t)snprintf(error->text + n, sizeof error->text - n, "%s%s", count == 2 ? "; nor is " : ", ",
				      label);
	}
}

/* Every source that the description has; the one and only if it names none, as a capture.ini may. */
static int find_harts(struct hf_ete_stream *s, const struct hf_setup *setup, struct found *found)
{
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < setup->value_count && !err; i++) {
		if (!begins_source(setup, i))
			continue;
		any = true;
		err = add_hart(s, setup, setup->values[i].hart, found);
	}
	if (!err && !any)
		err = add_hart(s, setup, 0, found);
	return !err && s->hart_count == 0 ? HF_ERR_ETE_SOURCE : err;
}

static void describe(struct hf_ete_stream *s, const struct found *found)
{
	int n = snprintf(s->json, sizeof s->json, "\"trace_ids\":[");

	snprintf(s->version, sizeof s->version, "%s", found->itms == s->hart_count ? "ITM" : found->etm ? "ETMv4" : "ETE");
	for (size_t i = 0; i < s->hart_count && n < (int)sizeof s->json - 64; i++)
		n += snprintf(s->json + n, sizeof s->json - (size_t)n, "%s%u", i ? "," : "",
			      (unsigned)s->harts[i].config.trace_id);
	n += snprintf(s->json + n, sizeof s->json - (size_t)n, "]");
	if (found->missing)
		n += snprintf(s->json + n, sizeof s->json - (size_t)n, ",\"registers_missing\":true");
	if (found->refused_count)
		snprintf(s->json + n, sizeof s->json - (size_t)n, ",\"sources_refused\":%u", found->refused_count);
}

static int check_parts(const struct hf_ete_stream *s, const struct hf_setup *setup, struct hf_setup_error *error)
{
	const struct hf_setup_value *framing = hf_setup_get(setup, HF_SETUP_ANY, "framing");

	for (size_t i = 0; i < s->part_count; i++) {
		if (hf_ete_layout(&s->parts[i]) != HF_CORESIGHT_LAYOUTS)
			continue;
		if (framing)
			return hf_setup_refuse(error, framing, "raw, coresight, coresight_sync or dstream_coresight");
		return hf_setup_fail(error, HF_ERR_SETUP_FRAMING, "", 0, "framing '%s' of %s is not known",
				     s->parts[i].framing, s->parts[i].name);
	}
	return 0;
}

static int open_all(struct hf_ete_stream *s, const struct hf_setup *setup, struct hf_setup_error *error)
{
	struct found found = {.refused_count = 0};
	int err;

	s->whole = (struct hf_setup_part){.size = HF_NOWHERE, .hart = HF_SETUP_ANY, .name = "", .framing = ""};
	s->parts = setup->part_count ? setup->parts : &s->whole;
	s->part_count = setup->part_count ? setup->part_count : 1;
	err = check_parts(s, setup, error);
	if (err)
		return err;
	err = find_harts(s, setup, &found);
	if (err) {
		if (error && *found.refused.text) {
			*error = found.refused;
			if (err == HF_ERR_ETE_SOURCE)
				add_labels(setup, &found, error);
		}
		return err;
	}
	s->ids = malloc(s->hart_count * sizeof *s->ids);
	if (!s->ids)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < s->hart_count; i++)
		s->ids[i] = s->harts[i].id;
	describe(s, &found);
	s->stream.info = (struct hf_stream_info){
		.arch = HF_ARCH_ARM,
		.xlen = found.itms == s->hart_count ? 32 : 64,
		.isa = found.itms == s->hart_count ? HF_ISA_T32 : HF_ISA_A64,
		.flags = HF_STREAM_HARTS | HF_STREAM_NO_ACCESSES | (found.itms ? 0 : HF_STREAM_NO_TEXTS) | (s->hart_count > 1 ? HF_STREAM_MANY : 0) |
			 (found.m ? HF_STREAM_M_PROFILE : 0),
		.first_hart = s->harts[0].id,
		.version = s->version,
		.json = s->json,
	};
	return 0;
}

static void fini(struct hf_ete_stream *s)
{
	free(s->harts);
	free(s->ids);
}

/* ---- data that nobody reads ---- */

/* So many bytes of each part in frames are looked at when the stream is opened. */
#define LOOK_BYTES (UINT64_C(1) << 20)

/* Adds the trace ids of a part's first bytes to seen. What cannot be read is not seen; the decoder will tell of it. */
static int look_at_part(const struct hf_ete_stream *s, size_t part, struct hf_pipeline *pipeline, uint64_t seen[2])
{
	int err = 0;

	hf_ete_start_part(s, part, s->harts[0].id, NULL, pipeline);
	if (pipeline->end - s->parts[part].offset > LOOK_BYTES)
		pipeline->end = s->parts[part].offset + LOOK_BYTES;
	while (!err && (pipeline->stop == HF_PIPELINE_MORE || pipeline->stop == HF_PIPELINE_BREAK)) {
		hf_pipeline_resume(pipeline);
		pipeline->pos = pipeline->count;
		err = hf_pipeline_fill(pipeline);
	}
	seen[0] |= pipeline->seen[0];
	seen[1] |= pipeline->seen[1];
	return err == HF_ERR_NOMEM || err == HF_ERR_CANCELLED ? err : 0;
}

static bool has_source(const struct hf_ete_stream *s, const struct hf_setup *setup, unsigned id)
{
	for (size_t i = 0; i < setup->value_count; i++)
		if (setup->values[i].hart != HF_SETUP_ANY && HF_ETE_TRACE_ID(setup->values[i].hart) == id)
			return true;
	for (size_t i = 0; i < s->hart_count; i++)
		if (HF_ETE_TRACE_ID(s->harts[i].id) == id)
			return true;
	return false;
}

/* Ids whose data is in the frames, and of which the description knows no source. */
static int find_unknown_ids(struct hf_ete_stream *s, const struct hf_setup *setup, struct hf_src *src)
{
	struct hf_pipeline *pipeline = malloc(sizeof *pipeline);
	uint64_t seen[2] = {0};
	size_t n = strlen(s->json);
	int err = pipeline ? hf_pipeline_init(pipeline, src) : HF_ERR_NOMEM;

	for (size_t i = 0; i < s->part_count && !err; i++)
		if (!s->parts[i].told && hf_ete_layout(&s->parts[i]) != HF_CORESIGHT_NONE)
			err = look_at_part(s, i, pipeline, seen);
	for (unsigned id = 1; id <= HF_CORESIGHT_ID_MAX && !err; id++) {
		if (!(seen[id / 64] >> id % 64 & 1) || has_source(s, setup, id))
			continue;
		n += (size_t)snprintf(s->json + n, sizeof s->json - n, "%s%u",
				      s->unknown_ids++ ? "," : ",\"trace_ids_without_source\":[", id);
	}
	if (s->unknown_ids)
		snprintf(s->json + n, sizeof s->json - n, "]");
	if (pipeline)
		hf_pipeline_fini(pipeline);
	free(pipeline);
	return err;
}

/* Of frames of ITMs alone of which nothing is said, each trace id is one. */
static int find_itms(struct hf_ete_stream *s, const struct hf_setup *setup, struct hf_src *src)
{
	struct hf_pipeline *pipeline;
	struct found found = {.refused_count = 0};
	uint64_t seen[2] = {0};
	bool framed = false, any = strcmp(setup->format ? setup->format : "", "itm") != 0;
	int err = 0;

	for (size_t i = 0; i < setup->value_count; i++)
		any |= setup->values[i].hart != HF_SETUP_ANY;
	for (size_t i = 0; i < s->part_count; i++)
		framed |= hf_ete_layout(&s->parts[i]) != HF_CORESIGHT_NONE;
	if (any || !framed)
		return 0;
	pipeline = malloc(sizeof *pipeline);
	err = pipeline ? hf_pipeline_init(pipeline, src) : HF_ERR_NOMEM;
	for (size_t i = 0; i < s->part_count && !err; i++)
		err = look_at_part(s, i, pipeline, seen);
	if (pipeline)
		hf_pipeline_fini(pipeline);
	free(pipeline);
	if (err || !(seen[0] | seen[1]))
		return err;
	s->hart_count = 0;
	for (unsigned id = 1; id <= HF_CORESIGHT_ID_MAX && !err; id++)
		if (seen[id / 64] >> id % 64 & 1)
			err = add_hart(s, setup, id, &found);
	free(s->ids);
	s->ids = calloc(s->hart_count + 1, sizeof *s->ids);
	if (err || !s->ids || !s->hart_count)
		return err ? err : HF_ERR_NOMEM;
	for (size_t i = 0; i < s->hart_count; i++)
		s->ids[i] = s->harts[i].id;
	describe(s, &found);
	s->stream.info.first_hart = s->harts[0].id;
	s->stream.info.flags |= s->hart_count > 1 ? HF_STREAM_MANY : 0;
	return 0;
}

/* Whether the first bytes of an ITM, so many as are looked at, have a synchronisation in their first half. */
static int look_at_itm(const struct hf_ete_stream *s, struct hf_src *src, uint32_t id, bool *ret_synced)
{
	struct hf_pipeline *pipeline = malloc(sizeof *pipeline);
	uint64_t looked = 0, first = UINT64_MAX;
	unsigned zeros = 0;
	size_t part = 0;
	int err = pipeline ? hf_pipeline_init(pipeline, src) : HF_ERR_NOMEM;

	*ret_synced = true;
	while (part < s->part_count && !hf_ete_part_has(s, &s->parts[part], id))
		part++;
	if (!err && part < s->part_count)
		hf_ete_start_part(s, part, id, NULL, pipeline);
	while (!err && part < s->part_count && looked < LOOK_BYTES) {
		hf_pipeline_resume(pipeline);
		err = hf_pipeline_fill(pipeline);
		if (err || pipeline->pos == pipeline->count)
			break;
		for (; pipeline->pos < pipeline->count; pipeline->pos++, looked++) {
			const uint8_t byte = pipeline->bytes[pipeline->pos];

			if (byte == 0x80 && zeros >= HF_ITM_ZEROS && first == UINT64_MAX)
				first = looked - zeros;
			zeros = byte ? 0 : zeros + 1;
		}
	}
	if (part < s->part_count)
		*ret_synced = first < looked / 2;
	if (pipeline)
		hf_pipeline_fini(pipeline);
	free(pipeline);
	return err == HF_ERR_NOMEM || err == HF_ERR_CANCELLED ? err : 0;
}

/* Which of them have no synchronisation. */
static int look_at_itms(struct hf_ete_stream *s, struct hf_src *src)
{
	int err = 0;

	for (size_t i = 0; i < s->hart_count && !err; i++) {
		bool synced = true;

		if (s->harts[i].config.itm)
			err = look_at_itm(s, src, s->harts[i].id, &synced);
		s->harts[i].config.unsynced = !synced;
	}
	return err;
}

int hf_ete_check(const struct hf_setup *setup, struct hf_setup_error *error)
{
	struct hf_ete_stream s = {.hart_count = 0};
	int err = open_all(&s, setup, error);

	fini(&s);
	return err;
}

/* What is said of one source that is left out, or whose registers are not all there. */
static int remark_source(struct hf_setup *setup, uint32_t id)
{
	const struct hf_setup_value *name = hf_setup_get(setup, id, "source");
	struct hf_setup_error error = {.line = 0};
	struct hf_ete_config config;
	char label[128], registers[64];
	bool missing;

	if (hf_ete_config_is_itm(setup, id))
		return 0;
	if (hf_ete_config_read(&config, setup, id, &missing, &error) == HF_ERR_ETE_SOURCE)
		return hf_setup_warn(setup, error.file, error.line, "%s; the source is left out", error.text);
	/* Who describes raw bytes in a capture.ini may know no register at all. */
	if (!missing || !name)
		return 0;
	hf_ete_config_label(setup, id, label, sizeof label);
	hf_ete_config_missing(setup, id, registers, sizeof registers);
	return hf_setup_warn(setup, name->file, name->line, "%s has no %s: what most trace units have is taken", label,
			     registers);
}

int hf_ete_remark(struct hf_setup *setup)
{
	int err = 0;

	for (size_t i = 0; i < setup->value_count && !err; i++)
		if (begins_source(setup, i))
			err = remark_source(setup, setup->values[i].hart);
	return err;
}

int hf_ete_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag)
{
	struct hf_ete_stream *s;
	int err;

	*ret_stream = NULL;
	if (!setup)
		return hf_diag_set(diag, HF_ERR_ETE_NO_SETUP, HF_SPACE_STREAM, HF_NOWHERE, 0);
	s = calloc(1, sizeof *s);
	if (!s)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	s->stream.setup = setup;
	err = open_all(s, setup, NULL);
	if (!err)
		err = find_itms(s, setup, src);
	if (!err)
		err = look_at_itms(s, src);
	if (!err)
		err = find_unknown_ids(s, setup, src);
	if (err)
		hf_ete_close(&s->stream);
	else
		*ret_stream = &s->stream;
	return err;
}

void hf_ete_close(struct hf_stream *stream)
{
	struct hf_ete_stream *s = (struct hf_ete_stream *)stream;

	fini(s);
	free(s);
}
