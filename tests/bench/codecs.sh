#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs of this folder that time one codec each, on the captures of a corpus: HARTFS_CORPUS=DIR tests/bench/codecs.sh
# Figures are CPU time of one core unless they say otherwise; on a busy machine they are too high.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C
corpus=${HARTFS_CORPUS:?is the directory of captures}
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
