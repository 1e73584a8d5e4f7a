#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The summary: a file beside the index, unless somebody says no; verify checks it, and --prune removes it with its capture.
. "$(dirname "$0")/../lib/mount.sh"
capture_archive
h() { timeout "$patience" "$hartfs" "$1" --index-dir "$index" "${@:2}"; }
summaries() { find "$index" -name '*.hfq' | wc -l; }

h index -q --no-summary "$archive" || fail "indexing ended with $?"
[ "$(summaries)" = 0 ] || fail "$(summaries) summaries that nobody wanted"
h index -q --summary=maybe "$archive" 2>/dev/null && fail "--summary=maybe is taken"
# Whoever only reads does not make one of what is indexed.
h cat "$archive/boot/rv-sys.stf.gz" hart0/listing.txt >/dev/null || fail "cat ended with $?"
h find "$archive/boot/rv-sys.stf.gz" --gap && fail "find found a gap"
[ "$(summaries)" = 0 ] || fail "$(summaries) summaries that cat or find made"

# Of what has been indexed it is made later; small captures have none.
h index -q "$archive" || fail "indexing ended with $?"
n=$(summaries)
[ "$n" -ge 1 ] || fail "there is none"
h index -q --summary off "$archive" || fail "indexing ended with $?"
[ "$(summaries)" = "$n" ] || fail "$(summaries) of $n are left"

# What it says is what the capture does, also with another number of threads.
first=$(find "$index" -name '*.hfq' | sort | head -n 1)
cp "$first" "$tmp/before"
h verify -q "$archive" || fail "verify ended with $?"
rm "$first"
h index -q -j 3 "$archive" || fail "indexing ended with $?"
for table in hart span page list inverse inverse_span inverse_page inverse_list; do
	sqlite3 "file:$first?immutable=1" "SELECT * FROM $table" >"$tmp/now.$table" 2>/dev/null || break
	sqlite3 "file:$tmp/before?immutable=1" "SELECT * FROM $table" | cmp - "$tmp/now.$table" || fail "table $table differs"
done

# Damage is found, and made good.
printf 'x' | dd of="$first" bs=1 seek=9000 conv=notrunc status=none
h verify -q "$archive" >"$tmp/out" 2>&1 && fail "verify does not see the damage"
grep -q 'hfq' "$tmp/out" || fail "verify does not name the file: $(cat "$tmp/out")"
h index -q "$archive" || fail "indexing ended with $?"
[ "$(summaries)" = "$n" ] || fail "$(summaries) of $n are there again"
h verify -q "$archive" || fail "verify ended with $?"

# All that is wrong of a capture is found at once: a page of the summary, and rows of an index whose capture became another
# one in place, with its size and its time.
mini=$archive/mini/rv32-mini.stf
mkdir "$tmp/both"
mini_of() { h "$1" --index-dir "$tmp/both" --chunk=1000 "$mini"; }
mini_of index >/dev/null || fail "indexing ended with $?"
cp -p "$mini" "$tmp/mini"
printf '\x93' | dd of="$mini" bs=1 seek=1000001 conv=notrunc status=none
cmp -s "$mini" "$tmp/mini" && fail "it is no other capture"
touch -r "$tmp/mini" "$mini"
printf 'x' | dd of="$(echo "$tmp/both"/*.hfq)" bs=1 seek=9000 conv=notrunc status=none
mini_of verify >"$tmp/out" && fail "verify finds nothing"
grep -q 'hfq is damaged' "$tmp/out" && grep -q 'hfi does not say what the capture does' "$tmp/out" ||
	fail "verify does not name both files: $(cat "$tmp/out")"
mini_of verify >"$tmp/out" || fail "verify left something for another time: $(cat "$tmp/out")"
cp -p "$tmp/mini" "$mini"

# It goes when its capture does.
mv "$archive" "$archive.away"
mkdir "$archive"
h index -q --prune "$archive" >"$tmp/out" || fail "--prune ended with $?"
[ "$(summaries)" = 0 ] || fail "$(summaries) are left of captures that are gone"

# Mounted with it, it is made behind the mount.
rmdir "$archive"
mv "$archive.away" "$archive"
do_mount -o summary=off --wait
[ "$(summaries)" = 0 ] || fail "the mount made $(summaries) that nobody wanted"
do_umount
rm -rf "$index"
do_mount --wait
[ "$(summaries)" = "$n" ] || fail "the mount made $(summaries) of $n"
do_umount

# A small capture is in a pack with its index alone; one that stands for many chunks has a summary, and so its own files.
rm -rf "$index"
cp "$archive/mini/rv32-mini.stf" "$tmp/one.stf"
size=$(stat -c %s "$tmp/one.stf")
h index -q --pack-below $((size + 1)) --chunk=100 "$tmp/one.stf" || fail "indexing ended with $?"
[ "$(find "$index" -name '*.hfp' | wc -l) $(summaries)" = "0 1" ] || fail "many chunks: $(ls "$index")"
h verify -q --pack-below $((size + 1)) --chunk=100 "$tmp/one.stf" || fail "verify ended with $?"
rm -rf "$index"
h index -q --pack-below $((size + 1)) --chunk=10000 "$tmp/one.stf" || fail "indexing ended with $?"
[ "$(find "$index" -name '*.hfp' | wc -l) $(summaries)" = "1 0" ] || fail "few chunks: $(ls "$index")"
finish
