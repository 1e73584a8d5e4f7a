#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the corpora of fuzz_image and fuzz_elf again: tests/fuzz/seeds_image.sh [CC]. Deterministic.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p tests/fuzz/corpus/image tests/fuzz/corpus/elf

cat >"$work/seeds.c" <<'END'
#include "codecs/image/collect.h"
#include "codecs/image/elf_write.h"

#include <stdio.h>
#include <stdlib.h>

static void put(struct hf_image *image, uint64_t pc, uint32_t opcode, uint8_t size, uint8_t isa)
{
	struct hf_event ev = {.kind = HF_EVENT_INSN, .insn = {.pc = pc, .opcode = opcode, .size = size, .isa = isa}};

	hf_image_put(image, &ev, 1);
}

static void store(const char *folder, const char *name, const void *head, size_t n, struct hf_sink *sink)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "tests/fuzz/corpus/%s/%s", folder, name);
	file = fopen(path, "wb");
	if (!file)
		exit(1);
	fwrite(head, 1, n, file);
	fwrite(sink->start, 1, (size_t)(sink->p - sink->start), file);
	fclose(file);
	hf_sink_fini_memory(sink);
}

static void make(const char *name, uint8_t isa, bool conflict)
{
	static const struct hf_elf_symbol symbols[] = {
		{.address = 0x10200, .size = 8, .name = "start", .function = true},
		{.address = 0x10204, .name = "label", .local = true},
	};
	struct hf_image *image;
	struct hf_sink sink;
	struct hf_elf *elf;

	hf_image_new(0, &image);
	put(image, 0x10200, 0x00500513, 4, isa);
	put(image, 0x10204, 0x4505, 2, isa);
	put(image, 0x10210, 0x02a50533, 4, isa);
	put(image, 0x12240, 0x00008067, 4, isa);
	hf_sink_init_memory(&sink, 0);
	if (hf_elf_new(image, symbols, 2, &elf) == 0) {
		hf_elf_write(elf, 0, hf_elf_size(elf), &sink);
		hf_elf_free(elf);
	}
	store("elf", name, "", 0, &sink);
	if (conflict)
		put(image, 0x10200, 0x00600513, 4, isa);
	hf_sink_init_memory(&sink, 0);
	hf_image_save(image, &sink);
	store("image", name, "", 1, &sink); /* a zero byte in front: a saved image */
	hf_image_free(image);
}

int main(void)
{
	/* Odd: events, cut behind the third: instruction, attempt, access, trap, instruction, context, instruction. */
	static const char events[] = "\1\3"
		"\1\0\0\20\0\23\0\0" "\2\0\0\24\0\23\0\0" "\3\0\0\0\0\0\0\0" "\11\10\15\0\0\0\0\0"
		"\1\0\0\24\0\23\0\0" "\13\0\2\7\0\0\0\0" "\1\0\0\20\0\63\1\0";
	struct hf_sink sink;

	make("rv64", HF_ISA_RV64, false);
	make("rv32-conflict", HF_ISA_RV32, true);
	make("a64", HF_ISA_A64, false);
	make("t32", HF_ISA_T32, true);
	hf_sink_init_memory(&sink, 0);
	store("image", "events", events, sizeof events - 1, &sink);
	return 0;
}
END
"${1:-cc}" -std=c17 -D_GNU_SOURCE -I. "$work/seeds.c" codecs/image/{collect,blob,elf_write}.c \
	codecs/base/{sink,state,err}.c -o "$work/seeds"
"$work/seeds"

# The symbol reader takes the same files.
mkdir -p tests/fuzz/corpus/symbols
cp tests/fuzz/corpus/elf/* tests/fuzz/corpus/symbols/
