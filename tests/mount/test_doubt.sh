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

doubt='bytes from here on may be wrong: the compressed stream is damaged after them, before a checksum vouches for them'
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

# The listing and the records begin with the doubt, or have it where the bytes begin of which it speaks.
for views in crc@stf@gz $captures; do
	for file in hart0/listing.txt records.txt; do
		head -n 1 "$mnt/$views/$file" | grep -q "^# .*0.* bytes from here on may be wrong" || fail "$views/$file: $(head -n 1 "$mnt/$views/$file")"
	done
done
[ "$(grep -c 'from here on may be wrong' "$mnt/second@stf@gz/hart0/listing.txt")" = 1 ] || fail "two members: not one doubt"
grep -q 'may be wrong' "$mnt/whole@stf@gz/hart0/listing.txt" && fail "a whole file: a doubt"
# From any offset, and by a table that is made later.
listing=$mnt/middle@stf@gz/hart0/listing.txt
cp "$listing" "$tmp/all"
for at in 100 1000 70000; do
	cmp <(dd if="$listing" bs=1 skip=$at count=300 status=none) <(tail -c +$((at + 1)) "$tmp/all" | head -c 300) || fail "at $at"
done
do_umount
h() { timeout "$patience" "$hartfs" "$@" --index-dir "$tmp/small"; }
# All that is made of the chunks has it once.
h index -q --chunk=1000 "$archive/second.stf.gz" || fail "index ended with $?"
h verify -q --chunk=1000 "$archive/second.stf.gz" || fail "verify ended with $?"
h cat --chunk=1000 --checksums=all "$archive/second.stf.gz" hart0/listing.txt | grep -c 'from here on may be wrong' | grep -qx 1 ||
	fail "chunks of 1000: not one doubt"

# Every answer from it says so, once, and none from a whole file.
says='it has [0-9]* problems: answers may be wrong'
warns() {
	h "$@" >"$tmp/out" 2>"$tmp/err"
	[ "$(grep -c "^hartfs $1: .*$says" "$tmp/err")" = 1 ] || fail "$*: $(cat "$tmp/err")"
}
for asked in "find|--pc 80000000 --count" "state|100" "top|" "sql|SELECT count(*) FROM hart" "cat|hart0/profile/functions.txt"; do
	[ "${asked#sql}" = "$asked" ] || command -v sqlite3 >/dev/null || continue
	words=(${asked#*|})
	[ "${asked%%|*}" != sql ] || words=("${asked#*|}")
	warns "${asked%%|*}" "$archive/crc.stf.gz" "${words[@]}"
	h "${asked%%|*}" "$archive/whole.stf.gz" "${words[@]}" 2>&1 >"$tmp/out" | grep -q "$says" && fail "a whole file: ${asked%%|*} warns"
done
warns diff "$archive/crc.stf.gz" "$archive/whole.stf.gz"

# What was written before the checksum was met has no doubt: that is an error, and the same command has it then.
if "$hartfs" cat --index-dir "$tmp/live" "$archive/crc.stf.gz" hart0/listing.txt >"$tmp/out" 2>"$tmp/err"; then
	head -n 1 "$tmp/out" | grep -q '^# doubt' || fail "cat while it is indexed"
else
	grep -q 'damaged after what was written' "$tmp/err" || fail "cat while it is indexed: $(cat "$tmp/err")"
fi
"$hartfs" cat --index-dir "$tmp/live" "$archive/crc.stf.gz" hart0/listing.txt | head -n 1 | grep -q '^# doubt' || fail "cat once more"
finish
