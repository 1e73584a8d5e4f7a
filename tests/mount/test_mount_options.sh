#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every option of a mount does what it says when it is given to -o, as mount(8) and fstab give it.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive

# limit NAME: a number of status.json's cache.
limit() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$mnt/.hartfs/status.json" | head -n 1; }

list=wait,cache=16M,threads=1,jobs=1,chunk=1000,views=listing.txt,log=$log,verbose,verbose,nodev,noatime,index_dir=$index
timeout "$patience" "$hartfs" mount -o "$list" "$archive" "$mnt" || fail "mount -o $list ended with $?"
is_mounted "$mnt" || fail "not mounted"
[ -n "$(ls "$index")" ] || fail "-o index_dir: nothing in it"
[ "$(limit limit)" = 16777216 ] || fail "-o cache: the limit is $(limit limit)"
[ -z "$(find "$mnt" -name INDEXING)" ] || fail "-o wait does not wait"
[ "$(ls "$mnt/mini/rv32-mini@stf/hart0" | tr '\n' ' ')" = "at listing.txt profile where " ] || fail "-o views: $(ls "$mnt/mini/rv32-mini@stf/hart0")"
grep -q 'not among the views' "$mnt/mini/rv32-mini@stf/info.json" || fail "info.json does not say why views are missing"
grep -q 'onfined' "$mnt/.hartfs/log.txt" || fail "-o verbose: no debug line in log.txt"
grep -q 'is mounted' "$log" || fail "-o log: nothing in it"
grep ' nodev,\|,nodev,' /proc/self/mountinfo | grep -q " $mnt " || fail "-o nodev"
cat "$mnt/mini/rv32-mini@stf/hart0/listing.txt" >"$tmp/thousand"
do_umount
"$hartfs" cat --index-dir "$index" "$archive/mini/rv32-mini.stf" hart0/listing.txt | cmp - "$tmp/thousand" ||
	fail "-o chunk changes bytes"

: >"$log"
do_mount -o quiet,quiet,views=trace.stf+listing.txt,wait
[ -s "$log" ] && fail "-o quiet,quiet: the log has $(cat "$log")"
[ "$(ls "$mnt/mini/rv32-mini@stf/hart0" | tr '\n' ' ')" = "at listing.txt profile trace.stf where " ] || fail "two views with +"
do_umount

"$hartfs" mount --index-dir "$index" -o foreground "$archive" "$mnt" 2>"$tmp/foreground" &
front=$!
wait_until is_mounted "$mnt" || fail "-o foreground: not mounted"
kill -0 $front || fail "-o foreground: the command ended"
do_umount
wait $front || fail "-o foreground ended with $?"

# Root's mount, too, has neither programs with another user's rights nor devices.
do_mount -o suid,dev
grep " $mnt " /proc/self/mountinfo | grep nosuid | grep -q nodev || fail "-o suid,dev: $(grep " $mnt " /proc/self/mountinfo)"
do_umount

# Others see into the mount with allow_other alone.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	as_other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@" 2>/dev/null; }
	chmod 755 "$tmp"
	do_mount
	as_other ls "$mnt" >/dev/null && fail "another user sees into the mount without allow_other"
	do_umount
	do_mount -o allow_other
	as_other cmp "$archive/notes.md" "$mnt/notes.md" || fail "another user does not see into the mount with allow_other"
	chmod 600 "$archive/mini/rv32-mini.stf"
	as_other cat "$mnt/mini/rv32-mini@stf/hart0/listing.txt" >/dev/null && fail "who may not read a capture reads its views"
	do_umount
fi
finish
