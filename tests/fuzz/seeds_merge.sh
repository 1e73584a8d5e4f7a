#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_merge anew: tests/fuzz/seeds_merge.sh.
set -eu
cd "$(dirname "$0")"
to=corpus/merge
mkdir -p "$to"

# row TABLE-AND-HART CHUNK NUMBER VALUE BYTES...: in hexadecimal; VALUE is the low byte of a u64
row() {
	local head="$1 $2 $3 $(printf %02x $(($# - 4))) $4 00 00 00 00 00 00 00"
	shift 4
	printf '\\x%s' $head "$@"
}
seed() { # NAME ESCAPES
	printf "$2" >"$to/$1"
}
hart0="$(row 00 05 00 00  00 0a  10 05  20 00  08 03)"
hart2="$(row 04 00 00 00  00 0b  10 04)$(row 44 80 01 00  00 02  7f 07)"
hart3="$(row 06 01 00 00  00 01  ff 01 01)"
seed none ''
seed one "$hart0"
seed three "$hart0$hart2$hart3"
seed place "$hart0$hart2$(row 01 00 00 00  01 05 00  02  01 00 01  02)$(row 01 00 00 7f)"
seed place-start "$hart0$hart2$(row 01 00 00 00  00 00 00 00)$(row 01 00 00 7f)"
seed place-wrong "$hart0$hart2$(row 01 00 00 00  01 06 00  01 07 09)"
seed empty-row "$hart0$(row 04 00 00 00)"
seed cut "$(row 00 00 00 00  00 ff)$(row 04 00 00 00  00)"
seed step-none "$(row 00 00 00 00  00 01  00 01)$hart2"
seed back-twice "$(row 00 00 00 00  00 09  05 00  05 00)$hart2"
seed beyond "$(row 00 ff 00 00  00 01  ff ff 7f 01)$hart2"
seed too-late "$(row 08 00 00 ff  00 01)$(row 20 01 00 00  00 01)$hart2"
seed falls "$hart0$(row 20 05 01 00  00 01)$hart2"
seed overflow "$(row 30 00 00 01  00 ff ff ff ff ff ff ff ff ff 01)$hart2"
