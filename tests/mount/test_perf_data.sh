#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# perf.data in an archive: of samples, and with the trace of another machine, an ordinary file; with CoreSight or
# RISC-V trace a failed capture whose reason leads on.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
seeds=$(cd "$(dirname "$0")/../fuzz/corpus/perf" && pwd)
mkdir "$archive/plain" "$archive/trace"
cp "$seeds/samples" "$archive/plain/perf.data"
cp "$seeds/intel" "$archive/plain/intel.data"
gzip -c "$seeds/samples" >"$archive/plain/packed.gz"
head -c 100 "$seeds/coresight" >"$archive/plain/cut.data"
cp "$seeds/coresight" "$archive/trace/perf.data"
gzip -c "$seeds/pipe" >"$archive/trace/pipe.gz"
cp "$seeds/riscv" "$archive/trace/riscv.data"
rm -rf "${index:?}"/*

"$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >"$tmp/out" 2>&1
[ $? = 3 ] || fail "mount --wait of an archive with CoreSight trace in a perf.data did not end with 3"
plain=$'cut.data\nintel.data\npacked.gz\nperf.data'
[ "$(ls "$mnt/plain")" = "$plain" ] || fail "a plain perf.data has views: $(ls "$mnt/plain")"
cmp -s "$mnt/plain/perf.data" "$seeds/samples" || fail "a plain perf.data is not itself"
grep -q plain/ "$mnt/.hartfs/status.json" && fail "status.json tells of an ordinary file"
reason='this perf.data holds CoreSight trace (CS_ETM) of 6 trace units, .* see PERF.DATA in hartfs-ete(5)'
for view in trace/perf.data@perf trace/pipe@gz; do
	[ -e "$mnt/$view" ] || fail "there is no $view: $(ls "$mnt/trace")"
	grep -q '"state": "failed"' "$mnt/$view/info.json" || fail "$view: $(cat "$mnt/$view/info.json")"
	grep -q -- "$reason" "$mnt/$view/info.json" || fail "$view: $(cat "$mnt/$view/info.json")"
	grep -q -- "$reason" "$mnt/$view/errors.txt" || fail "$view: $(cat "$mnt/$view/errors.txt")"
done
grep -q 'RISC-V trace (type 8), .* capture.ini (format = etrace, framing = encap)' "$mnt/trace/riscv.data@perf/errors.txt" ||
	fail "RISC-V trace: $(ls "$mnt/trace") $(cat "$mnt/trace/riscv.data@perf/errors.txt")"
[ "$(grep -c -- "$reason" "$mnt/.hartfs/status.json")" = 2 ] || fail "$(cat "$mnt/.hartfs/status.json")"
do_umount

rm -r "$archive/trace"
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >"$tmp/out" 2>&1 ||
	fail "mount --wait of ordinary perf.data files ended with $?"
[ "$(ls "$mnt/plain")" = "$plain" ] || fail "remembered otherwise: $(ls "$mnt/plain")"
do_umount
finish
