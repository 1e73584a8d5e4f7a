#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of simpleperf beside what others have of them: `perf script -D` the records and where each recording lies, and
# OpenCSD, given these bytes as snapshots, the instructions.
. "$(dirname "$0")/../lib/mount.sh"
judge=$(cd "$(dirname "$0")" && pwd)/perf_judge.py
corpus=${HARTFS_CORPUS:-}/perf
[ -d "$corpus" ] || skip "HARTFS_CORPUS names no collection of captures"
command -v perf >/dev/null || skip "there is no perf (linux-perf)"
command -v trc_pkt_lister >/dev/null || skip "there is no trc_pkt_lister (libopencsd-bin)"
loop=/data/local/tmp/etm_test_loop

# ours CAPTURE: the addresses of all its harts
ours() {
	local hart
	for hart in $("$hartfs" info --index-dir "$index" "$1" | grep -oE '^ +hart[0-9]+'); do
		"$hartfs" cat --index-dir "$index" "$1" "$hart/listing.txt"
	done | awk '/^[0-9]/ { sub(/^0*/, "", $3); print $3 }'
}
# check NAME FILE PROGRAMS-DIRECTORY PROGRAM...
check() {
	local name=$1 file=$2 data=$2
	[ ! -d "$file" ] || data=$file/data
	cp -r "$file" "$archive/$name"
	[ -z "$3" ] || cp -r "$3" "$archive/$name.d"
	perf script -D -i "$file" >"$tmp/dump" 2>/dev/null
	python3 "$judge" bytes "$tmp/dump" "$data" "$tmp/theirs" || fail "$name: perf_judge"
	"$hartfs" cat --index-dir "$index" "$archive/$name" source.bin >"$tmp/ours"
	cmp "$tmp/ours" "$tmp/theirs" || fail "$name: recordings are not where perf has them"
	rm -rf "$tmp/snapshots"
	python3 "$judge" pcs "$tmp/dump" "$tmp/ours" "$tmp/snapshots" "${@:4}" >"$tmp/theirs" || fail "$name: perf_judge"
	ours "$archive/$name" | cmp - "$tmp/theirs" || fail "$name: OpenCSD has $(wc -l <"$tmp/theirs") instructions"
	count=$((count + $(wc -l <"$tmp/theirs")))
}
count=0
for name in etmv4-v1 etmv4-v0 ete-raw-v1 etmv4-raw-v0 kernel-module kernel-v0-truncated ete-missing-aux; do
	bin=$corpus/$name/bin
	[ -f "$bin/etm_test_loop" ] || bin=
	check "$name.data" "$corpus/$name/perf.data" "$bin" ${bin:+"$loop=$bin/etm_test_loop"}
	python3 "$judge" counts "$tmp/dump" >"$tmp/theirs"
	sed -n 's/^records: //p' "$corpus/$name/records.txt" | tr ',' '\n' | sed 's/^ //' | sort | diff - "$tmp/theirs" ||
		fail "$name: records"
done
for name in per-thread snapshot zstd; do
	check "v-$name.data" "$corpus/variants/$name.data" "$corpus/etmv4-v1/bin" "$loop=$corpus/etmv4-v1/bin/etm_test_loop"
done
check directory "$corpus/variants/directory" "$corpus/etmv4-v1/bin" "$loop=$corpus/etmv4-v1/bin/etm_test_loop"
kernel=$corpus/variants/directory-kcore
check kernel "$kernel" '' "0xffffff99f5897000=$kernel/kcore_dir/kcore@0x1000"
[ "$count" = 7598 ] || fail "OpenCSD has $count instructions in all, and not 7598"
"$hartfs" cat --index-dir "$index" "$archive/kernel" hart6/listing.txt | grep -q '<def_work_fn>\|<rq_stats_wakeup_callback>\|<wakeup_user' ||
	fail "functions of the module have no names"
finish
