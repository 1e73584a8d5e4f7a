#!/usr/bin/env bash
# Makes the seeds of fuzz_spool anew: tests/fuzz/seeds_spool.sh (needs zstd).
set -eu
cd "$(dirname "$0")"
to=corpus/spool
mkdir -p "$to"

le() { # BYTES VALUE
	for ((k = 0; k < $1; k++)); do printf "\\x$(printf %02x $(($2 >> 8 * k & 255)))"; done
}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

seed() { # NAME SEALED STREAM-SIZE: frames of 256 KiB of zeros, the last of less, and the table
	local left=$3 n=0 size
	{ le 1 "$2"; le 2 $(($3 / 16)); } >"$to/$1"
	: >"$work/table"
	while [ $left -gt 0 ]; do
		size=$((left < 262144 ? left : 262144))
		head -c $size /dev/zero | zstd -qc >"$work/frame"
		cat "$work/frame" >>"$to/$1"
		{ le 4 "$(stat -c %s "$work/frame")"; le 4 $size; } >>"$work/table"
		left=$((left - size)) n=$((n + 1))
	done
	{ le 4 0x184d2a5e; le 4 $((8 * n + 17)); cat "$work/table"; le 4 72; le 4 0; } >>"$to/$1"
	{ le 4 $((n + 1)); le 1 0; le 4 0x8f92eab1; } >>"$to/$1"
}
seed small 1 160
seed frames 1 800000
seed none 1 0
seed unsealed 0 160
