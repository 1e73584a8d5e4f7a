#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_summary anew: tests/fuzz/seeds_summary.sh. The target makes the file that some of them change.
set -eu
cd "$(dirname "$0")"
to=corpus/summary
mkdir -p "$to"

seed() { # NAME BYTES...: bytes in hexadecimal
	local name=$1
	shift
	printf "$(printf '\\x%s' "$@")" >"$to/$name"
}
bytes() { # COUNT VALUE
	for ((i = 0; i < $1; i++)); do echo "$2"; done
}
# postings / 3, total / 1000, first chunk, chunks / 300; orders; codes
seed list-three 00 01 01 05 01 00 ff ff 80 ff
seed list-orders 00 01 01 05 01 53 ff ff 80 ff ff ff
seed list-empty 00 00 00 00 00
seed list-cut 00 40 ff 00 ff 00 80
# shellcheck disable=SC2046
seed list-blocks 00 56 ff 00 ff 00 80 01 80 01 20 80 01 80 01 20 $(bytes 120 ff)
# shellcheck disable=SC2046
seed list-skips-wrong 00 56 ff 00 ff 00 ff ff ff ff ff ff ff ff ff 01 ff ff ff ff ff ff ff ff ff 01 20 $(bytes 40 ff)
# runs; pc step, how, context, mode, instruction set, instructions, bytes, count, postings, chunk or size, code
seed page-two 01 02 00 00 00 01 02 02 08 05 01 03 13 00 00 00 13 00 00 00 10 41 01 02 07 02 09 01 45
seed page-code-short 01 01 00 00 00 01 02 02 08 05 01 03 13 00
seed page-wrap 01 01 ff ff ff ff ff ff ff ff ff 01 00 00 01 02 01 04 01 01 00 13 00 00 00
seed page-none 01 00
# keys; sizes of columns: level, a, b, postings, repeats, place or size; columns
seed inverse-two 11 02 02 02 02 02 02 02 03 06 05 01 00 02 01 03 00 00 04 09
seed inverse-level 11 02 02 02 02 02 02 02 03 06 05 00 01 00 01 01 00 00 04 09
seed inverse-same 11 02 02 02 02 02 02 02 03 03 05 00 01 00 01 01 00 00 04 09
seed inverse-over 11 01 01 0a 01 01 0a 01 40 ff ff ff ff ff ff ff ff ff 01 00 01 ff ff ff ff ff ff ff ff ff 01 05
seed inverse-short 11 02 02 02 02 02 02 09 03 06 05 01
# first, count; parent or 0 and kind, context, mode; function, calls, own, first, life, cycles
seed nodes-two 05 00 03 00 00 00 00 00 00 00 00 00 00 01 00 00 80 02 01 04 00 05 01 08 02 03 02 01
seed nodes-timed 0d 00 02 00 00 00 00 00 00 00 00 00 00 00 03 01 00 00 01 04 00 05 07
seed nodes-parent 05 03 02 04 08 02 03 02 01 02 08 02 03 02 01
seed nodes-of-beyond 05 01 01 01 08 02 03 02 01
# first, count; pieces and beyond; nodes, refused
seed stacks-two 09 00 03 02 04 04 00 09 02 02 06
seed stacks-beyond 09 00 02 03 05 01 04 06 04 00 04
seed stacks-below 09 00 01 02 06
seed stacks-many 09 00 01 82 10 04
seed file-valid 02
seed file-sealed 06
seed file-user 06 00 3c 00 04 00 00 00 02
for page in 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e; do
	seed "file-cells-$page" 06 $page 08 00 08 ff ff 00 00 1f ff 00 01
	seed "file-end-$page" 06 $page e0 1f 08 ff 00 ff 00 ff 00 ff 00
	seed "file-late-$page" 06 $page c0 1f 04 01 02 03 04
done
# kind, flags, pc, opcode, flow and size, mode and instruction set
seed events-run 03 00 00 00 13 00 00 00 00 00 13 00 00 00 01 00 13 06 00 00 00 90 13 00 00
seed events-context 03 00 00 00 13 00 00 db 02 00 01 00 00 00 00 00 13 00 00 00 00 00 13 00 40
seed events-odd 03 00 00 00 01 00 00 00 00 00 03 01 00 00 00 00 13 00 80 00 00 00 13 01 80
seed events-loss 03 00 02 00 13 00 00 c8 00 00 00 00 00 00 00 00 13 00 00 ca 00 00 00 00 00 00 00 00 13 00 00
# calls and returns, traps, cycles: kind, flags, pc, target, flow and size, mode
seed events-calls 03 00 01 80 90 06 00 00 01 90 a0 0a 00 00 01 a0 94 0c 00 00 01 94 84 0c 00 00 00 84 13 00 00
# shellcheck disable=SC2046
seed events-deep 03 $(for i in 80 90 a0 b0 c0 d0; do echo 00 01 $i e0 06 00; done) 00 01 e0 b4 0c 00 00 00 84 13 00 00
seed events-traps 03 00 01 80 90 06 00 d9 03 00 a0 00 00 00 01 a0 00 12 00 d9 00 00 00 00 00 d9 02 00 b0 00 00 00 01 b0 84 12 00
seed events-cycles 03 dd 00 00 07 00 00 00 01 80 90 06 00 dd 00 00 09 00 00 dd 02 00 09 00 00
# accesses (d3), registers (d4), traps (d9), cycles (dd)
# shellcheck disable=SC2046
seed events-accesses 03 00 00 00 13 00 00 d3 02 20 00 08 00 d3 03 03 00 08 00 d3 02 40 04 ff 0f d3 01 99 02 04 00 d4 00 03 05 00 00 \
	$(for i in 21 42 63 84 a5 c6 e7; do bytes 1 "00 00 00 13 00 00 d3 03 $i 1f 10 00 d9 01 $i 00 00 00"; done)
# shellcheck disable=SC2046
seed events-many 03 $(for ((i = 0; i < 120; i++)); do printf '00 00 00 13 00 00 d3 02 %02x 18 08 00 ' $((i * 7 % 240 + 16)); done)
# shellcheck disable=SC2046
seed events-times 03 $(for ((i = 0; i < 100; i++)); do echo '00 00 00 13 00 00 dd 00 00 00 00 00'; done)
