#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mounts a collection of captures, good and damaged ones, and reads everything: every size is right, nothing fails but
# where a capture's own damage is, and the server survives.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/stf" ] || skip "HARTFS_CORPUS names no collection of captures"
archive=$HARTFS_CORPUS/stf
do_mount --wait
one=$(server)
count=0
while read -r file; do
	count=$((count + 1))
	size=$(stat -c %s "$mnt/$file") || fail "stat $file"
	got=$(cat "$mnt/$file" 2>"$tmp/err" | wc -c)
	# The stream itself of a container with a damaged chunk has a hole there.
	case $file in
	*/source.stf) grep -q ' of the container is damaged' "$mnt/${file%/*}/errors.txt" && continue ;;
	esac
	[ ! -s "$tmp/err" ] && [ "$got" = "$size" ] || fail "$file: $got bytes of $size; $(cat "$tmp/err")"
done < <(cd "$mnt" && find . -path '*@*' -type f -print)
[ "$count" -gt 100 ] || fail "only $count files of views"
[ "$(server)" = "$one" ] || fail "the server is another one"
do_umount
finish
