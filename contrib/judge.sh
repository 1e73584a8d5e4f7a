#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Asks hartfs find and hartfs state many random questions, with and without a summary, and compares the answers with what a
# brute search of listing.txt finds (tests/find/judge.py, which shares no code with hartfs, and has a model of calls of its
# own). Prints the seed and how many questions of each kind there were, for each capture and chunk size, how many were
# wrong, and how many chunks were candidates and decoded.
#   contrib/judge.sh [COUNT [SEED [CAPTURE...]]]
# COUNT questions in all (100,000) for chunks of 1, 7, 1,000 and 16,384 instructions; those of harts of more than 5,000
# instructions are not asked with chunks of 1: each question would enter all of these. The captures are those of tests/data
# and their packet views, and, if HARTFS_CORPUS is set, those of qemu/, stf/, etrace/, ntrace/ and ete/ in it. JUDGE_DIR: where
# to work. Status 1 if an answer is wrong.
set -eu
cd "$(dirname "$0")/.."
count=${1:-100000} seed=${2:-$RANDOM$RANDOM}
shift $(($# < 2 ? $# : 2))
build=build/release
cmake --preset release >/dev/null
cmake --build --preset release --target hartfs find_batch >/dev/null
tmp=$(mktemp -d ${JUDGE_DIR:+-p "$JUDGE_DIR"})
trap 'fusermount3 -u "$tmp/mnt" 2>/dev/null || :; rm -rf "$tmp"' EXIT

# Packet views of the recorded captures, as captures of their own.
packets() {
	mkdir "$tmp/mnt" "$tmp/views" "$tmp/packets" "$tmp/source"
	cp tests/data/archive/boot/rv-sys.stf.gz tests/data/astf/a64-sys.astf "$tmp/source/"
	"$build/hartfs" mount -q --wait --index-dir "$tmp/views" "$tmp/source" "$tmp/mnt" || return
	cp -r "$tmp/mnt/rv-sys@stf@gz/hart0/etrace" "$tmp/mnt/rv-sys@stf@gz/hart0/ntrace" "$tmp/mnt/a64-sys@astf/hart0/ete" \
		"$tmp/packets/"
	"$build/hartfs" umount "$tmp/mnt"
	printf '%s\n' "$tmp/packets/"*
}
corpus() {
	[ -n "${HARTFS_CORPUS:-}" ] || return 0
	find -L "$HARTFS_CORPUS/qemu" "$HARTFS_CORPUS/stf" -path '*/bad' -prune -o \
		\( -name '*.stf' -o -name '*.stf.gz' -o -name '*.stf.xz' -o -name '*.zstf' -o -name '*.astf' \) -size -4M -print
	find -L "$HARTFS_CORPUS/etrace" "$HARTFS_CORPUS/ntrace" "$HARTFS_CORPUS/ete" \
		\( -name capture.ini -o -name snapshot.ini \) -printf '%h\n'
}
captures=("$@")
[ ${#captures[@]} -gt 0 ] || mapfile -t captures < <(find "$PWD/tests/data/archive" "$PWD/tests/data/astf" \
	-name '*.stf' -o -name '*.stf.gz' -o -name '*.astf' | sort; packets; corpus | sort)
each=$(((count + 4 * ${#captures[@]} - 1) / (4 * ${#captures[@]})))
echo "${#captures[@]} captures, $each questions each, for every chunk size"
export tmp build seed each
# What is said of one capture is written together.
judge() {
	local place said status=0
	place=$(mktemp -d -p "$tmp")
	said=$place.said
	python3 tests/find/judge.py "$build/hartfs" "$build/tests/find_batch" "$place" "$seed" "$each" 1,7,1000,16384 \
		"$(realpath "$1")" >"$said" 2>&1 || status=1
	cat "$said"
	rm -rf "$place" "$said"
	return "$status"
}
export -f judge
status=0
printf '%s\0' "${captures[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'judge "$1"' judge || status=1
exit $status
