#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To open a capture that is indexed, no block of its container is unpacked whole: its header is at the beginning.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
for tool in gzip xz; do command -v $tool >/dev/null || skip "$tool is needed"; done
short_archive
gzip -dc "$archive/boot/rv-sys.stf.gz" | xz -1c >"$archive/x.stf.xz"
rm -r "$archive/boot" "$archive/mini"
views=(--views=listing.txt --summary=off)

metric() { sed -n "s/^hartfs_$1 //p" "$mnt/.hartfs/metrics.prom"; }

do_mount --wait "${views[@]}"
info=$(cat "$mnt/x@stf@xz/info.json")
do_umount
do_mount "${views[@]}"
[ "$(cat "$mnt/x@stf@xz/info.json")" = "$info" ] || fail "info.json is another one"
kept=$(metric cache_bytes)
[ "$kept" -gt 0 ] && [ "$kept" -lt $((512 << 10)) ] || fail "$kept bytes are kept of what was unpacked"
head -c 65536 "$mnt/x@stf@xz/hart0/listing.txt" | grep -q '^0 ' || fail "no listing: $(head -c 200 "$mnt/x@stf@xz/hart0/listing.txt")"
do_umount
finish
