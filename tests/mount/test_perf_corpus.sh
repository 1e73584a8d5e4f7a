#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of simpleperf, and variants of them: the addresses that another decoder has of each.
. "$(dirname "$0")/../lib/mount.sh"
corpus=${HARTFS_CORPUS:-}/perf
[ -d "$corpus" ] || skip "HARTFS_CORPUS names no collection of captures"

# pcs CAPTURE: of all its harts
pcs() {
	local hart
	for hart in $("$hartfs" info --index-dir "$index" "$1" | grep -oE '^ +hart[0-9]+'); do
		"$hartfs" cat --index-dir "$index" "$1" "$hart/listing.txt"
	done | awk '/^[0-9]/ { sub(/^0*/, "", $3); print $3 }'
}
# judge NAME FILE PCS BIN
judge() {
	cp -r "$2" "$archive/$1"
	[ -z "$4" ] || cp -r "$4" "$archive/$1.d"
	pcs "$archive/$1" >"$tmp/got"
	grep -v '^#' "$3" | awk '{ sub(/^(0x)?0*/, "", $1); print $1 }' | cmp -s - "$tmp/got" ||
		fail "$1: $(wc -l <"$tmp/got") addresses are not those of $3"
}
for name in etmv4-v1 etmv4-v0 ete-raw-v1 etmv4-raw-v0; do
	judge "$name.data" "$corpus/$name/perf.data" "$corpus/$name/pcs.txt" "$corpus/$name/bin"
done
for name in pipe v2-hwid per-thread snapshot zstd; do
	judge "$name.data" "$corpus/variants/$name.data" "$corpus/etmv4-v1/pcs.txt" "$corpus/etmv4-v1/bin"
done
judge directory "$corpus/variants/directory" "$corpus/etmv4-v1/pcs.txt" "$corpus/etmv4-v1/bin"
judge kernel "$corpus/variants/directory-kcore" "$corpus/kernel-module/pcs.txt" ''
cp "$corpus/ete-missing-aux/perf.data" "$archive/missing.data"
"$hartfs" cat --index-dir "$index" "$archive/missing.data" errors.txt >"$tmp/out"
grep -q '6 recordings have no bytes in this file' "$tmp/out" || fail "recordings without bytes: $(cat "$tmp/out")"
cp "$corpus/kernel-v0-truncated/perf.data" "$archive/truncated.data"
"$hartfs" info --index-dir "$index" "$archive/truncated.data" >"$tmp/out"
grep -q 'trace was lost in or around this recording (AUX flags 1' "$tmp/out" || fail "truncated: $(head -n 3 "$tmp/out")"
finish
