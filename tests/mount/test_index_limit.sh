#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --index-limit: the indexes used longest ago go, all files of a capture together; never one that is open somewhere, one
# used lately, a catalogue, or a file that is not ours.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
h() { timeout "$patience" "$hartfs" "$@" --index-dir "$index"; }
limit() { h index --prune --index-limit="$@" >"$tmp/out" 2>&1 || fail "--index-limit=$* ended with $?: $(cat "$tmp/out")"; }
size() { find "$index" -type f -printf '%s\n' | awk '{n += $1} END {print n}'; }
# add N: a capture and its index, used N days ago; its files are in files.N.
add() {
	cp "$HARTFS_DATA/archive/mini/rv32-mini.stf" "$archive/t$1.stf"
	touch -d "2020-01-0$1" "$archive/t$1.stf"
	ls "$index" >"$tmp/before"
	h index -q --pack-below=0 "$archive/t$1.stf" || fail "indexing ended with $?"
	ls "$index" | grep -vxF -f "$tmp/before" | grep -v 'hfc$' >"$tmp/files.$1"
}
age() { local n; for n; do (cd "$index" && xargs touch -d "$n days ago") <"$tmp/files.$n"; done; }
there() { [ -e "$index/$(head -n 1 "$tmp/files.$1")" ]; }
# whole N: all of its files are there, or none.
whole() { case $(cd "$index" && xargs ls 2>/dev/null <"$tmp/files.$1" | wc -l) in 0 | "$(wc -l <"$tmp/files.$1")") ;; *) fail "a part of t$1 went" ;; esac; }

for n in 1 2 3 4; do add $n; done
[ "$(wc -l <"$tmp/files.1")" -ge 2 ] || fail "an index has no two files"
h index -q --prune "$archive"
age 1 2 3 4
echo "not ours" >"$index/00000000000000000000000000000000.hfi"
touch -d '9 days ago' "$index/00000000000000000000000000000000.hfi"
all=$(size)

limit "$all"
there 4 || fail "something goes within the limit"
limit $((all - 1)) --dry-run
there 4 || fail "a dry run removes"
grep -q '^[2-9] files used longest ago would go' "$tmp/out" || fail "$(cat "$tmp/out")"
limit $((all - 1))
there 4 && fail "the one used longest ago stays"
for n in 1 2 3 4; do whole $n; done
there 3 && there 2 && there 1 || fail "more than one went"
[ "$(size)" -lt "$all" ] || fail "$(size) bytes are left"

# One that a mount has open stays, and what the mount shows is right and not indexed again. One used just now stays, too.
# The mount remembers what the catalogue says, and opens no index that nobody asks for.
do_mount
exec 5<"$mnt/t3@stf/hart0/listing.txt"
head -c 100000 <&5 >/dev/null
age 3
(cd "$index" && xargs touch <"$tmp/files.1")
limit 1
there 3 || fail "an index in use went"
there 1 || fail "an index that was used just now went"
there 2 && fail "an index that nobody uses stays"
grep -q 'more than --index-limit' "$tmp/out" || fail "no word that more is left: $(cat "$tmp/out")"
h cat "$archive/t3.stf" hart0/listing.txt | cmp - "$mnt/t3@stf/hart0/listing.txt" || fail "another listing"
exec 5<&-
h cat "$archive/t2.stf" hart0/listing.txt | cmp - "$mnt/t2@stf/hart0/listing.txt" || fail "another listing of what went"
do_umount
for n in 1 2 3; do age $n; done
limit 1
there 1 || there 3 && fail "what is not in use any more stays: $(cat "$tmp/out")"
[ -e "$index/00000000000000000000000000000000.hfi" ] || fail "a file that is not ours went"
ls "$index" | grep -q 'hfc$' || fail "the catalogue went"

# A mount keeps the limit when it indexes.
rm "$index"/*.hfi "$archive"/*
add 5
age 5
rm "$archive/t5.stf"
cp "$HARTFS_DATA/archive/mini/rv32-mini.stf" "$archive/t6.stf"
do_mount --wait --pack-below=0 --index-limit="$(size)"
gone() { ! there 5; }
wait_until gone || fail "a mount does not keep the limit"
whole 5
[ -s "$mnt/t6@stf/hart0/listing.txt" ] || fail "no listing"
do_umount
"$hartfs" index --index-limit=0 "$archive" 2>/dev/null && fail "a limit of nothing"
finish
