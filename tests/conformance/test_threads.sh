#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real captures of every format, indexed by one thread and by several: the view tables are the same files, byte for byte,
# and the decode index has the same size of everything and makes every chunk again as promised.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_CORPUS:-}" ] || skip "HARTFS_CORPUS names no corpus"
mkdir "$tmp/one" "$tmp/many"
count=0
for capture in qemu/rv-sys/trace.stf.gz qemu/rv-small/trace.stf.xz qemu/a64-sys/trace.astf qemu/a64-small/trace.astf \
	stf/harts/harts.zstf stf/edge/txn.stf stf/variants/dhrystone_opt1.n1000.zstf stf/bad/bad-bit-flip.stf.xz \
	$(cd "$HARTFS_CORPUS" && ls -d ete/*/ etrace/*/ ntrace/*/ 2>/dev/null | awk -F/ '++n[$1] <= 2'); do
	[ -e "$HARTFS_CORPUS/$capture" ] || continue
	rm -rf "$archive/x" "$tmp"/one/* "$tmp"/many/*
	mkdir "$archive/x"
	cp -r "$HARTFS_CORPUS/$capture" "$archive/x/" || fail "cp $capture"
	timeout "$patience" "$hartfs" index -q -j 1 --index-dir "$tmp/one" "$archive/x" >"$tmp/out.one" 2>&1
	one=$?
	# One capture at a time, so that all threads are its own.
	for threads in 2 5; do
		rm -rf "$tmp"/many/*
		timeout "$patience" "$hartfs" index -q -j $threads --index-dir "$tmp/many" "$archive/x" >"$tmp/out.many" 2>&1
		[ $? = $one ] || fail "$capture: $threads threads end otherwise: $(head -n 3 "$tmp/out.many")"
		(cd "$tmp/one" && stat -c '%n %s' -- *.hf[iv] 2>/dev/null) >"$tmp/want"
		(cd "$tmp/many" && stat -c '%n %s' -- *.hf[iv] 2>/dev/null) >"$tmp/got"
		cmp -s "$tmp/got" "$tmp/want" || fail "$capture, $threads threads: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
		for table in "$tmp"/one/*.hfv; do
			[ -e "$table" ] || continue
			cmp -s "$table" "$tmp/many/${table##*/}" || fail "$capture, $threads threads: ${table##*/} differs"
			count=$((count + 1))
		done
		[ $one != 0 ] || timeout "$patience" "$hartfs" verify -q --index-dir "$tmp/many" "$archive/x" >"$tmp/out" 2>&1 ||
			fail "$capture, $threads threads: $(head -n 3 "$tmp/out")"
	done
done
[ "$count" -gt 30 ] || fail "only $count view tables were compared"
echo "$count view tables are the same"
finish
