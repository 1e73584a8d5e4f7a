/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/processes.h"

#include "codecs/base/array.h"
#include "codecs/base/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many pieces of code are looked at that begin before an address. */
enum { NESTED_MAX = 64 };

/* Of rows that are sorted by an id and a time the last that is not behind these; count: there is none of that id. */
#define LAST_OF(rows, n, member, wanted, time, ret)                                                         \
	do {                                                                                                \
		size_t low = 0, high = (n);                                                                 \
                                                                                                            \
		while (low < high) {                                                                        \
			const size_t middle = low + (high - low) / 2;                                       \
                                                                                                            \
			if ((rows)[middle].member < (wanted) ||                                             \
			    ((rows)[middle].member == (wanted) && (rows)[middle].from <= (time)))           \
				low = middle + 1;                                                           \
			else                                                                                \
				high = middle;                                                              \
		}                                                                                           \
		/* Nobody told of it earlier: what was told first holds. */                                 \
		if (low && (rows)[low - 1].member == (wanted))                                              \
			*(ret) = low - 1;                                                                   \
		else                                                                                        \
			*(ret) = low < (n) && (rows)[low].member == (wanted) ? low : (n);                   \
	} while (0)

struct hf_running hf_processes_at(const struct hf_processes *processes, uint32_t tid, uint64_t time)
{
	struct hf_running running = {.program = processes->kernel.count ? &processes->kernel : NULL};
	size_t thread, space, patched = 0;

	if (processes->patched_count)
		patched = HF_COUNT_UP_TO(processes->patched, processes->patched_count, from, time);
	if (patched)
		running.kernel = &processes->patched[patched - 1].program;
	LAST_OF(processes->thread, processes->thread_count, tid, tid, time, &thread);
	if (thread == processes->thread_count)
		return running;
	running.known = true;
	running.pid = processes->thread[thread].pid;
	LAST_OF(processes->space, processes->space_count, pid, running.pid, time, &space);
	if (space < processes->space_count)
		running.program = &processes->program[processes->space[space].program];
	return running;
}

static const char *name_of(const struct hf_processes *processes, uint32_t tid)
{
	size_t low = 0, high = processes->name_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (processes->name[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < processes->name_count && processes->name[low].tid == tid ? processes->name[low].name : NULL;
}

const char *hf_processes_name(const struct hf_processes *processes, uint32_t pid, uint32_t tid)
{
	const char *name = processes ? name_of(processes, tid) : NULL;

	return name || !processes ? name : name_of(processes, pid);
}

/* ---- what is missing ---- */

int hf_processes_add_missing(struct hf_processes *processes, const char *name, const char *why, ...)
{
	struct hf_missing_file file = {.name = strdup(name)};
	va_list args;

	va_start(args, why);
	if (vasprintf(&file.why, why, args) < 0)
		file.why = NULL;
	va_end(args);
	if (!file.name || !file.why || hf_array_room(&processes->missing, processes->missing_count, sizeof file)) {
		free(file.name);
		free(file.why);
		return HF_ERR_NOMEM;
	}
	processes->missing[processes->missing_count++] = file;
	return 0;
}

int hf_processes_add_missing_code(struct hf_processes *processes, uint64_t start, uint64_t end, uint32_t file)
{
	if (hf_array_room(&processes->missing_code, processes->missing_code_count, sizeof *processes->missing_code))
		return HF_ERR_NOMEM;
	processes->missing_code[processes->missing_code_count++] = (struct hf_missing_code){start, end, file};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct hf_missing_code *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

void hf_processes_sort_missing(struct hf_processes *processes)
{
	if (processes->missing_code_count)
		qsort(processes->missing_code, processes->missing_code_count, sizeof *processes->missing_code, by_start);
}

size_t hf_processes_missing(const struct hf_processes *processes, uint64_t address)
{
	const size_t count = processes ? processes->missing_code_count : 0;
	const size_t n = count ? HF_COUNT_UP_TO(processes->missing_code, count, start, address) : 0;

	/* The innermost; the kernel's own may be as long as there are addresses. */
	for (size_t i = n; i > 0 && n - i < NESTED_MAX; i--)
		if (address < processes->missing_code[i - 1].end)
			return processes->missing_code[i - 1].file;
	return processes ? processes->missing_count : 0;
}

/* ---- memory ---- */

void hf_processes_clear(struct hf_processes *processes)
{
	for (size_t i = 0; i < processes->program_count; i++)
		hf_program_fini(&processes->program[i]);
	free(processes->program);
	free(processes->below);
	free(processes->thread);
	free(processes->name);
	free(processes->space);
	processes->program = NULL;
	processes->below = NULL;
	processes->thread = NULL;
	processes->name = NULL;
	processes->space = NULL;
	processes->program_count = processes->name_count = processes->thread_count = processes->space_count = 0;
}

void hf_processes_free(struct hf_processes *processes)
{
	if (!processes)
		return;
	hf_processes_clear(processes);
	hf_program_fini(&processes->kernel);
	for (size_t i = 0; i < processes->patched_count; i++)
		hf_program_fini(&processes->patched[i].program);
	free(processes->patched);
	for (size_t i = 0; i < processes->block_count; i++)
		free(processes->block[i]);
	for (size_t i = 0; i < processes->missing_count; i++) {
		free(processes->missing[i].name);
		free(processes->missing[i].why);
	}
	free(processes->missing);
	free(processes->missing_code);
	free(processes->block);
	free(processes);
}
