#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A capture that is replaced under the mount: its views become the new one's, and no reader gets a mix.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive
not() { ! "$@"; }
h() {
	timeout "$patience" "$hartfs" "$1" --index-dir "$index" "${@:2}"
}
mkdir "$archive/c"
cp "$archive/mini/rv32-mini.stf" "$archive/c/x.stf"
gzip -dc "$archive/boot/rv-sys.stf.gz" >"$tmp/other.stf"
h cat "$archive/mini/rv32-mini.stf" hart0/listing.txt >"$tmp/first"
cp "$tmp/other.stf" "$archive/mini/other.stf"
h cat "$archive/mini/other.stf" hart0/listing.txt >"$tmp/second"
cmp -s "$tmp/first" "$tmp/second" && fail "two captures with one listing"

do_mount --wait
view=$mnt/c/x@stf/hart0/listing.txt
cmp "$view" "$tmp/first" || fail "not the first capture's listing"
exec 5<"$view"
cp "$tmp/other.stf" "$archive/c/.new" && mv "$archive/c/.new" "$archive/c/x.stf"
is_second() { cmp -s "$view" "$tmp/second"; }
wait_until is_second || fail "the new capture does not appear"
# Who had the old one open gets the rest of it from the kernel's cache, or an error: nothing of the new one.
cat <&5 >"$tmp/old" 2>/dev/null
head -c "$(stat -c %s "$tmp/old")" "$tmp/first" | cmp - "$tmp/old" || fail "two versions in one reading"
exec 5<&-
rm "$archive/c/x.stf"
gone() { [ ! -e "$mnt/c/x@stf" ]; }
wait_until gone || fail "the views of a deleted capture stay"

# Names that the kernel has cached, of directories whose times stay the same.
shows() { ls "$1" | grep -qx "$2"; }
head -c 3000 /dev/zero >"$archive/c/later"
ls "$mnt/c" "$mnt/c" >/dev/null
shows "$mnt/c" "later@.*" && fail "zeros are a capture"
touch -r "$archive/c" "$tmp/time"
cat "$archive/mini/rv32-mini.stf" >"$archive/c/later"
[ "$(stat -c %y "$archive/c")" = "$(stat -c %y "$tmp/time")" ] || fail "the directory changed"
wait_until shows "$mnt/c" later@stf || fail "a file that became a capture has no views in the list"
wait_until shows "$mnt/c/later@stf" hart0 || fail "a directory shows no views when its capture is indexed"
: >"$archive/c/later"
wait_until not shows "$mnt/c" later@stf || fail "the views of a file that is no capture any more stay in the list"
do_umount
finish
