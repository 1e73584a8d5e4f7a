#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# etrace/ in every framing: a copy of the directory is mounted again and shows the same instructions and traps.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/roundtrip.sh"
need_fuse
mini=${HARTFS_DATA:-}/archive/mini/rv32-mini.stf
[ -f "$mini" ] || skip "there is no test data (HARTFS_DATA)"

cp "$mini" "$archive/"
copies=$tmp/copies
mkdir "$copies"
n=0
for params in framing=te_inst_raw,alignment=zeros framing=te_inst_raw,alignment=blocks,data=1 framing=encap \
	framing=encap,data=1,timestamp_bytes=2,version=1.1.1 framing=smi,data=1,version=2.1 framing=coresight,data=1 \
	framing=coresight,compression=none framing=pulp framing=esp32,version=2.1; do
	n=$((n + 1))
	do_mount --wait -o "etrace.${params//,/,etrace.}"
	cp -r "$mnt/rv32-mini@stf/hart0/etrace" "$copies/c$n" || fail "$params: no view"
	[ -e "$tmp/want" ] || flow "$mnt/rv32-mini@stf/hart0/listing.txt" 1-4 >"$tmp/want"
	do_umount
	grep -q "^framing = $(expr "$params" : 'framing=\([a-z0-9_]*\)')\$" "$copies/c$n/capture.ini" ||
		fail "$params: $(cat "$copies/c$n/capture.ini")"
done
[ "$(wc -l <"$tmp/want")" -gt 1000 ] || fail "the sample has too few instructions"

archive=$copies
do_mount --wait
for ((i = 1; i <= n; i++)); do
	listing=$(echo "$mnt/c$i@etrace"/hart*/listing.txt)
	cmp -s <(flow "$listing" 1-4) "$tmp/want" ||
		fail "c$i: other instructions or traps: $(head -n 3 "$mnt/c$i@etrace/errors.txt")"
	[ -s "$mnt/c$i@etrace/errors.txt" ] && fail "c$i: $(head -n 2 "$mnt/c$i@etrace/errors.txt")"
done
do_umount

# What does not fit together is refused by name.
"$hartfs" mount --index-dir "$index" -o etrace.framing=pulp,etrace.data=1 "$copies" "$mnt" 2>"$tmp/err"
[ $? = 2 ] || fail "data in PULP's records is taken"
grep -q "data=1 needs a framing" "$tmp/err" || fail "$(cat "$tmp/err")"
finish
