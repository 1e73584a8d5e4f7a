#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_stf_decode and fuzz_stf_state anew: tests/fuzz/seeds_stf.sh.
set -eu
cd "$(dirname "$0")"
streams=corpus/stf_decode blobs=corpus/stf_state
mkdir -p "$streams" "$blobs"

le() { # BYTES VALUE: little-endian
	for ((k = 0; k < $1; k++)); do printf "\\x$(printf %02x $(($2 >> 8 * k & 255)))"; done
}
rec() { # DESCRIPTOR [BYTES VALUE]...
	le 1 "$1"
	shift
	while [ $# -gt 0 ]; do
		le "$1" "$2"
		shift 2
	done
}
header() { # ISA IEM FEATURES [GENERATOR]
	printf '\1STF'
	rec 2 4 1 4 6
	rec 3 4 2; printf hi
	rec 4 2 "$1"
	rec 5 2 "$2"
	rec 6 1 "${4:-6}" 3 0x020100 2 3; printf gen
	rec 7 8 "$3"
	rec 8 4 0 4 7 4 8
	rec 9 8 0x80000000
	rec 10 4 128
	rec 13 4 6; printf rv64gc
	rec 19
}
nop() { rec 240 4 0x13; }
mode() { rec 100 8 0x4000000000000000 1 1 8 "$1"; }
accesses() {
	rec 31 8 0x80002000
	rec 40 2 5 1 0x21 8 77
	rec 40 2 5 1 0x33 8 1 8 2
	rec 41 2 9
	rec 50 8 0x1000 8 3 4 4096 1 2 8 1 8 2 8 3 8 4
	rec 60 8 0x1000 2 16 2 0x1f 1 1; rec 61 8 1; rec 61 8 2
	rec 60 8 0x2000 2 64 2 0 1 2; rec 61 8 3
	rec 62 8 0x3000 2 4 1 3 1 1 4 9 1 2; rec 63 8 4
	rec 230 1 4 4 0x13
	rec 241 2 0x4501
}
trap() {
	rec 100 8 13 1 3 8 0x80002002 8 0x13 8 0xbad
	rec 101 8 0x9000
	mode 1
	nop
	mode 0
	rec 101 8 0x80002002
	rec 240 4 0x10200073
}
loose() {
	rec 3 4 30; printf '%30s' comment
	rec 9 8 0x4000
	rec 5 2 1
	mode 2
}

{ header 1 2 0x80020; mode 3; nop; accesses; trap; loose; nop; nop; } >"$streams/rv64"
{ header 1 2 0x80020 12; nop; accesses; nop; } >"$streams/bits"
{ header 2 2 0x80000; accesses; rec 100 8 0x15 1 0; nop; rec 5 2 3; nop; } >"$streams/arm"
{ header 1 1 0; rec 100 4 0x80000007 1 1 8 0; rec 101 8 4; rec 100 4 0x40000000 1 1 8 1; nop; nop; } >"$streams/rv32"
{
	header 1 2 0x90020
	for i in 0 1 2 0 1; do
		rec 8 4 "$i" 4 "$i" 4 0
		rec 9 8 $((0x1000 * i + 0x1000))
		nop; accesses; trap
	done
} >"$streams/harts"
{ header 1 2 0x80020; nop; rec 4 2 1; rec 61 8 1; nop; rec 3 4 0x7fffffff; printf cut; } >"$streams/defects"
{
	printf '\1STF'; rec 2 4 1 4 6; rec 7 8 0x100000; rec 11 1 1; rec 12 1 1 2 3; printf clk; rec 19
	rec 251 8 1 8 2 1 1
	rec 250 8 1 8 2 1 1 2 2 1 0 1 5 1 2 4 9 1 1 1 1 1 2 1 3 8 4 2 2 2 7 8 5 2 9 2 3
	rec 250 8 2 8 2 1 1 2 0 1 5 8 9
} >"$streams/transactions"

# bytes of the decoder's blob; it; the encoder's
{ le 1 15; printf '\2\62\0\0\0\0\0\0\0\0\0\0\0\2\0'; printf '\1'; printf '%17s' | tr ' ' '\0'; } >"$blobs/start"
{ le 1 15; printf '\2\113\1\20\2\0\1\2\0\0\1\7\3\2\1'; printf '\1\7\3\0\0\2\4\0\23\0\0\0\0\1\2\3\4\0'; } >"$blobs/middle"
{ le 1 3; printf '\1\1\1\2'; } >"$blobs/refused"
