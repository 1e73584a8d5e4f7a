#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_index anew: tests/fuzz/seeds_index.sh. They are changes to files that the target makes itself.
set -eu
cd "$(dirname "$0")"
to=corpus/index
mkdir -p "$to"

seed() { # NAME MODE BYTES...: bytes in hexadecimal
	local name=$1
	shift
	printf "$(printf '\\x%s' "$@")" >"$to/$name"
}
seed index-valid 02
seed view-valid 03
seed index-sealed 06
seed view-sealed 07
# the file format version, the page count, the application id, the user version; then the same with right checksums
for mode in 02 03 06 07; do
	seed "header-$mode" $mode 00 12 00 02 02 02
	seed "pages-$mode" $mode 00 1c 00 04 00 00 00 03
	seed "application-$mode" $mode 00 44 00 01 41
	seed "user-$mode" $mode 00 3c 00 04 00 00 00 02
	seed "schema-$mode" $mode 00 00 1f 08 00 00 00 00 00 00 00 00
	seed "root-$mode" $mode 01 00 00 08 0d 00 00 00 ff 00 00 00
	seed "cells-$mode" $mode 02 08 00 08 ff ff 00 00 1f ff 00 01
	seed "interior-$mode" $mode 03 00 00 0c 05 00 00 00 01 1f f0 00 00 00 00 04
done
seed compared-index 16
seed compared-view 17
seed compared-cells 16 03 08 00 04 ff ff 00 00
seed compared-rows 17 01 00 0f 04 ff 01 02 03
seed part-index 0e
seed part-view 0f
seed part-cells 0e 03 08 00 04 ff ff 00 00
seed part-damaged 0a 02 08 00 04 ff ff 00 00
# with a write-ahead log
seed part-wal-index 0e 00 12 00 02 02 02
seed part-wal-view 0f 00 12 00 02 02 02
# a pack; its schema and table part are on the first pages
seed pack-valid 22
seed pack-damaged 22 02 08 00 04 ff ff 00 00
seed pack-user 26 00 3c 00 04 00 00 00 02
seed pack-schema 26 00 00 1f 08 00 00 00 00 00 00 00 00
for page in 01 02 03 05 08 0b 0c 0d; do
	seed "pack-cells-$page" 26 $page 00 00 0c 0d 00 00 00 03 1f 00 00 1f 80 00 08
	seed "pack-rows-$page" 26 $page f0 1e 10 ff 01 02 03 7f 00 00 11 05 06 07 08 41 42 43 44
done
seed raw 00 53 51 4c 69 74 65
