#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An index directory that an earlier build made (tests/data/README.md): nothing of it is used or changed, everything is
# indexed anew beside it, and --prune removes what is old.
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

h index --prune --index-dir="$index" | grep -q "^$(wc -w <<<"$old") files removed, " || fail "--prune left something old"
h index --index-dir="$index" "$archive" | grep "older versions" && fail "old ones that are not there"
[ "$(ls "$index" | wc -l)" = "$new" ] || fail "--prune took something new"
finish
