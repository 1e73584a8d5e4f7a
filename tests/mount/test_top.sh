#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs top by objects, lines and files adds up what functions.txt and lines.txt say; top of two captures finds the functions
# that changed, whatever the programs are called.
. "$(dirname "$0")/../lib/mount.sh"
command -v python3 >/dev/null || skip "python3 is needed"
capture_archive
export XDG_CACHE_HOME=$tmp/cache
x=$archive/boot/rv-sys.stf.gz

# ---- one ----
"$hartfs" cat "$x" functions.txt >"$tmp/functions" || fail "functions.txt"
awk '/^#/ {next} {n[$7] += $1} END {for (o in n) print n[o], o}' "$tmp/functions" | sort -rn >"$tmp/want"
"$hartfs" top --by object -n 99 "$x" | awk '!/^#/ {print $1, $3}' | cmp - "$tmp/want" || fail "--by object"
grep -q ' rv-sys.elf$' "$tmp/want" || fail "objects: $(cat "$tmp/want")"
"$hartfs" top --by function "$x" | cmp - <("$hartfs" top "$x") || fail "--by function"
! command -v sqlite3 >/dev/null ||
	[ "$("$hartfs" sql "$x" "SELECT sum(own) FROM function WHERE object = 'rv-sys.elf'" | tail -n 1)" = "$(awk '$2 == "rv-sys.elf" {print $1}' "$tmp/want")" ] ||
	fail "the object in SQL"
"$hartfs" top --by what "$x" 2>"$tmp/err"
[ $? = 2 ] || fail "--by what"

# ---- two ----
# Parts of the same run: what each executed is what it says itself.
"$hartfs" convert "$x" trace.stf --to 99999 -o "$tmp/a.stf" && "$hartfs" convert "$x" trace.stf --from 100000 --to 299999 -o "$tmp/b.stf" || fail "parts"
cp "$archive/boot/rv-sys.elf" "$tmp/a.elf" && cp "$archive/boot/rv-sys.elf" "$tmp/b.elf"
"$hartfs" top -n 9999 "$tmp/a.stf" "$tmp/b.stf" >"$tmp/both" || fail "top of two"
for side in a b; do "$hartfs" top -n 9999 --json "$tmp/$side.stf" >"$tmp/$side" || fail "top of $side"; done
python3 - "$tmp/both" "$tmp/a" "$tmp/b" <<'END' || fail "top of two: $(head -n 5 "$tmp/both")"
import collections, json, sys
want = []
for side in sys.argv[2:]:
    own, calls = collections.Counter(), collections.Counter()
    for line in open(side):
        row = json.loads(line)
        own[row["function"]] += row["own"]
        calls[row["function"]] += row["calls"]
    want.append((own, calls))
(a, ca), (b, cb) = want
rows = [line.rstrip("\n").split(None, 5) for line in open(sys.argv[1]) if line[0] != "#"]
assert len(rows) == len(set(a) | set(b)), (len(rows), len(set(a) | set(b)))
for row in rows:
    name = row[5]
    assert [int(row[0]), int(row[1]), int(row[3]), int(row[4])] == [a[name], b[name], ca[name], cb[name]], row
    assert int(row[2].replace("=", "")) == b[name] - a[name], row
assert [abs(int(row[0]) - int(row[1])) for row in rows] == sorted((abs(a[n] - b[n]) for n in set(a) | set(b)), reverse=True)
END
grep -q 'instructions, B: 200000; ' "$tmp/both" || fail "the head: $(head -n 3 "$tmp/both")"
grep -q 'names stand for several functions' "$tmp/both" || fail "sort.constprop.0 is twice in it: $(head -n 4 "$tmp/both")"
"$hartfs" top "$tmp/a.stf" "$tmp/both" 2>"$tmp/err"
[ $? = 1 ] && [ -s "$tmp/err" ] || fail "top of what is no capture: $(cat "$tmp/err")"

# ---- two builds ----
if command -v riscv64-linux-gnu-gcc >/dev/null && command -v qemu-riscv64 >/dev/null; then
	cat >"$tmp/p.c" <<'END'
#include <stdlib.h>
__attribute__((noinline)) int leaf(int x) { return x * 3; }
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += leaf(i); return s; }
int main(int argc, char **argv) { return work(TIMES) == argc && argv; }
END
	for times in 100 1000; do
		riscv64-linux-gnu-gcc -g -O1 -static -DTIMES=$times -o "$tmp/p$times" "$tmp/p.c" || fail "the compiler"
		"$hartfs" record -o "$tmp/rec" -- "$tmp/p$times" 2>"$tmp/err" || fail "record: $(cat "$tmp/err")"
		grep -q "^  hartfs top $tmp/rec/p$times.zstf\$" "$tmp/err" || fail "what record advises: $(cat "$tmp/err")"
	done
	"$hartfs" top -n 2 "$tmp/rec/p100.zstf" "$tmp/rec/p1000.zstf" >"$tmp/out" || fail "two builds"
	[ "$(awk '!/^#/ {print $6}' "$tmp/out" | sort | xargs)" = "leaf work" ] || fail "two builds: $(cat "$tmp/out")"
	[ "$(awk '$6 == "leaf" {print $4, $5}' "$tmp/out")" = "100 1000" ] || fail "calls of leaf: $(cat "$tmp/out")"
	# The picture: leaf and work have grown, main has not changed. What libc does first depends on the program's path and on
	# random bytes, by a little.
	"$hartfs" top --svg "$tmp/rec/p100.zstf" "$tmp/rec/p1000.zstf" >"$tmp/pair.svg" || fail "--svg"
	python3 - "$tmp/pair.svg" "$tmp/out" <<'END' || fail "the flame graph of two builds"
import json, re, sys
from xml.etree import ElementTree
text = open(sys.argv[1]).read()
ElementTree.fromstring(text)
data = json.loads(re.search(r'fg-data"><!\[CDATA\[(\{.*?\})\]\]>', text, re.S)[1])
frames = list(zip(*[iter(data["frames"])] * 4))
total = re.search(r"# A: (\d+) instructions, B: (\d+)", open(sys.argv[2]).read())
assert [sum(f[3] for f in frames if f[1]), sum(f[2] for f in frames)] == [int(total[1]), int(total[2])]
colour = {data["names"][f[1]]: data["kinds"][f[0] % 8] for f in frames}
assert colour["leaf"] in "rR" and colour["work"] in "rR" and colour["main"] == "s" and "B" not in colour.values(), colour
END
	"$hartfs" top --svg "$tmp/rec/p1000.zstf" 2>"$tmp/err"
	[ $? = 2 ] && grep -q 'for two captures' "$tmp/err" || fail "--svg of one: $(cat "$tmp/err")"
	# Statics of one name are told apart by their files, and otherwise added up.
	for n in 1 2; do
		echo "static __attribute__((noinline)) int step(int n) { volatile int s = 0; while (n--) s += $n; return s; }" >"$tmp/s$n.c"
		echo "int f$n(void) { return step(TIMES * $n); }" >>"$tmp/s$n.c"
	done
	echo 'int f1(void), f2(void); int main(void) { return f1() + f2() < 0; }' >"$tmp/s.c"
	for times in 10 20; do
		riscv64-linux-gnu-gcc -g -O1 -static -DTIMES=$times -o "$tmp/s$times" "$tmp"/s{,1,2}.c &&
			riscv64-linux-gnu-gcc -O1 -static -DTIMES=$times -o "$tmp/n$times" "$tmp"/s{,1,2}.c || fail "the compiler"
		"$hartfs" record -q -o "$tmp/rec" -- "$tmp/s$times" && "$hartfs" record -q -o "$tmp/rec" -- "$tmp/n$times" || fail "record"
	done
	"$hartfs" top -n 9999 "$tmp/rec/s10.zstf" "$tmp/rec/s20.zstf" >"$tmp/out"
	[ "$(grep -c ' step of s[12].c$' "$tmp/out")" = 2 ] || fail "statics: $(grep step "$tmp/out")"
	"$hartfs" top -n 9999 "$tmp/rec/n10.zstf" "$tmp/rec/n20.zstf" >"$tmp/out2"
	[ "$(awk '/ step of / {a += $1; b += $2} END {print a, b}' "$tmp/out")" = "$(awk '/ step$/ {print $1, $2}' "$tmp/out2")" ] &&
		grep -q 'several functions each' "$tmp/out2" || fail "statics without lines: $(grep ' step' "$tmp/out2")"
	"$hartfs" top --by line "$tmp/rec/p1000.zstf" | grep -q ' p.c:2$' || fail "--by line"
	"$hartfs" top --by file "$tmp/rec/p1000.zstf" | grep -q ' p.c$' || fail "--by file"
fi
finish
