#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A description whose program is not what was traced: the first line of errors.txt says where the trace goes and where the
# description has code. What code alone shows to be wrong (a jump with one target only, an attempt where there is none) is
# said, too.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
capture_archive

# little N VALUE: its low N bytes.
little() {
	local i v=$2
	for ((i = 0; i < $1; i++)); do
		printf '\\x%02x' $((v & 255))
		v=$((v >> 8))
	done
}
# sync ADDRESS: format 3.0, branch, privilege M.
sync() {
	printf "\\x48$(little 8 $((0x73 | $1 << 6)))"
}
# capture NAME CODE PARAMETER...: from standard input.
capture() {
	local name=$1 code=$2
	shift 2
	mkdir "$archive/$name"
	cat >"$archive/$name/trace.bin"
	printf "$code" >"$archive/$name/code.bin"
	printf '%s\n' '[capture]' 'format = etrace' 'framing = te_inst_raw' 'trace = trace.bin' '[program]' \
		'raw = code.bin, address = 0x80000000' '[parameters]' 'version = 2.0' 'iaddress_width = 64' "$@" \
		>"$archive/$name/capture.ini"
}
nops='\x13\0\0\0\x13\0\0\0\x13\0\0\0\x13\0\0\0\x13\0\0\0\x13\0\0\0'

# auipc t1, 0 and jr 16(t1), and a report (format 2) of the instruction 24 bytes behind the start: with sijump. Then a
# synchronisation, which agrees.
{ sync 0x80000000 && printf "\\x42$(little 2 $((2 | 24 << 1)))" && sync 0x8000001c; } |
	capture inferable "\\x17\\x03\\0\\0\\x67\\0\\x03\\x01$nops" 'sijump = 0'
# jr t1, and a breakpoint (format 3.1, thaddr 0) at an address without code.
{ sync 0x80000000 && printf "\\x48$(little 8 $((0x1f7 | 0x90000000 << 12)))" && sync 0x80000008; } |
	capture attempt "\\x67\\0\\x03\\0$nops"
sync 0x90000000 | capture elsewhere "$nops"

# A support packet (format 3.3) says that packets are lost: the description is none the worse for it.
{ sync 0x80000000 && printf '\x42\x9f\0' && sync 0x80000008; } | capture lost "$nops"

# One address of four is damaged.
{ sync 0x80000000 && sync 0x80000004 && sync 0xc0000008 && sync 0x8000000c && sync 0x80000010; } | capture damaged "$nops"

# Packets of a real program, which is moved in one copy.
do_mount --wait
for name in etrace ntrace; do
	cp -r "$mnt/mini/rv32-mini@stf/hart0/$name" "$archive/$name-moved"
	chmod -R u+w "$archive/$name-moved"
	sed -i 's/^elf = program.elf.*/&, bias = 0x1000000/' "$archive/$name-moved/capture.ini"
done
do_umount
do_mount --wait 2>"$tmp/err"

# first CAPTURE WORDS...: the first line of its errors.txt.
first() {
	local capture=$1
	shift
	head -n 1 "$mnt/$capture/errors.txt" | grep -qE -- "$*" || fail "$capture: no '$*': $(head -n 2 "$mnt/$capture/errors.txt")"
}
first inferable@etrace 'likely cause: sijump = 1 fits \(0 is written\)'
grep -q 'no code of the program at 90000000; after 1 instr' "$mnt/attempt@etrace/errors.txt" || fail "the attempt is not told"
grep -q '^# note .*no code of the program at 90000000' "$mnt/attempt@etrace/hart0/listing.txt" ||
	fail "the attempt: $(cat "$mnt/attempt@etrace/hart0/listing.txt")"
[ "$(cat "$mnt/lost@etrace/errors.txt")" = "lost: offset 9: the trace unit lost packets; after 1 instructions" ] ||
	fail "packets that are lost: $(cat "$mnt/lost@etrace/errors.txt")"
first damaged@etrace 'offset [0-9]*: no code of the program at' # and not the program as such
first elsewhere@etrace 'likely cause: the program: the trace goes to 90000000, .* at 80000000-80000017 only'
for name in etrace ntrace; do
	first "$name-moved@$name" 'likely cause: the program: the trace goes to [0-9a-f]+, and the description has code at [0-9a-f]+-'
done
# Nothing of these could be decoded, and whoever waited is told why.
grep -q 'elsewhere: .*90000000' "$tmp/err" || fail "mount --wait: $(cat "$tmp/err")"
grep -q '"state": "failed"' "$mnt/elsewhere@etrace/info.json" || fail "elsewhere is not failed"
finish
