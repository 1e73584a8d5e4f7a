#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --summary: a file beside the index, only if it is asked for; verify checks it, and --prune removes it with its capture.
. "$(dirname "$0")/../lib/mount.sh"
capture_archive
h() { timeout 120 "$hartfs" "$@" --index-dir "$index"; }
summaries() { find "$index" -name '*.hfq' | wc -l; }

h index -q "$archive" || fail "indexing ended with $?"
[ "$(summaries)" = 0 ] || fail "$(summaries) summaries that nobody wanted"
h index -q --summary=maybe "$archive" 2>/dev/null && fail "--summary=maybe is taken"

# Of what has been indexed it is made later; small captures have none.
h index -q --summary on "$archive" || fail "indexing ended with $?"
n=$(summaries)
[ "$n" -ge 1 ] || fail "there is none"
h index -q --summary off "$archive" || fail "indexing ended with $?"
[ "$(summaries)" = "$n" ] || fail "$(summaries) of $n are left"

# What it says is what the capture does, also with another number of threads.
first=$(find "$index" -name '*.hfq' | sort | head -n 1)
cp "$first" "$tmp/before"
h verify -q "$archive" || fail "verify ended with $?"
rm "$first"
h index -q -j 3 --summary on "$archive" || fail "indexing ended with $?"
for table in hart span page list inverse inverse_span inverse_page inverse_list; do
	sqlite3 "file:$first?immutable=1" "SELECT * FROM $table" >"$tmp/now.$table" 2>/dev/null || break
	sqlite3 "file:$tmp/before?immutable=1" "SELECT * FROM $table" | cmp - "$tmp/now.$table" || fail "table $table differs"
done

# Damage is found, and made good.
printf 'x' | dd of="$first" bs=1 seek=9000 conv=notrunc status=none
h verify -q "$archive" >"$tmp/out" 2>&1 && fail "verify does not see the damage"
grep -q 'hfq' "$tmp/out" || fail "verify does not name the file: $(cat "$tmp/out")"
h index -q --summary on "$archive" || fail "indexing ended with $?"
[ "$(summaries)" = "$n" ] || fail "$(summaries) of $n are there again"
h verify -q "$archive" || fail "verify ended with $?"

# It goes when its capture does.
mv "$archive" "$archive.away"
mkdir "$archive"
h index -q --prune "$archive" >"$tmp/out" || fail "--prune ended with $?"
[ "$(summaries)" = 0 ] || fail "$(summaries) are left of captures that are gone"

# Mounted with it, it is made behind the mount.
rmdir "$archive"
mv "$archive.away" "$archive"
do_mount --summary=on --wait
[ "$(summaries)" = "$n" ] || fail "the mount made $(summaries) of $n"
do_umount
finish
