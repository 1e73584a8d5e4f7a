#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a source does not say is not shown as if it did, in any view.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

# bytes HEX...
bytes() {
	local hex=$*
	printf "$(sed 's/ //g; s/../\\x&/g' <<<"$hex")"
}

# STF: header GENERATOR (hex), access NUMBER TYPE (both in hex), insn OPCODE (hex, as in memory).
header() {
	bytes 01 535446 02 01000000 06000000 04 0100 05 0200 06 $1 010000 0000 07 2000080000000000 09 0010000000000000 13
}
access() {
	bytes 3c 0000008000000000 $1 0000 $2 3d efbeadde00000000
}
insn() {
	bytes f0 $1
}

# Dromajo (0c) that counts bytes, and Spike (06) that counts bits: ld, lw, and vle64.v, which does not show it.
capture_sizes() {
	header $1
	for i in 1 2 3; do
		access $2 01
		insn 03b50500
	done
	access $3 01
	insn 03a50500
	access $2 01
	insn 07f00502
}
mkdir "$archive/sizes"
capture_sizes 0c 0800 0400 >"$archive/sizes/bytes.stf"
capture_sizes 06 4000 2000 >"$archive/sizes/bits.stf"
do_mount --wait

accesses() {
	grep -o ' [RW][0-9?]* [0-9a-f?]*[{=][^ ]*' "$1"
}
for unit in bytes bits; do
	case $unit in
	bytes) stored=8 ;;
	bits) stored=64 ;;
	esac
	accesses "$mnt/sizes/$unit@stf/hart0/listing.txt" >"$tmp/got"
	{
		for i in 1 2 3; do
			echo ' R8 0000000080000000=00000000deadbeef'
		done
		echo ' R4 0000000080000000=deadbeef'
		echo " R8 0000000080000000{stored=$stored}=00000000deadbeef"
	} >"$tmp/want"
	cmp "$tmp/got" "$tmp/want" || fail "$unit: $(cat "$tmp/got")"
	grep -q "\"access_sizes\":\"$unit\"" <(tr -d ' \n' <"$mnt/sizes/$unit@stf/info.json") || fail "$unit: info.json"
	# A slice is written by hartfs, with the source's own numbers.
	cmp <(tail -c 140 "$mnt/sizes/$unit@stf/hart0/at/0-4/trace.stf") <(tail -c 140 "$archive/sizes/$unit.stf") ||
		fail "$unit: slice"
done
finish
