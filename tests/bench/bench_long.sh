#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What one very long capture costs: bench_long.sh BUILD_DIR INSTRUCTIONS stf|etrace [THREADS]. Makes it below $TMPDIR with
# make_run, indexes and mounts it, reads a little of each large view, and removes all. 10^10 instructions are 9 GB as
# STF and 0.3 GB as E-Trace.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
count=$2 format=$3 threads=${4:-1}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-long.XXXXXX")
archive=$tmp/archive mnt=$tmp/mnt index=$tmp/index
mkdir "$archive" "$mnt" "$index"
trap 'fusermount3 -u -z "$mnt" 2>/dev/null || umount -l "$mnt" 2>/dev/null || true; rm -rf --one-file-system "$tmp"' EXIT

measured() { "$here/long_capture.py" run "$@"; }
# The server is the younger of the two processes.
server() { pgrep -f "^$build/hartfs mount .*$tmp" | tail -n 1; }
memory() { awk '/^(VmHWM|RssAnon)/ {printf "%s %.1f MiB  ", $1, $2 / 1024}' "/proc/$(server)/status"; }
bytes() { find "$1" -type f -printf '%s\n' | awk '{n += $1} END {printf "%.0f", n}'; }

case $format in
stf) capture=run.zstf ;;
etrace) capture=run ;;
*) echo "bench_long.sh: the format is stf or etrace" >&2; exit 2 ;;
esac
echo "make_run $count $format: $(measured "$build/tests/make_run" 1 "$count" "$format" "$archive/$capture")"
packed=$(bytes "$archive")
echo "  bytes: $packed"
echo "index with $threads threads: $(measured "$build/hartfs" index -q -j "$threads" --index-dir "$index" "$archive")"
echo "  bytes: $(bytes "$index"), $(awk -v a="$(bytes "$index")" -v b="$packed" 'BEGIN {printf "%.2f", a * 100 / b}')% of the capture"
find "$index" -type f -printf '    %s %f\n' | sort -k 2 | awk '{sub(/^[0-9a-f]+[.]/, "", $2); sub(/[.][0-9a-f]+[.]hfv$/, "", $2); print "    " $1, $2}'
echo "mount: $(measured "$build/hartfs" mount --wait --index-dir "$index" "$archive" "$mnt")"
for view in listing.txt trace.stf etrace/trace.bin; do
	for file in "$mnt"/run*/hart0/$view; do
		[ ! -e "$file" ] || echo "  $view: $("$here/long_capture.py" reads "$file" 200)"
	done
done
echo "  memory of the server: $(memory)"
echo "  last line: $(tail -n 1 "$mnt"/run*/hart0/listing.txt)"
echo "  errors.txt: $(cat "$mnt"/run*/errors.txt | wc -l) lines"
"$build/hartfs" umount "$mnt"
