#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An index directory that an earlier build made (tests/data/README.md): nothing of it is used or changed, everything is
# indexed anew beside it, --prune removes what is old, and so does --index-limit: used longest ago, it goes first.
. "$(dirname "$0")/../lib/mount.sh"
tar -xJf "$HARTFS_DATA/index-0.1.0.tar.xz" -C "$tmp" || fail "cannot unpack"
mv "$tmp"/ix/* "$index"
cp -r "$HARTFS_DATA"/archive/* "$tmp/ar/small" "$archive"
# The indexes are of files with this time.
find "$archive" -type f -exec touch -d '2026-01-01 00:00:00 UTC' {} +

h() { "$hartfs" "$@"; }
old=$(cd "$index" && ls)
sums() { (cd "$index" && sha256sum $old); }
sums >"$tmp/before"

h index --index-dir="$index" "$archive" >"$tmp/out" || fail "index ended with $?"
grep -q "^indexes of older versions: $(wc -w <<<"$old") files, .* MB; --prune removes them$" "$tmp/out" || fail "$(cat "$tmp/out")"
sums | cmp - "$tmp/before" || fail "a file of the earlier build was changed"
new=$(cd "$index" && ls | grep -cvxF "$old")
[ "$new" = "$(wc -w <<<"$old")" ] || fail "$new files were made beside these: $old"

for capture in boot/rv-sys.stf.gz mini/rv32-mini.stf small/later.stf; do
	h cat --index-dir="$index" "$archive/$capture" hart0/listing.txt | cmp - <(
		h cat --index-dir="$tmp/fresh" "$archive/$capture" hart0/listing.txt) || fail "another listing of $capture"
done
[ "$(h find --index-dir="$index" "$archive/boot/rv-sys.stf.gz" --write 80005360/8 --count)" = \
	"$(h find --index-dir="$tmp/fresh" "$archive/boot/rv-sys.stf.gz" --write 80005360/8 --count)" ] || fail "another answer"

# Under a limit old files count like new ones, and go as captures; of the new ones none is lost, however small the limit.
cp -a "$index" "$tmp/limited"
(cd "$tmp/limited" && touch -d '9 days ago' $old)
left() { (cd "$tmp/limited" && ls $old 2>/dev/null | wc -l); }
limited() { h index --index-dir="$tmp/limited" --index-limit="$1" "$archive" >"$tmp/out" || fail "--index-limit=$1 ended with $?"; }
all=$(find "$tmp/limited" -type f -printf '%s\n' | awk '{n += $1} END {print n}')
limited "$all"
grep -q "^0 files used longest ago removed, 0 bytes; $all bytes stay$" "$tmp/out" || fail "within the limit: $(cat "$tmp/out")"
limited $((all - 1))
was=$(left)
[ "$was" -lt "$(wc -w <<<"$old")" ] && [ "$was" -gt "$(ls "$tmp/limited" | grep -c 'hfc$')" ] || fail "$was old files: $(cat "$tmp/out")"
grep -q "^$(($(wc -w <<<"$old") - was)) files used longest ago removed, " "$tmp/out" || fail "$(cat "$tmp/out")"
limited 1
grep -q "^indexes of older versions: $was files, " "$tmp/out" || fail "$was old ones are not counted: $(cat "$tmp/out")"
(cd "$tmp/limited" && ls $old 2>/dev/null) | grep -v 'hfc$' && fail "old ones stay: $(cat "$tmp/out")"
(cd "$index" && ls | grep -vxF "$old") | (cd "$tmp/limited" && xargs sha256sum) >"$tmp/kept" || fail "a new one went"
(cd "$index" && ls | grep -vxF "$old" | xargs sha256sum) | grep -v 'hfc$' | cmp - <(grep -v 'hfc$' "$tmp/kept") || fail "a new one was made again"

h index --prune --index-dir="$index" | grep -q "^$(wc -w <<<"$old") files removed, " || fail "--prune left something old"
h index --index-dir="$index" "$archive" | grep "older versions" && fail "old ones that are not there"
[ "$(ls "$index" | wc -l)" = "$new" ] || fail "--prune took something new"
finish
