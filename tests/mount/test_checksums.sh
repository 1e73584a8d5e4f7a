#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --checksums: with "all" every byte of a view is in a checksum of the index, without it some lines are. Both have tables of
# their own, the same bytes, and what verify says.
. "$(dirname "$0")/../lib/mount.sh"
short_archive
h() { timeout "$patience" "$hartfs" "$@" --index-dir "$index"; }
tables() { find "$index" -name "*.$1.*.hfv" | sort; }
# Bytes of all chunks, and those in checksums: checked FILE
checked() {
	echo "$(sqlite3 "file:$1?immutable=1" 'SELECT sum(size) FROM hart')|$(
		python3 "$(dirname "$0")/../lib/index_chunks.py" "$1" checked | awk '{sum += $2} END {print sum + 0}')"
}

h index -q --checksums=most "$archive" 2>/dev/null && fail "--checksums=most is taken"
h index -q --pack-below=1 --chunk=1000 --checksums=all "$archive" || fail "indexing ended with $?"
for view in listing.txt records.txt etrace_trace.bin; do
	[ -n "$(tables "$view")" ] || fail "there is no table of $view"
	for table in $(tables "$view"); do
		sums=$(checked "$table")
		[ "${sums%|*}" = "${sums#*|}" ] || fail "$view: of ${sums%|*} bytes ${sums#*|} are checked"
	done
done
h verify -q --pack-below=1 --chunk=1000 --checksums=all "$archive" || fail "verify ended with $?"

# Without it the two text views are indexed anew, and nothing else is.
all=$(tables listing.txt) records=$(tables records.txt | wc -l) traces=$(tables etrace_trace.bin)
h index -q --pack-below=1 --chunk=1000 "$archive" || fail "indexing ended with $?"
[ "$(tables listing.txt | wc -l)" = $((2 * $(wc -l <<<"$all"))) ] || fail "listing.txt has no tables of its own"
[ "$(tables records.txt | wc -l)" = $((2 * records)) ] || fail "records.txt has no tables of its own"
[ "$(tables etrace_trace.bin)" = "$traces" ] || fail "etrace/ has other tables"
some=$(tables listing.txt | grep -vxF "$all")
size=0 sum=0
for table in $some; do
	sums=$(checked "$table")
	size=$((size + ${sums%|*})) sum=$((sum + ${sums#*|}))
done
[ "$sum" -gt 0 ] && [ "$sum" -lt $((size / 2)) ] || fail "$sum of $size bytes are checked where some should be"

# The same bytes, whole and in small pieces.
capture=$(find "$archive" -name '*.stf*' -size +20k | sort | head -n 1)
h cat --chunk=1000 "$capture" hart0/listing.txt >"$tmp/some" || fail "cat ended with $?"
h cat --chunk=1000 --checksums=all "$capture" hart0/listing.txt >"$tmp/all" || fail "cat ended with $?"
cmp "$tmp/all" "$tmp/some" || fail "listing.txt differs"
do_mount --wait --chunk=1000 --checksums=all
listing=$(find "$mnt" -path "*/$(basename "${capture%%.*}")*/hart0/listing.txt" | head -n 1)
[ -n "$listing" ] || fail "there is no listing of $capture"
for at in 0 1234 54321; do
	dd if="$listing" bs=1 skip=$at count=200 status=none | cmp - <(tail -c +$((at + 1)) "$tmp/some" | head -c 200) || fail "at $at"
done
do_umount

# A damaged table is found by those whose it is.
first=$(head -n 1 <<<"$all")
printf 'x' | dd of="$first" bs=1 seek=9000 conv=notrunc status=none
h verify -q --pack-below=1 --chunk=1000 --checksums=all "$archive" >"$tmp/out" 2>&1 && fail "verify does not see the damage"
h verify -q --pack-below=1 --chunk=1000 "$archive" || fail "verify of the others ended with $?"
finish
