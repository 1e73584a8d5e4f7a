#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# RISC-V captures of the corpora as E-Trace: its etrace/ copied, mounted again, gives the same retired instructions
# and traps.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"

# Modes, pcs and opcodes; a source without modes is taken to run in user mode.
retired() { "$listed" -s modes U <"$1"; }

# Traps: kind, cause, and of exceptions the instruction that did not retire; not where the fetch itself failed or what was
# fetched is no instruction (that is in no program), nor of E-Trace sources, which do not always know it.
traps() {
	local stf=1
	case $1 in *@etrace/*) stf=0 ;; esac
	"$listed" notes <"$1" | awk -v stf="${2:-$stf}" '{n = $1; sub(/^[0-9]+ /, ""); if (n != before) at = ""; before = n}
	     /^# attempt/ {at = $4 " " $5}
	     /^# trap / {print n, $3, $4, (stf && $3 == "exception" && $4 !~ /^cause=(0|1|2|12)$/ ? at : "")}'
}

copy=$tmp/copy
mkdir "$copy"
mkdir "$archive/a"
for dir in "$HARTFS_CORPUS"/qemu/rv*; do cp -r "$dir" "$archive/a/"; done
shorten_qemu "$archive/a"
for name in bmi_pmp.bare dhry_riscv dhrystone_opt1 edge harts; do cp -r "$HARTFS_CORPUS/stf/$name" "$archive/a/"; done
mkdir "$archive/e"
cp "$HARTFS_CORPUS"/etrace/*.bin "$archive/e/"
cp -r "$HARTFS_CORPUS/etrace/corner" "$archive/e/"
do_mount --wait
n=0
while read -r view; do
	n=$((n + 1))
	cp -r "$view" "$copy/c$n"
	retired "${view%etrace}listing.txt" >"$tmp/retired.$n"
	traps "${view%etrace}listing.txt" >"$tmp/traps.$n"
	echo "$view" >"$tmp/name.$n"
	grep -c '^# doubt' "${view%etrace}listing.txt" >"$tmp/doubts.$n"
# pid.stf has a 16-bit opcode that says it is longer: no code that a decoder could walk over. The literal stream has traps
# without a cause.
done < <(find "$mnt" -type d -name etrace -path '*/hart*' ! -path '*/pid@stf/*' ! -path '*/literal*' | sort)
do_umount
[ "$n" -ge 12 ] || fail "only $n views"

archive=$copy
do_mount --wait
for ((i = 1; i <= n; i++)); do
	listing=$(echo "$mnt/c$i@etrace"/hart*/listing.txt)
	name=$(sed "s|$mnt/||" "$tmp/name.$i")
	[ -s "$listing" ] || { fail "$name is not decoded"; continue; }
	retired "$listing" >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/retired.$i" || fail "$name: other instructions"
	case $name in e/*) stf=0 ;; *) stf=1 ;; esac
	traps "$listing" $stf >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/traps.$i" || fail "$name traps: $(diff "$tmp/got" "$tmp/traps.$i" | head -n 4)"
	# A doubt of the source is a loss in packets: stf/harts has jumps that contradict their opcodes.
	[ "$(grep -c 'the trace unit lost packets' "$mnt/c$i@etrace/errors.txt")" -le "$(cat "$tmp/doubts.$i")" ] &&
		! grep -qv 'the trace unit lost packets' "$mnt/c$i@etrace/errors.txt" ||
		fail "$name: $(head -n 2 "$mnt/c$i@etrace/errors.txt")"
done
echo "$n views compared"
do_umount
finish
