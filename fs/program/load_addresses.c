/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/program/load_addresses.h"
#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "codecs/setup/setup.h"

#include <stdlib.h>

/* Rows of all harts. */
enum { ROWS_MAX = 4096 };
/* Pieces of executed code of all harts; with more, all counts as executed. */
enum { RUNS_MAX = 1 << 20 };

struct finder {
	const struct hf_load_address_file *file;
	size_t count;
	struct hf_load_addresses *addresses;
	struct hf_bias_search *search; /* of the hart */
	uint32_t hart;
	uint8_t arch;	       /* of its code */
	struct hf_bias *found; /* of each file, in code that no file has claimed */
	uint64_t work;
};

/* ---- one hart ---- */

static bool can_lie_here(const struct finder *finder, size_t i)
{
	const struct hf_load_address_file *file = &finder->file[i];

	return file->src && file->first < file->end && hf_arch_has_machine(finder->arch, file->machine);
}

/* A damaged file is no error: it has no load address. */
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
	finder->addresses->limit_reached |=
		finder->work > HF_LOAD_ADDRESSES_WORK_MAX || finder->addresses->count >= ROWS_MAX;
}

static int look_for(struct finder *finder, size_t i)
{
	struct hf_bias *found = &finder->found[i];
	int err;

	*found = (struct hf_bias){.verdict = HF_BIAS_UNUSED};
	if (!can_lie_here(finder, i))
		return 0;
	add_work(finder, i);
	if (finder->addresses->limit_reached)
		return 0;
	err = hf_bias_find(finder->search, finder->file[i].src, found, NULL);
	return verdict(found, err);
}

static int add_place(struct finder *finder, size_t i, const struct hf_bias *found)
{
	struct hf_load_addresses *addresses = finder->addresses;

	if (hf_array_reserve(&addresses->row, addresses->count + 1, &addresses->cap, sizeof *addresses->row))
		return HF_ERR_NOMEM;
	addresses->row[addresses->count++] = (struct hf_load_address){i, finder->hart, found->bias};
	addresses->file[i].verdict = HF_BIAS_FOUND;
	addresses->file[i].bias = found->bias;
	addresses->file[i].bytes += found->bytes;
	addresses->file[i].differs += found->differs;
	return 0;
}

/* Claims the code in which the file was found. *ret_other: another file has claimed some of it already. */
static int claim(struct finder *finder, size_t i, const struct hf_bias *found, bool *ret_other)
{
	int err = hf_bias_claim(finder->search, finder->file[i].src, found->bias, ret_other);

	return err || *ret_other ? err : add_place(finder, i, found);
}

static bool same_place(const struct hf_load_address *a, const struct hf_load_address *b)
{
	return a->file == b->file && a->bias == b->bias;
}

/* Whether an earlier row has the same file and bias, of another hart. */
static bool is_again(const struct hf_load_addresses *addresses, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_place(&addresses->row[k], &addresses->row[i]))
			return true;
	return false;
}

/* Tries the load addresses of earlier harts first. */
static int try_known(struct finder *finder, size_t known)
{
	int err = 0;

	for (size_t i = 0; i < known && !err && !finder->addresses->limit_reached; i++) {
		const struct hf_load_address place = finder->addresses->row[i];
		struct hf_bias found = {.verdict = HF_BIAS_UNUSED};
		bool other;

		if (!can_lie_here(finder, place.file) || is_again(finder->addresses, i))
			continue;
		add_work(finder, place.file);
		err = hf_bias_check(finder->search, finder->file[place.file].src, place.bias, &found, NULL);
		err = verdict(&found, err);
		if (!err && found.verdict == HF_BIAS_FOUND && found.bytes)
			err = claim(finder, place.file, &found, &other);
	}
	return err;
}

/* The file that was found with most bytes of code; count: none was found. */
static size_t best_of(const struct finder *finder)
{
	size_t best = finder->count;

	for (size_t i = 0; i < finder->count; i++)
		if (finder->found[i].verdict == HF_BIAS_FOUND &&
		    (best == finder->count || finder->found[i].bytes > finder->found[best].bytes))
			best = i;
	return best;
}

/* Looks for each file without a load address, and then for further ones of those that were found. */
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
		/* Another process may have it at another address. */
		finder->found[best].verdict = HF_BIAS_UNUSED;
		if (!err && ++instances[best] < HF_LOAD_ADDRESSES_INSTANCES_MAX)
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

/* x.elf is the program by its name: at bias 0 a few instructions are proof enough, if none differs. */
static int take_stem(struct finder *finder)
{
	struct hf_bias found = {.verdict = HF_BIAS_UNUSED};
	bool other;
	int err;

	if (!finder->count || !finder->file[0].stem || !can_lie_here(finder, 0) ||
	    finder->addresses->file[0].verdict == HF_BIAS_FOUND || finder->found[0].verdict == HF_BIAS_SEVERAL)
		return 0;
	err = hf_bias_check(finder->search, finder->file[0].src, 0, &found, NULL);
	err = verdict(&found, err);
	if (!err && found.verdict == HF_BIAS_FOUND && found.bytes)
		return claim(finder, 0, &found, &other);
	if (found.verdict == HF_BIAS_DIFFERS && finder->found[0].verdict == HF_BIAS_UNUSED)
		finder->found[0] = found;
	return err;
}

/* Notes why a file has no load address in any hart yet. */
static void note_failures(struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++)
		if (finder->addresses->file[i].verdict == HF_BIAS_UNUSED)
			finder->addresses->file[i] = finder->found[i];
}

static uint8_t arch_of(const struct hf_image *image)
{
	const uint32_t isas = hf_image_isas(image);

	return isas & (1u << HF_ISA_RV32 | 1u << HF_ISA_RV64) ? HF_ARCH_RISCV : isas ? HF_ARCH_ARM : HF_ARCH_NONE;
}

static int keep_runs(struct finder *finder)
{
	struct hf_load_addresses *addresses = finder->addresses;
	struct hf_load_addresses_run run;

	for (size_t i = 0; addresses->run_count <= RUNS_MAX && hf_bias_run(finder->search, i, &run.start, &run.end);
	     i++) {
		if (hf_array_reserve(&addresses->run, addresses->run_count + 1, &addresses->run_cap,
				     sizeof *addresses->run))
			return HF_ERR_NOMEM;
		addresses->run[addresses->run_count++] = run;
	}
	return 0;
}

static int order_runs(const void *a, const void *b)
{
	const struct hf_load_addresses_run *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Joins code that several harts executed. */
static void join_runs(struct hf_load_addresses *addresses)
{
	size_t kept = 0;

	if (addresses->run_count)
		qsort(addresses->run, addresses->run_count, sizeof *addresses->run, order_runs);
	for (size_t i = 0; i < addresses->run_count; i++) {
		struct hf_load_addresses_run *last = kept ? &addresses->run[kept - 1] : NULL;

		if (!last || addresses->run[i].start > last->end)
			addresses->run[kept++] = addresses->run[i];
		else if (addresses->run[i].end > last->end)
			last->end = addresses->run[i].end;
	}
	/* A count above the limit stays: hf_load_addresses_executed looks at it. */
	if (addresses->run_count <= RUNS_MAX)
		addresses->run_count = kept;
}

bool hf_load_addresses_executed(const struct hf_load_addresses *addresses, uint64_t address, uint64_t *ret_start,
				uint64_t *ret_end)
{
	const bool all = addresses->run_count > RUNS_MAX;
	const size_t i = all ? 0 : HF_COUNT_UP_TO(addresses->run, addresses->run_count, end, address);

	if (!all && i == addresses->run_count)
		return false;
	*ret_start = all ? 0 : addresses->run[i].start;
	*ret_end = all ? UINT64_MAX : addresses->run[i].end;
	return true;
}

static int search_hart(struct finder *finder, struct hf_index *index, uint32_t hart)
{
	const size_t known = finder->addresses->count;
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
	finder->addresses->executed += hf_bias_bytes(finder->search);
	finder->addresses->unknown += hf_bias_unclaimed(finder->search);
	hf_bias_search_free(finder->search);
	return err;
}

/* ---- all harts ---- */

static bool collide(const struct finder *finder, const struct hf_load_address *a, const struct hf_load_address *b)
{
	const struct hf_load_address_file *x = &finder->file[a->file], *y = &finder->file[b->file];
	const uint64_t from = x->first + a->bias, to = y->first + b->bias;

	return from - to < y->end - y->first || to - from < x->end - x->first;
}

/* If no two harts had different files at one address, each row counts for all harts. */
static void merge_harts(struct finder *finder)
{
	struct hf_load_addresses *addresses = finder->addresses;
	size_t kept = 0;

	for (size_t i = 0; i < addresses->count; i++)
		for (size_t k = 0; k < i; k++)
			if (!same_place(&addresses->row[i], &addresses->row[k]) &&
			    collide(finder, &addresses->row[i], &addresses->row[k]))
				return;
	for (size_t i = 0; i < addresses->count; i++) {
		size_t k = 0;

		while (k < kept && !same_place(&addresses->row[k], &addresses->row[i]))
			k++;
		if (k < kept)
			continue;
		addresses->row[kept] = addresses->row[i];
		addresses->row[kept++].hart = HF_SETUP_ANY;
	}
	addresses->count = kept;
}

/* x.elf, of which no code was executed, is taken at its own addresses. */
static int trust_stem(struct finder *finder)
{
	if (!finder->count || !finder->file[0].stem || !finder->file[0].src ||
	    finder->addresses->file[0].verdict != HF_BIAS_UNUSED)
		return 0;
	finder->hart = HF_SETUP_ANY;
	return add_place(finder, 0, &(struct hf_bias){.verdict = HF_BIAS_FOUND});
}

static int find_addresses(struct finder *finder, struct hf_index *index)
{
	const struct hf_index_hart *harts;
	const size_t count = hf_index_harts(index, &harts);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = search_hart(finder, index, harts[i].id);
	if (!err)
		merge_harts(finder);
	join_runs(finder->addresses);
	return err ? err : trust_stem(finder);
}

int hf_load_addresses_find(struct hf_index *index, const struct hf_load_address_file *file, size_t count,
			   struct hf_load_addresses **ret_addresses)
{
	struct finder finder = {.file = file, .count = count, .addresses = calloc(1, sizeof *finder.addresses)};
	int err = HF_ERR_NOMEM;

	if (!finder.addresses)
		return err;
	atomic_init(&finder.addresses->refs, 1);
	finder.addresses->file = calloc(count + 1, sizeof *finder.addresses->file);
	finder.addresses->file_count = count;
	finder.found = calloc(count + 1, sizeof *finder.found);
	for (size_t i = 0; finder.addresses->file && i < count; i++)
		finder.addresses->file[i].verdict = HF_BIAS_UNUSED;
	if (finder.addresses->file && finder.found)
		err = find_addresses(&finder, index);
	free(finder.found);
	if (err)
		hf_load_addresses_unref(finder.addresses);
	else
		*ret_addresses = finder.addresses;
	return err;
}

struct hf_load_addresses *hf_load_addresses_ref(struct hf_load_addresses *addresses)
{
	if (addresses)
		atomic_fetch_add(&addresses->refs, 1);
	return addresses;
}

void hf_load_addresses_unref(struct hf_load_addresses *addresses)
{
	if (!addresses || atomic_fetch_sub(&addresses->refs, 1) != 1)
		return;
	free(addresses->row);
	free(addresses->run);
	free(addresses->file);
	free(addresses);
}
