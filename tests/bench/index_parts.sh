#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What each part of an index pass costs: the instructions that callgrind counts for one instruction of a trace, and for the
# start, with no view, with one view at a time, with all, and with a summary; beside them those of zstd alone. The load of the
# machine does not change them.
#   tests/bench/index_parts.sh BUILD CAPTURE.stf       BUILD: build/release
set -eu
build=$1 source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for millions in 1 4; do
	"$build/tests/make_trace" ${millions}000000 100000 "$source" "$tmp/$millions.zstf" >/dev/null
	"$build/hartfs" cat --index-dir "$tmp/kept" "$tmp/$millions.zstf" source.stf | zstd -q -3 -o "$tmp/$millions.zst"
done

# COMMAND...: the instructions it takes
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | sed -n 's/.*I *refs: *//p' | tr -d ,; }
index() {
	rm -rf "$tmp/index"
	count "$build/hartfs" index -q -j 1 --index-dir "$tmp/index" "$@"
}
# WHAT COMMAND...: the command is given the capture as its last argument
row() {
	local one four
	one=$("${@:2}" "$tmp/1.$suffix") four=$("${@:2}" "$tmp/4.$suffix")
	printf '%-34s %6d an instruction, start %5d million\n' "$1" $(((four - one) / 3000000)) $(((one - (four - one) / 3) / 1000000))
}
suffix=zst
row "zstd -dc" count zstd -dc
suffix=zstf
row "no view but records.txt" index --summary=off --views=program.elf
for view in listing.txt trace.stf trace.astf etrace ntrace; do
	row "and $view" index --summary=off --views=$view
done
row "all views" index --summary=off
row "all views and a summary" index
