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
finish
