#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mountpoint and index directory within the archive: they are left out, and nothing waits for itself.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
plain_archive
mkdir "$archive/mnt" "$archive/cache"
echo inner >"$archive/cache/file"
mnt=$archive/mnt index=$archive/cache
do_mount 2>"$tmp/err"
[ -s "$tmp/err" ] && fail "an empty mountpoint: $(cat "$tmp/err")"
timeout "$patience" ls -lR "$mnt" >"$tmp/tree" || fail "ls -lR ended with $?"
grep -q random.bin "$tmp/tree" || fail "the archive is not shown"
timeout "$patience" ls "$mnt" | grep -qx mnt && fail "the mountpoint is shown in itself"
timeout "$patience" ls "$mnt" | grep -qx cache && fail "the index directory is shown"
timeout "$patience" stat "$mnt/mnt" >/dev/null 2>&1 && fail "the mountpoint can be looked up in itself"
[ $? = 124 ] && fail "looking up the mountpoint in itself hangs"
timeout "$patience" stat "$mnt/cache/file" >/dev/null 2>&1 && fail "the index directory can be looked into"
timeout "$patience" cmp "$archive/random.bin" "$mnt/random.bin" || fail "a file differs"
# A part of the mount, mounted once more in the archive, is the mount itself: looking there would be a question to itself.
if [ "$(id -u)" = 0 ] && mkdir "$archive/again" && mount --bind "$mnt/sub" "$archive/again"; then
	timeout "$patience" ls -l "$mnt" >/dev/null || fail "ls ended with $?"
	timeout "$patience" cat "$mnt/again/hello.txt" >/dev/null 2>&1 && fail "the mount is shown in itself"
	umount -l "$archive/again"
fi
do_umount
# What it hides is told, and only that.
mnt=$archive/sub
do_mount 2>"$tmp/err"
grep -q "sub lies within the archive and is not empty" "$tmp/err" || fail "nothing is said of what is hidden: $(cat "$tmp/err")"
grep -q "sub lies within the archive and is not empty" "$log" || fail "nothing in the log"
do_umount
mnt=$tmp/mnt
echo mine >"$mnt/file"
do_mount 2>"$tmp/err"
[ -s "$tmp/err" ] && fail "a mountpoint elsewhere: $(cat "$tmp/err")"
do_umount
rm "$mnt/file"
finish
