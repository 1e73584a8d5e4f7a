#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with a command line or a mountpoint is said in one line, with the exit status that hartfs(1) gives.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
plain_archive

# wrong STATUS PATTERN ARGUMENT...: ends with it and says it in one line (two for a wrong command line).
wrong() {
	local status=$1 pattern=$2 got lines
	shift 2
	timeout "$patience" "$hartfs" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got = "$status" ] || fail "$*: status $got, not $status"
	grep -q -- "$pattern" "$tmp/err" || fail "$*: $(cat "$tmp/err")"
	lines=$(wc -l <"$tmp/err")
	[ "$lines" = $((status == 2 ? 2 : 1)) ] || fail "$*: $lines lines: $(cat "$tmp/err")"
	is_mounted "$mnt" && { fail "$*: it is mounted all the same"; umount -l "$mnt"; }
}

m=(mount --index-dir "$index")
wrong 2 'a command is missing'
wrong 2 'no command' frobnicate
wrong 2 'archive and a mountpoint' "${m[@]}" "$archive"
wrong 2 'unknown option' "${m[@]}" --frobnicate "$archive" "$mnt"
wrong 2 'unknown or wrong mount option .frobnicate' "${m[@]}" -o ro,frobnicate "$archive" "$mnt"
wrong 2 'unknown or wrong mount option .cache=lots' "${m[@]}" -o cache=lots "$archive" "$mnt"
wrong 2 'not a valid value' "${m[@]}" --threads=0 "$archive" "$mnt"
wrong 2 'not a valid value of --views' "${m[@]}" --views=listing.txt,frobnicate "$archive" "$mnt"
wrong 2 'unknown or wrong mount option .views=' "${m[@]}" -o views= "$archive" "$mnt"
wrong 2 'needs an argument' mount "$archive" "$mnt" --index-dir
wrong 2 'unknown option' umount --wait "$mnt"
wrong 2 'not a valid value' index --shard=3/3 "$archive"
wrong 1 'no such archive' "${m[@]}" "$tmp/none" "$mnt"
wrong 1 'archive is not a directory' "${m[@]}" "$archive/empty" "$mnt"
wrong 1 'no such mountpoint' "${m[@]}" "$archive" "$tmp/none"
wrong 1 'mountpoint is not a directory' "${m[@]}" "$archive" "$archive/empty"
wrong 1 'hide its own archive' "${m[@]}" "$archive" "$archive"
wrong 1 'hide its own archive' "${m[@]}" "$archive" "$tmp"
wrong 1 'hide its own index' mount --index-dir "$mnt/x" "$archive" "$mnt"
wrong 1 'index directory cannot be used' mount --index-dir "$archive/empty" "$archive" "$mnt"
wrong 1 'not mounted there' umount "$mnt"
wrong 1 'not mounted there' umount "$tmp/none"
wrong 1 'no such file' cat --index-dir "$index" "$tmp/none/x"
wrong 1 'packets need a capture.ini' cat --index-dir "$index" "$archive/random.bin" hart0/listing.txt
wrong 1 'packets need a capture.ini' index --index-dir "$index" "$archive/random.bin"
for command in info index verify ls; do
	wrong 1 'no capture in it; .*hartfs help capture' "$command" --index-dir "$index" "$archive"
done
# Logs of simulators are told by name.
mkdir "$tmp/logs"
printf 'warning: x\ncore   0: 3 0x0000000000001000 (0x00000297) x5  0x0000000000001000\n' >"$tmp/logs/commits"
printf 'core   0: 0x0000000000001000 (0x00000297) auipc   t0, 0x0\n' >"$tmp/logs/spike"
printf '0, 0x1000, 0x297, "auipc t0,0"\n' | gzip >"$tmp/logs/execlog.gz"
printf '[0] [M]: 0x00001000 (0x00000297) auipc t0, 0x0\n' >"$tmp/logs/sail"
for named in 'commits Spike commit log' 'spike Spike log' "execlog.gz log of QEMU's execlog plugin" 'sail Sail log'; do
	for command in index ls info verify; do
		wrong 1 "${named#* }: not read yet" "$command" --index-dir "$index" "$tmp/logs/${named%% *}"
	done
	wrong 1 "${named#* }: not read yet" cat --index-dir "$index" "$tmp/logs/${named%% *}" hart0/listing.txt
done
wrong 1 'no such file' index --index-dir "$index" "$tmp/none"
rmdir "$mnt/x" 2>/dev/null

do_mount
timeout "$patience" "$hartfs" "${m[@]}" "$archive" "$mnt" 2>"$tmp/err" && fail "mounted twice on one place"
grep -q 'mounted there already' "$tmp/err" || fail "$(cat "$tmp/err")"
do_umount

finish
