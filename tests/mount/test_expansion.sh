#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A few bytes that stand for a lot: said, and shown as far as the limit of expansion goes.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/hostile.sh"
need_fuse
loop loop
cat_view() { "$hartfs" cat --index-dir "$index" --expansion="$1" "$archive/loop" "$2"; }

# A file below 4 KiB counts as one of 4 KiB.
do_mount --wait --expansion=16
views=$mnt/loop@ntrace
grep -q '"instructions": 65536,' "$views/info.json" || fail "info.json: $(grep instructions "$views/info.json")"
grep -q "offset 14: the limit of expansion: .* 65536 .*option expansion" "$views/errors.txt" ||
	fail "errors.txt: $(cat "$views/errors.txt")"
tail -n 2 "$views/hart0/listing.txt" >"$tmp/end"
grep -q '^65535 ? 0000000080000004' "$tmp/end" && grep -q '^# gap offset=14 .*the limit of expansion' "$tmp/end" ||
	fail "listing: $(cat "$tmp/end")"
[ "$(grep -vc '^#' "$views/hart0/listing.txt")" = 65536 ] || fail "listing: not 65536 instructions"
slice=$views/hart0/at/65000-65535
wait_until measured "$slice" && grep -q '# gap' "$slice/listing.txt" || fail "a slice up to the end has no gap"
cp -r "$views/hart0/ntrace" "$tmp/again"
do_umount

# Another limit is another index; a larger one goes on where the smaller one ended.
[ "$(cat_view 16 hart0/listing.txt | md5sum)" = "$(cat_view 32 hart0/listing.txt | head -n 65536 |
	cat - <(tail -n 1 "$tmp/end") | md5sum)" ] || fail "another limit gives other instructions"
cat_view 32 errors.txt | grep -q ' 131072 ' || fail "a second limit: $(cat_view 32 errors.txt)"
"$hartfs" verify --index-dir "$index" --expansion=16 "$archive/loop" >"$tmp/out" || fail "verify: $(cat "$tmp/out")"

# Interrupted builds cut at the same place: chunks of one instruction, and the last of them is the gap.
"$hartfs" index --index-dir "$tmp/index2" --expansion=1 --chunk=1 "$archive/loop" >/dev/null || fail "index"
[ "$("$hartfs" cat --index-dir "$tmp/index2" --expansion=1 --chunk=1 "$archive/loop" hart0/listing.txt | md5sum)" = \
	"$("$hartfs" cat --index-dir "$index" --expansion=1 "$archive/loop" hart0/listing.txt | md5sum)" ] ||
	fail "chunks change what is shown"

# What is dense but within the limit is said, too.
do_mount --wait --expansion=256
grep -q '"instructions_per_byte": [0-9]' "$mnt/loop@ntrace/info.json" || fail "info.json does not tell of the density"
grep -q 'each of its bytes stands for [0-9]* instructions' "$mnt/.hartfs/log.txt" || fail "the log does not tell of it"
do_umount

# A compressed stream counts by its bytes.
capture zeros 'format = etrace' 'trace = trace.bin.gz' 'framing = encap'
head -c 64M /dev/zero | gzip -9 >"$archive/zeros/trace.bin.gz"
"$hartfs" cat --index-dir "$index" --expansion=500 "$archive/zeros" errors.txt >"$tmp/errors" || fail "cat"
grep -q 'the limit of expansion: the file decompresses' "$tmp/errors" || fail "errors.txt: $(cat "$tmp/errors")"
"$hartfs" cat --index-dir "$index" "$archive/zeros" errors.txt | grep -q expansion && fail "64 MiB are too much"
"$hartfs" index --expansion=x "$archive" 2>/dev/null && fail "a limit that is no number is taken"
finish
