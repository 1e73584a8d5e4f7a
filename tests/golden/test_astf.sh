#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An ASTF capture of a real execution through the mount, against what the emulator logged of it; its trace.stf and the
# trace.astf of that.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
. "$(dirname "$0")/../lib/astf.sh"
need_fuse
truth=$HARTFS_DATA/golden/a64-sys
cp "$HARTFS_DATA/astf/a64-sys.astf" "$HARTFS_DATA/astf/figure.astf" "$archive"
# the same RAW, and what must not be read
{ printf 'ASTF\0\13\0\0\1'; tail -c +10 "$archive/figure.astf"; } >"$archive/cut.astf"
{ printf 'ASTF\1\0\0\0\0'; tail -c +10 "$archive/figure.astf"; } >"$archive/major.astf"
do_mount --wait

sys=$mnt/a64-sys@astf/hart0
check_astf a64-sys "$sys" "$truth" ""
check_astf_traps a64-sys "$sys" "$truth"
cmp "$mnt/figure.astf" "$mnt/figure@astf/hart0/trace.astf" || fail "trace.astf of a RAW file is not the file"
# zlib's stream is the RAW file
head -c 8 "$sys/trace.astf" | cmp - <(head -c 8 "$archive/a64-sys.astf") || fail "the header differs"
[ "$(od -An -tu1 -j8 -N1 "$sys/trace.astf" | tr -d ' ')" = 0 ] || fail "trace.astf is not RAW"
cmp "$mnt/a64-sys@astf/source.astf" "$sys/trace.astf" || fail "source.astf is not the RAW file"
first=$(head -n 1 "$mnt/a64-sys@astf/records.txt")
[ "$first" = "0 HEADER ASTF 0.11 BasicPlus timestamps" ] || fail "records.txt begins with $first"
grep -q '"container": "astf-zlib"' "$mnt/a64-sys@astf/info.json" || fail "info.json does not name the storage"
grep -q '"level":"BasicPlus"' "$mnt/a64-sys@astf/info.json" || fail "info.json does not name the level"
# a slice is an ASTF file of its own
cp "$sys/at/1000-1999/trace.astf" "$tmp/slice.astf" || fail "there is no slice"
"$hartfs" cat --index-dir "$index" "$tmp/slice.astf" hart0/listing.txt | listed_pcs >"$tmp/got"
golden "$truth/pcs.txt" | sed -n 1001,2000p >"$tmp/want"
same "slice" "$tmp/got" "$tmp/want"
grep -q 'file offset 32: ' "$mnt/cut@astf/errors.txt" || fail "damage: $(cat "$mnt/cut@astf/errors.txt")"
grep -q 'major version 1' "$mnt/major@astf/errors.txt" || fail "an unknown version is not named"
cp "$sys/trace.stf" "$tmp/a64-sys.stf"
do_umount

cp "$tmp/a64-sys.stf" "$archive"
do_mount --wait
# where an interrupt came STF has a NOP that did not retire: its instruction records are not those of ASTF
mkdir "$tmp/truth"
cp "$truth"/pcs.txt.xz "$truth"/mem.txt.xz "$tmp/truth"
check_astf "a64-sys as STF" "$mnt/a64-sys@stf/hart0" "$tmp/truth" ""
check_astf_traps "a64-sys as STF" "$mnt/a64-sys@stf/hart0" "$truth"
check_astf_loop a64-sys "$mnt/a64-sys@astf/hart0" "$mnt/a64-sys@stf/hart0"
[ ! -s "$mnt/a64-sys@stf/errors.txt" ] || fail "trace.stf has errors: $(head -n 3 "$mnt/a64-sys@stf/errors.txt")"
do_umount
finish
