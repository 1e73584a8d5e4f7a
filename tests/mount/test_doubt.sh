#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A container whose checksum stands at its end: what was served before it turned out to be wrong is not taken for sound.
# errors.txt and info.json say from where on, and the listing how far back.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
capture_archive
mini=$archive/mini/rv32-mini.stf
size=$(stat -c %s "$mini")
gzip -dc "$archive/boot/rv-sys.stf.gz" >"$tmp/large.stf"
large=$(stat -c %s "$tmp/large.stf")

# flip FILE OFFSET: one bit; a negative offset counts from the end.
flip() {
	local at=$2 byte
	[ "$at" -ge 0 ] || at=$(($(stat -c %s "$1") + at))
	byte=$(od -An -tu1 -j "$at" -N 1 "$1")
	printf '%b' "\\$(printf '%03o' $((byte ^ 1)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}
near_end() { flip "$1" $(($(stat -c %s "$1") * 9 / 10)); }

gzip -1 <"$mini" >"$archive/crc.stf.gz"
cp "$archive/crc.stf.gz" "$archive/whole.stf.gz"
flip "$archive/crc.stf.gz" -7
# Two members, of which the first is good.
head -c 1000000 "$mini" | gzip -1 >"$archive/second.stf.gz"
tail -c +1000001 "$mini" | gzip -1 >>"$archive/second.stf.gz"
flip "$archive/second.stf.gz" -7
gzip -1 <"$tmp/large.stf" >"$archive/middle.stf.gz"
near_end "$archive/middle.stf.gz"
head -c 500000 "$archive/boot/rv-sys.stf.gz" >"$archive/cut.stf.gz"
captures="middle@stf@gz"
if command -v xz >/dev/null; then
	xz -0 -T1 <"$tmp/large.stf" >"$archive/middle.stf.xz"
	near_end "$archive/middle.stf.xz"
	captures+=" middle@stf@xz"
fi
if command -v zstd >/dev/null; then
	zstd -q -1 --check <"$tmp/large.stf" >"$archive/middle.stf.zst"
	near_end "$archive/middle.stf.zst"
	captures+=" middle@stf@zst"
fi
do_mount --wait

doubt='bytes from here on may be wrong: the compressed stream is damaged behind them, before a checksum vouches for them'
# is_told VIEWS FROM BYTES
is_told() {
	grep -q ": offset $2: $3 $doubt$" "$mnt/$1/errors.txt" || fail "errors.txt of $1: $(cat "$mnt/$1/errors.txt")"
	grep -q "\"doubt\": \"offset $2: $3 $doubt\"" "$mnt/$1/info.json" || fail "info.json of $1: $(grep -E 'damage|doubt' "$mnt/$1/info.json")"
}
is_told crc@stf@gz 0 "$size"
tail -n 1 "$mnt/crc@stf@gz/hart0/listing.txt" | grep -q "^# gap .* any of the $size bytes before it may be wrong$" ||
	fail "the listing: $(tail -n 1 "$mnt/crc@stf@gz/hart0/listing.txt")"
is_told second@stf@gz 1000000 $((size - 1000000))
for views in $captures; do
	served=$(stat -c %s "$mnt/$views/source.stf")
	[ "$served" -le "$large" ] && [ "$served" -gt 0 ] || fail "$views: $served bytes are served"
	is_told "$views" 0 "$served"
done
grep -q 'may be wrong' "$mnt/cut@stf@gz/errors.txt" && fail "a file that is merely cut: $(cat "$mnt/cut@stf@gz/errors.txt")"
[ -s "$mnt/whole@stf@gz/errors.txt" ] && fail "a whole file: $(cat "$mnt/whole@stf@gz/errors.txt")"
do_umount
finish
