#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program is hardened, and names no directory of the machine that built it:
#   hardening.sh SOURCE_DIRECTORY BUILD_DIRECTORY INSTRUMENTED
# INSTRUMENTED: sanitizers or coverage, which leave out what they cannot have.
set -u
program=$2/hartfs instrumented=${3/OFF/}
status=0
bad() {
	echo "$program: $*"
	status=1
}
command -v readelf >/dev/null || { echo "SKIP: no readelf"; exit 77; }
headers=$(readelf -Whd "$program") symbols=$(readelf -W --dyn-syms "$program")
grep -qE 'Type: +DYN' <<<"$headers" || bad "not position-independent"
grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$headers" || bad "bound lazily"
readelf -Wl "$program" | grep -q GNU_RELRO || bad "relocations stay writable"
readelf -Wl "$program" | grep GNU_STACK | grep -q RWE && bad "an executable stack"
grep -q __stack_chk_fail <<<"$symbols" || bad "no stack protector"
if [ -z "$instrumented" ]; then
	grep -qE '__[a-z]+_chk' <<<"$symbols" || bad "libc's calls are not fortified"
fi
if [ "$(uname -m)" = x86_64 ]; then
	objdump -d --disassemble=main "$program" | grep -q endbr64 || bad "no landing pads for indirect branches"
	readelf -n "$program" 2>/dev/null | grep -q SHSTK || bad "not marked for shadow stacks"
	# What contrib/portable.sh takes along for another machine's QEMU.
	[ -n "$instrumented" ] || ! readelf -W --dyn-syms "$2/hartfs_capture.so" | grep -E 'GLIBC_2\.3[1-9]' ||
		bad "the plugin for QEMU needs a newer C library than 2.30"
fi

# A coverage build names the files that it writes its counts to.
if [[ "$instrumented" != *ON* ]]; then
	for place in "$1" "$2"; do
		paths=$(grep -c -a -F "$place/" "$program") || continue
		bad "$place/ stands in it: $paths lines, as $(strings -a "$program" | grep -m1 -F "$place/")"
	done
fi
exit $status
