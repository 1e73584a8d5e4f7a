#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files whose name claims a trace format while their content is of none say so; other files are just files.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
: >"$archive/empty.stf"
printf '\001STX nothing' >"$archive/magic.stf"
printf 'ZSTF\240\206\1\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$archive/empty.zstf"
echo text | gzip >"$archive/text.stf.gz"
: >"$archive/empty"
echo text | gzip >"$archive/text.gz"
# A container in a container is not looked into, and says so.
gzip -c "$archive/magic.stf" | gzip >"$archive/nested.stf.gz.gz"
gzip -c "$archive/empty.zstf" >"$archive/nested.zstf.gz"
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" 2>/dev/null
[ $? = 3 ] || fail "mount --wait does not tell of them"
for name in empty.stf magic.stf empty.zstf text.stf.gz nested.stf.gz.gz nested.zstf.gz; do
	grep -q "^$name: " "$mnt/${name//./@}/errors.txt" || fail "$name has no error line"
	[ ! -e "$mnt/${name//./@}/hart0" ] || fail "$name has a hart"
done
grep -q 'a compressed file in a compressed file' "$mnt/nested@stf@gz@gz/errors.txt" || fail "gzip in gzip"
grep -q 'a compressed file in a compressed file' "$mnt/nested@zstf@gz/errors.txt" || fail ".zstf in gzip"
[ "$(cd "$mnt" && ls | wc -l)" -eq 14 ] || fail "other files have views too: $(ls "$mnt")"
do_umount
finish
