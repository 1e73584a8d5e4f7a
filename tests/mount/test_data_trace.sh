#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The data trace of E-Trace: very many accesses between two packets are each at their own instruction; more than can wait
# are at none, and the listing and errors.txt say where.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

# little N VALUE: its low N bytes.
little() {
	local i v=$2
	for ((i = 0; i < $1; i++)); do
		printf '\\x%02x' $((v & 255))
		v=$((v >> 8))
	done
}

# Payloads behind their byte of type and length. Addresses are BASE + 4 * N.
sync() { # format 3.0, branch, privilege M
	printf "\\x48$(little 8 $((0x73 | (0x80000000 + 4 * $1 << 6))))"
}
report() { # format 2 with its notify flag, of DISTANCE instructions
	printf "\\x49$(little 8 $((2 | ($1 * 4 << 1))))\\xfe"
}
# accesses FROM TO: each a load of 4 bytes, of 0x1000 + 4 * N, that read the low 7 bits of N
accesses() {
	local i v text=
	for ((i = $1; i < $2; i++)); do
		v=$((2 << 3 | (i & 127) << 9 | (0x1000 + 4 * i) >> 2 << 17))
		printf -v hex '\\x66\\x%02x\\x%02x\\x%02x\\x%02x\\x%02x\\x00' $((v & 255)) $((v >> 8 & 255)) \
			$((v >> 16 & 255)) $((v >> 24 & 255)) $((v >> 32 & 255))
		text+=$hex
		((i % 1000)) || { printf "$text"; text=; }
	done
	printf "$text"
}
capture() {
	mkdir "$archive/$1"
	cat >"$archive/$1/trace.bin"
	for ((i = 0; i < 80; i++)); do
		printf '\x03\x25\x01\x00%.0s' {1..1000} # lw a0, 0(sp)
	done >"$archive/$1/code.bin"
	cat >"$archive/$1/capture.ini" <<-EOF
		[capture]
		format = etrace
		framing = te_inst_raw
		trace = trace.bin
		[program]
		raw = code.bin, address = 0x80000000
		[parameters]
		version = 2.0
		iaddress_width = 64
		$2
	EOF
}

{ sync 0 && accesses 0 1057 && report 1057; } | capture between ''
{ sync 0 && accesses 0 70000 && report 69999 && sync 70000 && accesses 70000 70010 && report 10; } |
	capture beyond 'data_order = before'
{ sync 0 && report 60000 && accesses 0 60000 && sync 60001 && accesses 60001 60010 && report 10; } | capture late ''
do_mount --wait

# Every access is at its own instruction.
check_places() {
	awk '!/^#/ && match($0, / R4 [0-9a-f]*=/) {
		n++
		if (substr($0, RSTART + 4, 16) != sprintf("%016x", 4096 + 4 * $1)) wrong++
	} END {print n + 0, wrong + 0}' "$mnt/$1@etrace/hart0/listing.txt"
}
[ "$(check_places between)" = "1057 0" ] || fail "between: $(check_places between)"
[ -s "$mnt/between@etrace/errors.txt" ] && fail "between: $(cat "$mnt/between@etrace/errors.txt")"

[ "$(check_places beyond)" = "10 0" ] || fail "beyond: $(check_places beyond)"
grep -q '^# doubt .*more than 65536 accesses' "$mnt/beyond@etrace/hart0/listing.txt" || fail "beyond: no doubt"
grep -q 'more than 65536 accesses' "$mnt/beyond@etrace/errors.txt" || fail "beyond: errors.txt"

check_places late | grep -q ' 0$' || fail "late: $(check_places late)"
grep -q '^# doubt .*80000000 seems to have no access' "$mnt/late@etrace/hart0/listing.txt" || fail "late: no doubt"
finish
