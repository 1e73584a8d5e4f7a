#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The view ntrace/ by default: no Ownership message, at which the reference decoder ends, where the process never changes;
# where it does they begin with the first change, and copies show the process from there on.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive
one=mini/rv32-mini@stf many=boot/rv-sys@stf@gz

do_mount --wait
for capture in "$one" "$many"; do
	mkdir "$archive/${capture%%/*}-again"
	for file in "$mnt/$capture/hart0/ntrace/"*; do cp "$file" "$archive/${capture%%/*}-again/"; done
done
pids() { awk '/^# context/ {for (i = 3; i <= NF; i++) if ($i ~ /^pid=/ && $i != last) print last = $i}' "$1"; }
[ "$(pids "$mnt/$one/hart0/listing.txt" | wc -l)" -le 1 ] || fail "the process of $one changes"
pids "$mnt/$many/hart0/listing.txt" | tail -n +2 >"$tmp/want"
[ -s "$tmp/want" ] || fail "the process of $many does not change"
do_umount
do_mount --wait
! grep -m1 Ownership "$mnt/mini-again@ntrace/records.txt" || fail "Ownership in the view of a hart of one process"
pids "$mnt/boot-again@ntrace/hart0/listing.txt" >"$tmp/got"
cmp -s "$tmp/want" "$tmp/got" || fail "processes: $(diff "$tmp/want" "$tmp/got" | head -n 4)"
do_umount
do_mount --wait -o ntrace.ownership=0
! cmp -s "$mnt/$many/hart0/ntrace/trace.bin" "$archive/boot-again/trace.bin" || fail "ownership=0 changes nothing"
do_umount
finish
