#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pictures of a profile say what its texts say: flame.svg and speedscope.json have the stacks of stacks.folded, from a
# summary as well as without one, and names of functions cannot break them.
. "$(dirname "$0")/../lib/mount.sh"
command -v python3 >/dev/null || skip "python3 is needed"
short_archive
mkdir "$archive/arm"
cp "$HARTFS_DATA/astf/a64-sys.astf" "$archive/arm/"

# What pictures say against the texts: DIRECTORY.
cat >"$tmp/check.py" <<'END_PY'
import collections, json, os, sys
import xml.etree.ElementTree as tree
SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"

def text(name):
    with open(os.path.join(sys.argv[1], name), encoding="utf-8", newline="") as file:
        return file.read()

def same(what, wanted, found):
    if wanted != found:
        odd = [(k, wanted.get(k), found.get(k)) for k in set(wanted) | set(found) if wanted.get(k) != found.get(k)]
        sys.exit("%s: %d differ, first %s" % (what, len(odd), odd[:3]))

stacks = collections.Counter()
for line in text("stacks.folded").splitlines():
    stack, count = line.rsplit(" ", 1)
    stacks[stack] += int(count)

svg = tree.fromstring(text("flame.svg"))
if len(text("flame.svg")) > 1 << 20:
    sys.exit("flame.svg is larger than a MiB")
for element in svg.iter():
    for name in ("href", XLINK + "href", "src"):
        if name in element.attrib:
            sys.exit("flame.svg refers to something outside of it")
data = json.loads([e for e in svg.iter(SVG + "script") if e.get("class") == "fg-data"][0].text)
found, path = collections.Counter(), []
for i in range(0, len(data["frames"]), 4):
    place, name, own, calls = data["frames"][i:i + 4]
    del path[place // 8:]
    path.append(data["names"][name])
    if own:
        found[";".join(path[1:])] += own
same("flame.svg", stacks, found)
if len(data["shades"]) != len(data["names"]):
    sys.exit("flame.svg has %d names and %d shades" % (len(data["names"]), len(data["shades"])))
if not any(e.get("class", "").startswith("o") for e in svg.iter(SVG + "svg")):
    sys.exit("flame.svg has no frames for who runs no script")

scope = json.loads(text("speedscope.json"))
profile = scope["profiles"][scope["activeProfileIndex"]]
found = collections.Counter()
for stack, weight in zip(profile["samples"], profile["weights"]):
    found[";".join(scope["shared"]["frames"][i]["name"] for i in stack)] += weight
same("speedscope.json", stacks, found)
if len(profile["samples"]) != len(profile["weights"]) or profile["endValue"] != sum(profile["weights"]):
    sys.exit("speedscope.json: samples and weights are not of one length, or not all")
END_PY

# pictures CAPTURE INDEX_DIR: takes the files of its first hart and compares them.
pictures() {
	local file dir=$tmp/pictures
	mkdir -p "$dir"
	for file in stacks.folded flame.svg speedscope.json; do
		"$hartfs" cat --index-dir "$2" "$1" "hart0/profile/$file" >"$dir/$file" || fail "$1: $file"
	done
	python3 "$tmp/check.py" "$dir" >"$tmp/out" 2>&1 || fail "$1: $(tail -n 1 "$tmp/out")"
}

for capture in boot/rv-sys.stf.gz mini/rv32-mini.stf arm/a64-sys.astf; do
	pictures "$archive/$capture" "$index"
	cp "$tmp/pictures/flame.svg" "$tmp/flame"
	"$hartfs" index -q --index-dir "$tmp/summed" --chunk=1000 --summary=on "$archive/$capture" || fail "$capture: index"
	pictures "$archive/$capture" "$tmp/summed"
	cmp "$tmp/flame" "$tmp/pictures/flame.svg" || fail "$capture: flame.svg of the summary"
done

# Names that are markup.
command -v riscv64-linux-gnu-g++ >/dev/null && command -v qemu-riscv64 >/dev/null || skip "no compiler or QEMU for riscv64: no names of C++"
cat >"$tmp/odd.cc" <<'END'
#include <cstdio>
namespace { template <class T> struct Odd { __attribute__((noinline)) static unsigned of(T a, T *b) { return *b + a; } }; }
struct Pair { unsigned n; };
__attribute__((noinline)) bool operator<(const Pair &a, const Pair &b) { return a.n < b.n; }
__attribute__((noinline)) Pair operator&&(const Pair &a, const Pair &b) { return {a.n & b.n}; }
int main(int argc, char **)
{
	unsigned n = (unsigned)argc;
	Pair a{n}, b{2};
	std::printf("%u %d %u\n", Odd<unsigned>::of(3, &n), a < b, (a && b).n);
	return 0;
}
END
riscv64-linux-gnu-g++ -g -O1 -static -o "$tmp/odd" "$tmp/odd.cc" || fail "the compiler"
"$hartfs" record --sources -o "$tmp/rec" -- "$tmp/odd" >"$tmp/out" 2>"$tmp/err" || fail "record: $(cat "$tmp/err")"
pictures "$tmp/rec/odd.zstf" "$index"
grep -q 'source files were found$' "$tmp/err" || fail "record --sources says $(cat "$tmp/err")"
"$hartfs" cat --index-dir "$index" "$tmp/rec/odd.zstf" hart0/profile/annotated/odd.cc >"$tmp/out" || fail "annotated/odd.cc"
grep -q '| 	std::printf(' "$tmp/out" || fail "annotated/odd.cc has no text: $(head -n 3 "$tmp/out")"
"$hartfs" cat --index-dir "$index" "$tmp/rec/odd.zstf" hart0/profile/report.html >"$tmp/report.html" || fail "report.html"
grep -q "^<pre>command  $tmp/odd$" "$tmp/report.html" || fail "report.html has no command"
grep -q '^recorded 20..-..-.. ..:..:.. UTC$' "$tmp/report.html" || fail "report.html has no date"
"$hartfs" cat --index-dir "$index" "$tmp/rec/odd.zstf" hart0/profile/overview.svg >"$tmp/overview.svg" || fail "overview.svg"
for name in ' odd: ' ' heap' ' stack'; do
	grep -q "$name" "$tmp/overview.svg" || fail "overview.svg has no$name"
done
# As they stand in a script.
for name in 'Odd\u003cunsigned int\u003e::of' 'operator\u003c' 'operator\u0026\u0026'; do
	grep -qF -- "$name" "$tmp/pictures/flame.svg" || fail "flame.svg has no $name"
done

finish
