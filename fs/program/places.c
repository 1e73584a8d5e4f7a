/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/program/places.h"
#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "codecs/setup/setup.h"

#include <stdlib.h>

/* Rows of all harts together. */
enum { ROWS_MAX = 4096 };
/* Pieces of code of all harts together; beyond, all counts as executed. */
enum { RUNS_MAX = 1 << 20 };

struct finder {
	const struct hf_place_file *file;
	size_t count;
	struct hf_places *places;
	struct hf_bias_search *search; /* of the hart */
	uint32_t hart;
	uint8_t arch;	       /* of its code */
	struct hf_bias *found; /* of each file, in what nobody has claimed */
	uint64_t work;
};

/* ---- one hart ---- */

static bool can_lie_here(const struct finder *finder, size_t i)
{
	const struct hf_place_file *file = &finder->file[i];

	return file->src && file->first < file->end && hf_arch_has_machine(finder->arch, file->machine);
}

/* What is wrong with a file is no error: it has no place. */
static int verdict(struct hf_bias *found, int err)
{
	if (!err || hf_err_is_passing(err))
		return err;
	*found = (struct hf_bias){.verdict = HF_BIAS_UNUSED};
	return 0;
}

static void add_work(struct finder *finder, size_t i)
{
	finder->work += finder->file[i].code;
	finder->places->tired |= finder->work > HF_PLACES_WORK_MAX || finder->places->count >= ROWS_MAX;
}

static int look_for(struct finder *finder, size_t i)
{
	struct hf_bias *found = &finder->found[i];
	int err;

	*found = (struct hf_bias){.verdict = HF_BIAS_UNUSED};
	if (!can_lie_here(finder, i))
		return 0;
	add_work(finder, i);
	if (finder->places->tired)
		return 0;
	err = hf_bias_find(finder->search, finder->file[i].src, found, NULL);
	return verdict(found, err);
}

static int add_place(struct finder *finder, size_t i, const struct hf_bias *found)
{
	struct hf_places *places = finder->places;

	if (hf_array_reserve(&places->row, places->count + 1, &places->cap, sizeof *places->row))
		return HF_ERR_NOMEM;
	places->row[places->count++] = (struct hf_place){i, finder->hart, found->bias};
	places->file[i].verdict = HF_BIAS_FOUND;
	places->file[i].bias = found->bias;
	places->file[i].bytes += found->bytes;
	places->file[i].differs += found->differs;
	return 0;
}

/* Gives it what it was found in, unless another one has some of that by now. */
static int claim(struct finder *finder, size_t i, const struct hf_bias *found, bool *ret_other)
{
	int err = hf_bias_claim(finder->search, finder->file[i].src, found->bias, ret_other);

	return err || *ret_other ? err : add_place(finder, i, found);
}

static bool same_place(const struct hf_place *a, const struct hf_place *b)
{
	return a->file == b->file && a->bias == b->bias;
}

/* Whether an earlier row says the same of another hart. */
static bool is_again(const struct hf_places *places, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_place(&places->row[k], &places->row[i]))
			return true;
	return false;
}

/* Where a file lay for an earlier hart, it is likely to lie for this one. */
static int try_known(struct finder *finder, size_t known)
{
	int err = 0;

	for (size_t i = 0; i < known && !err && !finder->places->tired; i++) {
		const struct hf_place place = finder->places->row[i];
		struct hf_bias found = {.verdict = HF_BIAS_UNUSED};
		bool other;

		if (!can_lie_here(finder, place.file) || is_again(finder->places, i))
			continue;
		add_work(finder, place.file);
		err = hf_bias_check(finder->search, finder->file[place.file].src, place.bias, &found, NULL);
		err = verdict(&found, err);
		if (!err && found.verdict == HF_BIAS_FOUND && found.bytes)
			err = claim(finder, place.file, &found, &other);
	}
	return err;
}

/* Of all files that were found the one that explains most; count if there is none. */
static size_t best_of(const struct finder *finder)
{
	size_t best = finder->count;

	for (size_t i = 0; i < finder->count; i++)
		if (finder->found[i].verdict == HF_BIAS_FOUND &&
		    (best == finder->count || finder->found[i].bytes > finder->found[best].bytes))
			best = i;
	return best;
}

/* Looks for each file that has no place yet, and then for more places of those that have. */
static int search_once(struct finder *finder, unsigned *instances)
{
	int err = 0;
	size_t best = 0;

	for (size_t i = 0; i < finder->count && !err; i++)
		if (!instances[i])
			err = look_for(finder, i);
	while (!err && (best = best_of(finder)) < finder->count) {
		bool other;

		err = claim(finder, best, &finder->found[best], &other);
		/* Two processes have it at two places. */
		finder->found[best].verdict = HF_BIAS_UNUSED;
		if (!err && ++instances[best] < HF_PLACES_INSTANCES_MAX)
			err = look_for(finder, best);
	}
	return err;
}

static int search_all(struct finder *finder)
{
	unsigned *instances = calloc(finder->count + 1, sizeof *instances);
	bool more = true;
	int err = instances ? 0 : HF_ERR_NOMEM;

	while (more && !err) {
		err = search_once(finder, instances);
		if (!err)
			err = hf_bias_search_all(finder->search, &more);
	}
	free(instances);
	return err;
}

/* x.elf says by its name that it is the program: few instructions are enough if nothing speaks against its addresses.
 */
static int take_stem(struct finder *finder)
{
	struct hf_bias found = {.verdict = HF_BIAS_UNUSED};
	bool other;
	int err;

	if (!finder->count || !finder->file[0].stem || !can_lie_here(finder, 0) ||
	    finder->places->file[0].verdict == HF_BIAS_FOUND || finder->found[0].verdict == HF_BIAS_SEVERAL)
		return 0;
	err = hf_bias_check(finder->search, finder->file[0].src, 0, &found, NULL);
	err = verdict(&found, err);
	if (!err && found.verdict == HF_BIAS_FOUND && found.bytes)
		return claim(finder, 0, &found, &other);
	if (found.verdict == HF_BIAS_DIFFERS && finder->found[0].verdict == HF_BIAS_UNUSED)
		finder->found[0] = found;
	return err;
}

/* Why a file has no place in any hart yet. */
static void note_failures(struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++)
		if (finder->places->file[i].verdict == HF_BIAS_UNUSED)
			finder->places->file[i] = finder->found[i];
}

static uint8_t arch_of(const struct hf_image *image)
{
	const uint32_t isas = hf_image_isas(image);

	return isas & (1u << HF_ISA_RV32 | 1u << HF_ISA_RV64) ? HF_ARCH_RISCV : isas ? HF_ARCH_ARM : HF_ARCH_NONE;
}

static int keep_runs(struct finder *finder)
{
	struct hf_places *places = finder->places;
	struct hf_places_run run;

	for (size_t i = 0; places->run_count <= RUNS_MAX && hf_bias_run(finder->search, i, &run.start, &run.end); i++) {
		if (hf_array_reserve(&places->run, places->run_count + 1, &places->run_cap, sizeof *places->run))
			return HF_ERR_NOMEM;
		places->run[places->run_count++] = run;
	}
	return 0;
}

static int order_runs(const void *a, const void *b)
{
	const struct hf_places_run *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* What several harts executed is once there. */
static void join_runs(struct hf_places *places)
{
	size_t kept = 0;

	if (places->run_count)
		qsort(places->run, places->run_count, sizeof *places->run, order_runs);
	for (size_t i = 0; i < places->run_count; i++) {
		struct hf_places_run *last = kept ? &places->run[kept - 1] : NULL;

		if (!last || places->run[i].start > last->end)
			places->run[kept++] = places->run[i];
		else if (places->run[i].end > last->end)
			last->end = places->run[i].end;
	}
	/* Beyond the limit the number stays, for hf_places_executed. */
	if (places->run_count <= RUNS_MAX)
		places->run_count = kept;
}

bool hf_places_executed(const struct hf_places *places, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	const bool all = places->run_count > RUNS_MAX;
	const size_t i = all ? 0 : HF_COUNT_UP_TO(places->run, places->run_count, end, address);

	if (!all && i == places->run_count)
		return false;
	*ret_start = all ? 0 : places->run[i].start;
	*ret_end = all ? UINT64_MAX : places->run[i].end;
	return true;
}

static int search_hart(struct finder *finder, struct hf_index *index, uint32_t hart)
{
	const size_t known = finder->places->count;
	struct hf_image *image;
	int err = hf_index_image(index, hart, &image);

	if (err)
		return err;
	finder->hart = hart;
	finder->arch = arch_of(image);
	err = hf_bias_search_new(image, &finder->search);
	hf_image_free(image);
	if (err)
		return err;
	err = try_known(finder, known);
	if (!err)
		err = search_all(finder);
	if (!err)
		err = take_stem(finder);
	if (!err)
		err = keep_runs(finder);
	note_failures(finder);
	finder->places->executed += hf_bias_bytes(finder->search);
	finder->places->unknown += hf_bias_unclaimed(finder->search);
	hf_bias_search_free(finder->search);
	return err;
}

/* ---- all harts ---- */

static bool collide(const struct finder *finder, const struct hf_place *a, const struct hf_place *b)
{
	const struct hf_place_file *x = &finder->file[a->file], *y = &finder->file[b->file];
	const uint64_t from = x->first + a->bias, to = y->first + b->bias;

	return from - to < y->end - y->first || to - from < x->end - x->first;
}

/* If no two harts had different files at one address, what is true of one hart is true of all. */
static void merge_harts(struct finder *finder)
{
	struct hf_places *places = finder->places;
	size_t kept = 0;

	for (size_t i = 0; i < places->count; i++)
		for (size_t k = 0; k < i; k++)
			if (!same_place(&places->row[i], &places->row[k]) &&
			    collide(finder, &places->row[i], &places->row[k]))
				return;
	for (size_t i = 0; i < places->count; i++) {
		size_t k = 0;

		while (k < kept && !same_place(&places->row[k], &places->row[i]))
			k++;
		if (k < kept)
			continue;
		places->row[kept] = places->row[i];
		places->row[kept++].hart = HF_SETUP_ANY;
	}
	places->count = kept;
}

/* Nothing was executed where it says that it lies: its addresses stand. */
static int trust_stem(struct finder *finder)
{
	if (!finder->count || !finder->file[0].stem || !finder->file[0].src ||
	    finder->places->file[0].verdict != HF_BIAS_UNUSED)
		return 0;
	finder->hart = HF_SETUP_ANY;
	return add_place(finder, 0, &(struct hf_bias){.verdict = HF_BIAS_FOUND});
}

static int find_places(struct finder *finder, struct hf_index *index)
{
	const struct hf_index_hart *harts;
	const size_t count = hf_index_harts(index, &harts);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = search_hart(finder, index, harts[i].id);
	if (!err)
		merge_harts(finder);
	join_runs(finder->places);
	return err ? err : trust_stem(finder);
}

int hf_places_find(struct hf_index *index, const struct hf_place_file *file, size_t count,
		   struct hf_places **ret_places)
{
	struct finder finder = {.file = file, .count = count, .places = calloc(1, sizeof *finder.places)};
	int err = HF_ERR_NOMEM;

	if (!finder.places)
		return err;
	atomic_init(&finder.places->refs, 1);
	finder.places->file = calloc(count + 1, sizeof *finder.places->file);
	finder.places->file_count = count;
	finder.found = calloc(count + 1, sizeof *finder.found);
	for (size_t i = 0; finder.places->file && i < count; i++)
		finder.places->file[i].verdict = HF_BIAS_UNUSED;
	if (finder.places->file && finder.found)
		err = find_places(&finder, index);
	free(finder.found);
	if (err)
		hf_places_unref(finder.places);
	else
		*ret_places = finder.places;
	return err;
}

struct hf_places *hf_places_ref(struct hf_places *places)
{
	if (places)
		atomic_fetch_add(&places->refs, 1);
	return places;
}

void hf_places_unref(struct hf_places *places)
{
	if (!places || atomic_fetch_sub(&places->refs, 1) != 1)
		return;
	free(places->row);
	free(places->run);
	free(places->file);
	free(places);
}
