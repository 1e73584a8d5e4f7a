#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An index directory that is full, read-only, forbidden, missing or vanishes: every view is there all the same, byte for
# byte, what is wrong is said, and what could not be written is written when it can be.
# HARTFS_ROOM_SIZES: sizes of the disk, in KiB.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
need_root
capture_archive
rm -r "$archive/boot"
head -c 600000 "$archive/mini/rv32-mini.stf" >"$archive/mini/a.stf"
head -c 400000 "$archive/mini/rv32-mini.stf" | gzip >"$archive/mini/b.stf.gz"
rm "$archive/mini/rv32-mini.stf"
captures=2
disk=$tmp/disk
mkdir "$disk"
leave_disk() {
	umount "$mnt" "$disk" 2>/dev/null || umount -l "$disk" 2>/dev/null
	return 0
}
trap 'leave_disk; cleanup' EXIT
mount -t tmpfs -o size=1m none "$disk" 2>/dev/null || skip "no tmpfs can be mounted"
umount "$disk"

# Every byte below the mount; how large the index is does not count.
sums() {
	(cd "$mnt" && find . "${steady[@]}" -type f ! -name info.json -exec cksum {} + &&
		find . "${steady[@]}" -name info.json -exec grep -v '"index_size"' {} +) 2>&1 | sort
}
same() { sums | cmp -s - "$tmp/truth"; }
published() { [ "$(find "$disk" -name '*.hfi' | wc -l)" = $captures ] && [ "$(find "$disk" -name '*.hfv' | wc -l)" = "$tables" ]; }
# Small captures have index files of their own where these are counted.
own=(--pack-below 0)
mount_on() {
	timeout "$patience" "$hartfs" mount --wait "${own[@]}" --index-dir "$1" --log "$log" "${@:2}" "$archive" "$mnt" 2>"$tmp/err"
}
status_has() { grep -q "$1" "$mnt/.hartfs/status.json"; }
no_failing() { status_has '"state": "ok"'; }
# The catalogue may be written just now.
no_parts() { [ -z "$(find "$disk" -name '*.part*')" ]; }

do_mount --wait "${own[@]}"
sums >"$tmp/truth"
grep -q 'hart0/listing.txt' "$tmp/truth" || fail "no views at all: $(cat "$tmp/truth")"
do_umount
tables=$(find "$index" -name '*.hfv' | wc -l)

for size in ${HARTFS_ROOM_SIZES:-4 120 300}; do
	mount -t tmpfs -o size="${size}k" none "$disk" || exit 1
	: >"$log"
	mount_on "$disk"
	status=$?
	same || fail "$size KiB: $(sums | diff - "$tmp/truth" | head -5)"
	if published; then
		[ $status = 0 ] || fail "$size KiB: all is written, but status $status"
	else
		[ $status = 3 ] || fail "$size KiB: status $status"
		grep -q "index directory $disk: .*: No space left on device" "$tmp/err" || fail "$size KiB: $(cat "$tmp/err")"
		grep -q "index directory $disk: .*: No space left on device" "$log" || fail "$size KiB: nothing in the log"
		status_has '"error": ".*No space left on device' || fail "$size KiB: $(cat "$mnt/.hartfs/status.json")"
		status_has '"failed": 0' || fail "$size KiB: captures failed"
		grep -q '^hartfs_index_directory_failing 1' "$mnt/.hartfs/metrics.prom" || fail "$size KiB: metrics.prom"
		[ "$(grep -c 'No space left' "$log")" -le 2 ] || fail "$size KiB: it is said again and again: $(cat "$log")"
	fi
	mount -o remount,size=16m "$disk"
	wait_until published || fail "$size KiB: not published: $(ls -la "$disk")"
	wait_until no_failing || fail "$size KiB: $(cat "$mnt/.hartfs/status.json")"
	same || fail "$size KiB: differs after there was room"
	wait_until no_parts || fail "$size KiB: left over: $(ls -A "$disk")"
	do_umount
	umount "$disk"
done

# The same with a capture that is small enough for a pack. Which of the files come first, and whether the small one gets
# files of its own after all, is a matter of time.
own=()
settled() { no_failing && status_has '"memory_files": 0' && no_parts; }
for size in ${HARTFS_ROOM_SIZES:-4 120 300}; do
	mount -t tmpfs -o size="${size}k" none "$disk" || exit 1
	mount_on "$disk"
	status=$?
	same || fail "packs, $size KiB: $(sums | diff - "$tmp/truth" | head -5)"
	# A pack is written a second later than its captures are ready.
	settled || [ $status = 3 ] || status_has '"error": ".*No space left' || fail "packs, $size KiB: status $status"
	mount -o remount,size=16m "$disk"
	wait_until settled || fail "packs, $size KiB: $(cat "$mnt/.hartfs/status.json"; ls -la "$disk")"
	same || fail "packs, $size KiB: differs after there was room"
	do_umount
	mount -o remount,ro "$disk"
	mount_on "$disk" || fail "packs, $size KiB: something was not written: $(cat "$tmp/err")"
	settled || fail "packs, $size KiB: made again: $(cat "$mnt/.hartfs/status.json")"
	do_umount
	umount "$disk"
done
own=(--pack-below 0)

# A spool goes before an index has no room.
mount -t tmpfs -o size=1000k none "$disk"
printf '\x28\xb5\x2f\xfd' >"$disk/00000000000000000000000000000000.hfs"
head -c 900000 /dev/zero >>"$disk/00000000000000000000000000000000.hfs"
"$hartfs" index "${own[@]}" --index-dir "$disk" "$archive/mini/a.stf" >/dev/null 2>"$tmp/err" || fail "spool: $(cat "$tmp/err")"
[ ! -e "$disk/00000000000000000000000000000000.hfs" ] || fail "the spool stays"
umount "$disk"

# hartfs index is there to write: it says so, once, and stops; cat does without.
mount -t tmpfs -o size=40k none "$disk"
for i in 1 2 3 4 5 6; do cp "$archive/mini/a.stf" "$archive/mini/a$i.stf"; touch -d "@$i" "$archive/mini/a$i.stf"; done
"$hartfs" index -j 1 "${own[@]}" --index-dir "$disk" "$archive" >"$tmp/out" 2>"$tmp/err"
[ $? = 4 ] || fail "index on a full disk did not end with 4: $(cat "$tmp/err")"
[ "$(grep -c 'No space left on device' "$tmp/err")" = 1 ] && [ "$(wc -l <"$tmp/err")" = 1 ] || fail "index: $(cat "$tmp/err")"
grep -q "^hartfs index: index directory $disk: " "$tmp/err" || fail "index: $(cat "$tmp/err")"
[ -z "$(find "$disk" -name '*.part*')" ] || fail "index leaves $(ls -A "$disk")"
rm "$archive"/mini/a[1-6].stf
"$hartfs" cat --index-dir "$index" "$archive/mini/a.stf" hart0/listing.txt >"$tmp/listing"
"$hartfs" cat --index-dir "$disk" "$archive/mini/a.stf" hart0/listing.txt 2>"$tmp/err" | cmp - "$tmp/listing" ||
	fail "cat on a full disk differs"
grep -q "index directory $disk: .*No space left" "$tmp/err" || fail "cat says nothing"
umount "$disk"

# Too little memory as well: captures wait, say so, and come by themselves.
mount -t tmpfs -o size=4k none "$disk"
mount_on "$disk" --cache 100K
[ $? = 3 ] || fail "captures wait, but not status 3"
grep -q 'waiting captures: 2' "$tmp/err" || fail "waiting: $(cat "$tmp/err")"
# Each is tried again from time to time.
wait_until grep -q 'waiting for the index directory: No space left on device' "$mnt/mini/a@stf/INDEXING" || fail "INDEXING"
wait_until grep -q '"state": "waiting for the index directory"' "$mnt/mini/a@stf/info.json" || fail "info.json"
wait_until grep -q '"reason": ".*No space left on device' "$mnt/mini/a@stf/info.json" || fail "info.json has no reason"
mount -o remount,size=16m "$disk"
wait_until published || fail "not published: $(ls -la "$disk")"
wait_until same || fail "differs after there was room"
do_umount
umount "$disk"

# Read-only: what is there is used; what is missing is made in memory.
mount -t tmpfs -o size=16m none "$disk"
mount -o remount,ro "$disk"
mount_on "$disk"
[ $? = 3 ] || fail "read-only: not status 3"
grep -q "index directory $disk: .*Read-only file system" "$tmp/err" || fail "read-only: $(cat "$tmp/err")"
same || fail "read-only: differs"
mount -o remount,rw "$disk"
wait_until published || fail "read-only: not published when it could be"
do_umount
mount -o remount,ro "$disk"
mount_on "$disk"
[ $? = 0 ] || fail "read-only, all there: not status 0: $(cat "$tmp/err")"
same || fail "read-only, all there: differs"
status_has '"memory_files": 0' || fail "read-only, all there: made again"
do_umount
"$hartfs" index --no-summary "${own[@]}" --index-dir "$disk" "$archive" >/dev/null 2>&1 || fail "read-only, all there: index ended with $?"
# What was made in memory has no summary.
"$hartfs" index "${own[@]}" --index-dir "$disk" "$archive" >/dev/null 2>&1
[ $? = 4 ] || fail "read-only, without summaries: not status 4"
touch "$archive/mini/a.stf"
"$hartfs" info --json --index-dir "$disk" "$archive/mini/a.stf" 2>"$tmp/err" | grep -q '"state": "ready"' || fail "read-only: info"
"$hartfs" cat --index-dir "$disk" "$archive/mini/a.stf" hart0/listing.txt 2>/dev/null | cmp - "$tmp/listing" ||
	fail "read-only: cat"
"$hartfs" index "${own[@]}" --index-dir "$disk" "$archive" >/dev/null 2>"$tmp/err"
[ $? = 4 ] && grep -q 'Read-only file system' "$tmp/err" || fail "read-only: index: $(cat "$tmp/err")"

# Where it is to be made nothing can be made: the mount does without. A name that can be none is refused.
mount_on "$disk/below/index"
[ $? = 3 ] || fail "no directory: not status 3"
grep -q "index directory $disk/below/index: opening failed: Read-only file system" "$tmp/err" || fail "none: $(cat "$tmp/err")"
same || fail "no directory: differs"
do_umount
mount_on "$archive/notes.md/index" && fail "a file for a directory was taken"
grep -q 'index directory cannot be used: Not a directory' "$tmp/err" || fail "a file: $(cat "$tmp/err")"
"$hartfs" index "${own[@]}" --index-dir "$disk/below" "$archive" 2>"$tmp/err" && fail "index without a directory succeeds"
grep -q 'Read-only file system' "$tmp/err" || fail "index without a directory: $(cat "$tmp/err")"
umount "$disk"

# It vanishes under the mount.
mount_on "$tmp/gone" || fail "mount ended with $?: $(cat "$tmp/err")"
rm -rf "$tmp/gone"
find "$mnt" -type f -exec dd if={} iflag=nocache count=0 status=none \; # what the kernel has of it in its cache
wait_until same || fail "vanished: $(sums | diff - "$tmp/truth" | head -5)"
do_umount

# An ordinary user's, who may not write there.
if command -v setpriv >/dev/null; then
	chmod 755 "$tmp"
	mkdir -m 0555 "$tmp/forbidden"
	cp "$hartfs" "$tmp/hartfs" && chmod 755 "$tmp/hartfs"
	as() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$tmp" "$@"; }
	as "$tmp/hartfs" cat --index-dir "$tmp/forbidden" "$archive/mini/a.stf" hart0/listing.txt 2>"$tmp/err" | cmp - "$tmp/listing" ||
		fail "forbidden: cat differs: $(cat "$tmp/err")"
	grep -q 'Permission denied' "$tmp/err" || fail "forbidden: $(cat "$tmp/err")"
	as "$tmp/hartfs" index --index-dir "$tmp/forbidden" "$archive/mini/a.stf" 2>"$tmp/err"
	[ $? = 4 ] && grep -q 'Permission denied' "$tmp/err" || fail "forbidden: index: $(cat "$tmp/err")"
	chown 65534 "$tmp/forbidden" && chmod 0500 "$tmp/forbidden"
	as "$tmp/hartfs" cat --index-dir "$tmp/forbidden" "$archive/mini/a.stf" hart0/listing.txt 2>/dev/null | cmp - "$tmp/listing" ||
		fail "mode 0500: cat differs"
fi
finish
