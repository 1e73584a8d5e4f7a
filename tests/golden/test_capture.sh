#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The capture plugin: what hartfs lists of a program that ran under QEMU is what QEMU's own log of that run has, with the
# accesses that the program makes.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
as=riscv64-unknown-elf-as ld=riscv64-unknown-elf-ld
for tool in "$as" "$ld" qemu-riscv64 qemu-aarch64 cc; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
qemu-riscv64 --help | grep -q -- -plugin || skip "this QEMU has no plugins"
cc -std=gnu17 -O2 -Wall -Wextra -Werror -shared -fPIC -o "$tmp/capture.so" \
	"$(dirname "$0")/../../contrib/capture/hartfs_capture.c" || fail "it does not compile"

cat >"$tmp/rv.s" <<'END'
	.globl _start
_start:
	la s1, cell
	li s0, 300
1:	jal twice
	addi s0, s0, -1
	bnez s0, 1b
	ld a0, 0(s1)
	li a1, 7
	amoadd.d a2, a1, (s1)
2:	lr.w a3, (s1)
	addi a3, a3, 1
	sc.w a4, a3, (s1)
	bnez a4, 2b
	li a0, 0
	li a7, 93
	ecall
twice:	la t0, 3f
	jr t0
	ebreak
3:	sb s0, 5(s1)
	ret
	.data
	.align 3
cell:	.dword 0x1122334455667788
END
# mov x1, sp; mov x0, #3; sub sp, sp, #16; 1: str x0, [sp]; ldp x1, x2, [sp]; bl 2f; sub x0, x0, #1; cbnz x0, 1b;
# mov x8, #93; svc #0; 2: nop; ret
cat >"$tmp/arm.s" <<'END'
	.globl _start
_start:	.word 0x910003e1, 0xd2800060, 0xd10043ff, 0xf90003e0, 0xa9400be1, 0x94000005, 0xd1000400, 0xb5ffff80
	.word 0xd2800ba8, 0xd4000001, 0xd503201f, 0xd65f03c0
END
for name in rv arm; do
	"$as" -march=rv64gc "$tmp/$name.s" -o "$tmp/$name.o" && "$ld" "$tmp/$name.o" -o "$tmp/$name.elf" || fail "$name"
done
# The assembler knows no AArch64, but an ELF file is easily told so: e_machine and e_flags.
printf '\267\000' | dd of="$tmp/arm.elf" bs=1 seek=18 conv=notrunc status=none
printf '\0\0\0\0' | dd of="$tmp/arm.elf" bs=1 seek=48 conv=notrunc status=none

# run NAME EMULATOR FILE: the pcs of the listing are those of the log
run() {
	"$2" -plugin "$tmp/capture.so",out="$archive/$1" -singlestep -d exec,nochain -D "$tmp/log" "$tmp/$1.elf" ||
		fail "$1 exits with $?"
	sed -n 's,^Trace .*\[[0-9a-f]*/\([0-9a-f]*\)/.*,\1,p' "$tmp/log" >"$tmp/want"
	"$hartfs" cat --index-dir "$index" "$archive/$3" hart0/listing.txt >"$tmp/listing"
	awk '!/^#/ {print $3}' "$tmp/listing" >"$tmp/got"
	same "$1: pcs" "$tmp/got" "$tmp/want"
	[ "$(wc -l <"$tmp/got")" -gt 20 ] || fail "$1: $(wc -l <"$tmp/got") instructions"
	[ -z "$("$hartfs" cat --index-dir "$index" "$archive/$3" errors.txt)" ] || fail "$1 has errors"
}

# has NAME COUNT PATTERN: so many lines of the listing
has() {
	[ "$(grep -c -- "$3" "$tmp/listing")" = "$2" ] || fail "$1: not $2 lines with '$3'"
}

run rv qemu-riscv64 rv.t0.stf
has rv 300 'sb s0, 5(s1) *W1 [0-9a-f]*5=[0-9a-f]*$'
has rv 1 'ld a0, 0(s1) *R8 [0-9a-f]*=1122014455667788$'
has rv 1 'amoadd.d a2, a1, (s1) *R8 [0-9a-f]*=1122014455667788 W8 [0-9a-f]*=112201445566778f$'
has rv 1 'sc.w a4, a3, (s1) *W4 [0-9a-f]*=55667790$'
has rv 299 'bnez s0, -6 *->'
run arm qemu-aarch64 arm.t0.stf
has arm 3 'str x0, \[sp\] *W8 [0-9a-f]*=0*[123]$'
has arm 3 'ldp x1, x2, \[sp\] *R8 [0-9a-f]*0=0*[123] R8 [0-9a-f]*8=[0-9a-f]*$'
has arm 1 'cbnz x0, #-16 *(not taken)'

# a window
qemu-riscv64 -plugin "$tmp/capture.so",out="$archive/part",skip=10,count=100 "$tmp/rv.elf"
"$hartfs" cat --index-dir "$index" "$archive/part.t0.stf" hart0/listing.txt | listed_pcs >"$tmp/got"
"$hartfs" cat --index-dir "$index" "$archive/rv.t0.stf" hart0/listing.txt | listed_pcs | sed -n 11,110p >"$tmp/want"
same "a window" "$tmp/got" "$tmp/want"
finish
