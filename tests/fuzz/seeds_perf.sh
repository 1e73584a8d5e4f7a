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
