#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real executions as STF through the mount: retired instructions, traps, memory accesses, as the emulator logged them.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
archive=$HARTFS_CORPUS/qemu
do_mount --wait

# check NAME CAPTURE-STEM SUFFIX-OF-GOLDENS
check() {
	local dir=$archive/$1 views
	views=$(echo "$mnt/$1/$2"@stf*)
	local listing=$views/hart0/listing.txt
	[ -s "$listing" ] || { fail "$1/$2 has no listing"; return; }
	listed_pcs <"$listing" >"$tmp/got"
	golden "$dir/pcs$3.txt" >"$tmp/want"
	same "$1 $2 pcs" "$tmp/got" "$tmp/want"
	if [ -e "$dir/insts$3.txt.xz" ]; then
		listed_insts <"$listing" >"$tmp/got"
		golden "$dir/insts$3.txt" | cut -d' ' -f1,2 >"$tmp/want"
		same "$1 $2 insts" "$tmp/got" "$tmp/want"
	fi
	if [ -e "$dir/events$3.txt" ]; then
		# Signals of user mode have no event in STF: they are discontinuities. For an illegal instruction or a
		# breakpoint the golden has the signal's address as its value, which STF does not hold.
		case $1 in *-sys) user=0 ;; *) user=1 ;; esac
		awk -v u=$user '!/^#/ && ($3 == "exc" || !u) {print $1, $2, $3, $4, $5, $6, $7}' "$dir/events$3.txt" >"$tmp/want"
		listed_traps <"$listing" >"$tmp/got"
		[ $user = 0 ] || sed -Ei 's/^(.* exc [23] \S+) \S+ /\1 - /' "$tmp/got" "$tmp/want"
		cmp -s "$tmp/got" "$tmp/want" || fail "$1 $2 traps: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
		if [ $user = 1 ]; then
			awk '!/^#/ && $3 != "exc" {print $1, $7}' "$dir/events$3.txt" >"$tmp/want"
			listed_jumps <"$listing" >"$tmp/got"
			cmp -s "$tmp/got" "$tmp/want" || fail "$1 $2 signals: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
		fi
	fi
	if [ -e "$dir/mem.txt.xz" ]; then
		# line pc R|W|RW size address [value] of retired instructions
		golden "$dir/mem.txt" | awk '!/^#/ {sub(/^0+/, "", $6); print $1, $3, $5, $4, (NF < 6 ? "-" : $6 == "" ? 0 : $6)}' >"$tmp/want"
		grep -v '^#' "$listing" | listed_mem |
			awk '{print $1, $2, $3, $4, (NF < 6 ? "-" : $6)}' >"$tmp/got"
		same "$1 $2 mem" "$tmp/got" "$tmp/want"
	fi
}

check rv-small trace ""
check rv-recurse trace ""
check rv-signals-ss trace ""
check rv-sys trace ""
check rv32-mini trace ""
for t in 0 1 2 3 4 5 6; do check rv-threads-ss t$t .t$t; done
do_umount
finish
