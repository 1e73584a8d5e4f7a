/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What collecting program.elf costs for each instruction of a trace while it is indexed: ns per instruction for a
 * hot loop, for code of 64 KiB to 16 MiB executed over and over, and for code that is new every time.
 */
#include "codecs/image/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 2048u

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Code of `code` bytes, 16-bit and 32-bit instructions mixed, with a jump to a random block every 8 instructions. */
static double run(uint64_t code, uint64_t insns, uint64_t step)
{
	struct hf_event ev[BATCH] = {0};
	struct hf_image *image;
	uint64_t pc = 0, rnd = 88172645463325252u, base = 0x80000000;
	double spent = 0, start;

	if (hf_image_new(&image))
		exit(1);
	for (uint64_t done = 0; done < insns; done += BATCH) {
		for (unsigned i = 0; i < BATCH; i++) {
			uint32_t opcode = (uint32_t)(pc * 2654435761u);
			/* the second half of each 8-byte block: two of 16 bits; of the first: one of 32 */
			uint8_t size = pc % 8 < 4 ? 4 : 2;

			ev[i] = (struct hf_event){.kind = HF_EVENT_INSN,
						  .insn = {.pc = base + pc, .opcode = opcode, .size = size,
							   .isa = HF_ISA_RV64}};
			pc = (pc + size) % code;
			if (step == 0 && i % 8 == 7) {
				rnd ^= rnd << 13;
				rnd ^= rnd >> 7;
				rnd ^= rnd << 17;
				pc = rnd % code & ~UINT64_C(7);
			}
		}
		start = now();
		if (hf_image_put(image, ev, BATCH))
			exit(1);
		spent += now() - start;
	}
	hf_image_free(image);
	return spent / (double)insns * 1e9;
}

int main(void)
{
	const uint64_t insns = UINT64_C(1) << 25;

	printf("code bytes  ns/instruction\n");
	for (uint64_t code = 1024; code <= UINT64_C(16) << 20; code *= 4)
		printf("%10llu  %.2f\n", (unsigned long long)code, run(code, insns, 0));
	printf("   new code %.2f\n", run(UINT64_C(48) << 20, UINT64_C(1) << 24, 1));
	return 0;
}
