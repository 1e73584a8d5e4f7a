#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What trace units beside N-Trace 1.0 send, as our encoder writes it: a copy of such a view is the same capture again, its
# description names the dialect, and info.json tells what it means. Times without a description of them are a problem that
# names the key.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive
source=boot/rv-sys@stf@gz

listing() { grep -E '^([0-9]|# (time|context))' "$1" | sed 's/ mode=[^ ]*//'; }
insns() { awk '/^[0-9]/ {print $1, $3, $4}' "$1"; }

for dialect in sifive tt-dfd; do
	do_mount --wait -o "ntrace.dialect=$dialect,ntrace.times=1,ntrace.address_width=49,ntrace.ownership=1"
	mkdir "$archive/$dialect"
	for file in "$mnt/$source/hart0/ntrace/"*; do cp "$file" "$archive/$dialect/"; done
	insns "$mnt/$source/hart0/listing.txt" >"$tmp/want"
	do_umount
	grep -qx "dialect = $dialect" "$archive/$dialect/capture.ini" || fail "$(cat "$archive/$dialect/capture.ini")"
	grep -qx 'address_width = 49' "$archive/$dialect/capture.ini" || fail "$(cat "$archive/$dialect/capture.ini")"
	"$hartfs" cat "$archive/$dialect" hart0/listing.txt >"$tmp/listing"
	insns "$tmp/listing" | cmp -s - "$tmp/want" || fail "$dialect: other instructions"
	[ -z "$("$hartfs" cat "$archive/$dialect" errors.txt)" ] || fail "$dialect: $("$hartfs" cat "$archive/$dialect" errors.txt)"
	"$hartfs" cat "$archive/$dialect" info.json >"$tmp/info"
	grep -q "\"dialect\":\"$dialect\"" "$tmp/info" || fail "$(cat "$tmp/info")"
done
grep -q '"timestamps":"absolute","timestamp_width":64,"trap_values":1' "$tmp/info" || fail "$(cat "$tmp/info")"
"$hartfs" cat "$archive/sifive" info.json | grep -q '"implicit_return_depth":2048.*"timestamps":"xor","timestamp_width":40' ||
	fail "$("$hartfs" cat "$archive/sifive" info.json)"

# A synchronisation at 1000, two messages with 30 and 5, and nothing that tells what these are.
mkdir "$archive/times"
printf '\x13\0\0\0\x13\0\0\0' >"$archive/times/code.bin"
printf '\x24\x15\0\0\0\0\0\x05\xa0\x3f\x6c\x01\x7b\x84\x10\x11\x17' >"$archive/times/trace.bin"
ini=$'[capture]\nformat = ntrace\ntrace = trace.bin\n[program]\nraw = code.bin, address = 0x80000000\n[parameters]\nxlen = 64'
echo "$ini" >"$archive/times/capture.ini"
"$hartfs" cat "$archive/times" errors.txt | grep -q 'timestamps = add, xor or absolute' || fail "$("$hartfs" cat "$archive/times" errors.txt)"
"$hartfs" cat "$archive/times" info.json | grep -q '"timestamps":null' || fail "$("$hartfs" cat "$archive/times" info.json)"
for reading in 'add 1000 1030 1035' 'xor 1000 1014 1011' 'absolute 1000 30 5'; do
	set -- $reading
	printf '%s\ntimestamps = %s\n' "$ini" "$1" >"$archive/times/capture.ini"
	shift
	got=$("$hartfs" cat "$archive/times" hart0/listing.txt | sed -n 's/^# time //p' | tr '\n' ' ')
	[ "$got" = "$* " ] || fail "times $got, not $*"
done
"$hartfs" cat "$archive/times" errors.txt | grep -q 'the time steps back by 970' || fail "$("$hartfs" cat "$archive/times" errors.txt)"
finish
