#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What many small captures cost: bench_small.sh BUILD_DIR [CAPTURES [OPTION...]]. Makes that many (10000) of 50 instructions
# below $TMPDIR, indexes them with two threads and the options, mounts them, looks at all of them, and removes all. Times are
# CPU seconds, of the server where there is one; wall seconds stand in brackets.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
count=${2:-10000}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-small.XXXXXX")
archive=$tmp/archive mnt=$tmp/mnt index=$tmp/index
mkdir "$archive" "$mnt" "$index"
end() {
	for at in "$mnt" "$tmp/null"; do
		umount -l "$at" 2>/dev/null || fusermount3 -u -z "$at" 2>/dev/null || :
	done
	rm -rf --one-file-system "$tmp"
}
trap end EXIT

TIMEFORMAT='%U %S %R'
cpu_of() { # prints the CPU and wall time of a command
	local took
	took=$({ time "$@" >/dev/null 2>"$tmp/error"; } 2>&1) || { cat "$tmp/error"; return 1; }
	awk '{printf "%.2f s [%.2f]", $1 + $2, $3}' <<<"$took"
}
# The server is the younger of the two processes.
server() { pgrep -f "^$build/hartfs mount .*$tmp" | tail -n 1; }
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
served() { # CPU time of the server while a command runs, and wall time: PID COMMAND...
	local before begun=$EPOCHREALTIME
	before=$(ticks "$1")
	"${@:2}" >/dev/null
	awk -v t="$(($(ticks "$1") - before))" -v a="$begun" -v b="$EPOCHREALTIME" -v hz="$(getconf CLK_TCK)" \
		'BEGIN {printf "%.2f s [%.2f]", t / hz, b - a}'
}
memory() { awk '/^(VmHWM|RssAnon)/ {printf "%s %.1f MiB  ", $1, $2 / 1024}' "/proc/$pid/status"; }
metric() { awk -v m="hartfs_$1" '$1 == m {print $2}' "$mnt/.hartfs/metrics.prom"; }
settled() { until [ "$(metric searching)" = 0 ] && [ ! -s "$mnt/.hartfs/progress.txt" ]; do sleep 0.2; done; }
bytes() { find "$index" -type f -name "$1" -printf '%s\n' | awk '{n += $1} END {printf "%.1f MiB", n / 1048576}'; }

"$here/small_captures.py" "$build/hartfs" "$here/../data/archive/mini/rv32-mini.stf" "$count" "$archive"
echo "index: $(cpu_of "$build/hartfs" index -q -j 2 --index-dir "$index" "${@:3}" "$archive")"
echo "  bytes: $(bytes '*') ($(bytes '*.hfc') of them the catalogue), $(find "$index" -type f | wc -l) files"
echo "index again: $(cpu_of "$build/hartfs" index -q -j 2 --index-dir "$index" "${@:3}" "$archive")"
echo "mount: $(cpu_of "$build/hartfs" mount --index-dir "$index" "${@:3}" "$archive" "$mnt")"
pid=$(server)
settled
for pass in 1 2; do
	echo "  find over 1,000, $pass: $(served "$pid" find "$mnt/0/0")"
	echo "  ls -lR of 10,000, $pass: $(served "$pid" ls -lR "$mnt/0"), $(ls -lR "$mnt/0" | wc -l) lines"
done
echo "  names of all: $(served "$pid" find "$mnt" -maxdepth 3), $(find "$mnt" -maxdepth 3 | wc -l) of them"
echo "  a listing of each of 1,000: $(served "$pid" sh -c 'cat "$1"/0/0/*@stf/hart0/listing.txt' sh "$mnt")"
echo "  memory: $(memory)"
if command -v mksquashfs squashfuse >/dev/null; then
	mkdir "$tmp/tree" "$tmp/squash"
	cp -r "$mnt/0/0" "$tmp/tree"
	mksquashfs "$tmp/tree" "$tmp/tree.sqfs" -quiet -no-progress >/dev/null
	squashfuse "$tmp/tree.sqfs" "$tmp/squash"
	echo "  find over the same 1,000, squashfuse: $(served "$(pgrep -f "^squashfuse $tmp")" find "$tmp/squash")"
	fusermount3 -u "$tmp/squash"
fi
if [ -x "$build/tests/null_tree" ]; then
	find "$mnt/0" -printf '%d %y %s %f\n' >"$tmp/list"
	mkdir "$tmp/null"
	"$build/tests/null_tree" "$tmp/list" "$tmp/null" &
	until mountpoint -q "$tmp/null"; do sleep 0.1; done
	echo "  find over the same 10,000 from memory: $(served $! find "$tmp/null")"
	echo "  ls -lR of them: $(served $! ls -lR "$tmp/null")"
	fusermount3 -u "$tmp/null"
fi
"$build/hartfs" umount "$mnt"
echo "mount again: $(cpu_of "$build/hartfs" mount --index-dir "$index" "${@:3}" "$archive" "$mnt")"
"$build/hartfs" umount "$mnt"
