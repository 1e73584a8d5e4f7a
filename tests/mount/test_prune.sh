#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs index --prune: what belongs to no capture any more goes, all else stays and is used again.
. "$(dirname "$0")/../lib/mount.sh"
short_archive
mkdir "$archive/described"
cp "$HARTFS_DATA/archive/mini/rv32-mini.stf" "$archive/described/trace.bin"
printf '[capture]\nformat = stf\ntrace = trace.bin\n' >"$archive/described/capture.ini"
h() { timeout "$patience" "$hartfs" "$@" --index-dir "$index"; }
prune() { h index --prune "$@" >"$tmp/out" 2>"$tmp/err" || fail "--prune $* ended with $?: $(cat "$tmp/err")"; }
state() { (cd "$index" && find . -type f -printf '%p %s %T@\n' | sort); }
# says FILES: so many were removed, or would be.
says() { grep -qE "^$1 files (removed|would go), " "$tmp/out" || fail "not $1: $(tail -n 1 "$tmp/out")"; }
indexes() { find "$index" -name '*.hfi' | wc -l; }

# Nothing to do: nothing is done.
h index "$archive" >/dev/null || fail "indexing ended with $?"
all=$(indexes)
[ "$all" -ge 2 ] || fail "there are $all indexes"
state >"$tmp/before"
prune
says 0
state | cmp - "$tmp/before" || fail "something went that is in use"

# Files of other people that look like ours stay.
other=$index/00000000000000000000000000000000
echo "not ours" >"$other.hfi"
echo "nor this" >"$other.listing.txt.0.hfv"
echo "nor this" >"$other.hfs"
echo "a note" >"$index/README"
prune
says 0
rm "$other".*

# One is gone, one changed; what a killed build left a while ago goes too, what is recent does not.
rm -r "$archive/boot"
touch -d '2020-01-01' "$archive/mini/rv32-mini.stf"
touch "$index/.11111111111111111111111111111111.hfi.part"
touch -d '3 days ago' "$index/.22222222222222222222222222222222.hfi.part"
state >"$tmp/before"
prune --dry-run
state | cmp - "$tmp/before" || fail "a dry run changed something"
would=$(grep -c ' bytes$' "$tmp/out")
grep -q '^\.2\{32\}\.hfi\.part: an interrupted build' "$tmp/out" || fail "no reason: $(cat "$tmp/out")"
prune
head -n 1 "$tmp/out" | grep -q "^$would files removed" || fail "the dry run promised $would: $(cat "$tmp/out")"
[ "$(indexes)" = $((all - 2)) ] || fail "$(indexes) of $all indexes are left"
[ -e "$index/.11111111111111111111111111111111.hfi.part" ] || fail "a recent private file went"
[ ! -e "$index/.22222222222222222222222222222222.hfi.part" ] || fail "an old private file stayed"
[ -e "$index/README" ] || fail "a foreign file went"
prune
says 0

# With a path it is indexed first. Then the archive as a whole goes.
prune "$archive"
[ "$(indexes)" = $((all - 1)) ] || fail "$(indexes) of $all indexes are there"
mv "$archive" "$archive.away"
prune -v
grep -q 'hfc: the archive is gone' "$tmp/out" || fail "no word of the archive: $(cat "$tmp/out")"
[ "$(indexes)" = 0 ] || fail "$(indexes) indexes of a gone archive are left"
[ -z "$(find "$index" -name '*.hf?')" ] || fail "left: $(ls "$index")"
mv "$archive.away" "$archive"

h index --dry-run "$archive" >/dev/null 2>&1
[ $? = 2 ] || fail "--dry-run without --prune is taken"
h index >/dev/null 2>&1
[ $? = 2 ] || fail "index without a path is taken"
finish
