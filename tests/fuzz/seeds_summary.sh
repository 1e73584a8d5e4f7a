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
seed inverse-two 05 02 02 02 02 02 02 02 03 06 05 01 00 02 01 03 00 00 04 09
seed inverse-level 05 02 02 02 02 02 02 02 03 06 05 00 01 00 01 01 00 00 04 09
seed inverse-same 05 02 02 02 02 02 02 02 03 03 05 00 01 00 01 01 00 00 04 09
seed inverse-over 05 01 01 0a 01 01 0a 01 40 ff ff ff ff ff ff ff ff ff 01 00 01 ff ff ff ff ff ff ff ff ff 01 05
seed inverse-short 05 02 02 02 02 02 02 09 03 06 05 01
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
seed events-context 03 00 00 00 13 00 00 d0 02 00 01 00 00 00 00 00 13 00 00 00 00 00 13 00 40
seed events-odd 03 00 00 00 01 00 00 00 00 00 03 01 00 00 00 00 13 00 80 00 00 00 13 01 80
seed events-loss 03 00 02 00 13 00 00 d8 00 00 00 00 00 00 00 00 13 00 00 da 00 00 00 00 00 00 00 00 13 00 00
# accesses (d3), registers (d4), traps (d9), cycles (dd)
# shellcheck disable=SC2046
seed events-accesses 03 00 00 00 13 00 00 d3 02 20 00 08 00 d3 03 03 00 08 00 d3 02 40 04 ff 0f d3 01 99 02 04 00 d4 00 03 05 00 00 \
	$(for i in 21 42 63 84 a5 c6 e7; do bytes 1 "00 00 00 13 00 00 d3 03 $i 1f 10 00 d9 01 $i 00 00 00"; done)
# shellcheck disable=SC2046
seed events-many 03 $(for ((i = 0; i < 120; i++)); do printf '00 00 00 13 00 00 d3 02 %02x 18 08 00 ' $((i * 7 % 240 + 16)); done)
# shellcheck disable=SC2046
seed events-times 03 $(for ((i = 0; i < 100; i++)); do echo '00 00 00 13 00 00 dd 00 00 00 00 00'; done)
