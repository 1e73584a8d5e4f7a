#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The ETE corpus through the mount: the retired pcs of every capture, the packets of one, and the reasons for views that
# do not exist. q_elem's second buffer is no hard reference and is compared without the paths that are missing there.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/ete" ] || skip "HARTFS_CORPUS names no corpus"
archive=$HARTFS_CORPUS/ete
do_mount --wait

pcs() { awk '!/^#/ {print $3}' "$1" | sed 's/^0*//'; }
golden() { awk '!/^#/ {print $1}' "$@"; }

# capture NAME HART ID BUFFER...: in the order of the snapshot's list.
capture() {
	local name=$1 hart=$2 id=$3 files=() buffer
	shift 3
	for buffer; do files+=("$archive/golden/$name/$buffer.id$id.pc"); done
	golden "${files[@]}" >"$tmp/want"
	pcs "$mnt/snapshots/$name@ete/hart$hart/listing.txt" >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/want" || fail "$name hart$hart: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
}

for name in 002-ack_test_scr src_addr maxspec78_commopt0 trace_file_cid_vmid; do capture $name 2 2 ETB_1; done
for name in ete_spec_1 ts_marker tme_simple tme_tcancel ete-bc-instr event_test; do capture $name 1 1 ETB_1; done
for name in ete-ite-instr ete-wfet s_9001; do capture $name 1 1 ETB_1 ETB_2; done
capture rme_test 1 1 ETB_1 ETB_2 ETB_3
for id in 10 11 12 13 14 15; do capture infrastructure $((16#$id)) $id ETB_0; done

golden "$archive"/golden/q_elem/ETB_{2,1}.id1.pc >"$tmp/want"
pcs "$mnt/snapshots/q_elem@ete/hart1/listing.txt" >"$tmp/got"
[ "$(diff "$tmp/got" "$tmp/want" | grep -c '^>')" -eq 0 ] || fail "q_elem lacks instructions"
[ "$(diff "$tmp/got" "$tmp/want" | grep -c '^<')" -le 36 ] || fail "q_elem has too many instructions"

for dir in "$archive"/crafted/*/; do
	name=$(basename "$dir")
	golden "$dir/expected.pc" >"$tmp/want"
	pcs "$mnt/crafted/$name@ete/hart1/listing.txt" >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/want" || fail "$name: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
done

# what the notes of crafted cases ask for beside pcs
has() { grep -q "$2" "$mnt/crafted/$1@ete/hart1/listing.txt" || fail "$1 has no line '$2'"; }
has ite_cancel '^# marker type=2 number=1 value=1122334455667788$'
has event_before_tinfo '^# marker type=1 number=0 '
has exc_ctx_e01 '^# trap interrupt cause=1 (IRQ) .* mode=EL2'
has pe_reset '^# trap interrupt cause=3 (reset)'
has q_noaddr_ctx '^# context .*mode=EL2'
has ts_9byte '^# time 9295429630892703743$'
has cc_f1_maxspec '^# cycles 9$'
has midstart '^# gap offset=0 bytes=[0-9]* no synchronisation packet yet$'

awk -F'\t' '$4 !~ /^I_(ADDR|SRC|SCR)/ {print $1}' "$archive/golden/ts_marker/ETB_1.pkts.tsv" >"$tmp/want"
awk '!/^#/ && $2 !~ /^(TARGET|SOURCE)/ {print $1}' "$mnt/snapshots/ts_marker@ete/records.txt" >"$tmp/got"
cmp -s "$tmp/got" "$tmp/want" || fail "records of ts_marker: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
[ ! -e "$mnt/snapshots/src_addr@ete/hart2/trace.astf" ] || fail "ASTF of a source without memory accesses"
finish
