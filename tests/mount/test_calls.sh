#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that counts its own calls, recorded and summed up: the calling-context tree of its summary has the same counts.
# Nothing of hartfs shows the tree yet, so the pages are read here, as index/summary/call_page.c says they are.
. "$(dirname "$0")/../lib/mount.sh"
for tool in {riscv64,aarch64}-linux-gnu-{gcc,nm} qemu-{riscv64,aarch64} python3 zstd; do
	command -v "$tool" >/dev/null || skip "no $tool (contrib/packages.sh has the list)"
done
qemu-riscv64 --help | grep -q -- -plugin || skip "this QEMU has no plugins"
[ -e "$(dirname "$hartfs")/hartfs_capture.so" ] || skip "the program is not in its build directory"

# Recursion, mutual recursion, calls through a pointer, longjmp over many calls. An asm behind a call keeps it from being
# a jump.
cat >"$tmp/count.c" <<'END'
#include <setjmp.h>
#include <stdio.h>
#define COUNTED __attribute__((noinline, noipa))
#define NO_TAIL __asm__ volatile("")
static unsigned long c_fib, c_even, c_odd, c_apply, c_leaf, c_jump, c_deep;
static jmp_buf place;
COUNTED long fib(long n) { c_fib++; return n < 2 ? n : fib(n - 1) + fib(n - 2); }
COUNTED int odd(int n);
COUNTED int even(int n) { int r; c_even++; r = n ? odd(n - 1) : 1; NO_TAIL; return r; }
COUNTED int odd(int n) { int r; c_odd++; r = n ? even(n - 1) : 0; NO_TAIL; return r; }
COUNTED int leaf(int x) { c_leaf++; return 3 * x + 1; }
COUNTED int apply(int (*f)(int), int x) { int r; c_apply++; r = f(x); NO_TAIL; return r; }
COUNTED void jump(int n) { c_jump++; if (!n) longjmp(place, 1); jump(n - 1); NO_TAIL; }
COUNTED int deep(int n) { int r; c_deep++; r = n ? deep(n - 1) : 0; NO_TAIL; return r + 1; }
int main(void)
{
	volatile long sum = fib(14) + even(101) + deep(1500);
	for (int i = 0; i < 1000; i++)
		sum += apply(leaf, i);
	for (volatile int i = 0; i < 20; i++)
		if (!setjmp(place))
			jump(7);
	printf("fib %lu\neven %lu\nodd %lu\napply %lu\nleaf %lu\njump %lu\ndeep %lu\n", c_fib, c_even, c_odd, c_apply, c_leaf,
	       c_jump, c_deep);
	return 0;
}
END
cat >"$tmp/tree.py" <<'END'
import collections, sqlite3, subprocess, sys

class Page:
    def __init__(self, blob, size):
        self.bytes = subprocess.run(["zstd", "-dc"], input=blob, stdout=subprocess.PIPE, check=True).stdout
        self.at = 0
        assert len(self.bytes) == size
    def byte(self):
        self.at += 1
        return self.bytes[self.at - 1]
    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    def step(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

summary, symbols, said = sys.argv[1:]
db = sqlite3.connect("file:%s?immutable=1" % summary, uri=True)
insns, = db.execute("SELECT insns FROM hart").fetchone()
deep, timed = db.execute("SELECT deep, timed FROM calls").fetchone()
calls, beyond, total, nodes = collections.Counter(), 0, 0, []
for first, count, size, blob in db.execute("SELECT first, count, size, data FROM node ORDER BY id"):
    page, function = Page(blob, size), 0
    for number in range(first, first + count):
        up = page.number()
        if not up:
            kind = page.byte()
            page.number(), page.byte()
        function += page.step()
        called, own = page.number(), page.number()
        page.step(), page.number()
        if timed:
            page.number()
        total += own
        if up:
            calls[function % 2**64] += called
        elif kind == 0:
            beyond = called
assert total == insns, "the nodes have %d of %d instructions" % (total, insns)
address = {name: int(value, 16) for value, _, name in (line.split()[:3] for line in open(symbols))}
for line in open(said):
    name, count = line.split()
    got = calls[address[name]]
    if name == "deep":  # deeper than the limit: the others are in node 0
        assert beyond == deep > 400, "%d beyond, %d too deep" % (beyond, deep)
        got += beyond
    assert got == int(count), "%s: %d calls, and %s said %s" % (name, got, sys.argv[1], count)
END

export XDG_CACHE_HOME=$tmp/cache
for machine in riscv64 aarch64; do
	"$machine-linux-gnu-gcc" -O1 -static -o "$tmp/count.$machine" "$tmp/count.c" || fail "the program does not compile"
	"$machine-linux-gnu-nm" "$tmp/count.$machine" | awk 'NF == 3' >"$tmp/symbols"
	timeout "$patience" "$hartfs" record -o "$tmp/out.$machine" "$tmp/count.$machine" >"$tmp/said" 2>"$tmp/err" || fail "record: $(cat "$tmp/err")"
	grep -q '^deep 1501$' "$tmp/said" || fail "the program said: $(cat "$tmp/said")"
	timeout "$patience" "$hartfs" index -q --index-dir "$tmp/ix.$machine" --pack-below=0 --summary=on "$tmp/out.$machine" || fail "index ended with $?"
	python3 "$tmp/tree.py" "$tmp/ix.$machine"/*.hfq "$tmp/symbols" "$tmp/said" || fail "$machine: the counts differ"
	timeout "$patience" "$hartfs" verify -q --index-dir "$tmp/ix.$machine" --pack-below=0 --summary=on "$tmp/out.$machine" || fail "verify ended with $?"
done

# ---- a call through a stub of the PLT is one of what it reaches ----
cat >"$tmp/lib.c" <<'END'
unsigned long c_work;
static __attribute__((noipa)) int inner(int x) { return 3 * x + 1; }
__attribute__((noipa)) int work(int x) { c_work++; return inner(x) + 0 * c_work; }
extern __typeof__(work) __work_alias __attribute__((alias("work")));
static int picked(int x) { return x + 2; }
static int (*choose(void))(int) { return picked; }
int chosen(int x) __attribute__((ifunc("choose")));
END
cat >"$tmp/calls.c" <<'END'
#include <stdio.h>
extern unsigned long c_work;
int work(int x);
int __work_alias(int x);
int chosen(int x);
__attribute__((noipa)) int caller(int x) { return work(x) + __work_alias(x) - 1; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 300; i++)
		sum += caller(i) + chosen(i);
	printf("%lu\n", c_work + 0UL * (unsigned)sum);
	return 0;
}
END
# asked MACHINE WANTED OPTION...: with and without a summary, counted and one by one.
asked() {
	local summary what
	for summary in on off; do
		[ "$(ask "$1" "$summary" "${@:3}" --count)" = "$2" ] || fail "$1, summary $summary: ${*:3} counts $(ask "$1" "$summary" "${@:3}" --count), not $2"
		[ "$(ask "$1" "$summary" "${@:3}" --ordinals | wc -l)" = "$2" ] || fail "$1, summary $summary: not $2 answers to ${*:3}"
	done
}
ask() { "$hartfs" find -q --index-dir "$tmp/ix.$2" --chunk "$chunk" "$tmp/plt.$1"/calls.*st* "${@:3}" 2>&1; }
for machine in riscv64 aarch64; do
	# Bound before it begins: nothing but stubs is between.
	"$machine-linux-gnu-gcc" -O1 -shared -fPIC -o "$tmp/full.so" "$tmp/lib.c" &&
		"$machine-linux-gnu-strip" -o "$tmp/libwork.so" "$tmp/full.so" &&
		"$machine-linux-gnu-gcc" -O1 -g -Wl,-z,now -Wl,-rpath,"$tmp" -o "$tmp/calls" "$tmp/calls.c" "$tmp/libwork.so" || fail "the program does not compile"
	said=$(timeout "$patience" "$hartfs" record -q -o "$tmp/plt.$machine" "$tmp/calls" 2>"$tmp/err") || fail "record: $(cat "$tmp/err")"
	capture=$(echo "$tmp/plt.$machine"/calls.*st*)
	for chunk in 61 16384; do
		rm -rf "$tmp/ix.on" "$tmp/ix.off"
		mkdir "$tmp/ix.on" "$tmp/ix.off"
		for summary in on off; do
			timeout "$patience" "$hartfs" index -q --index-dir "$tmp/ix.$summary" --chunk "$chunk" --pack-below=0 --summary="$summary" "$capture" || fail "index ended with $?"
		done
		asked "$machine" "$said" --call work
		asked "$machine" "$said" --call __work_alias
		asked "$machine" 300 --call caller
		asked "$machine" 300 --call chosen
		ask "$machine" on --call work --last --stack | grep -q '#0 .* in [0-9a-f]* <work>$' || fail "the stack: $(ask "$machine" on --call work --last --stack)"
	done
	mkdir "$tmp/profile.$machine"
	for view in functions.txt callers.txt stacks.folded flame.svg callgrind.out report.html; do
		"$hartfs" cat -q --index-dir "$tmp/ix.on" "$capture" "hart0/profile/$view" >"$tmp/profile.$machine/$view" || fail "$machine: $view"
	done
	profile() { cat "$tmp/profile.$machine/$1"; }
	[ "$(profile functions.txt | awk '$NF == "work" {print $5}')" = "$said" ] || fail "functions.txt: $(profile functions.txt | grep work)"
	[ "$(profile callers.txt | awk '$3 == "work" {print $1, $4, $5}')" = "$said <- caller" ] || fail "callers.txt: $(profile callers.txt | grep work)"
	profile stacks.folded | grep -q ';caller;work [0-9]*$' || fail "stacks.folded: $(profile stacks.folded | grep work)"
	profile stacks.folded | grep -q '@plt [0-9]*$' && fail "stacks.folded: $(profile stacks.folded | grep @plt)"
	profile flame.svg | grep -q "work @plt" && fail "flame.svg has a frame for a stub"
	[ "$(profile callgrind.out | grep -A1 'cfn=([0-9]*) work$' | grep -o 'calls=[0-9]*')" = "calls=$said" ] || fail "callgrind.out: $(profile callgrind.out | grep -A2 work)"
	# Bound at its first call, by the dynamic linker.
	"$machine-linux-gnu-gcc" -O1 -g -Wl,-z,lazy -Wl,-rpath,"$tmp" -o "$tmp/lazy" "$tmp/calls.c" "$tmp/libwork.so" &&
		"$hartfs" record -q -o "$tmp/plt.$machine" "$tmp/lazy" >"$tmp/out" 2>"$tmp/err" || fail "record: $(cat "$tmp/err")"
	"$hartfs" top -q --index-dir "$tmp/ix.on" --limit=1000 "$tmp/plt.$machine"/lazy.*st* | awk '$NF == "work" {print $5}' | grep -qx "$said" || fail "$machine: calls that are bound lazily"
	# A call that is the last instruction counts nowhere.
	if [ "$machine" = riscv64 ]; then
		end=$(ask "$machine" on --call caller --nth 3 --ordinals)
		mkdir "$tmp/cut"
		"$hartfs" cat -q --index-dir "$tmp/ix.on" "$capture" "hart0/at/0-$((end - 1))/trace.stf" >"$tmp/cut/cut.stf" || fail "the slice"
		"$hartfs" sql "$tmp/cut/cut.stf" "SELECT count(*) FROM call WHERE entry >= $end UNION ALL
			SELECT (SELECT sum(calls) FROM function) - count(*) FROM call WHERE kind = 'function'" >"$tmp/out"
		[ "$(sed -n 2p "$tmp/out")" = 0 ] || fail "sql: a call behind the end"
		[ "$(sed -n 3p "$tmp/out")" = 0 ] || fail "sql: calls and call differ"
	fi
	# Without a symbol: by its file, everywhere.
	inner=libwork.so+0x$("$machine-linux-gnu-nm" "$tmp/full.so" | awk '$3 == "inner" {sub(/^0+/, "", $1); print $1}')
	[ "$(profile functions.txt | awk -v name="$inner" '$NF == name {print $5}')" = "$said" ] || fail "functions.txt has no $inner: $(profile functions.txt | grep libwork)"
	profile functions.txt | grep -q ' ?$' && fail "functions.txt has code of no name: $(profile functions.txt | grep ' ?$')"
	profile stacks.folded | grep -q ";caller;work;${inner//+/.} [0-9]*$" || fail "stacks.folded has no $inner"
	profile callgrind.out | grep -q "fn=([0-9]*) ${inner//+/.}$" || fail "callgrind.out has no $inner"
	profile report.html | grep -q "${inner//+/.}" || fail "report.html has no $inner"
	[ "$(ask "$machine" on --call "$inner" --count)" = "$said" ] || fail "find --call $inner"
	"$hartfs" sql --index-dir "$tmp/ix.on" "$capture" "SELECT sum(calls) FROM function WHERE name = '$inner' UNION ALL
		SELECT sum(calls) FROM callnode WHERE name = '$inner' UNION ALL
		SELECT sum(calls) FROM function WHERE name = 'work' UNION ALL
		SELECT sum(calls) FROM callnode WHERE name = 'work' UNION ALL
		SELECT count(*) FROM call WHERE name = 'work' AND exit - entry > 5" | tail -n +2 >"$tmp/out"
	[ "$(grep -cx "$said" "$tmp/out")" = 5 ] || fail "sql: $inner in function and callnode, work in both and in call: $(cat "$tmp/out")"
done
finish
