#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What mounting and listing a large known archive costs: bench_catalogue.sh BUILD_DIR [CAPTURES [INSTRUCTIONS]]
# Makes that many small captures (10000 of 50 instructions) below $TMPDIR, indexes them, and mounts them again and again.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
count=${2:-10000} insns=${3:-50}
data=$(cd "$(dirname "$0")/../data" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-bench.XXXXXX")
archive=$tmp/archive mnt=$tmp/mnt index=$tmp/index
mkdir "$archive" "$mnt" "$index"
trap 'umount -l "$mnt" 2>/dev/null || fusermount3 -u -z "$mnt" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT

seconds() { # what the command takes
	local begun=$EPOCHREALTIME
	"$@" >/dev/null
	awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.2f s", b - a}'
}
mount_it() { "$build/hartfs" mount --index-dir "$index" "$@" "$archive" "$mnt"; }
umount_it() { "$build/hartfs" umount "$mnt"; }
metric() { awk -v m="hartfs_$1" '$1 == m {print $2}' "$mnt/.hartfs/metrics.prom"; }
settled() { until [ "$(metric searching)" = 0 ] && [ ! -s "$mnt/.hartfs/progress.txt" ]; do sleep 0.2; done; }
# The server is the younger of the two processes.
server() { pgrep -f "^$build/hartfs mount .*$tmp" | tail -n 1; }
memory() { awk '/^(VmRSS|VmHWM|RssAnon)/ {printf "%s %.1f MiB  ", $1, $2 / 1024}' "/proc/$(server)/status"; }
opened() { echo "probed $(metric files_probed_total), indexes opened $(metric indexes_opened_total)"; }

"$build/tests/make_trace" "$insns" 0 "$data/archive/mini/rv32-mini.stf" "$tmp/one.stf"
# In directories of 100, as people have them.
for ((i = 0; i < count; i += 100)); do
	mkdir "$archive/$((i / 100))"
	for ((k = i; k < i + 100 && k < count; k++)); do echo "$archive/$((i / 100))/run$k.stf"; done
done | xargs -n 100 sh -c 'for f; do cat "$0" >"$f"; done' "$tmp/one.stf"
echo "$count captures of $(stat -c %s "$tmp/one.stf") bytes"

echo "index ahead of time: $(seconds "$build/hartfs" index --index-dir "$index" "$archive")"
echo "index files: $(find "$index" -name '*.hf[iv]' | wc -l), catalogue: $(stat -c %s "$index"/*.hfc) bytes"
for pass in 1 2 3; do
	echo "mount $pass: $(seconds mount_it)"
	echo "  ls -lR at once: $(seconds ls -lR "$mnt"), $(ls -lR "$mnt" | wc -l) lines"
	echo "  ls -lR again: $(seconds ls -lR "$mnt")"
	settled
	echo "  $(opened)"
	echo "  memory: $(memory)"
	echo "  umount: $(seconds umount_it)"
done
rm "$index"/*.hfc
echo "mount without the catalogue: $(seconds mount_it)"
echo "  ls -lR: $(seconds ls -lR "$mnt")"
settled
echo "  $(opened)"
umount_it
touch "$archive/0/run1.stf"
echo "mount after a change of one file: $(seconds mount_it)"
echo "  ls -lR: $(seconds ls -lR "$mnt")"
settled
echo "  $(opened)"
umount_it
if command -v strace >/dev/null; then
	strace -f -qq -e trace=openat,openat2 -o "$tmp/trace" "$build/hartfs" mount -f --index-dir "$index" "$archive" \
		"$mnt" 2>/dev/null &
	until mountpoint -q "$mnt"; do sleep 0.1; done
	ls -lR "$mnt" >/dev/null
	settled
	umount_it
	wait
	grep -vE 'O_PATH|O_DIRECTORY' "$tmp/trace" | grep -cE '\.stf"' |
		sed 's/^/strace: captures opened: /' || true
	grep -cE '\.hf[iv]"' "$tmp/trace" | sed 's/^/strace: indexes opened: /' || true
fi
