#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Streams that cannot be entered in the middle are recompressed when they are read again and again: once, within the
# limit, and what is read stays the same, also when the spool is damaged or there is none.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
for tool in xz zstd; do command -v $tool >/dev/null || skip "$tool is needed"; done
capture_archive
gzip -dc "$archive/boot/rv-sys.stf.gz" >"$tmp/long.stf"
rm -r "$archive/boot" "$archive/mini"
xz -1c "$tmp/long.stf" >"$archive/x.stf.xz"
xz -1c --format=lzma "$tmp/long.stf" >"$archive/l.stf.lzma"
zstd -q -3c "$tmp/long.stf" >"$archive/z.stf.zst"
size=$(stat -c %s "$tmp/long.stf")
views=(--views=listing.txt --summary=off)

metric() { sed -n "s/^hartfs_$1 //p" "$mnt/.hartfs/metrics.prom"; }
at_least() { [ "$(metric "$1")" -ge "$2" ]; }
spools() { find "$index" -maxdepth 1 -name '*.hfs' | wc -l; }

# jump FILE: pieces from here and there, compared with the stream.
jump() {
	local at
	for ((at = size - 70000; at > 0; at -= size / 7)); do
		cmp -i "$at" -n 5000 "$1" "$tmp/long.stf" || fail "$1 at $at"
	done
}

# Through a small cache, so that the blocks are not all in memory.
do_mount --wait --cache 1M "${views[@]}"
for name in x@stf@xz l@stf@lzma z@stf@zst; do
	[ "$(stat -c %s "$mnt/$name/source.stf")" = "$size" ] || fail "$name: size"
	jump "$mnt/$name/source.stf"
	jump "$mnt/$name/source.stf"
done
wait_until at_least spools_made_total 3 || fail "$(metric spools_made_total) spools were made: $(cat "$log")"
[ "$(spools)" = 3 ] || fail "$(spools) spools are there"
# The catalogue may be written just now, so only those of spools are looked for.
[ -z "$(find "$index" -name '*.hfs.part')" ] || fail "a private file is left: $(ls -A "$index")"
[ "$(metric spool_files)" = 3 ] || fail "spool_files is $(metric spool_files)"
reads=$(metric spool_reads_total)
do_umount
[ -z "$(find "$index" -name '*.part')" ] || fail "a private file is left behind the mount: $(ls -A "$index")"

# The next mount finds them, and makes none.
do_mount --wait --cache 1M "${views[@]}"
for name in x@stf@xz l@stf@lzma z@stf@zst; do
	jump "$mnt/$name/source.stf"
	cmp "$mnt/$name/source.stf" "$tmp/long.stf" || fail "$name: source.stf"
	cmp <(tail -c 200000 "$mnt/$name/hart0/listing.txt") <(tail -c 200000 "$mnt/x@stf@xz/hart0/listing.txt") ||
		fail "$name: listing.txt"
done
at_least spool_reads_total 20 || fail "$(metric spool_reads_total) reads from spools"
[ "$(metric spools_made_total)" = 0 ] || fail "made again"
do_umount
[ "$reads" -ge 0 ] || fail "no such metric"

# Damaged ones are never believed: the bytes are right all the same, and they are made anew.
for file in "$index"/*.hfs; do
	printf 'xxxxxxxxxxxxxxxx' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") * 3 / 4)) conv=notrunc status=none
done
do_mount --wait --cache 1M "${views[@]}"
for name in x@stf@xz l@stf@lzma z@stf@zst; do
	cmp "$mnt/$name/source.stf" "$tmp/long.stf" || fail "$name: source.stf with a damaged spool"
done
[ "$(metric spools_damaged_total)" = 3 ] || fail "$(metric spools_damaged_total) were found damaged"
do_umount
rm -f "$index"/*.hfs

# No spool: none is made. A small limit: none is made either, and nothing fails.
for option in spool=0 spool=10K; do
	do_mount --wait --cache 1M "${views[@]}" -o $option
	jump "$mnt/x@stf@xz/source.stf"
	jump "$mnt/x@stf@xz/source.stf"
	[ $option = spool=0 ] || wait_until at_least spool_errors_total 1 || fail "no error with $option"
	[ "$(spools)" = 0 ] || fail "a spool with $option"
	cmp "$mnt/x@stf@xz/source.stf" "$tmp/long.stf" || fail "source.stf with $option"
	do_umount
done

# A shorter stream, of several blocks, up to where a record ends.
head -c 3500020 "$tmp/long.stf" >"$tmp/short.stf"
xz -1c "$tmp/short.stf" >"$archive/x.stf.xz"
xz -1c --format=lzma "$tmp/short.stf" >"$archive/l.stf.lzma"
zstd -q -3c "$tmp/short.stf" >"$archive/z.stf.zst"

# Blocks that source.stf is served in and that a listing is decoded from are the same memory: both at once, with a cache
# that has room for few of them and one that has room for all.
for cache in 1M 64M; do
	do_mount --wait --cache $cache "${views[@]}" -o spool=0
	for name in x@stf@xz z@stf@zst; do
		cmp "$mnt/$name/source.stf" "$tmp/short.stf" &
		first=$!
		cmp "$mnt/$name/hart0/listing.txt" "$mnt/l@stf@lzma/hart0/listing.txt" &
		second=$!
		dd if="$mnt/$name/source.stf" bs=300007 status=none | cmp - "$tmp/short.stf" || fail "$name: read twice at once"
		wait $first || fail "$name: source.stf beside its listing"
		wait $second || fail "$name: its listing beside source.stf"
	done
	do_umount
done

# A stream that takes more memory than allowed is refused, and said how much it needs.
rm "$archive/z.stf.zst"
xz --lzma2=preset=0,dict=32MiB -c "$tmp/short.stf" >"$archive/x.stf.xz"
do_mount --wait "${views[@]}" -o stream_memory=16M
grep -q 'takes 33 MiB of memory, more than the option stream_memory allows' "$mnt/x@stf@xz/errors.txt" ||
	fail "refused without a word: $(cat "$mnt/x@stf@xz/errors.txt")"
[ ! -e "$mnt/x@stf@xz/hart0" ] || fail "decompressed with more memory than allowed"
cmp "$mnt/l@stf@lzma/source.stf" "$tmp/short.stf" || fail "l.stf.lzma with 16 MiB"
do_umount
do_mount --wait "${views[@]}" -o stream_memory=64M
cmp "$mnt/x@stf@xz/source.stf" "$tmp/short.stf" || fail "x.stf.xz with 64 MiB"
do_umount
finish
