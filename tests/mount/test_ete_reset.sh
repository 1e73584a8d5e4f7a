#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A PE that is reset some instructions behind its last branch: a copy of ete/ has them all, and the reset behind them.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

# STF of an Arm hart: B.NE (not taken) and two NOPs from 1000 on, a reset that goes on at 1400, and there a B.NE.
stf=('\x01STF' '\x02\x01\0\0\0\x06\0\0\0' '\x04\x02\0' '\x05\x02\0' '\x06\x01\0\0\0\0\0' '\x07\x08\0\x08\0\0\0\0\0'
	'\x09\0\x10\0\0\0\0\0\0' '\x13' '\xf0\x41\0\0\x54' '\xf0\x1f\x20\x03\xd5' '\xf0\x1f\x20\x03\xd5'
	'\x64\x03\0\0\0\0\0\0\x80\x01\0\0\0\0\0\0\0\0' '\x65\0\x14\0\0\0\0\0\0' '\xf0\x1f\x20\x03\xd5' '\xf0\x41\0\0\x54')
printf '%b' "${stf[@]}" >"$archive/run.stf"

pcs() { awk '!/^#/ {print $3} /^# trap/ {print $5, $6}' "$1" | tr '\n' ' '; }
want='0000000000001000 0000000000001004 0000000000001008 (reset) -> 0000000000001400 '
do_mount --wait
[ "$(pcs "$mnt/run@stf/hart0/listing.txt")" = "$want" ] || fail "the capture: $(cat "$mnt/run@stf/hart0/listing.txt")"
mkdir "$archive/again"
for file in "$mnt/run@stf/hart0/ete/"*; do cp "$file" "$archive/again/"; done
do_umount
do_mount --wait
for hart in "$mnt"/again@ete/hart*; do
	[ "$(pcs "$hart/listing.txt")" = "$want" ] || fail "the copy: $(cat "$hart/listing.txt")"
done
[ ! -s "$mnt/again@ete/errors.txt" ] || fail "the copy: $(cat "$mnt/again@ete/errors.txt")"
do_umount
finish
