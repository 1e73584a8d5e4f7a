#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Indexing ahead of time, behind a mount, in parts, and again; info and cat without a mount.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive
before=$(snapshot)
captures=$(find "$archive" -name '*.stf*' | wc -l)
h() {
	timeout "$patience" "$hartfs" "$1" --index-dir "$index" "${@:2}"
}

# A mount that nobody prepared: ls never waits, and in the end everything is there.
do_mount
timeout "$patience" ls -lR "$mnt" >/dev/null || fail "ls -lR waits for indexes"
[ -n "$(view_dirs)" ] || fail "no directory of views before indexing"
all_indexed() {
	local found
	[ -n "$(listings)" ] && found=$(find "$mnt" -name INDEXING) && [ -z "$found" ]
}
wait_until all_indexed || fail "indexing behind the mount does not end"
for listing in $(listings); do
	[ -s "$mnt/$listing" ] || fail "$listing is empty"
done
do_umount

# An index of an earlier mount serves, and none is made; again and again, because looking at the archive goes on meanwhile.
none_made() { grep -q '^hartfs_indexed_total 0$' "$mnt/.hartfs/metrics.prom"; }
for pass in 1 2 3 4 5 6 7 8 9 10 11 12; do
	do_mount
	wait_until all_indexed && none_made || fail "the index of the last mount is not used"
	ls -lR "$mnt" >/dev/null || fail "ls -lR of mount $pass ended with $?"
	do_umount
done

# Ahead of time, in two parts, which together are all of it.
rm -rf "${index:?}"/*
h index --shard 0/2 "$archive" >"$tmp/out0" || fail "index --shard 0/2 ended with $?"
h index --shard 1/2 "$archive" >"$tmp/out1" || fail "index --shard 1/2 ended with $?"
[ "$(cat "$tmp/out0" "$tmp/out1" | grep -c ': indexed$')" = "$captures" ] || fail "shards: $(cat "$tmp/out0" "$tmp/out1")"
do_mount
wait_until all_indexed && none_made || fail "a prepared index is not used"
do_umount
h index -j 4 "$archive" >"$tmp/out" || fail "index again ended with $?"
grep -q "$captures captures: $captures indexed, 0 failed" "$tmp/out" || fail "no summary: $(cat "$tmp/out")"

# What is no capture fails, alone or among others.
h index "$archive/notes.md" >/dev/null 2>"$tmp/err"
[ $? = 1 ] || fail "notes.md could be indexed"
[ "$(wc -l <"$tmp/err")" = 1 ] || fail "notes.md: $(cat "$tmp/err")"
h index "$archive/notes.md" "$archive/mini/rv32-mini.stf" >/dev/null 2>&1
[ $? = 3 ] || fail "one of two failed, but not status 3"

# Without a mount, and without an index at first.
rm -rf "${index:?}"/*
cd "$archive" || exit 1
h info --json mini/rv32-mini.stf >"$tmp/info" || fail "info ended with $?"
grep -q '^{' "$tmp/info" || fail "info: $(cat "$tmp/info")"
h info --json . >"$tmp/info" || fail "info of a directory ended with $?"
[ "$(grep -c '^{' "$tmp/info")" = "$captures" ] || fail "info of a directory: $(cat "$tmp/info")"
h info --json boot/rv-sys@stf@gz | cmp - <(h info --json boot/rv-sys.stf.gz) || fail "info of a view directory differs"
h cat mini/rv32-mini.stf hart0/listing.txt >"$tmp/one" || fail "cat CAPTURE VIEW ended with $?"
[ -s "$tmp/one" ] || fail "an empty listing"
h cat mini/rv32-mini@stf/hart0/listing.txt | cmp - "$tmp/one" || fail "cat PATH differs"
h cat mini/rv32-mini.stf/hart0/listing.txt | cmp - "$tmp/one" || fail "cat CAPTURE/VIEW differs"
h cat . mini/rv32-mini@stf/hart0/listing.txt | cmp - "$tmp/one" || fail "cat ARCHIVE PATH differs"
h cat mini/rv32-mini.stf | cmp - mini/rv32-mini.stf || fail "cat of the capture itself differs"
h cat --offset 10 --length 100 mini/rv32-mini.stf hart0/listing.txt |
	cmp - <(tail -c +11 "$tmp/one" | head -c 100) || fail "cat --offset --length differs"
h cat mini/rv32-mini.stf hart0/none 2>"$tmp/err" && fail "cat of no view succeeds"
[ "$(wc -l <"$tmp/err")" = 1 ] || fail "cat of no view: $(cat "$tmp/err")"
h cat boot/rv-sys.stf.gz hart0/listing.txt 2>"$tmp/err" | head -n 1 >/dev/null
[ ! -s "$tmp/err" ] || fail "cat to a closed pipe: $(cat "$tmp/err")"
h verify mini boot/rv-sys.stf.gz >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
[ "$(snapshot)" = "$before" ] || fail "the archive was written"
finish
