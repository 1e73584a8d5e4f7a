#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# codecs/adding-a-view.md does what it says: its code, built into a copy of the tree, is a view of every hart, the
# captures that cannot have it say why, and the tests that it names take the view in. Without one of its steps they fail
# with the view's name. Then the same for its second form, with a state and a parameter.
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
build() {
	cmake --build "$tmp/build" --target hartfs "$@" >"$tmp/out" 2>&1 || fail "it does not build: $(tail -n 20 "$tmp/out")"
}
# passes TEST [ARGUMENT]: what it prints is in $tmp/out.
passes() { HARTFS_DATA=$tree/tests/data "$tmp/build/tests/$1" "${@:2}" >"$tmp/out" 2>&1; }

mkdir "$tree/codecs/opcodes"
block 1 >"$tree/codecs/opcodes/view.c"
block 2 >>"$tree/codecs/views.def"
grep -q 'HF_VIEW(opcodes)' "$tree/codecs/views.def" || fail "the page has no row for the list"
cmake -S "$tree" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS=-O0 >"$tmp/out" 2>&1 ||
	fail "it is not configured: $(tail -n 20 "$tmp/out")"
build test_views test_seek fuzz_encode
hartfs=$tmp/build/hartfs

# The page's own commands.
(cd "$tree" && block 3 | sed '/^cmake/d' | sed "s|build/release/hartfs|$hartfs|" | bash) >"$tmp/out" 2>&1
grep -qE '^[0-9a-f]{8}$' "$tmp/out" && grep -q 'RISC-V only' "$tmp/out" || fail "its commands print $(cat "$tmp/out")"

"$hartfs" help mount | grep -A1 '^Views' | grep -qw opcodes.txt || fail "the help does not list it"

# The manual is asked for, by name.
passes test_views && fail "nobody misses it in the manual"
grep -q 'the view opcodes: .*hartfs-views.5.md' "$tmp/out" || fail "not said what is missing: $(cat "$tmp/out")"
block 4 >"$tmp/paragraph"
line=$(grep -n '^hart\*N\*/trace.stf$' "$tree/mountd/hartfs-views.5.md" | cut -d: -f1)
sed -i "$((line - 1))r $tmp/paragraph" "$tree/mountd/hartfs-views.5.md"
passes test_views || fail "unit.views: $(cat "$tmp/out")"

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
cp "$view/opcodes.txt" "$tmp/opcodes.txt"
do_umount

# Its second form: a state and a parameter. Without save and load the chunks show it.
block 6 | sed '/^	\.state/d; s/if (o->numbers)/if (!o->numbers)/' >"$tree/codecs/opcodes/view.c"
sed -i 's/^static size_t save/__attribute__((unused)) &/; s/^static int load/__attribute__((unused)) &/' \
	"$tree/codecs/opcodes/view.c"
build test_seek
passes test_seek && fail "a state that is not saved is not noticed"
grep -q 'hart[0-9]*/opcodes.txt' "$tmp/out" || fail "not said which view: $(cat "$tmp/out")"
block 6 >"$tree/codecs/opcodes/view.c"
build test_views test_seek fuzz_encode
for test in test_views test_seek "fuzz_encode $tree/tests/fuzz/corpus/encode"; do
	# shellcheck disable=SC2086
	passes $test || fail "$test: $(cat "$tmp/out")"
done
do_mount --wait
cmp "$view/opcodes.txt" "$tmp/opcodes.txt" || fail "without the parameter it is another text"
do_umount
refused=$("$hartfs" cat --param opcodes.nubmers=1 "$archive/boot/rv-sys.stf.gz" hart0/opcodes.txt 2>&1)
[[ $refused == *"opcodes has no parameter 'nubmers' (did you mean 'numbers'?)"* ]] || fail "a wrong parameter: $refused"
do_mount --wait --param opcodes.numbers=1
cmp "$view/opcodes.txt" <(awk '{print NR - 1, $1}' "$tmp/opcodes.txt") || fail "its ordinals are wrong"
cmp "$view/at/100-200/opcodes.txt" <(sed -n 101,201p "$view/opcodes.txt") || fail "those of a slice are wrong"
do_umount
finish
