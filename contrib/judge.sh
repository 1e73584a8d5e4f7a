#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Asks hartfs find many random questions, with and without a summary, and compares the answers with what a brute search of
# listing.txt finds (tests/find/judge.py, which shares no code with hartfs). Prints the seed and how many questions of each
# kind there were, for each capture and chunk size, how many were wrong, and how many chunks were candidates and decoded.
#   contrib/judge.sh [COUNT [SEED [CAPTURE...]]]
# Captures of more than 200 KB are not asked with chunks of 1: each question would enter some 100,000 chunks.
# COUNT questions in all (100,000) for chunks of 1, 7, 1,000 and 16,384 instructions; the captures are those of tests/data
# and, if HARTFS_CORPUS is set, those of qemu/ in it. Status 1 if an answer is wrong.
set -eu
cd "$(dirname "$0")/.."
count=${1:-100000} seed=${2:-$RANDOM$RANDOM}
shift $(($# < 2 ? $# : 2))
captures=("$@")
[ ${#captures[@]} -gt 0 ] || mapfile -t captures < <(find "$PWD/tests/data/archive" "$PWD/tests/data/astf" \
	${HARTFS_CORPUS:+"$HARTFS_CORPUS/qemu"} -name '*.stf' -o -name '*.stf.gz' -o -name '*.astf' | sort)
build=build/release
cmake --preset release >/dev/null
cmake --build --preset release --target hartfs find_batch >/dev/null
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
each=$(((count + 4 * ${#captures[@]} - 1) / (4 * ${#captures[@]})))
status=0
for chunk in 1 7 1000 16384; do
	for capture in "${captures[@]}"; do
		if [ "$chunk" = 1 ] && [ "$(stat -L -c %s "$capture")" -gt 200000 ]; then
			echo "$capture: not asked with chunks of 1"
			continue
		fi
		mkdir "$tmp/index"
		python3 tests/find/judge.py "$build/hartfs" "$build/tests/find_batch" "$tmp/index" "$seed" "$each" "$chunk" \
			"$(realpath "$capture")" || status=1
		rm -rf "$tmp/index"
	done
done
exit $status
