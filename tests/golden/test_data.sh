#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The captures of tests/data through the mount, against what the emulator logged of them.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
capture_archive
truth=$HARTFS_DATA/golden
do_mount --wait

sys=$mnt/boot/rv-sys@stf@gz/hart0
mini=$mnt/mini/rv32-mini@stf/hart0
for pair in "$sys rv-sys" "$mini rv32-mini"; do
	read -r views name <<<"$pair"
	listed_pcs <"$views/listing.txt" >"$tmp/got"
	golden "$truth/$name/pcs.txt" >"$tmp/want"
	same "$name pcs" "$tmp/got" "$tmp/want"
done
listed_insts <"$sys/listing.txt" >"$tmp/got"
golden "$truth/rv-sys/insts.txt" | cut -d' ' -f1,2 >"$tmp/want"
same "rv-sys insts" "$tmp/got" "$tmp/want"
awk '!/^#/ {print $1, $2, $3, $4, $5, $6, $7}' "$truth/rv-sys/events.txt" >"$tmp/want"
listed_traps <"$sys/listing.txt" >"$tmp/got"
same "rv-sys traps" "$tmp/got" "$tmp/want"
golden "$truth/rv-sys/mem.txt" |
	awk '!/^#/ {sub(/^0+/, "", $6); print $1, $3, $5, $4, (NF < 6 ? "-" : $6 == "" ? 0 : $6)}' >"$tmp/want"
grep -v '^#' "$sys/listing.txt" | listed_mem | awk '{print $1, $2, $3, $4, (NF < 6 ? "-" : $6)}' >"$tmp/got"
same "rv-sys mem" "$tmp/got" "$tmp/want"
gzip -dc "$archive/boot/rv-sys.stf.gz" | cmp - "$sys/trace.stf" || fail "trace.stf is not the original"
cmp "$archive/mini/rv32-mini.stf" "$mini/trace.stf" || fail "trace.stf of a raw capture is not the file"
do_umount
finish
