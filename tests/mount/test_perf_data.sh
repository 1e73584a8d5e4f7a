#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# perf.data in an archive: of samples, an ordinary file, and hartfs info says why; with CoreSight trace a capture, as a file
# and as a directory, with the files in x.d; with any other trace a failed one whose reason leads on.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
seeds=$(cd "$(dirname "$0")/../fuzz/corpus/perf" && pwd)
mkdir "$archive/plain" "$archive/failed" "$archive/trace"
cp "$seeds/samples" "$archive/plain/perf.data"
gzip -c "$seeds/samples" >"$archive/plain/packed.gz"
head -c 100 "$seeds/coresight" >"$archive/plain/cut.data"
cp "$seeds/intel" "$archive/failed/intel.data"
cp "$seeds/coresight" "$archive/failed/damaged.data"
gzip -c "$seeds/recorded" >"$archive/failed/packed.gz"
cp "$seeds/riscv" "$archive/failed/riscv.data"
cp "$seeds/swapped" "$archive/failed/swapped.data"
for form in recorded recorded_pipe recorded_zstd; do
	cp "$seeds/$form" "$archive/trace/$form.data"
	mkdir -p "$archive/trace/$form.data.d/bin"
	{ head -c 4096 /dev/zero; printf '\x00\x80\x00\x54'; } >"$archive/trace/$form.data.d/bin/a"
done
mkdir "$archive/trace/perf.data"
cp "$seeds/recorded" "$archive/trace/perf.data/data"
cp -r "$archive/trace/recorded.data.d" "$archive/trace/perf.data.d"
rm -rf "${index:?}"/*

"$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >"$tmp/out" 2>&1
[ $? = 3 ] || fail "mount --wait of an archive with foreign trace in a perf.data did not end with 3: $(cat "$tmp/out")"
plain=$'cut.data\npacked.gz\nperf.data'
[ "$(ls "$mnt/plain")" = "$plain" ] || fail "a plain perf.data has views: $(ls "$mnt/plain")"
cmp -s "$mnt/plain/perf.data" "$seeds/samples" || fail "a plain perf.data is not itself"
grep -q plain/ "$mnt/.hartfs/status.json" && fail "status.json tells of an ordinary file"
# reason VIEW TEXT
reason() {
	grep -q '"state": "failed"' "$mnt/failed/$1/info.json" || fail "$1: $(cat "$mnt/failed/$1/info.json")"
	grep -q -- "$2" "$mnt/failed/$1/errors.txt" || fail "$1: $(cat "$mnt/failed/$1/errors.txt")"
}
reason intel.data@perf 'intel.data: .*another kind (AUXTRACE_INFO type 1).* perf script does'
reason riscv.data@perf 'RISC-V trace (type 8), .* capture.ini (format = etrace, framing = encap)'
reason swapped.data@perf 'swapped.data: .* big-endian machine'
reason damaged.data@ete 'damaged.data: .*is damaged: its header, or the record AUXTRACE_INFO'
reason packed@gz 'is compressed as a whole: unpack it'

wanted='# context pid=10 tid=10 mode=EL0
0 EL0 0000000000001000 54008000 b.eq #4096              -> 0000000000002000
# discontinuity 0000000000002000 -> ?
# doubt offset=26 trace was lost in or around this recording (AUX flags 1: 1 no room, 4 gaps, 8 the buffer was full)
# context pid=20 tid=20 mode=EL0
1 EL0 0000000000001000 54008000 b.eq #4096              -> 0000000000002000'
for view in recorded.data@ete recorded_pipe.data@ete recorded_zstd.data@ete perf.data@ete; do
	[ "$(sed 's/ *$//' "$mnt/trace/$view/hart1/listing.txt")" = "$wanted" ] ||
		fail "$view: $(ls "$mnt/trace" "$mnt/trace/$view") $(cat "$mnt/trace/$view/hart1/listing.txt" "$mnt/trace/$view/errors.txt")"
done
# another file in x.d is another version
{ head -c 4096 /dev/zero; printf '\x40\x00\x00\x54'; } >"$archive/trace/perf.data.d/bin/a"
for ((i = 0; i < patience; i++)); do
	grep -q '^0 .* 0000000000001008' "$mnt/trace/perf.data@ete/hart1/listing.txt" 2>"$tmp/err" && break
	sleep 1
done
[ "$i" -lt "$patience" ] || fail "another program: $(cat "$mnt/trace/perf.data@ete/hart1/listing.txt" "$tmp/err")"
do_umount

"$hartfs" find --count --index-dir "$index" "$archive/trace/recorded.data" --context tid=20 >"$tmp/out" 2>&1
grep -q '^1' "$tmp/out" || fail "find of a thread: $(cat "$tmp/out")"
"$hartfs" info "$archive/plain/perf.data" >"$tmp/out" 2>&1 && fail "info of an ordinary file: $(cat "$tmp/out")"
grep -q 'a perf.data without trace (no AUXTRACE_INFO record) is an ordinary file' "$tmp/out" || fail "$(cat "$tmp/out")"
rm -r "$archive/failed" "$archive/trace"
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >"$tmp/out" 2>&1 ||
	fail "mount --wait of ordinary perf.data files ended with $?"
[ "$(ls "$mnt/plain")" = "$plain" ] || fail "remembered otherwise: $(ls "$mnt/plain")"
do_umount
finish
