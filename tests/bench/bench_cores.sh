#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a second core gives a reader of one listing.txt through the mount: bench_cores.sh BUILD_DIR CAPTURE [ROUNDS]
# Server and reader together are bound to one core and to two, in turn; of the rounds (5) the best times count.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
capture=$(realpath "$2")
rounds=${3:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-bench.XXXXXX")
archive=$tmp/archive mnt=$tmp/mnt index=$tmp/index
mkdir "$archive" "$mnt" "$index"
trap 'umount -l "$mnt" 2>/dev/null || fusermount3 -u -z "$mnt" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
cp "$capture" "$archive/"
hz=$(getconf CLK_TCK)

# one CORES VIEW: seconds on the clock, then CPU seconds of the server.
one() {
	local begun server ticks
	taskset -c "$1" "$build/hartfs" mount --index-dir "$index" --wait "$archive" "$mnt"
	server=$(pgrep -f "^$build/hartfs mount .*$tmp" | tail -n 1)
	begun=$EPOCHREALTIME
	taskset -c "$1" cat "$mnt"/*/hart*/"$2" >/dev/null
	awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.3f ", b - a}'
	ticks=$(awk '{print $14 + $15}' "/proc/$server/stat")
	awk -v t="$ticks" -v hz="$hz" 'BEGIN {printf "%.2f\n", t / hz}'
	"$build/hartfs" umount "$mnt"
}

"$build/hartfs" index -q --index-dir "$index" "$archive"
for view in listing.txt trace.stf; do
	for cores in 0 0,1; do :>"$tmp/$cores"; done
	for ((i = 0; i < rounds; i++)); do
		for cores in 0 0,1; do one $cores $view >>"$tmp/$cores"; done
	done
	for cores in 0 0,1; do
		sort -n "$tmp/$cores" | awk -v v="$view" -v c="$cores" \
			'NR == 1 {printf "%s, cores %s: best %.2f s on the clock (server %.2f s CPU)", v, c, $1, $2}
			 {all = all " " $1} END {print "; all:" all}'
	done
	paste -d ' ' <(sort -n "$tmp/0" | head -n 1) <(sort -n "$tmp/0,1" | head -n 1) |
		awk -v v="$view" '{printf "%s: %.2f times as fast on two cores\n", v, $1 / $3}'
done
