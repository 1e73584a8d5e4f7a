/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/processes.h"

#include <stdlib.h>

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
	size_t thread, space;

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

void hf_processes_free(struct hf_processes *processes)
{
	if (!processes)
		return;
	for (size_t i = 0; i < processes->program_count; i++)
		hf_program_fini(&processes->program[i]);
	hf_program_fini(&processes->kernel);
	for (size_t i = 0; i < processes->block_count; i++)
		free(processes->block[i]);
	free(processes->block);
	free(processes->program);
	free(processes->below);
	free(processes->thread);
	free(processes->space);
	free(processes);
}
