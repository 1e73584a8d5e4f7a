#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Small captures in packs: what is shown is the same; damage, a kill while packing and pruning are survived.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
data=$(dirname "$0")/../data
mkdir "$archive/many"
source=$(find "${HARTFS_DATA:-$data}" -name 'rv32-mini.stf' | head -1)
[ -n "$source" ] || skip "there is no rv32-mini.stf"
make_trace=$(dirname "$hartfs")/tests/make_trace
[ -x "$make_trace" ] || skip "there is no make_trace in the build directory"
ASAN_OPTIONS=detect_leaks=0 "$make_trace" 60 0 "$source" "$tmp/tiny.stf" >/dev/null || fail "make_trace"
# Captures with other times are others.
for i in {1..12}; do
	cp "$tmp/tiny.stf" "$archive/many/t$i.stf"
	touch -d "2020-01-01 00:00:$i" "$archive/many/t$i.stf"
done
pack() {
	timeout "$patience" "$hartfs" "$1" --pack-below 64K --index-dir "$index" "${@:2}"
}
plain() {
	timeout "$patience" "$hartfs" "$1" --index-dir "$index" "${@:2}"
}
files() {
	find "$index" -name "*.$1" | wc -l
}
"$hartfs" cat --index-dir "$tmp/other" "$archive/many/t1.stf" hart0/listing.txt >"$tmp/want" || fail "cat"
[ -s "$tmp/want" ] || fail "an empty listing"

# What waits is written once a second: a slow machine makes more than one, and may have to try again.
small() {
	rm -rf "${index:?}"/*
	pack index "$archive" >"$tmp/out" || fail "index ended with $?"
	packs=$(files hfp)
	size=$(find "$index" -name '*.hfp' -printf '%s\n' | awk '{n += $1} END {print n}')
	[ "$packs" -ge 1 ] && [ "$packs" -lt 12 ] && [ "$size" -lt 400000 ]
}
wait_until small || fail "$packs packs, $size bytes for 12 captures"
grep -q "12 captures: 12 indexed, 0 failed" "$tmp/out" || fail "$(cat "$tmp/out")"
[ "$(files hfi)" = 0 ] && [ "$(files hfv)" = 0 ] || fail "files beside the pack"

# Whoever does not pack uses it.
plain verify "$archive" >"$tmp/out" || fail "verify ended with $?"
grep -q "12 captures: 12 right, 0 failed" "$tmp/out" || fail "$(cat "$tmp/out")"
plain cat "$archive/many/t7.stf" hart0/listing.txt | cmp - "$tmp/want" || fail "cat from a pack differs"
plain index --prune "$archive" >/dev/null || fail "prune ended with $?"
[ "$(files hfi)" = 0 ] && [ "$(files hfp)" = "$packs" ] || fail "prune, or an index made again"
do_mount --wait
for i in 1 6 12; do
	cmp "$mnt/many/t$i@stf/hart0/listing.txt" "$tmp/want" || fail "t$i"
done
do_umount

# What is small without the option, and what is not.
rm -rf "${index:?}"/*
cp "$source" "$archive/large.stf"
plain index -q "$archive" || fail "index ended with $?"
[ "$(files hfi)" = 1 ] && [ "$(files hfp)" -ge 1 ] || fail "small captures: $(files hfp) packs, $(files hfi) indexes"
plain verify "$archive" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
rm -rf "${index:?}"/* "$archive/large.stf"
plain index -q --pack-below 0 "$archive" || fail "index ended with $?"
[ "$(files hfi)" = 12 ] && [ "$(files hfp)" = 0 ] || fail "--pack-below 0: $(files hfp) packs, $(files hfi) indexes"

# A mount packs, too, within a second or two.
rm -rf "${index:?}"/*
do_mount --pack-below 64K --wait
packed() {
	[ "$(files hfp)" -ge 1 ] && [ "$(files hfi)" = 0 ]
}
wait_until packed || fail "nothing is packed: $(ls "$index")"
cmp "$mnt/many/t3@stf/hart0/listing.txt" "$tmp/want" || fail "t3"
do_umount

# Damage: of a record it is told, and all of it is made again.
rm -rf "${index:?}"/*
pack index -q "$archive" || fail "index ended with $?"
name=$(find "$index" -name '*.hfp' | head -n 1)
printf 'damaged' | dd of="$name" bs=1 seek=$(($(stat -c %s "$name") - 300)) conv=notrunc status=none
pack verify "$archive" >"$tmp/out" && fail "verify of a damaged pack ended with 0"
grep -q 'is damaged in its pack; it was removed' "$tmp/out" || fail "$(cat "$tmp/out")"
pack index "$archive" >"$tmp/out" || fail "index of a damaged pack ended with $?"
grep -q "12 captures: 12 indexed, 0 failed" "$tmp/out" || fail "$(cat "$tmp/out")"
plain verify "$archive" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
damaged=$(files hfp)
for name in "$index"/*.hfp; do
	printf 'x' | dd of="$name" bs=1 seek=20 conv=notrunc status=none
done
pack index -q "$archive" || fail "index with damaged heads ended with $?"
plain verify "$archive" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
pack index --prune "$archive" >"$tmp/out" || fail "prune ended with $?"
grep -q "^$damaged files removed" "$tmp/out" || fail "of $damaged damaged packs some stay: $(cat "$tmp/out")"
plain verify "$archive" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"

# A kill at any moment.
for delay in 0.02 0.05 0.1 0.2 0.4; do
	rm -rf "${index:?}"/*
	"$hartfs" index -q --pack-below 64K --index-dir "$index" "$archive" &
	sleep $delay
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	pack index -q "$archive" || fail "index after a kill ended with $?"
	plain verify "$archive" >"$tmp/out" || fail "verify after a kill ended with $?: $(cat "$tmp/out")"
done

# The captures are gone: so is the pack.
rm "$archive"/many/t1*.stf
pack index -q --prune "$archive" || fail "prune ended with $?"
[ "$(files hfp)" -ge 1 ] || fail "the pack of captures that are there is gone"
plain cat "$archive/many/t3.stf" hart0/listing.txt | cmp - "$tmp/want" || fail "t3"
rm "$archive"/many/*.stf
plain index -q --prune "$archive"
[ "$(files hfp)" = 0 ] || fail "the pack of captures that are gone stays"
finish
