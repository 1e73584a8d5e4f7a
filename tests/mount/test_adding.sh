#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# codecs/adding-a-format.md and adding-a-view.md do what they say. Built into a copy of the tree, the format's code reads
# its sample, in a mount and in every loop of tests/codec; the view is one of every hart, the captures that cannot have it
# say why, and the tests that the page names take it in. Without one of the steps they fail with the name of what is new.
# Then the same for the view's second form, with a state and a parameter.
# Only what the lists have a part in is compiled; the rest is that of the build that is tested.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v cmake >/dev/null && command -v ninja >/dev/null || skip "cmake or ninja is missing"
root=$(cd "$(dirname "$0")/../.." && pwd)
tree=$tmp/tree
mkdir "$tree"
cp -r "$root"/{CMakeLists.txt,cmake,codecs,contrib,fs,index,mountd,tests,README.md,LICENSE} "$tree"

# block N: the N-th block of code of the page.
block() { awk -v n="$1" '/^```/ { inside = !inside; count += inside; next } inside && count == n' "$page"; }
build() {
	cmake --build "$tmp/build" --target "$@" >"$tmp/out" 2>&1 || fail "it does not build: $(tail -n 20 "$tmp/out")"
}
# reusable: the object files of the build that is tested which the lists have no part in. codecs/views.h only declares what
# is in one; whatever else reads a list is compiled again, and what includes that, and what is made by the build.
reusable() {
	local old=$1 readers
	grep -q '^HARTFS_SANITIZE:STRING=$' "$old/CMakeCache.txt" && grep -q '^HARTFS_COVERAGE:BOOL=OFF$' "$old/CMakeCache.txt" || return
	readers=$(cd "$root" && grep -rlE '^#include "codecs/(codecs|views)\.def"' codecs fs index mountd tests | grep -vx codecs/views.h)
	ninja -C "$old" -t deps | awk -v root="$root/" -v old="$old/" -v readers="$readers" '
		BEGIN { n = split(readers, reader, "\n"); for (i = 1; i <= n; i++) mine[root reader[i]] = 1 }
		/: #deps / { if (object && !again) print object; object = $1; again = /STALE/; sub(/:$/, "", object); next }
		NF {
			path = $1 ~ /^\// ? $1 : old $1
			while (sub(/[^\/]+\/\.\.\//, "", path));
			again = again || path in mine || index(path, old) == 1
		}
		END { if (object && !again) print object }'
}
# passes TEST [ARGUMENT]: what it prints is in $tmp/out.
passes() { HARTFS_CORPUS='' HARTFS_DATA=$tree/tests/data "$tmp/build/tests/$1" "${@:2}" >"$tmp/out" 2>&1; }

page=$root/codecs/adding-a-format.md
mkdir "$tree/codecs/steps"
block 2 >"$tree/codecs/steps/steps.c"
block 3 >>"$tree/codecs/codecs.def"
grep -q 'HF_CODEC(steps)' "$tree/codecs/codecs.def" || fail "the page has no row for the list"

page=$root/codecs/adding-a-view.md
mkdir "$tree/codecs/opcodes"
block 1 >"$tree/codecs/opcodes/view.c"
block 2 >>"$tree/codecs/views.def"
grep -q 'HF_VIEW(opcodes)' "$tree/codecs/views.def" || fail "the page has no row for the list"
built=$(dirname "$hartfs")
mkdir "$tmp/build"
reusable "$built" 2>/dev/null >"$tmp/reusable"
echo "$(wc -l <"$tmp/reusable") object files are those of $built"
(cd "$built" && xargs -r cp --parents -t "$tmp/build" <"$tmp/reusable") || fail "they cannot be copied"
cat >"$tmp/launch" <<-'END'
	#!/bin/sh
	# launch COMPILER ARGUMENT...: compiles what was not there before this file was.
	for argument; do
		[ "$before" != -o ] || object=$argument
		[ "$before" != -MF ] || needs=$argument
		before=$argument
	done
	[ -e "$object" ] && [ "$object" -ot "$0" ] || exec "$@"
	echo "$object: $argument" >"$needs"
END
chmod +x "$tmp/launch"
cmake -S "$tree" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_C_FLAGS=-O0 -DCMAKE_C_COMPILER_LAUNCHER="$tmp/launch" \
	>"$tmp/out" 2>&1 ||
	fail "it is not configured: $(tail -n 20 "$tmp/out")"
build hartfs unit_views codec_loops fuzz_encode
hartfs=$tmp/build/hartfs

# The format: a codec without a sample is missed; with it every loop passes.
page=$root/codecs/adding-a-format.md
passes codec_loops expected && fail "nobody misses the samples"
grep -q 'the codec steps has no samples' "$tmp/out" || fail "not said what is missing: $(cat "$tmp/out")"
mkdir "$tree/tests/codec/samples/steps"
block 4 >"$tree/tests/codec/samples/steps/worked.txt"
passes codec_loops versions && fail "nobody misses the hashes of its views"
grep -q 'HARTFS_VERSIONS=write' "$tmp/out" || fail "not said what is missing: $(cat "$tmp/out")"
HARTFS_VERSIONS=write passes codec_loops versions || fail "its hashes are not written: $(cat "$tmp/out")"
for loop in $(sed -n 's/^LOOP(\([a-z_]*\),.*/\1/p' "$tree/tests/codec/loops.def"); do
	# That nothing else is taken for it is asked of the other formats' samples.
	passes codec_loops "$loop" $([ "$loop" = probe ] || echo steps) || fail "codec.$loop: $(cat "$tmp/out")"
	grep -q "\`codec.$loop\`" "$page" || fail "the page does not tell of codec.$loop"
done
block 5 | sed '/^cmake\|^ctest/d' | sed "s|build/release/hartfs|$hartfs|; s|/tmp/two|$tmp/two|g" | bash >"$tmp/out" 2>&1
[ "$(awk '{print $3, $4}' "$tmp/out" | tr '\n' ' ')" = "0000000080000000 00300093 0000000080000004 0001 " ] ||
	fail "its commands print $(cat "$tmp/out")"
mkdir "$archive/text"
block 1 >"$archive/text/page.steps"
do_mount --wait
view=$mnt/text/page@steps/hart0
[ "$(grep -v '^#' "$view/listing.txt" | awk '{print $3}' | tr '\n' ' ')" = "0000000080000000 0000000080000040 " ] ||
	fail "the page's own example is $(cat "$view/listing.txt")"
grep -q '^# trap exception cause=5' "$view/listing.txt" || fail "its trap is not there"
[ -s "$view/etrace/trace.bin" ] || fail "it has no E-Trace"
do_umount
page=$root/codecs/adding-a-view.md

# The page's own commands.
(cd "$tree" && block 3 | sed '/^cmake/d' | sed "s|build/release/hartfs|$hartfs|" | bash) >"$tmp/out" 2>&1
grep -qE '^[0-9a-f]{8}$' "$tmp/out" && grep -q 'RISC-V only' "$tmp/out" || fail "its commands print $(cat "$tmp/out")"

"$hartfs" help mount | grep -A1 '^Views' | grep -qw opcodes.txt || fail "the help does not list it"

# The manual is asked for, by name.
passes unit_views views && fail "nobody misses it in the manual"
grep -q 'the view opcodes: .*hartfs-views.5.md' "$tmp/out" || fail "not said what is missing: $(cat "$tmp/out")"
block 4 >"$tmp/paragraph"
line=$(grep -n '^hart\*N\*/trace.stf$' "$tree/mountd/hartfs-views.5.md" | cut -d: -f1)
sed -i "$((line - 1))r $tmp/paragraph" "$tree/mountd/hartfs-views.5.md"
passes unit_views views || fail "unit.views: $(cat "$tmp/out")"

mkdir "$archive/boot" "$archive/arm"
"$hartfs" cat -q --index-dir "$index" "$HARTFS_DATA/archive/boot/rv-sys.stf.gz" hart0/at/0-9999/trace.stf |
	gzip -1 >"$archive/boot/rv-sys.stf.gz"
cp "$HARTFS_DATA/astf/figure.astf" "$archive/arm/"
do_mount --wait
view=$mnt/boot/rv-sys@stf@gz/hart0
[ "$(stat -c %s "$view/opcodes.txt")" = "$(cat "$view/opcodes.txt" | wc -c)" ] || fail "its size is not what it says"
cmp <(sed 's/^0*//' "$view/opcodes.txt") <(grep -v '^#' "$view/listing.txt" | awk '{print $4}' | sed 's/^0*//') ||
	fail "its opcodes are not those of the listing"
wait_until measured "$view/at/100-200"
lines=$(grep -vc '^#' "$view/at/100-200/listing.txt")
cmp "$view/at/100-200/opcodes.txt" <(tail -n +101 "$view/opcodes.txt" | head -n "$lines") || fail "a slice of it is another text"
grep -A1 '"opcodes.txt"' "$mnt/arm/figure@astf/info.json" | grep -q 'RISC-V only' ||
	fail "info.json does not say why Arm has none: $(grep -A2 opcodes "$mnt/arm/figure@astf/info.json")"
[ -e "$mnt/arm/figure@astf/hart0/opcodes.txt" ] && fail "Arm has it all the same"
cp "$view/opcodes.txt" "$tmp/opcodes.txt"
do_umount

# Its second form: a state and a parameter. Without the state encoders that take over show it.
block 6 | sed '/^	\.state/d; s/if (o->numbers)/if (!o->numbers)/; s/^static void state/__attribute__((unused)) &/' \
	>"$tree/codecs/opcodes/view.c"
build codec_loops
passes codec_loops encode stf && fail "a state that is not saved is not noticed"
grep -q 'the view opcodes' "$tmp/out" || fail "not said which view: $(cat "$tmp/out")"
block 6 >"$tree/codecs/opcodes/view.c"
build hartfs unit_views codec_loops fuzz_encode
for test in "unit_views views" "codec_loops encode stf" "codec_loops chunks stf" "fuzz_encode encode $tree/tests/fuzz/corpus/encode"; do
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
wait_until measured "$view/at/100-200"
cmp "$view/at/100-200/opcodes.txt" <(sed -n 101,201p "$view/opcodes.txt") || fail "those of a slice are wrong"
do_umount
finish
