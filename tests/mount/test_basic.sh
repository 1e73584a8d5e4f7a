#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mounts, compares every file with the archive, unmounts; nothing is left and nothing was written.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
plain_archive
before=$(snapshot)

do_mount
grep -q " $mnt .* - fuse\.hartfs hartfs.043$archive ro" /proc/self/mountinfo || fail "not the source and options we promise"
for file in random.bin empty sub/hello.txt; do
	cmp "$archive/$file" "$mnt/$file" || fail "$file differs"
done
[ "$(readlink "$mnt/link")" = sub/hello.txt ] || fail "the link is another"
[ "$(cat "$mnt/link")" = hello ] || fail "the link leads elsewhere"
[ "$(stat -c %a "$mnt/random.bin")" = 444 ] || fail "mode $(stat -c %a "$mnt/random.bin")"
[ "$(stat -c '%s %Y' "$mnt/random.bin")" = "$(stat -c '%s %Y' "$archive/random.bin")" ] || fail "another size or time"
cmp <(tail -c 12345 "$archive/random.bin") <(tail -c 12345 "$mnt/random.bin") || fail "tail differs"
cmp <(dd if="$archive/random.bin" bs=1000 skip=777 count=10 status=none) \
	<(dd if="$mnt/random.bin" bs=1000 skip=777 count=10 status=none) || fail "dd differs"
for n in 1 2; do cmp "$archive/random.bin" "$mnt/random.bin" || echo differs >"$tmp/reader$n" & done
wait %1 %2
[ ! -e "$tmp/reader1" ] && [ ! -e "$tmp/reader2" ] || fail "two readers at once got other bytes"
[ -e "$mnt/.hartfs/status.json" ] || fail "no status.json"
stat "$mnt/missing" 2>/dev/null && fail "a file that does not exist exists"
echo new >"$archive/new.txt"
wait_until test -e "$mnt/new.txt" || fail "a new file does not appear"
rm "$archive/new.txt"

# Busy mounts are not torn down, unless lazily.
exec 5<"$mnt/random.bin"
"$hartfs" umount "$mnt" 2>"$tmp/err" && fail "a busy mount was unmounted"
is_mounted "$mnt" || fail "a refused umount unmounted"
grep -q 'in use' "$tmp/err" || fail "unclear: $(cat "$tmp/err")"
exec 5<&-
do_umount

do_mount
exec 5<"$mnt/random.bin"
"$hartfs" umount --lazy "$mnt" || fail "lazy umount ended with $?"
is_mounted "$mnt" && fail "still mounted after a lazy umount"
cmp "$archive/random.bin" - <&5 || fail "an open file stopped with a lazy umount"
exec 5<&-
wait_until no_servers || fail "a server is left after its last user"

# Once more, with the way of mount(8): archive first, no subcommand.
timeout "$patience" "$hartfs" "$archive" "$mnt" -o "rw,relatime,nodev,index_dir=$index,log=$log" || fail "mount(8)'s way: $?"
is_mounted "$mnt" || fail "mount(8)'s way does not mount"
do_umount
[ -z "$(ls -A "$mnt")" ] || fail "something is left in the mountpoint"
[ "$(snapshot | grep -v '^\. ')" = "$(echo "$before" | grep -v '^\. ')" ] || fail "the archive was written"
finish
