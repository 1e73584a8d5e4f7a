#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real executions as ASTF in every storage through the mount: retired instructions, traps, memory accesses, as the
# emulator logged them; and each as STF, mounted again, and as ASTF of that.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
. "$(dirname "$0")/../lib/astf.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
corpus=$HARTFS_CORPUS/qemu

# Each capture by itself: their STF is mounted beside them, and a test's room is small.
check() { # NAME FILE SUFFIX-OF-GOLDENS
	local what="$1 $2" dir=$corpus/$1 views back=$mnt/back@stf/hart0
	cp "$dir/$2" "$archive/$2" && chmod u+w "$archive/$2"
	do_mount --wait
	views=$mnt/$(echo "$2" | tr . @)/hart0
	check_astf "$what" "$views" "$dir" "$3"
	if [ "$1" = a64-sys ]; then
		check_astf_traps "$what" "$views" "$dir"
	elif [ -e "$dir/events$3.txt" ] && grep -qv '^#' "$dir/events$3.txt"; then
		check_astf_jumps "$what" "$views" "$dir/events$3.txt"
	fi
	[ ! -s "$views/../errors.txt" ] || fail "$what: $(head -n 3 "$views/../errors.txt")"
	cp "$views/trace.stf" "$tmp/back.stf"
	do_umount
	mv "$tmp/back.stf" "$archive"
	do_mount --wait
	listed_pcs <"$back/listing.txt" >"$tmp/got"
	golden "$dir/pcs$3.txt" >"$tmp/want"
	same "$what as STF" "$tmp/got" "$tmp/want"
	[ "$1" = a64-signals-ss ] || check_astf_loop "$what" "$views" "$back" # 250 MB of text, and nothing new in it
	do_umount
	rm "$archive"/*
}

check a64-small trace.astf ""
check a64-recurse trace.astf ""
check a64-sys trace.astf ""
check a64-indirect-pac trace.astf ""
check a64-signals-ss trace.astf ""
for t in 0 1 2 3 4; do check a64-threads-ss t$t.astf .t$t; done
check a64-threads-ss t5.astf.gz .t5
check a64-threads-ss t6.astf.xz .t6
finish
