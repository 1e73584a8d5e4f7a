#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a summary costs at worst: bench_chase.sh BUILD_DIR INSTRUCTIONS [THREADS]. A loop follows pointers through 4 GiB and
# writes to each node (make_run, chase), so that no two accesses of a chunk are close to each other. Prints seconds of the
# processor, nanoseconds an instruction and the most memory of indexing with and without summary, and the bits of each part.
# 10^9 instructions take 3 GB below $TMPDIR.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
count=$2 threads=${3:-1}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-chase.XXXXXX")
trap 'rm -rf --one-file-system "$tmp"' EXIT
mkdir "$tmp/archive"

"$build/tests/make_run" 1 "$count" chase "$tmp/archive/run.zstf"
for summary in off on; do
	mkdir "$tmp/$summary"
	/usr/bin/time -f '%U %S %M' -o "$tmp/time" "$build/hartfs" index -q -j "$threads" --summary=$summary \
		--index-dir "$tmp/$summary" "$tmp/archive"
	awk -v count="$count" -v summary=$summary '{
		printf "summary %s: %.1f s, %.1f ns an instruction, at most %.0f MiB\n", summary, $1 + $2, ($1 + $2) * 1e9 / count, $3 / 1024
	}' "$tmp/time"
done
echo "bytes: capture $(stat -c %s "$tmp/archive/run.zstf"), summary $(stat -c %s "$tmp"/on/*.hfq)"
python3 "$here/summary_parts.py" "$tmp"/on/*.hfq "$count"
