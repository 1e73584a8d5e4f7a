#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartN/profile/: its counts are those of the listing, from a summary as well as without one; calls are those that a
# program counts itself.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
capture_archive
short_boot
mkdir "$archive/arm"
"$hartfs" cat --views=trace.astf --index-dir="$tmp/whole" "$HARTFS_DATA/astf/a64-sys.astf" hart0/at/0-149999/trace.astf \
	>"$archive/arm/a64-sys.astf" || fail "trace.astf"
files="functions.txt lines.txt branches.txt mix.txt callers.txt stacks.folded callgrind.out"

# What the profile says, and what the listing says: LISTING PROFILE_DIRECTORY.
cat >"$tmp/check.py" <<'END'
import collections, re, sys
own, line, mix, executed, taken, total = (collections.Counter() for _ in range(6))
for text in open(sys.argv[1]):
    if text[0] == "#":
        continue
    fields = text.split(None, 5)
    place = re.search(r" <([^+> ]+(?: [^+>]*)?)(?:\+0x[0-9a-f]+)?(?: ([^ >]+:\d+))?>", text)
    total["all"] += 1
    own[place[1] if place else "?"] += 1
    if place and place[2]:
        line[place[2]] += 1
    mix[fields[4]] += 1
    executed[fields[2]] += 1
    taken[fields[2]] += " -> " in text

def rows(name, columns):
    for text in open(sys.argv[2] + "/" + name):
        if text[0] != "#":
            yield text.rstrip("\n").split(None, columns)

def same(what, wanted, found):
    if wanted != found:
        odd = [(k, wanted.get(k), found.get(k)) for k in set(wanted) | set(found) if wanted.get(k) != found.get(k)]
        sys.exit("%s: %d differ, first %s" % (what, len(odd), odd[:3]))

found = collections.Counter()
for row in rows("functions.txt", 7):
    found["?" if re.fullmatch(r"(\S+\+)?0x[0-9a-f]+", row[7]) else row[7]] += int(row[0])
same("functions.txt", own, found)
same("functions.txt, all", total["all"], sum(found.values()))
found = collections.Counter()
for row in rows("mix.txt", 3):
    found[row[3]] += int(row[0])
same("mix.txt", mix, found)
found = {row[3]: int(row[0]) for row in rows("lines.txt", 3)}
same("lines.txt", dict(line), found)
# The tree of calls: all instructions once, and each function as often called as it was entered by a call.
stacks = [text.rsplit(" ", 1) for text in open(sys.argv[2] + "/stacks.folded")]
same("stacks.folded", total["all"], sum(int(count) for stack, count in stacks))
calls, callers = collections.Counter(), collections.Counter()
below = collections.Counter()
for row in rows("functions.txt", 7):
    calls[row[7]] += int(row[4])
    if row[2] != "-":
        below[row[7]] += int(row[2])
# What a function has below it is what the chains of calls have that it is in.
within = collections.Counter()
for stack, count in stacks:
    for name in {re.sub(r"^\[.*?\] ", "", frame) for frame in stack.split(";")}:
        within[name] += int(count)
same("functions.txt, below", dict(below), {name: within[name] for name in below})
for row in rows("callers.txt", 2):
    name = row[2].split(" <- ")[0]
    callers[name] += int(row[0])
same("callers.txt", +calls, callers)
# callgrind.out: each place as often as it was executed; each function calls and is called as often as the tree says;
# what a function that does not call itself has below it is its own and what it calls.
names, own_of, calls_of, into, out, fn, edge = {}, collections.Counter(), collections.Counter(), {}, {}, None, False
here = collections.Counter()
for text in open(sys.argv[2] + "/callgrind.out"):
    row = re.match(r"(fn|cfn)=\((\d+)\)(?: (.*))?", text)
    if row:
        names.setdefault(row[2], row[3])
        if row[1] == "fn":
            fn = names[row[2]]
        else:
            callee = names[row[2]]
    elif text.startswith("calls="):
        calls_of[callee.removesuffix("'2")] += int(text[6:].split()[0])
        edge = True
    elif text.startswith("0x"):
        if edge:
            into[callee] = into.get(callee, 0) + int(text.split()[-1])
            out[fn] = out.get(fn, 0) + int(text.split()[-1])
        else:
            here["%016x" % int(text.split()[0], 16)] += int(text.split()[-1])
            own_of[fn] += int(text.split()[-1])
        edge = False
    elif text.startswith(("summary:", "totals:")):
        same("callgrind.out, " + text, total["all"], int(text.split()[1]))
same("callgrind.out", executed, here)
same("callgrind.out, all", total["all"], sum(own_of.values()))
for name in calls:
    if calls[name] != calls_of[name]:
        sys.exit("callgrind.out: %d calls of %s, %d in functions.txt" % (calls_of[name], name, calls[name]))
# All calls of a function, but those within calls of it, have its inclusive costs.
for name in into:
    if name in below and calls_of[name] and not name.endswith("'2") and into[name] > below[name]:
        sys.exit("callgrind.out: %s: %d in, %d below in functions.txt" % (name, into[name], below[name]))
for row in rows("branches.txt", 6):
    count, was_taken, was_not, unknown, pc = [int(n) for n in row[:4]] + [row[4]]
    if (executed[pc], taken[pc]) != (count, was_taken) or count != was_taken + was_not + unknown:
        sys.exit("branches.txt: %s: %d executed, %d taken; but %s" % (pc, executed[pc], taken[pc], row))
END

# That program of Valgrind reads it, complains of nothing, and finds all instructions.
judge_callgrind() {
	command -v callgrind_annotate >/dev/null || return 0
	callgrind_annotate --tree=both --inclusive=yes --auto=no "$1" >"$tmp/annotated" 2>"$tmp/err" || fail "callgrind_annotate: $(cat "$tmp/err")"
	[ -s "$tmp/err" ] && fail "callgrind_annotate: $(head -n 1 "$tmp/err")"
	grep -q "^$(sed -n 's/^totals: //p' "$1" | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') (100.0%)  PROGRAM TOTALS" "$tmp/annotated" || fail "callgrind_annotate: $(grep TOTALS "$tmp/annotated")"
}
command -v callgrind_annotate >/dev/null || echo "no callgrind_annotate: callgrind.out is not judged by it"

# flamegraph.pl, which Devel::NYTProf brings along, complains of nothing, finds all instructions, and gives each frame those
# of the chains that go through it.
flamegraph=$(command -v flamegraph.pl || ls /usr/share/perl5/Devel/NYTProf/flamegraph.pl 2>/dev/null)
cat >"$tmp/frames.py" <<'END'
import collections, html, re, sys
sums = collections.Counter()
for text in open(sys.argv[1]):
    stack, count = text.rstrip("\n").rsplit(" ", 1)
    frames = stack.split(";")
    for i in range(len(frames) + 1):
        sums[tuple(frames[:i])] += int(count)
known = collections.Counter((stack[-1] if stack else "all", n) for stack, n in sums.items())
found = collections.Counter()
for name, count in re.findall(r"<title>(.*) \(([0-9,]+) samples, [0-9.]+%\)</title>", open(sys.argv[2]).read()):
    found[html.unescape(name), int(count.replace(",", ""))] += 1
if ("all", sums[()]) not in found or found - known:
    sys.exit("%d frames, not in stacks.folded: %s" % (sum(found.values()), list(found - known)[:3]))
if len(found) < min(len(known), 5):
    sys.exit("only %d frames of %d" % (len(found), len(known)))
END
judge_flamegraph() {
	[ -n "$flamegraph" ] || return 0
	perl "$flamegraph" "$1" >"$tmp/flame.svg" 2>"$tmp/err" || fail "flamegraph.pl: $(cat "$tmp/err")"
	[ -s "$tmp/err" ] && fail "flamegraph.pl: $(head -n 1 "$tmp/err")"
	python3 "$tmp/frames.py" "$1" "$tmp/flame.svg" >"$tmp/out" 2>&1 || fail "flamegraph.pl: $(cat "$tmp/out")"
}
[ -n "$flamegraph" ] || echo "no flamegraph.pl: stacks.folded is not judged by it"

do_mount --wait
# Two who ask at once for what nobody has made yet.
for i in 1 2; do
	cat "$mnt/boot/rv-sys@stf@gz/hart0/profile/functions.txt" >"$tmp/at-once-$i" &
	reader[i]=$!
done
wait "${reader[1]}" && wait "${reader[2]}" || fail "two readers at once"
cmp "$tmp/at-once-1" "$tmp/at-once-2" || fail "two readers at once get different bytes"
for capture in boot/rv-sys@stf@gz mini/rv32-mini@stf arm/a64-sys@astf; do
	hart=$mnt/$capture/hart0
	for file in $files; do
		cp "$hart/profile/$file" "$tmp/$file" || fail "$capture: cp of $file"
		[ "$(stat -c %s "$hart/profile/$file")" = "$(stat -c %s "$tmp/$file")" ] || fail "$capture: size of $file"
		tail -c 100 "$hart/profile/$file" | cmp -s - <(tail -c 100 "$tmp/$file") || fail "$capture: tail of $file"
	done
	python3 "$tmp/check.py" "$hart/listing.txt" "$tmp" >"$tmp/out" 2>&1 || fail "$capture: $(tail -n 1 "$tmp/out")"
	judge_callgrind "$tmp/callgrind.out"
	judge_flamegraph "$tmp/stacks.folded"
	mkdir -p "$tmp/kept/$capture"
	for file in $files; do cp "$tmp/$file" "$tmp/kept/$capture/"; done
done
[ -e "$hart/profile/nothing.txt" ] && fail "there is nothing.txt"
do_umount

# The first rows, without a mount.
"$hartfs" top --index-dir "$index" --limit 3 "$archive/boot/rv-sys.stf.gz" >"$tmp/out" || fail "top ended with $?"
head -n 6 "$tmp/kept/boot/rv-sys@stf@gz/functions.txt" | cmp - "$tmp/out" || fail "top is not the first rows"
"$hartfs" top --index-dir "$index" "$archive/nothing" 2>/dev/null && fail "top of nothing"

# From a summary, of many chunks: the same bytes.
for capture in boot/rv-sys.stf.gz mini/rv32-mini.stf arm/a64-sys.astf; do
	"$hartfs" index -q --index-dir "$tmp/summed" --chunk=1000 --summary=on "$archive/$capture" || fail "$capture: index"
	kept=$tmp/kept/$(dirname "$capture")/$(basename "$capture" | tr . @)
	for file in $files; do
		"$hartfs" cat --index-dir "$tmp/summed" --chunk=1000 "$archive/$capture" "hart0/profile/$file" |
			cmp - "$kept/$file" || fail "$capture: $file of the summary"
	done
done
[ -n "$(find "$tmp/summed" -name '*.hfq')" ] || fail "there is no summary"

# A program that counts its own calls.
command -v riscv64-linux-gnu-gcc >/dev/null && command -v qemu-riscv64 >/dev/null || skip "no compiler or QEMU for riscv64: calls are not compared"
cat >"$tmp/count.c" <<'END'
#include <stdio.h>
static unsigned fibs, leaves;
__attribute__((noinline)) static unsigned leaf(unsigned n) { leaves++; return n; }
__attribute__((noinline)) unsigned fib(unsigned n) { fibs++; return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
int main(void)
{
	unsigned n = fib(12);
	printf("%u fib %u leaf %u\n", n, fibs, leaves);
	return 0;
}
END
riscv64-linux-gnu-gcc -g -O1 -fno-optimize-sibling-calls -static -o "$tmp/count" "$tmp/count.c" || fail "the compiler"
"$hartfs" record -o "$tmp/rec" -- "$tmp/count" >"$tmp/out" 2>"$tmp/err" || fail "record: $(cat "$tmp/err")"
read -r _ _ fibs _ leaves < <(grep ' fib ' "$tmp/out")
"$hartfs" cat --index-dir "$index" "$tmp/rec/count.zstf" hart0/profile/functions.txt >"$tmp/functions"
for row in "fib $fibs" "leaf $leaves" "main 1"; do
	[ "$(awk -v name="${row% *}" '$8 == name {print $5}' "$tmp/functions")" = "${row#* }" ] ||
		fail "calls of ${row% *}: $(grep -w "${row% *}" "$tmp/functions"); it counted ${row#* }"
done
"$hartfs" cat --index-dir "$index" "$tmp/rec/count.zstf" hart0/profile/lines.txt | grep -q ' count\.c:[45]$' || fail "no line of count.c"

# From the only call of fib that main makes to where main goes on, in the listing; it calls itself below that.
"$hartfs" cat --index-dir "$index" "$tmp/rec/count.zstf" hart0/listing.txt |
	awk '/^#/ {next} /<fib / || /<fib>/ {if (first == "") first = $1} /<main\+/ && first != "" {print $1 - first; exit}' >"$tmp/below"
[ "$(awk '$8 == "fib" {print $3}' "$tmp/functions")" = "$(cat "$tmp/below")" ] ||
	fail "below fib: $(grep -w fib "$tmp/functions"), but $(cat "$tmp/below") in the listing"

# The same program in callgrind.out: what a call costs, its place, and the line of the source.
"$hartfs" cat --index-dir "$index" "$tmp/rec/count.zstf" hart0/profile/callgrind.out >"$tmp/callgrind.out"
judge_callgrind "$tmp/callgrind.out"
[ "$(grep -c ' main$' "$tmp/callgrind.out")" = 1 ] || fail "main in callgrind.out"
if command -v callgrind_annotate >/dev/null; then
	tr -d , <"$tmp/annotated" | awk '/\?\?\?:fib |:fib \[/ && !/\047/ {print $1; exit}' | cmp -s - "$tmp/below" ||
		fail "callgrind_annotate, inclusive: $(grep ':fib' "$tmp/annotated"), but $(cat "$tmp/below")"
fi
grep -A 30 '^fn=.* main$' "$tmp/callgrind.out" | grep -A 2 '^cfn=.* fib$\|^cfn=([0-9]*)$' | grep -q '^0x[0-9a-f]* 7 ' || fail "main calls fib in line 7"

finish
