/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/load.h"

#include "codecs/base/array.h"
#include "codecs/perf/contents.h"
#include "codecs/perf/errors.h"
#include "codecs/perf/programs.h"
#include "codecs/source/concat.h"
#include "codecs/source/coresight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load {
	struct hf_setup *setup;
	const struct hf_setup_opener *opener;
	struct hf_setup_error *error;
	const char *name; /* of the file */
	struct hf_src **src; /* the file and its data.N */
	size_t src_count;
	struct hf_perf_contents c;
	size_t used;	  /* recordings that have bytes, and come first */
	size_t unplaced;  /* of them those that do not say their CPU */
	uint64_t seen[2]; /* trace ids that have data in frames */
};

int hf_perf_add_program(void *setup, const char *name)
{
	const struct hf_setup_file file = {
		.kind = HF_SETUP_CANDIDATE, .name = name, .said_in = ((struct hf_setup *)setup)->files[0].name, .optional = true};

	return hf_setup_add_file(setup, &file);
}

static int no_room(struct load *l, int err)
{
	return err ? hf_setup_no_room(l->error, err, l->name, 0) : 0;
}

/* ---- the files ---- */

static int open_files(struct load *l)
{
	struct hf_setup *setup = l->setup;
	int err = 0;

	l->src = calloc(setup->file_count + 1, sizeof *l->src);
	if (!l->src)
		return no_room(l, HF_ERR_NOMEM);
	for (size_t i = 0; i < setup->file_count && !err; i++) {
		if (setup->files[i].kind != HF_SETUP_DESCRIPTION && setup->files[i].kind != HF_SETUP_TRACE)
			continue;
		err = l->opener->open(l->opener->ctx, setup->files[i].name, &l->src[l->src_count], NULL);
		l->src_count += !err;
	}
	return err == HF_ERR_CHANGED || !err ? err
					     : hf_setup_fail(l->error, err, l->name, 0, "it cannot be read: %s",
							     hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
}

static void close_files(struct load *l)
{
	for (size_t i = 0; i < l->src_count && l->src; i++)
		hf_src_free(l->src[i]);
	free(l->src);
	hf_perf_contents_free(&l->c);
}

static int read_contents(struct load *l)
{
	struct hf_diag diag = {.code = 0};
	char text[HF_DIAG_SIZE];
	int err = hf_perf_contents_read(&l->c, l->src, l->src_count, &diag);

	if (!err)
		return 0;
	if (diag.code != err)
		diag = (struct hf_diag){.code = err, .offset = HF_NOWHERE};
	hf_diag_format(&diag, text, sizeof text);
	return hf_setup_fail(l->error, err, l->name, 0, "%s", text);
}

/* ---- recordings ---- */

/* Those with bytes come first. Together they are no longer than the files: others would have the same bytes again. */
static void choose(struct load *l)
{
	struct hf_perf_recordings *all = &l->c.recordings;
	uint64_t left = 0;

	for (size_t i = 0; i < l->src_count; i++)
		left += l->src[i]->size;
	for (size_t i = 0; i < all->count; i++) {
		struct hf_perf_recording row = all->row[i];

		if (!row.there)
			continue;
		if (row.size > left) {
			all->missing++;
			all->missing_bytes += row.size;
			continue;
		}
		left -= row.size;
		all->row[i] = all->row[l->used];
		all->row[l->used++] = row;
	}
}

static bool is_raw(const struct hf_perf_recording *row)
{
	return row->flags & HF_PERF_AUX_RAW;
}

/* The trace ids in the frames of a recording. */
static int find_ids(struct load *l, const struct hf_perf_recording *row, uint8_t *buf, size_t size, uint64_t ids[2])
{
	uint64_t at = 0;

	while (at < row->size) {
		const size_t want = row->size - at < size ? (size_t)(row->size - at) : size;
		size_t n, took;
		int err = hf_src_read_all(l->src[row->file], row->at + at, buf, want, &n, NULL);

		/* What cannot be read the decoder will tell of, of every id. */
		if (err < 0 && hf_err_class(err) == HF_CLASS_corrupt) {
			ids[0] = ids[1] = UINT64_MAX;
			return 0;
		}
		took = err ? 0 : hf_coresight_ids(buf, n, ids);
		if (err || !took)
			return err;
		at += took;
	}
	return 0;
}

static uint32_t group_of(const struct load *l, uint32_t cpu)
{
	const struct hf_perf_recordings *all = &l->c.recordings;

	for (size_t i = 0; i < all->hw_count; i++)
		if (all->hw[i].cpu == cpu)
			return all->hw[i].sink;
	return 0;
}

/* The one sink of a buffer of a thread, which runs on any CPU. */
static uint32_t only_group(const struct load *l)
{
	return l->c.recordings.hw_count ? l->c.recordings.hw[0].sink : 0;
}

static void make_part(struct load *l, const struct hf_perf_recording *row, struct hf_setup_part *part)
{
	*part = (struct hf_setup_part){
		.size = row->size,
		.hart = is_raw(row) ? row->cpu : HF_SETUP_ANY,
		.name = l->name,
		.framing = is_raw(row) ? "source_data" : "coresight",
		.shared = true,
		.told = !is_raw(row),
		.time = row->time,
		.thread = l->c.system_wide ? HF_SETUP_NO_THREAD : row->tid,
		.group = row->cpu == HF_PERF_NO_CPU ? only_group(l) : group_of(l, row->cpu),
	};
	if (row->flags & HF_PERF_AUX_LOSSES) {
		part->remark = HF_ERR_PERF_LOSS;
		part->detail = row->flags & HF_PERF_AUX_LOSSES;
	} else if (row->stray) {
		part->remark = HF_ERR_PERF_STRAY;
	}
	/* Raw bytes say nothing of their CPU. */
	if (is_raw(row) && row->cpu == HF_PERF_NO_CPU && l->c.units.count) {
		part->hart = (uint32_t)l->c.units.row[0].cpu;
		l->unplaced++;
	}
}

static int make_parts(struct load *l)
{
	enum { LOOK = 1 << 18 };
	struct hf_setup *setup = l->setup;
	uint8_t *buf = malloc(LOOK);
	uint64_t offset = 0;
	int err = buf ? 0 : HF_ERR_NOMEM;

	setup->parts = calloc(l->used + 1, sizeof *setup->parts);
	if (!setup->parts)
		err = HF_ERR_NOMEM;
	for (size_t i = 0; i < l->used && !err; i++) {
		const struct hf_perf_recording *row = &l->c.recordings.row[i];
		struct hf_setup_part *part = &setup->parts[setup->part_count++];

		make_part(l, row, part);
		part->offset = offset;
		offset += row->size;
		if (part->told)
			err = find_ids(l, row, buf, LOOK, part->ids);
		l->seen[0] |= part->ids[0];
		l->seen[1] |= part->ids[1];
	}
	free(buf);
	return no_room(l, err);
}

static int make_stream(struct load *l, struct hf_src **ret_stream)
{
	struct hf_concat_piece *piece = calloc(l->used + 1, sizeof *piece);
	int err;

	if (!piece)
		return no_room(l, HF_ERR_NOMEM);
	for (size_t i = 0; i < l->used; i++) {
		const struct hf_perf_recording *row = &l->c.recordings.row[i];

		piece[i] = (struct hf_concat_piece){.src = l->src[row->file], .offset = row->at, .size = row->size};
	}
	err = hf_src_pieces_new(l->src, l->src_count, piece, l->used, ret_stream);
	l->src_count = 0;
	free(piece);
	return no_room(l, err);
}

/* ---- sources ---- */

static int add_number(struct load *l, uint32_t hart, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "0x%" PRIx64, number);
	return hf_setup_add_value(l->setup, hart, key, text, l->name, 0);
}

/* The trace unit of a CPU, which puts that id into frames. */
static int add_source(struct load *l, const struct hf_perf_unit *unit, uint32_t id, uint32_t group)
{
	static const char *const types[] = {"ETM3", "ETM4", "ETE"};
	const uint32_t hart = (uint32_t)unit->cpu;
	char label[64];
	int err;

	snprintf(label, sizeof label, "the trace unit of CPU %" PRIu32, hart);
	err = hf_setup_add_value(l->setup, hart, "source", label, l->name, 0);
	if (!err)
		err = hf_setup_add_value(l->setup, hart, "type", types[unit->kind], l->name, 0);
	for (unsigned i = 0; i < unit->count && unit->kind != HF_PERF_ETMV3 && !err; i++)
		if (i != HF_PERF_TRACEIDR)
			err = add_number(l, hart, hf_perf_param_names[i], unit->param[i]);
	if (!err)
		err = add_number(l, hart, "trace_id", id);
	return err ? err : add_number(l, hart, "trace_group", group);
}

/* Whether a recording is of that CPU, or holds frames of that id. */
static bool has_trace(const struct load *l, uint32_t cpu, uint32_t id, uint32_t group)
{
	for (size_t i = 0; i < l->setup->part_count; i++) {
		const struct hf_setup_part *part = &l->setup->parts[i];

		if (part->told ? part->group == group && part->ids[id / 64] >> id % 64 & 1 : part->hart == cpu)
			return true;
	}
	return false;
}

/* CPUs that have trace, or every CPU. */
static int add_sources(struct load *l, bool all)
{
	const struct hf_perf_recordings *rec = &l->c.recordings;
	int err = 0;

	for (size_t i = 0; i < l->c.units.count && !err; i++) {
		const struct hf_perf_unit *unit = &l->c.units.row[i];
		uint32_t id = unit->param[HF_PERF_TRACEIDR] & 0x7f, group = 0;
		bool known = !rec->hw_count;

		for (size_t k = 0; k < rec->hw_count && !known; k++) {
			known = rec->hw[k].cpu == unit->cpu;
			id = rec->hw[k].id;
			group = rec->hw[k].sink;
		}
		/* Frames hold no data of an id that nobody was given. */
		if (!known)
			id = 0;
		if (all || has_trace(l, (uint32_t)unit->cpu, known ? id : HF_CORESIGHT_IDS - 1, group))
			err = add_source(l, unit, id, group);
	}
	return no_room(l, err);
}

/* ---- warnings and facts ---- */

static int warn_recordings(struct load *l)
{
	const struct hf_perf_recordings *all = &l->c.recordings;
	int err = 0;

	if (all->missing)
		err = hf_setup_warn(l->setup, l->name, 0,
				    "%" PRIu64 " recordings have no bytes in this file, %" PRIu64
				    " bytes in all: %s",
				    all->missing, all->missing_bytes,
				    l->c.broken == HF_NOWHERE ? "the recorder dropped them" : "they may lie where it cannot be read");
	if (!err && l->unplaced)
		err = hf_setup_warn(l->setup, l->name, 0,
				    "%zu recordings do not say their CPU, and are shown as those of CPU %" PRIu64
				    ": a newer perf record says it", l->unplaced, l->c.units.row[0].cpu);
	if (!err && all->losses)
		err = hf_setup_warn(l->setup, l->name, 0,
				    "in %" PRIu64 " recordings trace was lost: larger AUX buffers (perf record -m,SIZE) "
				    "or a filter help", all->losses);
	if (!err && all->cut)
		err = hf_setup_warn(l->setup, l->name, 0, "only the first %u recordings are taken", HF_PERF_RECORDINGS_MAX);
	if (!err && all->hw_odd)
		err = hf_setup_warn(l->setup, l->name, 0,
				    "an AUX_OUTPUT_HW_ID record names no CPU, no trace id, or another one than before: it is "
				    "passed over");
	return no_room(l, err);
}

/* Whether the trace says who runs. */
static bool has_contexts(const struct hf_perf_units *units)
{
	enum { CONFIGR_CID = 1 << 6, CONFIGR_VMID = 1 << 7, CONFIGR_VMIDOPT = 1 << 15 };

	return units->row[0].kind != HF_PERF_ETMV3 &&
	       units->row[0].param[0] & (CONFIGR_CID | CONFIGR_VMID | CONFIGR_VMIDOPT);
}

static int warn(struct load *l)
{
	int err = warn_recordings(l);

	if (!err && l->c.broken != HF_NOWHERE)
		err = hf_setup_warn(l->setup, l->name, 0, "no record can be read from offset %" PRIu64 " on: %s", l->c.broken,
				    l->c.killed ? "the recorder did not come to its end" : "it is damaged or cut: copy it again");
	if (!err && l->c.lost)
		err = hf_setup_warn(l->setup, l->name, 0,
				    "%" PRIu64 " records were lost when it was recorded: mappings or recordings may be missing",
				    l->c.lost);
	if (!err && l->c.system_wide && l->c.units.count && !has_contexts(&l->c.units))
		err = hf_setup_warn(l->setup, l->name, 0,
				    "all processes were traced and the trace does not say which one runs, so that no program is "
				    "known: perf record -e cs_etm/contextid/ says it");
	if (!err && l->c.units.count < l->c.units.said)
		err = hf_setup_warn(l->setup, l->name, 0, "of %zu CPUs only %zu have a trace unit that can be read",
				    l->c.units.said, l->c.units.count);
	return no_room(l, err);
}

/* "sort 4711, cat 4712 and 3 more" */
static void name_processes(const struct hf_perf_maps *maps, char *text, size_t size)
{
	size_t n = 0, more = 0;

	*text = '\0';
	for (size_t i = 0; i < maps->by_comm.count; i++) {
		const struct hf_thread_name *comm = &maps->comm[i];

		if (comm->pid != comm->tid)
			continue;
		if (n + sizeof comm->name + 64 < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s %" PRIu32, n ? ", " : "", comm->name, comm->pid);
		else
			more++;
	}
	if (more)
		snprintf(text + n, size - n, " and %zu more", more);
}

/* How many have a trace unit, and how many of them trace: those that have values. */
static void count_cpus(const struct load *l, char *text, size_t size)
{
	const struct hf_setup_part *parts = l->setup->parts;
	size_t n = 0;

	for (size_t i = 0; i < l->c.units.count; i++)
		n += hf_setup_get(l->setup, (uint32_t)l->c.units.row[i].cpu, "source") != NULL;
	if (l->c.units.count) {
		snprintf(text, size, "%zu, trace of %zu", l->c.units.count, l->used ? n : 0);
		return;
	}
	for (size_t i = 0; i < l->used; i++)
		n += !i || parts[i].hart != parts[i - 1].hart;
	snprintf(text, size, "trace of %zu", n);
}

/* How timestamps become times of perf, if they count what its clock is made of. */
static void tell_clock(const struct load *l, char *text, size_t size)
{
	bool same = l->c.has_clock && l->c.units.count;

	for (size_t i = 0; i < l->c.units.count; i++)
		same &= l->c.units.row[i].clock == HF_PERF_CLOCK_VIRTUAL;
	snprintf(text, same ? size : 1, "a time T of the trace is %" PRIu64 " + T * %" PRIu64 " / 2^%" PRIu64 " ns of perf",
		 l->c.zero, l->c.mult, l->c.shift);
}

static int add_facts(struct load *l)
{
	const struct hf_perf_features *features = &l->c.features;
	char cpus[64], clock[128], processes[HF_PERF_TEXT];
	const struct {
		const char *name, *value;
	} facts[] = {{"event", features->events},
		     {"command", features->command},
		     {"machine", features->machine},
		     {"recorder", features->recorder},
		     {"CPUs", cpus},
		     {"clock", clock},
		     {"processes", processes}};
	int err = 0;

	count_cpus(l, cpus, sizeof cpus);
	tell_clock(l, clock, sizeof clock);
	name_processes(&l->c.maps, processes, sizeof processes);
	for (size_t i = 0; i < sizeof facts / sizeof *facts && !err; i++)
		if (*facts[i].value)
			err = hf_setup_add_fact(l->setup, facts[i].name, facts[i].value);
	return no_room(l, err);
}

/* ---- processes ---- */

/* Who a context in the trace is. All CPUs have it in the same place. */
static bool is_by_vmid(const struct hf_perf_units *units)
{
	enum { CONFIGR_VMID = 1 << 7, CONFIGR_VMIDOPT = 1 << 15 };

	return units->row[0].kind != HF_PERF_ETMV3 && units->row[0].param[0] & (CONFIGR_VMID | CONFIGR_VMIDOPT);
}

/* The kernel's code, if a copy of it is there. */
static int load_kernel(struct load *l, struct hf_processes *processes)
{
	struct hf_src *src = NULL;
	size_t poked;
	bool named = false;
	int err;

	for (size_t i = 0; i < l->setup->file_count && !named; i++)
		named = strcmp(l->setup->files[i].name, HF_PERF_KCORE) == 0;
	err = named ? l->opener->open(l->opener->ctx, HF_PERF_KCORE, &src, NULL) : HF_ERR_NOT_FOUND;
	if (err == HF_ERR_NOT_FOUND)
		return 0;
	if (!err)
		err = hf_perf_kernel_load(src, &l->c.pokes, l->setup, processes, &poked);
	hf_src_free(src);
	if (err == HF_ERR_CORRUPT || err == HF_ERR_LIMIT)
		return hf_setup_warn(l->setup, l->name, 0, "'%s' is left out: it %s", HF_PERF_KCORE,
				     err == HF_ERR_LIMIT ? "has more than 512 MiB" : "is no copy of an AArch64 kernel");
	if (!err && (poked || l->c.pokes.cut))
		err = hf_setup_warn(l->setup, l->name, 0,
				    "the kernel changed its code in %zu places while it was recorded: each recording has the code "
				    "of its end%s", poked, l->c.pokes.cut ? ", and not all changes are known" : "");
	return err;
}

/* Whether recording i is the first that may be of its CPU, or of one of its trace ids. */
static bool is_first(const struct load *l, size_t i, uint64_t seen[2], bool *seen_unit)
{
	const struct hf_setup_part *part = &l->setup->parts[i];
	bool first = (part->ids[0] & ~seen[0]) || (part->ids[1] & ~seen[1]);

	seen[0] |= part->ids[0];
	seen[1] |= part->ids[1];
	for (size_t k = 0; k < l->c.units.count && !part->told; k++)
		if (l->c.units.row[k].cpu == part->hart) {
			first = !seen_unit[k];
			seen_unit[k] = true;
		}
	return first;
}

/* A doubt that stands at the beginning of each hart, behind what is told of its recording. */
static int doubt_kernel(struct load *l)
{
	uint64_t seen[2] = {0};
	bool *seen_unit = calloc(l->c.units.count + 1, sizeof *seen_unit);

	if (!seen_unit)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < l->setup->part_count; i++)
		if (!l->setup->parts[i].remark && is_first(l, i, seen, seen_unit))
			l->setup->parts[i].remark = HF_ERR_PERF_KERNEL_FILE;
	free(seen_unit);
	return 0;
}

static int make_processes(struct load *l, struct hf_src *stream)
{
	struct hf_processes *processes = calloc(1, sizeof *processes);
	int err = HF_ERR_NOMEM;

	l->setup->processes = processes;
	if (processes) {
		processes->by_vmid = is_by_vmid(&l->c.units);
		err = load_kernel(l, processes);
	}
	if (!err)
		err = hf_perf_programs_make(&(struct hf_perf_ask){.setup = l->setup,
								  .opener = l->opener,
								  .stream = stream,
								  .maps = &l->c.maps,
								  .features = &l->c.features},
					    processes);
	if (!err && processes->kernel_is_file)
		err = doubt_kernel(l);
	if (!err && l->c.maps.cut)
		err = hf_setup_warn(l->setup, l->name, 0, "there are more mappings than hartfs keeps: the last ones are left out");
	return no_room(l, err);
}

/* ---- trace that is split only ---- */

static int by_cpu(const void *a, const void *b)
{
	const struct hf_perf_recording *left = a, *right = b;

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* The recordings of one CPU behind those of another. How they are framed a capture.ini says. */
static int make_split_parts(struct load *l)
{
	struct hf_setup *setup = l->setup;
	uint64_t offset = 0;

	if (l->used)
		qsort(l->c.recordings.row, l->used, sizeof *l->c.recordings.row, by_cpu);
	setup->parts = calloc(l->used + 1, sizeof *setup->parts);
	for (size_t i = 0; i < l->used && setup->parts; i++) {
		const struct hf_perf_recording *row = &l->c.recordings.row[i];

		setup->parts[setup->part_count++] = (struct hf_setup_part){
			.offset = offset, .size = row->size, .name = l->name, .framing = "", .shared = true, .time = row->time,
			.hart = row->cpu == HF_PERF_NO_CPU ? HF_SETUP_ANY : row->cpu, .thread = row->tid, .detail = row->flags};
		offset += row->size;
	}
	return no_room(l, setup->parts ? 0 : HF_ERR_NOMEM);
}

static int tell_undecoded(struct load *l)
{
	const char *slash = strrchr(l->name, '/');

	return no_room(l, hf_setup_warn(l->setup, l->name, 0,
					"RISC-V trace (AUXTRACE_INFO type %u) is only split, for nothing here says how its trace "
					"units are set: a capture.ini with 'trace = %.100s' does, and then it is decoded",
					HF_PERF_RISCV, slash ? slash + 1 : l->name));
}

static int make_split(struct load *l, struct hf_src **ret_stream)
{
	int err;

	choose(l);
	err = make_split_parts(l);
	if (!err)
		err = warn(l);
	if (!err)
		err = add_facts(l);
	return err ? err : make_stream(l, ret_stream);
}

int hf_perf_split(struct hf_setup *setup, const char *name, struct hf_src *const *src, size_t count,
		  struct hf_src **ret_stream, struct hf_setup_error *error)
{
	struct load l = {.setup = setup, .error = error, .name = name, .src_count = count,
			 .src = calloc(count, sizeof *l.src)};
	int err = l.src ? 0 : no_room(&l, HF_ERR_NOMEM);

	for (size_t i = 0; i < count; i++)
		if (l.src)
			l.src[i] = src[i];
		else
			hf_src_free(src[i]);
	if (!err)
		err = read_contents(&l);
	if (!err) {
		hf_setup_free_parts(setup);
		err = make_split(&l, ret_stream);
	}
	close_files(&l);
	return err;
}

/* ---- all of it ---- */

static int make_all(struct load *l, struct hf_src **ret_stream)
{
	struct hf_src *stream = NULL;
	int err = open_files(l);

	if (!err)
		err = read_contents(l);
	if (!err && strcmp(l->setup->format, l->setup->reader->name) == 0) {
		err = make_split(l, ret_stream);
		return err ? err : tell_undecoded(l);
	}
	if (!err && !l->c.units.count)
		err = hf_setup_fail(l->error, HF_ERR_PERF_DAMAGED, l->name, 0, "%s",
				    hf_err_text(HF_ERR_PERF_DAMAGED, (char[HF_DIAG_SIZE]){0}));
	if (err)
		return err;
	choose(l);
	err = make_parts(l);
	if (!err)
		err = add_sources(l, false);
	if (!err && !l->setup->value_count)
		err = add_sources(l, true);
	if (!err)
		err = warn(l);
	if (!err)
		err = make_stream(l, &stream);
	if (!err)
		err = make_processes(l, stream);
	if (!err)
		err = add_facts(l);
	if (err)
		hf_src_free(stream);
	else
		*ret_stream = stream;
	return err;
}

int hf_perf_load(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_src **ret_stream,
		 struct hf_setup_error *error)
{
	struct load l = {.setup = setup, .opener = opener, .error = error, .name = setup->files[0].name};
	int err = make_all(&l, ret_stream);

	close_files(&l);
	return err;
}
