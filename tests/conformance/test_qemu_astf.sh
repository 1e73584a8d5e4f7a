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

mkdir "$tmp/again" "$tmp/mnt2"
cp -r "$corpus"/a64* "$archive" && chmod -R u+w "$archive" || exit 1
do_mount --wait

# check NAME FILE SUFFIX-OF-GOLDENS
check() {
	local what="$1 $2" dir=$corpus/$1 views
	views=$mnt/$1/$(echo "$2" | tr . @)/hart0
	check_astf "$what" "$views" "$dir" "$3"
	if [ "$1" = a64-sys ]; then
		check_astf_traps "$what" "$views" "$dir"
	elif [ -e "$dir/events$3.txt" ] && grep -qv '^#' "$dir/events$3.txt"; then
		check_astf_jumps "$what" "$views" "$dir/events$3.txt"
	fi
	[ ! -s "$views/../errors.txt" ] || fail "$what: $(head -n 3 "$views/../errors.txt")"
}

check a64-small trace.astf ""
check a64-recurse trace.astf ""
check a64-sys trace.astf ""
check a64-indirect-pac trace.astf ""
check a64-signals-ss trace.astf ""
for t in 0 1 2 3 4; do check a64-threads-ss t$t.astf .t$t; done
check a64-threads-ss t5.astf.gz .t5
check a64-threads-ss t6.astf.xz .t6

# Through STF and back: those whose records differ in kind, of the threads the one with a signal. That the STF of all has
# the same instructions is what round_trip says.
loops="a64-small/trace a64-recurse/trace a64-sys/trace a64-indirect-pac/trace a64-threads-ss/t1"
for loop in $loops; do cp "$mnt/$loop@astf/hart0/trace.stf" "$tmp/again/${loop%/*}.stf" || fail "cp $loop"; done
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$tmp/again" "$tmp/mnt2" || fail "second mount"
for loop in $loops; do check_astf_loop "$loop" "$mnt/$loop@astf/hart0" "$tmp/mnt2/${loop%/*}@stf/hart0"; done
timeout "$patience" "$hartfs" umount "$tmp/mnt2" || fail "umount of the second mount"
do_umount
finish
