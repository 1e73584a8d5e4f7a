#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs record of a program with threads: one capture with a hart a thread, and times that order them. Who held a lock, one
# after the other, is in all/listing.txt as the program itself has noted it.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
for tool in {riscv64,aarch64}-linux-gnu-gcc qemu-{riscv64,aarch64} python3; do
	command -v "$tool" >/dev/null || skip "no $tool (contrib/packages.sh has the list)"
done
qemu-riscv64 --help | grep -q -- -plugin || skip "this QEMU has no plugins"
[ -e "$(dirname "$hartfs")/hartfs_capture.so" ] || skip "the program is not in its build directory"
export XDG_CACHE_HOME=$tmp/cache
tracks=$(cd "$(dirname "$0")/../lib" && pwd)/tracks.py

# No thread has the lock twice in a row.
cat >"$tmp/locks.c" <<'SRC'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { TURNS = 300 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long holder[TURNS];
static volatile int turns;
__attribute__((noinline)) void enter(long who)
{
	holder[turns] = who;
	turns = turns + 1;
}
__attribute__((noinline)) long work(long n)
{
	volatile long sum = 0;
	for (long i = 0; i < n; i++)
		sum = sum + i;
	return sum;
}
static void *take_turns(void *arg)
{
	const long who = syscall(SYS_gettid);
	int all = 0;
	while (!all) {
		pthread_mutex_lock(&lock);
		all = turns == TURNS;
		if (!all && (turns == 0 || holder[turns - 1] != who)) {
			enter(who);
			work(10 * (long)arg);
		}
		pthread_mutex_unlock(&lock);
		sched_yield();
	}
	return arg;
}
int main(void)
{
	pthread_t thread[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, take_turns, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < TURNS; i++)
		printf("%ld\n", holder[i]);
}
SRC

# The thread of each call of enter, in the order of all/listing.txt; the time never steps back.
cat >"$tmp/order.py" <<'PY'
import re, sys
hart, tids, time = None, {}, -1
for line in sys.stdin:
    words = line.split()
    if line.startswith("# hart "):
        hart = words[2]
    elif line.startswith("# context hw="):
        tids[hart] = re.search(r"tid=(\d+)", line)[1]
        if words[2] != "hw=" + hart:
            sys.exit("hart %s has %s" % (hart, words[2]))
    elif line.startswith("# time "):
        if int(words[2]) < time:
            sys.exit("time %s after %d" % (words[2], time))
        time = int(words[2])
    elif "<enter " in line or "<enter>" in line:
        print(tids[hart])
PY

for machine in riscv64 aarch64; do
	"$machine-linux-gnu-gcc" -g -O1 -pthread -o "$tmp/locks" "$tmp/locks.c" || { fail "$machine: the compiler"; continue; }
	timeout "$patience" "$hartfs" record -o "$archive/$machine" -- "$tmp/locks" >"$tmp/$machine.held" 2>"$tmp/err" ||
		fail "$machine: record ended with $?: $(head -n 3 "$tmp/err")"
	grep -q ' instructions of 4 threads$' "$tmp/err" || fail "$machine: not said how many threads: $(head -n 1 "$tmp/err")"
	# What one is told to try works.
	sed -n 's/^  hartfs cat //p' "$tmp/err" | while read -r file name _; do
		"$hartfs" cat "$file" "$name" | grep -q . || echo "$name"
	done | grep . && fail "$machine: not worth a try"
	[ "$(ls "$archive/$machine")" = $'locks.d\nlocks.zstf' ] || fail "$machine: $(ls "$archive/$machine")"
done
# Of many instructions pictures are made of chunks: the first thread runs, then the second, while the other one waits.
cat >"$tmp/turns.c" <<'SRC'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static volatile int turn;
__attribute__((noinline)) long first(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
	return n;
}
__attribute__((noinline)) long second(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
	return n;
}
static void *run(void *me)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		while (turn != 2 * i + (me != 0))
			pthread_cond_wait(&turned, &lock);
		pthread_mutex_unlock(&lock);
		(me ? second : first)(260000);
		pthread_mutex_lock(&lock);
		turn = turn + 1;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&lock);
	}
	return me;
}
int main(void)
{
	pthread_t thread[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}
SRC
riscv64-linux-gnu-gcc -O1 -g -pthread -o "$tmp/turns" "$tmp/turns.c" || fail "turns.c: the compiler"
timeout "$patience" "$hartfs" record -q -o "$archive/turns" -- "$tmp/turns" || fail "turns: record ended with $?"

do_mount --wait
view=$mnt/turns/turns@zstf
python3 "$tracks" --turns "$view" 1:first 2:second || fail "turns: all/overview.svg"
for machine in riscv64 aarch64; do
	view=$mnt/$machine/locks@zstf
	[ -s "$view/errors.txt" ] && fail "$machine: $(head -n 2 "$view/errors.txt")"
	[ "$(echo "$view"/hart*)" = "$(echo "$view"/hart{0,1,2,3})" ] || fail "$machine: $(ls "$view")"
	# The chains of calls of all harts are those of each, added up.
	python3 - "$view/all/flame.svg" "$view"/hart?/profile/stacks.folded <<'PY' || fail "$machine: all/flame.svg"
import collections, json, re, sys
text = open(sys.argv[1]).read()
data = json.loads(re.search(r'fg-data"><!\[CDATA\[(\{.*?\})\]\]>', text, re.S)[1])
got, path = collections.Counter(), []
for place, name, own, calls in zip(*[iter(data["frames"])] * 4):
    path[place // 8:] = [data["names"][name]]
    got[";".join(path[1:])] += own
want = collections.Counter()
for file in sys.argv[2:]:
    for line in open(file):
        chain, insns = line.rsplit(" ", 1)
        want[chain] += int(insns)
assert +got == +want, [(k, got[k], want[k]) for k in got | want if got[k] != want[k]][:5]
PY
	# What ran when is in the tracks; who waits for a lock does not run.
	python3 "$tracks" "$view" >"$tmp/tracks" || fail "$machine: all/overview.svg"
	[ "$(awk '$2 > 0 && $3 > 100' "$tmp/tracks" | wc -l)" = 4 ] || fail "$machine: tracks have no gaps: $(cat "$tmp/tracks")"
	ls "$view/all" | grep -qx overview.svg || fail "$machine: all/overview.svg is not listed: $(ls "$view/all")"
	ls "$view/all" | grep -qx flame.svg || fail "$machine: all/flame.svg is not listed: $(ls "$view/all")"
	# The function's first instruction has no offset in its name.
	python3 "$tmp/order.py" <"$view/all/listing.txt" >"$tmp/order" || fail "$machine: the order"
	cmp "$tmp/order" "$tmp/$machine.held" || fail "$machine: who held the lock"
	[ "$(uniq "$tmp/order" | wc -l)" = 300 ] || fail "$machine: the threads did not alternate"
	for hart in 0 1 2 3; do
		awk -v hart=$hart '/^# hart / {now = $3; next} now == hart' "$view/all/listing.txt" | cmp - "$view/hart$hart/listing.txt" ||
			fail "$machine: hart $hart is another one in all/listing.txt"
		# User mode, as the emulator ran it; and a copy of the hart is the same.
		grep -v '^#' "$view/hart$hart/listing.txt" | awk '{print $2}' | sort -u >"$tmp/modes"
		case $machine in riscv64) mode=U ;; *) mode=EL0t ;; esac
		[ "$(cat "$tmp/modes")" = "$mode" ] || fail "$machine: hart $hart has modes $(tr '\n' ' ' <"$tmp/modes")"
	done
done
do_umount
# What would have to be decoded for too long is said in its track.
said=$("$hartfs" cat --summary=off --index-dir "$tmp/unsummed" "$archive/turns/turns.zstf" all/overview.svg | grep -c 'not drawn: it is long')
[ "$said" = 2 ] || fail "$said tracks say that there is no summary, not 2"
finish
