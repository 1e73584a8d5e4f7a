#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_index_dir anew: tests/fuzz/seeds_index_dir.sh. They are steps against the files that the target
# makes itself: 0 is the catalogue, then come, for each capture, its decode index and its view tables.
set -eu
cd "$(dirname "$0")"
to=corpus/index_dir
mkdir -p "$to"

step() { # WHAT FILE BYTES...: all in hexadecimal
	local what=$1 file=$2
	shift 2
	printf '\\x%s' "$what" "$file" "$(printf %02x $#)" 00 "$@"
}
seed() { # NAME ESCAPES
	printf "$2" >"$to/$1"
}
change=00 whole=01 cut=02 other=03 remove=04
page_count='00 1c 00 04 00 00 00 03'
version='00 3c 00 04 00 00 00 02'
schema='00 00 1f 08 00 00 00 00 00 00 00 00'
root='01 00 00 08 0d 00 00 00 ff 00 00 00'
cells='02 08 00 08 ff ff 00 00 1f ff 00 01'
row='02 80 1f 10 09 09 09 ff ff ff ff ff ff ff ff ff 00 00 00 00'

seed untouched ''
for file in 00 01 02 03 04; do
	seed "removed-$file" "$(step $remove $file)"
	seed "exchanged-$file" "$(step $other $file 05)"
	seed "cut-$file" "$(step $cut $file 00 11)$(step $cut 05 10 27)"
	for flags in 0 1 2 3; do # 1 with right checksums, 2 while the file system is open
		seed "damaged-$flags-$file" \
			"$(step ${flags}0 $file $cells)$(step ${flags}0 05 $page_count)$(step ${flags}0 00 $row)"
	done
done
for flags in 0 1; do
	seed "headers-$flags" "$(step ${flags}0 00 $version)$(step ${flags}0 01 $version)$(step ${flags}0 02 $version)"
	seed "schemas-$flags" "$(step ${flags}0 00 $schema)$(step ${flags}0 01 $root)$(step ${flags}0 02 $schema)"
	seed "cut-pages-$flags" "$(step 12 00 02)$(step 12 01 01)$(step 12 02 03)"
	seed "garbage-$flags" "$(step ${flags}1 00 53 51 4c)$(step ${flags}1 01 00)$(step ${flags}1 02)"
done
for flags in 0 1; do
	seed "private-$flags" "$(step ${flags}5 01 $cells)$(step ${flags}5 02)$(step ${flags}5 00 $row)$(step ${flags}5 06)"
	seed "private-log-$flags" "$(step ${flags}5 01 00 12 00 02 02 02)$(step ${flags}5 02 00 12 00 02 02 02)"
done
seed all-removed "$(for i in 00 01 02 03 04 05 06 07; do step $remove $i; done)"
seed all-removed-open "$(for i in 00 01 02 03 04 05 06 07; do step 24 $i; done)"
seed catalogue-of-nothing "$(for i in 01 02 03 04 05 06 07; do step $remove $i; done)"
seed exchanged-open "$(step 23 01 05)$(step 23 02 06)$(step 23 00 02)"
