#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What indexing an archive in shards asks of shared storage: bench_shards.sh BUILD_DIR [CAPTURES [SHARDS...]]. Makes that many
# (10000) captures of 50 instructions below $TMPDIR, and for each number of shards (1 2 4 100) indexes them anew, up to two
# shards at a time with one thread each; of more than four shards the first four. Up to 10,000 captures are indexed once more
# through bindfs, which counts the requests of a kernel that believes names and attributes for three seconds, as a client of
# NFS does.
set -eu
export LC_ALL=C
hartfs=$(cd "$1" && pwd)/hartfs count=${2:-10000}
shift $(($# > 2 ? 2 : $#))
[ $# -gt 0 ] || set -- 1 2 4 100
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-shards.XXXXXX")
mkdir "$tmp"/{data,mnt} "$tmp"/data/{archive,index}
trap 'umount -l "$tmp/mnt" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
"$here/small_captures.py" "$hartfs" "$here/../data/archive/mini/rv32-mini.stf" "$count" "$tmp/data/archive"

# shards OF ROOT: prints how many captures those that run have indexed, and the bytes that they read and wrote by system calls.
shards() {
	rm -rf "$tmp/data/index" && mkdir "$tmp/data/index"
	seq 0 $(($1 < 4 ? $1 - 1 : 3)) |
		xargs -P 2 -I{} "$hartfs" index -j 1 --index-dir "$2/index" --shard "{}/$1" "$2/archive" | grep -c ': indexed$'
	awk '/^[rw]char/ {print $2}' "/proc/$BASHPID/io"
}
TIMEFORMAT='%U %S %R'
for of; do
	took=$({ time shards "$of" "$tmp/data" >"$tmp/done" 2>/dev/null; } 2>&1)
	read -rd '' captures read written <"$tmp/done" || :
	echo "shards $of: $captures captures," "$(awk -v n="$captures" -v r="$read" -v w="$written" '{
		printf "%.2f ms of CPU a capture [%.1f s], %d bytes read and %d written a capture,", ($1 + $2) * 1000 / n, $3, r / n, w / n}' <<<"$took")" \
		"$(find "$tmp/data/index" -type f | wc -l) files of $(du -sb "$tmp/data/index" | awk -v n="$captures" '{printf "%d", $1 / n}')"
	[ "$count" -le 10000 ] && command -v bindfs >/dev/null || continue
	bindfs -d -o attr_timeout=3,entry_timeout=3,negative_timeout=3 "$tmp/data" "$tmp/mnt" 2>&1 | awk -v file="$tmp/done" -v of="$of" '
		/opcode: / {all++; kind[$4]++; up += $(NF - 2)}
		/ outsize: / {down += $NF}
		END {
			getline n <file
			printf "  %.1f requests a capture, %.1f kB there and %.1f kB back:", all / n, up / n / 1000, down / n / 1000
			for (k in kind) if (kind[k] / n >= 0.05) printf " %s %.1f", k, kind[k] / n
			printf "\n"
		}' &
	until mountpoint -q "$tmp/mnt"; do sleep 0.1; done
	shards "$of" "$tmp/mnt" >"$tmp/done"
	umount "$tmp/mnt"
	wait
done
