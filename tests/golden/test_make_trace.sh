#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_trace, which the figures are taken with: what it writes is a capture, and the instructions in it are those that
# the emulator logged, over and over.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
make_trace=$(dirname "$HARTFS_BIN")/tests/make_trace
[ -x "$make_trace" ] || { echo "SKIPPED: $make_trace is not built" >&2; exit 77; }
mini=$HARTFS_DATA/archive/mini/rv32-mini.stf sys=$HARTFS_DATA/archive/boot/rv-sys.stf.gz

# check NAME CHUNK IN GOLDEN INSTRUCTIONS
check() {
	ASAN_OPTIONS=detect_leaks=0 "$make_trace" "$5" "$2" "$3" "$archive/$1" || { fail "$1: make_trace failed"; return; }
	"$hartfs" cat --index-dir "$index" "$archive/$1" hart0/listing.txt | listed_pcs >"$tmp/got"
	golden "$HARTFS_DATA/golden/$4/pcs.txt" >"$tmp/round"
	while cat "$tmp/round"; do :; done 2>/dev/null | head -n "$5" >"$tmp/want"
	same "$1" "$tmp/got" "$tmp/want"
	[ "$("$hartfs" cat --index-dir "$index" "$archive/$1" errors.txt | grep -c .)" = 0 ] || fail "$1 has errors"
}

# more than one round; this one has EVENTs whose metadata comes with another batch of events than their head
check sys.stf 0 "$sys" rv-sys 1000000
check sys.zstf 10000 "$sys" rv-sys 300000
check mini.stf 0 "$mini" rv32-mini 250000
finish
