#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_perf: small perf.data files with and without trace.
set -eu
mkdir -p "$(dirname "$0")/corpus/perf"
cd "$(dirname "$0")/corpus/perf"
zeros() { head -c "$1" /dev/zero; }
# header FEATURES-BYTE-2: 104 bytes, the records behind it.
header() {
	printf 'PERFILE2\x68\0\0\0\0\0\0\0'; zeros 24
	printf '\x68\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0'; zeros 16
	printf '\0\0%b\0\0\0\0\0' "$1"; zeros 24
}
info() { printf '\x46\0\0\0\0\0\x28\0%b\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x06\0\0\0\x09\0\0\0' "$1"; zeros 8; }
mmap() { printf '\x01\0\0\0\x02\0\x40\0'; zeros 56; }
trace() { printf '\x47\0\0\0\0\0\x30\0\x28\0\0\0\0\0\0\0'; zeros 32; info '\x03'; }
{ header '\0'; mmap; } >samples
{ header '\x04'; mmap; trace; info '\x03'; } >coresight
{ header '\x04'; info '\x01'; mmap; } >intel
{ header '\x04'; printf '\x46\0\0\0\0\0\x18\0\x08\0\0\0\0\0\0\0\x0b\0\0\0\0\0\0\0'; mmap; } >riscv
{ printf 'PERFILE2\x10\0\0\0\0\0\0\0\x42\0\0\0\0\0\x0c\0\x05\0\0\0'; zeros 8; info '\x03'; } >pipe
{ printf '2ELIFREP\0\0\0\0\0\0\0\x10\0\0\0\x46\0\0\0\x28\0\0\0\x03'; zeros 28; } >swapped
# The rest with perf_wrap of a build, if it is named: all that tells of processes and of the kernel.
[ -x "${1-}" ] || exit 0
printf '\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0\x04\x82\0\x08\0\0\xb0\x0a\0\0\0\xf7' >trace.tmp
"$1" processes <<-END
	text 5 6.12
	text 11 perf record -- one
	info 2 2
	comm 10 10 0 one
	map 10 0 0x1000 0x1000 0x1000 5 /bin/a
	map 10 0 0x8000 0x1000 0 5 [vdso] cc
	kernel 0xffff800010000000 0x2000 0xffff800010000000 [kernel.kallsyms]_text bb
	kernel 0xffff800008000000 0x1000 0 /lib/x.ko dd
	ksymbol 5 0xffff800008008000 64 bpf_prog_1
	poke 6 0xffff800010000000 1 2
	fork 20 20 10 7
	comm 20 20 8 two exec
	switch 1 9 20 21
	hwid 1 0x12 0
	trace 1 10 10 10 0x100 trace.tmp
	trace 1 20 21 11 0x101 trace.tmp
END
"$1" split <<-END
	riscv
	comm 10 10 0 one
	trace 3 10 10 50 0 trace.tmp
	trace 1 10 10 10 1 trace.tmp
END
rm trace.tmp
