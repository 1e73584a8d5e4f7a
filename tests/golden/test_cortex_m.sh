#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cortex-M: a program runs on boards of QEMU with an M3, M7, M33 and M55, with exceptions that follow on one another, IT blocks and
# low-overhead loops. What hartfs lists of an ETMv4 and of an MTB that saw it is what QEMU's log of the run has. The bytes of
# both are written by tests/lib/cortex_m.py from that log and the disassembly.
. "$(dirname "$0")/../lib/mount.sh"
objdump=$(command -v llvm-objdump-19 llvm-objdump | head -n 1)
for tool in clang ld.lld qemu-system-arm python3; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
[ "$objdump" ] || skip "no llvm-objdump"
cat >"$tmp/m.s" <<'END'
	.syntax unified
	.thumb
	.section .vectors, "a"
	.word STACK, reset, stop + 1, stop + 1, stop + 1, stop + 1, stop + 1, stop + 1
	.word 0, 0, 0, supervisor + 1, stop + 1, 0, pended + 1, tick + 1
	.text
	.globl reset
	.type reset, %function
reset:
	movs r4, #3
1:	bl twice
	subs r4, #1
	bne 1b
	cmp r4, #0
	it eq
	bleq twice
	it ne
	blne twice
	ite ne
	addne r4, #1
	subeq r4, #1
	cbz r4, stop
	svc 1			@ its handler pends another, which follows at once
	movs r0, #1
	tbb [pc, r0]
	.byte 1, 2
	nop
	adr r0, 2f
	adds r0, #1
	bx r0
	.balign 4
2:	push {r0, lr}
	isb
	pop {r0, r1}
	mov lr, r1
	ldr r1, =0xe000e010	@ SysTick: RVR, CVR, CSR
	movs r0, #40
	str r0, [r1, #4]
	str r0, [r1, #8]
	movs r0, #7
	str r0, [r1]
	ldr r2, =STACK
	movs r3, #0
	str r3, [r2]
	movs r4, #200		@ rounds at least: on a busy machine the ticks come after few
3:	ldr r3, [r2]
	push {r0-r3}
	pop {r0-r3}
	subs r4, #1
	bgt 3b
	cmp r3, #4
	blt 3b
	movs r0, #0
	str r0, [r1]
	.if LOB
	movs r0, #3
	wls lr, r0, 5f
4:	adds r1, #1
	le lr, 4b
5:	movs r0, #0
	wls lr, r0, 6f
	nop
6:	nop
	.endif
stop:
	movs r0, #0x18
	ldr r1, =0x20026
	bkpt 0xab
	b stop
	.pool
twice:
	push {r4, lr}
	lsls r4, r4, #1
	pop {r4, pc}
supervisor:
	ldr r0, =0xe000ed04
	ldr r1, =0x10000000	@ ICSR.PENDSVSET
	str r1, [r0]
	dsb
	bx lr
pended:
	push {r4, lr}
	movs r4, #9
	pop {r4, pc}
tick:
	ldr r0, =STACK
	ldr r1, [r0]
	adds r1, #1
	str r1, [r0]
	bx lr
	.pool
END

# board MACHINE CPU TRIPLE BASE STACK LOB: runs it there; $tmp/CPU has what was logged and what trace units would have written.
board() {
	local dir=$tmp/$2
	base=$4
	mkdir -p "$dir"
	printf 'SECTIONS { . = %s; .text : { *(.vectors) *(.text*) } /DISCARD/ : { *(.ARM*) } }\n' "$4" >"$dir/m.ld"
	clang -c --target="$3" -mcpu="$2" -Wa,-defsym,STACK="$5" -Wa,-defsym,LOB="$6" -o "$dir/m.o" "$tmp/m.s" ||
		skip "clang does not assemble for $2"
	ld.lld -T "$dir/m.ld" -e reset -o "$dir/m.elf" "$dir/m.o" || fail "$2: no program"
	"$objdump" -d --mcpu="$2" "$dir/m.elf" >"$dir/m.dis"
	# QEMU's clock is that of the machine. In some runs a tick comes where the log does not tell which instruction it
	# interrupted: another run is made.
	for _ in {1..20}; do
		timeout "$patience" qemu-system-arm -M "$1" -nographic -singlestep -d exec,nochain,int -D "$dir/log" -semihosting \
			-kernel "$dir/m.elf" </dev/null >/dev/null 2>&1 || fail "$2: the program did not end"
		python3 "$(dirname "$0")/../lib/cortex_m.py" "$dir/log" "$dir/m.dis" "$dir" 2>"$dir/why" && return
	done
	fail "$2: no trace: $(tail -n 3 "$dir/why")"
}

# snapshot CPU TRACE TRCCONFIGR. An M3 has no ETMv4: it is told as an M7, which has the same instructions and more.
snapshot() {
	local dir=$tmp/$1-$2 core=$1
	[ "$core" != cortex-m3 ] || core=cortex-m7
	mkdir "$dir"
	cp "$tmp/$1/m.elf" "$tmp/$1/$2.bin" "$dir"
	llvm_text "$1" >"$dir/code.bin"
	printf '[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=etm.ini\n[trace]\nmetadata=trace.ini\n' >"$dir/snapshot.ini"
	printf '[device]\nname=cpu_0\nclass=core\ntype=%s\n[regs]\nPC=0\n[dump1]\nfile=code.bin\naddress=%s\n' "${core/c/C}" "$base" >"$dir/cpu.ini"
	printf '[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=%s\nTRCTRACEIDR=1\nTRCIDR0=0x280006e1\nTRCIDR1=0x4100f424\nTRCIDR2=4\nTRCIDR8=0\n' "$3" >"$dir/etm.ini"
	printf '[trace_buffers]\nbuffers=b\n[b]\nname=b\nfile=%s.bin\nformat=source_data\n[source_buffers]\nETM_0=b\n[core_trace_sources]\ncpu_0=ETM_0\n' "$2" >"$dir/trace.ini"
}

# The bytes of .text.
llvm_text() {
	python3 - "$tmp/$1/m.elf" "$base" <<'END'
import struct, sys
elf = open(sys.argv[1], 'rb').read()
at, size, count = struct.unpack_from('<I', elf, 28)[0], *struct.unpack_from('<HH', elf, 42)
for i in range(count):
    kind, offset, address, _, length = struct.unpack_from('<5I', elf, at + i * size)
    if kind == 1 and address == int(sys.argv[2], 0):
        sys.stdout.buffer.write(elf[offset:offset + length])
END
}

pcs() { awk '!/^#/ { sub(/^0+/, "", $3); print $3 }' "$1"; }

# same WHAT GOT WANT
same() { cmp -s "$2" "$3" || fail "$1: $(diff "$2" "$3" | head -n 4)"; }

# judge CPU
judge() {
	local cpu=$1 trace configr=0x1
	for trace in etm stack; do
		snapshot "$cpu" "$trace" "$configr"
		"$hartfs" cat "$tmp/$cpu-$trace" hart1/listing.txt >"$tmp/listing" || fail "$cpu $trace: no listing"
		pcs "$tmp/listing" >"$tmp/got"
		same "$cpu $trace" "$tmp/got" "$tmp/$cpu/pcs.txt"
		awk '/^# trap / { sub(/cause=1*0*/, "", $4); print $4 }' "$tmp/listing" >"$tmp/got"
		same "$cpu $trace, exceptions" "$tmp/got" "$tmp/$cpu/exceptions.txt"
		grep -q '^# \(gap\|doubt\|note\)' "$tmp/listing" && fail "$cpu $trace: $(grep -m1 '^# [gdn]' "$tmp/listing")"
		grep -q 'blne #.*(not taken)' "$tmp/listing" || fail "$cpu $trace: no branch that was not taken in an IT block"
		configr=0x1001
	done
	mkdir "$tmp/$cpu-mtb"
	cp "$tmp/$cpu/m.elf" "$tmp/$cpu/mtb.bin" "$tmp/$cpu-mtb"
	printf '[capture]\nformat = mtb\ntrace = mtb.bin\n[program]\nelf = m.elf\n[parameters]\nposition = %s\n' \
		"$(cat "$tmp/$cpu/position.txt")" >"$tmp/$cpu-mtb/capture.ini"
	"$hartfs" cat "$tmp/$cpu-mtb" hart0/listing.txt >"$tmp/listing" || fail "$cpu mtb: no listing"
	pcs "$tmp/listing" >"$tmp/got"
	same "$cpu mtb" "$tmp/got" "$tmp/$cpu/mtb.pcs.txt"
	grep -q '^# gap' "$tmp/listing" && fail "$cpu mtb: $(grep -m1 '^# gap' "$tmp/listing")"
}

board mps2-an385 cortex-m3 thumbv7m-none-eabi 0x0 0x20001000 0
judge cortex-m3
board mps2-an500 cortex-m7 thumbv7em-none-eabi 0x0 0x20001000 0
judge cortex-m7
board mps2-an505 cortex-m33 thumbv8m.main-none-eabi 0x10000000 0x38001000 0
judge cortex-m33
board mps3-an547 cortex-m55 thumbv8.1m.main-none-eabi 0x10000000 0x30001000 1
judge cortex-m55
grep -q ' le lr, #' "$tmp/cortex-m55-etm/listing" 2>/dev/null || "$hartfs" cat "$tmp/cortex-m55-etm" hart1/listing.txt | grep -q ' le lr, #' ||
	fail "no low-overhead loop"
finish
