#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What was inlined, RISC-V and AArch64: the listing with listing.inlined=1 has the calls that llvm-symbolizer has, at every
# executed instruction of a C++ program, and is otherwise the listing without; so it is for random addresses of what
# compilers make of DWARF 2 to 5. Entries that are in another file or damaged are shown as unknown.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
for tool in python3 qemu-riscv64 qemu-aarch64 riscv64-linux-gnu-g++ aarch64-linux-gnu-g++; do
	command -v "$tool" >/dev/null || skip "$tool is needed"
done
symbolizer=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) ||
	echo "NOT COMPARED with llvm-symbolizer: there is none"

cat >"$tmp/sort.cc" <<'END_C'
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>
namespace numbers {
template <class T> inline bool before(const T &a, const T &b) { return b < a; }
struct sum {
	long value = 0;
	void add(long n) { value += n * 3; }
};
static inline long total(const std::vector<int> &v)
{
	sum s;
	for (int n : v)
		s.add(n);
	return s.value;
}
}
int main(int argc, char **)
{
	std::vector<int> v;
	std::map<int, int> m;
	for (int i = 0; i < 60; i++) {
		v.push_back(i * 7919 % 1009);
		m[i % 7] += argc;
	}
	std::sort(v.begin(), v.end(), [](int a, int b) { return numbers::before(a, b); });
	printf("%ld %d\n", numbers::total(v), m[3]);
	return 0;
}
END_C
plugin=$(dirname "$hartfs")/hartfs_capture.so
[ -e "$plugin" ] || skip "there is no plugin in the build directory"

# record ARCH FORMAT OPTION...: a run of the program as a capture.
record() {
	local arch=$1 format=$2
	shift 2
	"$arch-linux-gnu-g++" -g -O2 -static "$@" "$tmp/sort.cc" -o "$archive/$arch.elf" ||
		fail "$arch: the program cannot be built"
	"qemu-$arch" -plugin "$plugin,out=$tmp/$arch" "$archive/$arch.elf" >"$tmp/out" || fail "$arch: qemu ended with $?"
	mv "$tmp/$arch".t0.* "$archive/$arch.$format"
}

# listing CAPTURE PARAMETER...: its listing with raw names.
listing() {
	local capture=$1 parameters=()
	shift
	for parameter; do parameters+=(--param "listing.$parameter"); done
	"$hartfs" cat --index-dir "$index" --param listing.names=raw "${parameters[@]}" "$archive/$capture" hart0/listing.txt ||
		fail "$capture: cat ended with $?"
}

cat >"$tmp/check.py" <<'END_PY'
import re, subprocess, sys

# check.py SYMBOLIZER PROGRAM <LISTING
symbolizer, program = sys.argv[1:]
calls = {}
for line in sys.stdin:
    found = re.search(r" <[^<> ]+(?: [^<> ]+:[0-9]+)?((?: inlined [^<> ]+ at [^<> ]+)*)>", line)
    if found and not line.startswith("#"):
        calls.setdefault(int(line.split(None, 3)[2], 16), set()).add(found[1])
answers = subprocess.run([symbolizer, "--inlines", "--no-demangle", f"--obj={program}"], capture_output=True, text=True,
                         input="".join(f"{pc:#x}\n" for pc in calls)).stdout.split("\n\n")
deep = 0
for (pc, got), answer in zip(calls.items(), answers):
    frames = answer.strip().split("\n")
    names, places = frames[::2], [frame.rsplit("/", 1)[-1].rsplit(":", 1)[0] for frame in frames[1::2]]
    places = ["?" if place.startswith("?") or place.endswith(":0") else place for place in places]
    names = [re.sub("[ <>]", "?", name) for name in names]
    names = [name[:197] + "..." if len(name) > 200 else name for name in names]
    want = "".join(f" inlined {name} at {place}" for name, place in zip(names, places[1:]))
    if got != {want}:
        sys.exit(f"{pc:x}: {got} in the listing, and {want!r} for {symbolizer}")
    deep += len(names) > 2
if len(calls) < 2000 or deep < 100:
    sys.exit(f"only {deep} of {len(calls)} addresses are in code that was inlined twice")
END_PY

record riscv64 stf
record aarch64 astf -gdwarf-4
for capture in riscv64.stf aarch64.astf; do
	listing "$capture" inlined=1 >"$tmp/with"
	listing "$capture" inlined=0 >"$tmp/without"
	cmp "$tmp/without" <(listing "$capture") || fail "$capture: without the parameter the listing is not that of inlined=0"
	sed -E 's/( inlined [^<> ]+( at [^<> ]+)?)+>/>/' "$tmp/with" | cmp "$tmp/without" - ||
		fail "$capture: with what was inlined the listing differs in more"
	grep -q ' inlined _ZN7numbers3sum3addEl at sort.cc:15 inlined .* at sort.cc:28>' "$tmp/with" ||
		fail "$capture: a call is not shown"
	[ -z "$symbolizer" ] || python3 "$tmp/check.py" "$symbolizer" "$archive/${capture%.*}.elf" <"$tmp/with" ||
		fail "$capture: the listing and llvm-symbolizer differ"
done
"$hartfs" cat --index-dir "$index" --param listing.inlined=1 --param listing.lines=0 "$archive/riscv64.stf" hart0/listing.txt \
	>"$tmp/demangled"
grep -q '<main+0x[0-9a-f]* inlined numbers::sum::add(long) at sort.cc:15 inlined ' "$tmp/demangled" ||
	fail "demangled names of what was inlined are not shown"
do_mount -o listing.inlined=1 --wait
grep -q '<main+0x[0-9a-f]* sort.cc:9 inlined numbers::sum::add(long) at sort.cc:15 ' "$mnt/riscv64@stf/hart0/listing.txt" ||
	fail "a mount with listing.inlined=1 does not show it"
do_umount

# Entries in another file, which nobody reads, and entries that are cut: unknown.
rm "$archive/riscv64.elf" "$archive/riscv64.stf"
(cd "$tmp" && record riscv64 stf -gsplit-dwarf)
listing riscv64.stf inlined=1 >"$tmp/split"
grep -q '<main sort.cc:[0-9]* inlined ?>' "$tmp/split" || fail "with entries in a .dwo the calls do not count as unknown"
cut=$tmp/info
aarch64-linux-gnu-objcopy -O binary --only-section=.debug_info --set-section-flags .debug_info=alloc \
	"$archive/aarch64.elf" "$cut" && truncate -s -100 "$cut" &&
	aarch64-linux-gnu-objcopy --update-section .debug_info="$cut" "$archive/aarch64.elf" || fail "the entries cannot be cut"
listing aarch64.astf inlined=1 >"$tmp/cut"
grep -q '<main sort.cc:[0-9]* inlined ?>' "$tmp/cut" || fail "with entries that are cut the calls do not count as unknown"

# What compilers make of each version.
judge=$(dirname "$hartfs")/tests/unit_inlined
if [ -n "$symbolizer" ] && [ -x "$judge" ]; then
	for kind in riscv64.2 aarch64.3 aarch64.4 riscv64.5; do
		"${kind%.*}-linux-gnu-g++" "-gdwarf-${kind#*.}" -O2 "$tmp/sort.cc" -o "$tmp/$kind" ||
			fail "${kind%.*}: no program with DWARF ${kind#*.}"
	done
	if command -v clang-19 >/dev/null && command -v ld.lld >/dev/null; then
		for version in 4 5; do
			clang-19 --target=aarch64-linux-gnu -fuse-ld=lld -gdwarf-$version -O2 "$tmp/sort.cc" -lstdc++ \
				-o "$tmp/clang.$version" 2>"$tmp/err" || fail "no program of clang: $(head -n 3 "$tmp/err")"
		done
	fi
	for program in "$tmp"/{riscv64,aarch64,clang}.[2-5]; do
		[ -e "$program" ] || continue
		"$judge" inlined "$program" >"$tmp/out" 2>&1 || fail "${program##*/}: $(tail -n 20 "$tmp/out")"
	done
fi
finish
