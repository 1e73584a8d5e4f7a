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

# E-Trace with addresses left out: lw, ecall (an attempt of which the packets name no record), lw.
mkdir "$archive/etrace"
{
	# sync at 0; data: a load of 4 bytes that read 0x11
	bytes 48 7300000020000000
	bytes 62 9008
	# trap: ecall from M (format 3.1, branch, M, ecause 11, thaddr, address 80000008, tval 0)
	bytes 46 f79500000008
} >"$archive/etrace/trace.bin"
bytes 03250100 73000000 03250100 13000000 >"$archive/etrace/code.bin"
cat >"$archive/etrace/capture.ini" <<-EOF
	[capture]
	format = etrace
	framing = te_inst_raw
	trace = trace.bin
	[program]
	raw = code.bin, address = 0x80000000
	[parameters]
	version = 2.0
	iaddress_width = 64
	no_address = 1
	data_order = before
EOF
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
	wait_until measured "$mnt/sizes/$unit@stf/hart0/at/0-4"
	cmp <(tail -c 140 "$mnt/sizes/$unit@stf/hart0/at/0-4/trace.stf") <(tail -c 140 "$archive/sizes/$unit.stf") ||
		fail "$unit: slice"
done

listing=$mnt/etrace@etrace/hart0/listing.txt
grep -q ' R4 ?=00000011$' "$listing" || fail "no_address: $(cat "$listing")"
grep -q '^# attempt .*80000004' "$listing" || fail "no attempt: $(cat "$listing")"
grep -q 'record=' "$listing" && fail "an attempt in packets has no record: $(grep record= "$listing")"
grep -qa 'load of 4 bytes, 0x11, at an address that is not known' "$mnt/etrace@etrace/hart0/trace.stf" ||
	fail "no_address: trace.stf"
finish
