#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# program.elf of real executions as other people's readers see it: the GNU and the LLVM tools take it without a word, and
# their disassembly has every pc of the listing with its opcode. Each reader that is missing is named.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
mkdir "$archive/qemu" "$archive/stf"
cp -r "$HARTFS_CORPUS"/qemu/rv* "$archive/qemu" && cp -r "$HARTFS_CORPUS"/stf/{dhry*,harts} "$archive/stf" || exit 1
do_mount --wait

first_of() { command -v "$@" 2>/dev/null | head -n 1; }
gnu=$(first_of riscv64-unknown-elf-objdump riscv64-linux-gnu-objdump)
llvm=$(first_of llvm-objdump-19 llvm-objdump-16 llvm-objdump-15 llvm-objdump)
elves=$(first_of riscv64-unknown-elf-readelf riscv64-linux-gnu-readelf readelf)
for pair in "objdump of binutils for RISC-V:$gnu" "llvm-objdump:$llvm" "readelf:$elves"; do
	if [ "${pair#*:}" ]; then
		echo "with ${pair#*:}: $("${pair#*:}" --version | grep -m1 -oE '(GNU|LLVM).*[0-9][.][0-9].*' || "${pair#*:}" --version | head -n 1)"
	else
		echo "SKIP (in part): no ${pair%:*}"
	fi
done
[ "$gnu$llvm$elves" ] || skip "no reader of ELF files"

# quiet WHAT COMMAND...: it succeeds and complains of nothing; what it says is in $tmp/out.
quiet() {
	local what=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err" || fail "$what: $1 ended with $?"
	[ ! -s "$tmp/err" ] || fail "$what: $1: $(head -n 3 "$tmp/err")"
}

# "pc opcode" of the lines "pc: opcode [opcode...] text": llvm-objdump can part bytes with blanks.
disassembled() {
	awk '/^ *[0-9a-f]+:/ {
		pc = $1; sub(/:$/, "", pc); sub(/^0+/, "", pc)
		op = ""
		for (i = 2; i <= NF && $i ~ /^([0-9a-f][0-9a-f])+$/ && length(op) < 8; i++) {
			if (length($i) > 2) { op = $i; break }
			op = $i op
		}
		print (pc == "" ? 0 : pc), op
	}'
}

count=0
for elf in "$mnt"/qemu/rv*/*@stf*/hart0/program.elf "$mnt"/stf/dhry*/*@*/hart0/program.elf "$mnt"/stf/harts/*@*/hart*/program.elf; do
	[ -s "$elf" ] || continue
	name=${elf#"$mnt"/}
	count=$((count + 1))
	listed_pcs <"${elf%/*}/listing.txt" | awk '!seen[$0]++' | sort >"$tmp/want"
	[ -s "$tmp/want" ] || fail "$name: the listing is empty"
	[ -z "$elves" ] || quiet "$name" "$elves" -a -W "$elf"
	for tool in $gnu $llvm; do
		quiet "$name" "$tool" -d -z "$elf"
		disassembled <"$tmp/out" | sort -u >"$tmp/got"
		comm -13 "$tmp/got" "$tmp/want" >"$tmp/missing"
		# Behind an instruction that it does not know llvm-objdump goes on at the next byte, and never finds back.
		if [ "$tool" = "$llvm" ] && grep -qE ' unknown( |$)' "${elf%/*}/listing.txt"; then continue; fi
		# Data between two pieces of code may be taken for the start of a longer instruction.
		[ "$(wc -l <"$tmp/missing")" -le $(($(wc -l <"$tmp/want") / 1000)) ] ||
			fail "$name: ${tool##*/} lacks $(wc -l <"$tmp/missing") of $(wc -l <"$tmp/want"): $(head -n 3 "$tmp/missing" | tr '\n' '|')"
	done
done
[ "$count" -ge 8 ] || fail "only $count programs"
do_umount
finish
