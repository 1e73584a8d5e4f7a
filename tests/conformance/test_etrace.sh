#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# E-Trace captures through the mount: the pcs of the listing are those that others found, for every configuration of two
# programs and every framing; packets have their lines; each hart of a capture with two is its own.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/etrace" ] || skip "HARTFS_CORPUS names no corpus"
cp -r "$HARTFS_CORPUS"/etrace/{corner,br_j_asm,framing,bootrom64.bin} "$archive"
chmod -R u+w "$archive"
do_mount --wait

pcs() {
	awk '!/^#/ {sub(/^0+/, "", $3); print $3}' "$1"
}

# check VIEWS HART GOLDEN
check() {
	pcs "$1/hart$2/listing.txt" >"$tmp/got"
	same "$1 hart $2" "$tmp/got" "$3"
	[ ! -s "$1/errors.txt" ] || fail "$1 has errors: $(cat "$1/errors.txt")"
}

for program in corner br_j_asm; do
	for ini in "$archive/$program"/*/capture.ini; do
		name=${ini%/capture.ini}
		name=$program/${name##*/}
		golden=$archive/$program/expected_pc.txt
		case $name in
		corner/c111_*ir_* | corner/c111_all_*) continue ;; # nobody can decode these
		corner/itype* | corner/lean) golden=$archive/corner/expected_pc_ecall_retires.txt ;;
		esac
		[ -f "$golden" ] || xz -dc "$golden.xz" >"$golden"
		check "$mnt/$name@etrace" 0 "$golden"
		[ "$(wc -l <"$mnt/$name@etrace/records.txt")" -gt 100 ] || fail "$name: records.txt has too few lines"
	done
done
for framing in encap_src0:0 encap_src8:3 encap_src8_ts2:3 encap_src6_type2:5 encap_2hart_sync:0 atb_coresight_2id:16; do
	check "$mnt/framing/${framing%:*}.ini@etrace" "${framing#*:}" "$archive/corner/expected_pc.txt"
done
check "$mnt/framing/encap_2hart_sync.ini@etrace" 1 "$archive/br_j_asm/expected_pc.txt"
check "$mnt/framing/atb_coresight_2id.ini@etrace" 17 "$archive/br_j_asm/expected_pc.txt"
do_umount
finish
