#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory of a mount: a few hundred captures, whole and damaged, with programs, are indexed and read with a small cache.
# What the server takes at most stays below the cache and 128 MiB (contrib/soak.sh does it with thousands), and does
# not grow with the number of captures that are open.
set -u
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
grep -q '^VmHWM' /proc/self/status || skip "the kernel does not tell how much memory a process had"
readonly count=160 cache=16
# Sanitizers take memory of their own: then only that all of it reads is tested.
sanitized=false
grep -qE 'libasan|libtsan|__asan_init|__tsan_init' "$hartfs" && sanitized=true

mkdir "$tmp/seed"
for view in etrace/trace.bin etrace/capture.ini etrace/program.elf trace.stf; do
	"$hartfs" cat --views=etrace,trace.stf --index-dir "$index" "$HARTFS_DATA/archive/mini/rv32-mini.stf" \
		"hart0/at/1000-2999/$view" >"$tmp/seed/${view##*/}" || fail "no $view to test with"
done
truncate -s 1M "$tmp/seed/ram"
eval "names=({0..$((count - 1))})"
mkdir "${names[@]/#/$archive/c}"
for n in "${names[@]}"; do
	ln "$tmp/seed/"{program.elf,ram,trace.bin} "$archive/c$n/"
	printf '%s\n# %d\n[program %d]\nraw = ram, address = 0x70000000\n' "$(<"$tmp/seed/capture.ini")" "$n" "$((n + 1))" \
		>"$archive/c$n/capture.ini"
done

high() { awk '/^VmHWM/ {print int($2 / 1024)}' "/proc/$(server)/status"; }

do_mount --wait --cache "${cache}M"
ls -lR "$mnt" >/dev/null
for round in 1 2; do
	sums[$round]=$(cd "$mnt" && {
		head -c 65536 c*@etrace/hart0/listing.txt && cat c*@etrace/info.json && tail -c 4096 c*@etrace/hart0/trace.stf ||
			echo "round $round"
	} | sha256sum)
done
[ "${sums[1]}" = "${sums[2]}" ] || fail "captures read otherwise the second time"
[ "$(cd "$mnt" && cat c*@etrace/errors.txt | wc -c)" = 0 ] || fail "$(cat "$mnt"/c*@etrace/errors.txt | head -n 3)"
echo "$count captures, cache $cache MiB: $(high) MiB at most, of $((cache + 128))"
$sanitized || [ "$(high)" -le $((cache + 128)) ] || fail "more than the cache and 128 MiB"
do_umount
finish
