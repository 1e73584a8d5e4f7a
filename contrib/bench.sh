#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the bench table: HARTFS_CORPUS=DIR contrib/bench.sh [--against HARTFS] [--pairs N] [--rows REGEX] [--long] ...
# --against HARTFS  another hartfs program, measured in turn with this one
# --pairs N         how often each row is measured; the medians are printed (9)
# --rows REGEX      only these rows
# --instructions N  millions of instructions of the captures that most rows are measured on (10)
# --long            also the rows that take minutes a pair
# --no-count        without the instruction counts of callgrind
# --work DIR        keeps the captures it makes there for the next run
# --build HARTFS    measures that program instead of building this tree
# What is not installed (squashfuse, mksquashfs, trc_pkt_lister, valgrind, strace) is said in its row.
# tests/bench/README.md says how to read the table.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
corpus=${HARTFS_CORPUS:?is the directory of captures}
(cd "$here" && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null)
build=$here/build/release
exec python3 "$here/tests/bench/table.py" --build "$build/hartfs" --tools "$build/tests" --corpus "$corpus" "$@"
||||||| 585b4e9
cmake --preset release >/dev/null
cmake --build --preset release
build=$PWD/build/release
tests=$build/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

section() { printf '\n== %s\n' "$*"; }
# user COMMAND...: seconds of user time, its output thrown away.
user() { { TIMEFORMAT=%U; time "$@" >/dev/null 2>&1; } 2>&1; }

section "STF: index, listing, trace.stf, random reads (2 M instructions)"
"$tests/make_trace" 2000000 100000 "$corpus/qemu/rv-small/trace.stf.xz" "$work/small.zstf"
"$tests/bench_capture" "$work/small.zstf"
section "ASTF"
"$tests/bench_astf" "$corpus/qemu/a64-small/trace.astf"
section "E-Trace, decoding"
"$tests/bench_etrace" "$corpus"/etrace/{dhrystone,embench-crc32,embench-statemate}/c111_{delta,all}_rs4096/capture.ini
section "E-Trace, encoding: payload bits and ns an instruction"
"$tests/bench_etrace_encode" "$corpus/etrace/dhrystone/trace.csv.xz" 64
section "N-Trace"
for level in btm htm htm_cs8; do
	"$tests/bench_ntrace" "$corpus/ntrace/dhrystone/prog.elf" "$corpus/ntrace/dhrystone/nex-$level.bin" \
		"srcbits=0,xlen=64,implicit_return=$([ $level = htm_cs8 ] && echo 1 || echo 0)"
done
section "ETE, decoding"
"$tests/bench_ete" "$corpus/ete/snapshots/trace_file_cid_vmid"

section "Peers: seconds of user time for the whole of one capture"
"$build/hartfs" index -q --views=listing.txt+ete --index-dir "$work/index" "$corpus/qemu/a64-sys" 2>/dev/null || true
if command -v trc_pkt_lister >/dev/null; then
	mkdir "$work/mnt"
	"$build/hartfs" mount --wait --index-dir "$work/index" "$corpus/qemu/a64-sys" "$work/mnt"
	cp -r "$work"/mnt/trace@astf/hart0/ete "$work/ete"
	"$build/hartfs" umount "$work/mnt"
	"$build/hartfs" index -q --index-dir "$work/index2" --views=listing.txt "$work/ete"
	echo "ETE to text, 844,991 instructions: hartfs $(user "$build/hartfs" cat --index-dir "$work/index2" "$work/ete" hart0/listing.txt)" \
		"(a line an instruction), trc_pkt_lister $(cd "$work" && user trc_pkt_lister -ss_dir "$work/ete" -decode_only -logstdout)" \
		"(a line a range)"
else
	echo "no trc_pkt_lister (libopencsd-bin)"
fi
