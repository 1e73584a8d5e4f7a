#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# codecs/adding-a-view.md does what it says: its code, built into a copy of the tree, is a view of every hart, and the
# captures that cannot have it say why.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v cmake >/dev/null && command -v ninja >/dev/null || skip "cmake or ninja is missing"
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/codecs/adding-a-view.md
tree=$tmp/tree
mkdir "$tree"
cp -r "$root"/{CMakeLists.txt,cmake,codecs,contrib,fs,index,mountd,tests,README.md,LICENSE} "$tree"

# block N: the N-th block of code of the page.
block() { awk -v n="$1" '/^```/ { inside = !inside; count += inside; next } inside && count == n' "$page"; }
mkdir "$tree/codecs/opcodes"
block 1 >"$tree/codecs/opcodes/view.c"
block 2 >>"$tree/codecs/views.def"
grep -q 'HF_VIEW(opcodes)' "$tree/codecs/views.def" || fail "the page has no row for the list"

cmake -S "$tree" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS=-O0 -DBUILD_TESTING=OFF >"$tmp/out" 2>&1 &&
	cmake --build "$tmp/build" --target hartfs >>"$tmp/out" 2>&1 || fail "it does not build: $(tail -n 20 "$tmp/out")"
hartfs=$tmp/build/hartfs

capture_archive
mkdir "$archive/arm"
cp "$HARTFS_DATA/astf/a64-sys.astf" "$archive/arm/"
do_mount --wait
view=$mnt/boot/rv-sys@stf@gz/hart0
[ "$(stat -c %s "$view/opcodes.txt")" = "$(cat "$view/opcodes.txt" | wc -c)" ] || fail "its size is not what it says"
cmp <(sed 's/^0*//' "$view/opcodes.txt") <(grep -v '^#' "$view/listing.txt" | awk '{print $4}' | sed 's/^0*//') ||
	fail "its opcodes are not those of the listing"
lines=$(grep -vc '^#' "$view/at/100-200/listing.txt")
cmp "$view/at/100-200/opcodes.txt" <(tail -n +101 "$view/opcodes.txt" | head -n "$lines") || fail "a slice of it is another text"
grep -A1 '"opcodes.txt"' "$mnt/arm/a64-sys@astf/info.json" | grep -q 'RISC-V only' ||
	fail "info.json does not say why Arm has none: $(grep -A2 opcodes "$mnt/arm/a64-sys@astf/info.json")"
[ -e "$mnt/arm/a64-sys@astf/hart0/opcodes.txt" ] && fail "Arm has it all the same"
do_umount
finish
