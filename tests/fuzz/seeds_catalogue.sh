#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_catalogue anew: tests/fuzz/seeds_catalogue.sh. Most are changes to a file that the target makes
# itself.
set -eu
cd "$(dirname "$0")"
to=corpus/catalogue
mkdir -p "$to"

seed() { # NAME MODE BYTES...: bytes in hexadecimal
	local name=$1
	shift
	printf "$(printf '\\x%s' "$@")" >"$to/$name"
}
harts() { # NAME TEXT
	printf "\\x08$2" >"$to/harts-$1"
}
seed valid 02
seed sealed 06
for mode in 02 06; do
	seed "header-$mode" $mode 00 12 00 02 02 02
	seed "pages-$mode" $mode 00 1c 00 04 00 00 00 03
	seed "application-$mode" $mode 00 44 00 01 41
	seed "user-$mode" $mode 00 3c 00 04 00 00 00 02
	seed "schema-$mode" $mode 00 00 1f 08 00 00 00 00 00 00 00 00
	seed "meta-$mode" $mode 01 d0 1f 08 00 00 ff 00 ff 00 00 00
	seed "cells-$mode" $mode 02 08 00 08 ff ff 00 00 1f ff 00 01
	seed "row-$mode" $mode 02 80 1f 10 09 09 09 ff ff ff ff ff ff ff ff ff 00 00 00 00
done
seed raw 00 53 51 4c 69 74 65
harts good '0 1 0 1 1 text=5 \n4294967295 0 0 0 1 records.txt=9 \n'
harts cut '0 1 0 1 1 text=5'
harts order '2 0 0 0 1 \n1 0 0 0 1 \n'
harts large '0 99999999999999999999 0 0 1 \n'
harts view '0 0 0 0 1 other=1 \n'
harts signs '0 -1 +1 0 1 \n'
harts none ''
