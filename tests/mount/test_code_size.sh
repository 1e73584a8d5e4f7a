#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# RV32 code with Zcmp and Zcmt, three times round: cm.jalt to two functions that end with cm.popret and cm.popretz, and
# cm.jt back. As N-Trace, which leaves all of it out, and as E-Trace; copies of their views are captures again.
set -u
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

code='\x82\xa0\x01\x00\x86\xa0\x02\xa0\x42\xb8\x01\x00\x42\xbe\x52\xb8\x11\xc1\x01\x00\x52\xbc'
mkdir "$archive/nt" "$archive/et"
# The table is at 0x80000040: entry 0 for cm.jt, 32 and 33 for cm.jalt.
{
	printf "$code"
	head -c 42 /dev/zero
	printf '\x00\x00\x00\x80'
	head -c 124 /dev/zero
	printf '\x08\x00\x00\x80\x0e\x00\x00\x80'
} >"$archive/nt/code.bin"
printf "$code" >"$archive/et/code.bin"
# ProgTraceSync at 0x80000000, then ProgTraceCorrelation with I-CNT 31 and the HIST of three branches.
printf '\x24\x15\x00\x00\x00\x00\x00\x07\x84\x50\x7d\x37' >"$archive/nt/trace.bin"
printf '\x42\x1f\x11\x45\x73\x00\x00\x00\xc0\x41\x12\x41\x0e\x42\x05\xf9\x41\x12\x41\x0e\x42\x85\xf9\x41' \
	>"$archive/et/trace.bin"
printf '\x12\x41\x0e\x45\x05\xfc\xff\xff\x7f\x42\x4f\x11' >>"$archive/et/trace.bin"
both='xlen = 32\nimplicit_return = 1\nzcmp = 1\nzcmt = 1\n'
program='[program]\nraw = code.bin, address = 0x80000000\n[parameters]\n'
printf "[capture]\nformat = ntrace\ntrace = trace.bin\n$program${both}jvt = 0x80000040\n" >"$archive/nt/capture.ini"
mkdir "$archive/unknown"
cp "$archive/nt/code.bin" "$archive/nt/trace.bin" "$archive/unknown"
printf "[capture]\nformat = ntrace\ntrace = trace.bin\n$program$both" >"$archive/unknown/capture.ini"
{
	printf '[capture]\nformat = etrace\ntrace = trace.bin\nframing = te_inst_raw\n'
	printf "${program}version = 2.0\niaddress_width = 32\nprivilege_width = 3\necause_width = 6\nsijump = 1\n"
	printf 'return_stack_size = 7\nbpred_size = 7\noptions = implicit_return branch_prediction\nzcmp = 1\nzcmt = 1\n'
} >"$archive/et/capture.ini"

once='00 08 0a 0c 02 04 0e 10 14 06'
twice='00 08 0a 0c 02 04 0e 10 12 14 06'
want=$(for pc in $once $twice $once; do echo "00000000800000$pc"; done)

# The listing of a capture, and that nothing is wrong with it.
check() {
	[ "$(awk '!/^#/ {print $3}' "$mnt/$1/hart0/listing.txt")" = "$want" ] ||
		fail "$1: $(cat "$mnt/$1/hart0/listing.txt" "$mnt/$1/errors.txt")"
	[ ! -s "$mnt/$1/errors.txt" ] || fail "$1: $(cat "$mnt/$1/errors.txt")"
}

do_mount --wait
check nt@ntrace
check et@etrace
if "$hartfs" --version | grep -qE 'LLVM (19|[2-9][0-9])'; then
	grep -q ' a082     cm.jalt 32 .*-> 0000000080000008$' "$mnt/nt@ntrace/hart0/listing.txt" ||
		fail "$(cat "$mnt/nt@ntrace/hart0/listing.txt")"
fi
# Without its place the first jump through the table is named.
grep -q 'cm.jalt at address 80000000 goes' "$mnt/unknown@ntrace/errors.txt" || fail "$(cat "$mnt/unknown@ntrace/errors.txt")"
[ -z "$(awk '!/^#/' "$mnt/unknown@ntrace/hart0/listing.txt")" ] || fail "$(cat "$mnt/unknown@ntrace/hart0/listing.txt")"

grep -qx 'zcmt = 1' "$mnt/nt@ntrace/hart0/etrace/capture.ini" || fail "$(cat "$mnt/nt@ntrace/hart0/etrace/capture.ini")"
grep -qx 'jvt = 0x80000040' "$mnt/nt@ntrace/hart0/ntrace/capture.ini" || fail "$(cat "$mnt/nt@ntrace/hart0/ntrace/capture.ini")"
for source in nt@ntrace et@etrace; do
	for view in ntrace etrace; do
		cp -r "$mnt/$source/hart0/$view" "$tmp/copy-$source-$view"
	done
done
cp "$mnt/nt@ntrace/hart0/trace.stf" "$tmp/bare.stf"
do_umount
mv "$tmp"/copy-* "$tmp/bare.stf" "$archive"
# STF says it in ISA_EXTENDED, and a copy of its views is as good; a parameter goes before it.
for view in ntrace etrace; do
	mkdir "$archive/told-$view"
	for file in trace.bin capture.ini program.elf; do
		"$hartfs" cat --index-dir "$index" "$archive/bare.stf" hart0/$view/$file >"$archive/told-$view/$file" ||
			fail "cat of $view/$file"
	done
	grep -qx 'zcmp = 1' "$archive/told-$view/capture.ini" || fail "$(cat "$archive/told-$view/capture.ini")"
	grep -qx 'zcmt = 1' "$archive/told-$view/capture.ini" || fail "$(cat "$archive/told-$view/capture.ini")"
	! "$hartfs" cat --index-dir "$index" --param $view.zcmt=0 "$archive/bare.stf" hart0/$view/capture.ini |
		grep -x 'zcmt = 1' || fail "a parameter does not count"
done
if "$hartfs" --version | grep -qE 'LLVM (19|[2-9][0-9])'; then
	for file in hart0/listing.txt hart0/profile/mix.txt; do
		"$hartfs" cat --index-dir "$index" "$archive/bare.stf" $file >"$tmp/said"
		grep -q 'cm.popretz' "$tmp/said" || fail "$(cat "$tmp/said")"
	done
	grep -q 'return *cm.popretz' "$tmp/said" || fail "$(cat "$tmp/said")"
	"$hartfs" state --index-dir "$index" "$archive/bare.stf" 0 | grep -q cm.jalt || fail "state does not know cm.jalt"
fi
do_mount --wait
for source in nt@ntrace et@etrace; do
	for view in ntrace etrace; do
		check "copy-$source-$view@$view"
	done
done
check told-ntrace@ntrace
check told-etrace@etrace
cmp -s "$archive/copy-nt@ntrace-ntrace/trace.bin" "$mnt/copy-nt@ntrace-ntrace@ntrace/hart0/ntrace/trace.bin" ||
	fail "a copy of ntrace/ has another view ntrace/"
# From E-Trace to N-Trace: what the copy of nt knew of its table is kept.
grep -qx 'jvt = 0x80000040' "$mnt/copy-nt@ntrace-etrace@etrace/hart0/ntrace/capture.ini" || fail "the table is lost"
do_umount
finish
