#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs record: programs as a compiler makes them by default (position-independent, C++, shared libraries), for both
# machines, from the source to the listing; and all that can go wrong on the way.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
for tool in {riscv64,aarch64}-linux-gnu-g++ qemu-{riscv64,riscv32,aarch64} qemu-system-riscv64 riscv64-unknown-elf-{as,ld} \
	python3; do
	command -v "$tool" >/dev/null || skip "no $tool (contrib/packages.sh has the list)"
done
qemu-riscv64 --help | grep -q -- -plugin || skip "this QEMU has no plugins"
[ -e "$(dirname "$hartfs")/hartfs_capture.so" ] || skip "the program is not in its build directory"
export XDG_CACHE_HOME=$tmp/cache
root=$(cd "$(dirname "$0")/../.." && pwd)
src=$tmp/src
mkdir "$src"

cat >"$src/lib.cpp" <<'END'
#include <cmath>
#include <vector>
namespace shapes {
double area(const std::vector<double> &sides)
{
	double sum = 0;
	for (double side : sides)
		sum += std::sqrt(side) * side;
	return sum;
}
}
END
cat >"$src/prog.cpp" <<'END'
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
namespace shapes { double area(const std::vector<double> &sides); }
int main(int argc, char **argv)
{
	std::string how = argc > 1 ? argv[1] : "", line;
	std::vector<double> sides;
	for (int i = 0; i < 1000; i++)
		sides.push_back(i * 1.5);
	std::cout << "area " << (long)shapes::area(sides) << std::endl;
	if (how == "echo") {
		while (std::getline(std::cin, line))
			std::cout << line << std::endl;
		for (int i = 0; i < argc; i++)
			std::cout << argv[i] << std::endl;
	} else if (how == "threads") {
		std::vector<std::thread> threads;
		for (int i = 0; i < 3; i++)
			threads.emplace_back([&] { sides[0] = shapes::area(sides); });
		for (auto &thread : threads)
			thread.join();
	} else if (how == "fork") {
		pid_t child = fork();
		if (child == 0)
			exit(shapes::area(sides) > 0 ? 5 : 1);
		int status;
		waitpid(child, &status, 0);
		std::cout << "child " << WEXITSTATUS(status) << std::endl;
	} else if (how == "fault") {
		*(volatile int *)8 = 1;
	} else if (how == "work") {
		for (int i = 0; i < atoi(argv[2]); i++)
			sides[0] = shapes::area(sides);
		std::cout << "done" << std::endl;
	} else if (how == "fail") {
		return 7;
	}
}
END
for machine in riscv64 aarch64; do
	mkdir "$src/$machine"
	"$machine-linux-gnu-g++" -g -O1 -shared -fPIC -o "$src/$machine/libshapes.so" "$src/lib.cpp" &&
		"$machine-linux-gnu-g++" -g -O1 -o "$src/$machine/prog" "$src/prog.cpp" "$src/$machine/libshapes.so" \
			-Wl,-rpath,'$ORIGIN' || { fail "$machine: the compiler"; exit 1; }
	readelf -h "$src/$machine/prog" | grep -q 'DYN' || fail "$machine: not position-independent"
done

# record WANTED_STATUS ARGUMENT...: what it writes is in $tmp/out and $tmp/err.
record() {
	local want=$1 status
	shift
	timeout "$patience" "$hartfs" record "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	[ "$status" = "$want" ] || fail "record $*: status $status instead of $want: $(head -n 3 "$tmp/err")"
}
said() { grep -q -- "$1" "$tmp/err" || fail "not said: $1; but: $(head -n 3 "$tmp/err")"; }
# one_line PATTERN: one complaint of hartfs's and no more, however much QEMU says.
one_line() {
	said "$1"
	[ "$(grep -c '^hartfs record: ' "$tmp/err")" = 1 ] || fail "more than one line: $(cat "$tmp/err")"
}
# What only asks what was recorded needs no other views.
count_of() { "$hartfs" info --views=listing.txt --json "$1" | sed -n 's/^ *"instructions": \([0-9]*\).*/\1/p' | head -n 1; }
# whole FILE MINIMUM: no problems, and so many instructions at least.
whole() {
	local errors count
	errors=$("$hartfs" cat --views=listing.txt "$1" errors.txt) || fail "$1: cat ended with $?"
	count=$(count_of "$1")
	[ -z "$errors" ] || fail "${1##*/}: $(head -n 2 <<<"$errors")"
	[ "${count:-0}" -ge "$2" ] || fail "${1##*/}: ${count:-no} instructions"
}

# Every opcode of a listing, which has each place once, is what the files of NAME.d have at the addresses that they are said to have: LISTING NAME.d
cat >"$tmp/agree.py" <<'END'
import re, struct, sys
images = []
for line in open(sys.argv[2] + "/addresses.txt"):
    found = re.fullmatch(r"elf = (.*), bias = (0x[0-9a-f]+)\n", line)
    if not found:
        continue
    data, bias = open(sys.argv[2] + "/" + found[1], "rb").read(), int(found[2], 16)
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, table + i * size)
        if kind == 1 and flags & 1:
            images.append((address + bias, length, data[offset:offset + length], found[1]))
used, count = set(), 0
for line in open(sys.argv[1]):
    fields, count = line.split(None, 4), count + 1
    pc, opcode = int(fields[2], 16), bytes.fromhex(fields[3])[::-1]
    for address, length, data, name in images:
        if address <= pc < address + length and data.startswith(opcode, pc - address):
            used.add(name)
            break
    else:
        sys.exit("no file has %s at %s" % (fields[3], fields[2]))
print(count, len(used))
END

# A recording's pictures are listed from the first look on.
listed_at_once() { # DIRECTORY NAME
	local list
	timeout "$patience" "$hartfs" mount "$1" "$mnt" || { fail "$1: mount ended with $?"; return; }
	list=$(ls "$mnt/$2@zstf/hart0/profile")
	for name in flame.svg overview.svg report.html callgrind.out; do
		grep -qx "$name" <<<"$list" || fail "$1: the first look finds $list"
	done
	do_umount
}

# default MACHINE: the way of a new user, from the compiler to the name in the listing.
default() {
	local machine=$1 capture=$archive/$1/prog.zstf dir=$archive/$1/prog.d main bias listing distinct files
	record 0 -o "$archive/$machine" -- "$src/$machine/prog"
	[ "$(cat "$tmp/out")" = "area 23208859" ] || fail "$machine: the program's output is $(cat "$tmp/out")"
	[ -s "$capture" ] || { fail "$machine: there is no capture"; return; }
	said ": $(count_of "$capture") instructions\$"
	[ "$(grep -c '^  hartfs ' "$tmp/err")" = 3 ] || fail "$machine: not three things to try"
	whole "$capture" 500000
	listed_at_once "$archive/$machine" prog
	# What one is told to try works.
	sed -n 's/^  hartfs \(cat\|info\) /\1 /p' "$tmp/err" | while read -r line; do
		eval "\"\$hartfs\" ${line%[|>]*}" >"$tmp/tried" && [ -s "$tmp/tried" ] || echo "$line"
	done | grep . && fail "$machine: not worth a try"
	for file in prog libshapes.so; do
		cmp "$src/$machine/$file" "$dir/$file" || fail "$machine: $file is another one"
	done
	[ -n "$(find "$dir" -name 'ld-linux*')" ] || fail "$machine: no dynamic linker"
	"$hartfs" cat "$capture" hart0/listing.txt | listed_places >"$tmp/listing"
	read -r distinct files < <(python3 "$tmp/agree.py" "$tmp/listing" "$dir")
	[ "${distinct:-0}" -gt 5000 ] && [ "${files:-0}" -ge 6 ] || fail "$machine: ${distinct:-0} opcodes in ${files:-0} files"

	# The addresses, as a description takes them.
	{
		printf '[capture]\nformat = stf\ntrace = %s\n' "${capture##*/}"
		sed 's,^elf = ,elf = prog.d/,' "$dir/addresses.txt"
	} >"$archive/$machine/described.ini"
	main=$(nm "$src/$machine/prog" | sed -n 's/ T main$//p')
	bias=$(sed -n 's/^elf = prog, bias = //p' "$dir/addresses.txt")
	do_mount --wait --views=listing.txt,trace.stf
	listing=$mnt/$machine/described.ini@stf/hart0/listing.txt
	[ "$(grep -m1 '<main[ >]' "$listing" | awk '{print $3}')" = "$(printf %016x $((0x$main + bias)))" ] ||
		fail "$machine: main is not where it was: $(grep -m1 '<main[ >]' "$listing")"
	# hartfs finds them itself, too.
	cmp "$listing" "$mnt/$machine/prog@zstf/hart0/listing.txt" || fail "$machine: other names"
	# Of one thread it is the stream as it was recorded.
	cmp "$mnt/$machine/prog@zstf/source.stf" "$mnt/$machine/prog@zstf/hart0/trace.stf" || fail "$machine: another trace.stf"
	grep -q '"in_no_file": 0' "$mnt/$machine/prog@zstf/info.json" || fail "$machine: code from nowhere"
	grep -q '<_ZN6shapes4area\|<shapes::area' "$listing" || fail "$machine: nothing of the library has a name"
	do_umount
	rm "$archive/$machine/described.ini"
}
default riscv64
default aarch64

# What the program is given and gives; recordings of one name.
cd "$src" || exit 1
printf 'a line\n' | "$hartfs" record -q -o "$tmp/o" ./riscv64/prog echo -o --system -- x >"$tmp/out" 2>"$tmp/err"
[ "$(tail -n +2 "$tmp/out" | tr '\n' ' ')" = "a line ./riscv64/prog echo -o --system -- x " ] || fail "passed on: $(cat "$tmp/out")"
[ -s "$tmp/err" ] && fail "quiet: $(cat "$tmp/err")"
# That there is no place for an index is no trouble of a recording.
XDG_CACHE_HOME=/proc/none "$hartfs" record -q -o "$tmp/n" ./riscv64/prog >"$tmp/out" 2>"$tmp/err" || fail "without a cache: status $?"
[ -s "$tmp/err" ] && fail "without a cache: $(cat "$tmp/err")"
record 7 -o "$tmp/o" "$src/riscv64/prog" fail
whole "$tmp/o/prog-2.zstf" 500000
PATH=$src/aarch64:$PATH record 7 -o "$tmp/o" prog fail
whole "$tmp/o/prog-3.zstf" 500000

# Threads, children, a program that is killed: the listing ends with the last instruction before that.
for machine in riscv64 aarch64; do
	record 139 -o "$tmp/o/$machine" "$src/$machine/prog" fault
	said 'killed by signal 11'
	whole "$tmp/o/$machine/prog.zstf" 500000
	"$machine-linux-gnu-objdump" -d --disassemble=main "$src/$machine/prog" >"$tmp/main"
	last=$("$hartfs" cat --views=listing.txt "$tmp/o/$machine/prog.zstf" hart0/listing.txt | awk 'END {print substr($3, 14)}')
	grep -q "^ *[0-9a-f]*$last:" "$tmp/main" || fail "$machine: the last instruction is none of main: ...$last"
	record 0 -o "$tmp/o/$machine" "$src/$machine/prog" threads
	said 'of 4 threads'
	whole "$tmp/o/$machine/prog-2.zstf" 500000
	for hart in 1 2 3; do
		"$hartfs" cat --views=listing.txt "$tmp/o/$machine/prog-2.zstf" "hart$hart/listing.txt" | grep -q 'shapes.*area' ||
			fail "$machine: hart$hart has no names"
	done
done
record 0 -o "$tmp/o/riscv64" "$src/riscv64/prog" fork
grep -q '^child 5$' "$tmp/out" || fail "the child of fork()"
whole "$tmp/o/riscv64/prog-3.zstf" 500000
grown() { [ "$(stat -c %s "$1")" -gt 1000000 ]; }
for signal in TERM KILL; do
	"$hartfs" record -o "$tmp/o/$signal" "$src/riscv64/prog" work 100000000 >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	wait_until grown "$tmp/o/$signal/prog.zstf"
	# SIGTERM to the recorder is for the program; SIGKILL goes to the program itself.
	victim=$recorder
	[ $signal = KILL ] && read -r victim </proc/$recorder/task/$recorder/children
	kill -$signal "$victim"
	wait $recorder
	[ $? = $((128 + $(kill -l $signal))) ] || fail "$signal: the status"
	whole "$tmp/o/$signal/prog.zstf" 100000
done
# The recorder itself is killed: the program ends as it would have, and what was written can be read.
"$hartfs" record -o "$tmp/o/dead" "$src/riscv64/prog" work 2000 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
wait_until grown "$tmp/o/dead/prog.zstf"
kill -KILL $recorder
wait $recorder 2>/dev/null
wait_until grep -q done "$tmp/out" || fail "the program did not go on"
[ "$(count_of "$tmp/o/dead/prog.zstf")" -gt 100000 ] || fail "nothing is left of what was recorded"

# No room: what has room is a capture, the program goes on, and the status tells.
(
	ulimit -f 1500
	timeout "$patience" "$hartfs" record -o "$tmp/o/limit" "$src/riscv64/prog" work 200 >"$tmp/out" 2>"$tmp/err"
	echo $? >"$tmp/status"
)
[ "$(cat "$tmp/status")" = 1 ] || fail "a limit of sizes: status $(cat "$tmp/status")"
grep -q '^done$' "$tmp/out" || fail "the program ended with its recording"
said 'File too large'
said ": $(count_of "$tmp/o/limit/prog.zstf") instructions\$"
# Threads that begin behind the end of the recording are not too many.
(
	ulimit -f 1
	timeout "$patience" "$hartfs" record -o "$tmp/o/limited" "$src/riscv64/prog" threads >"$tmp/out" 2>"$tmp/err"
	echo $? >"$tmp/status"
)
[ "$(cat "$tmp/status")" = 1 ] || fail "threads and a limit of sizes: status $(cat "$tmp/status")"
grep -v 'File too large' "$tmp/err" && fail "other reasons than that a file is too large"
mkdir "$tmp/small"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=12m none "$tmp/small"; then
	for machine in riscv64 aarch64; do
		head -c 6000000 /dev/urandom >"$tmp/small/filler"
		record 1 -o "$tmp/small" "$src/$machine/prog" work 1500
		[ "$(grep -c 'No space left' "$tmp/err")" = 1 ] || fail "$machine: a full disk is told so: $(cat "$tmp/err")"
		grep -q '^done$' "$tmp/out" || fail "$machine: the program ended with its recording"
		whole "$tmp/small/prog.zstf" 100000
		said ": $(count_of "$tmp/small/prog.zstf") instructions\$"
		rm -rf "$tmp/small"/*
	done
	umount "$tmp/small"
else
	echo "no tmpfs: only the limit of sizes was tried"
fi

# What is not there is told before anything runs, and nothing stays.
PATH=/nowhere:/bin record 1 -o "$tmp/none" "$src/aarch64/nothing"
one_line 'there is no such program'
(
	# Programs that the test itself needs, but no QEMU.
	mkdir "$tmp/bin"
	ln -s "$(command -v timeout)" "$(command -v grep)" "$(command -v head)" "$tmp/bin"
	PATH=$tmp/bin
	record 1 -o "$tmp/none" "$src/riscv64/prog"
	one_line '^hartfs record: qemu-riscv64: there is no such program in PATH'
	exit "$failures"
) || failures=1
printf '#!/bin/sh\necho "unknown option" >&2\nexit 1\n' >"$tmp/bin/qemu-riscv64"
chmod +x "$tmp/bin/qemu-riscv64"
PATH=$tmp/bin:$PATH record 1 -o "$tmp/none" "$src/riscv64/prog"
one_line 'did not load the plugin'
record 1 -o "$tmp/none" --sysroot=/nowhere "$src/riscv64/prog"
one_line 'no libraries for riscv64: /lib/ld-linux-riscv64-lp64d.so.1 is neither in /nowhere'
QEMU_LD_PREFIX=/nowhere record 1 -o "$tmp/none" "$src/aarch64/prog"
one_line 'no libraries for aarch64'
record 1 -o "$tmp/none" /bin/true
one_line 'riscv32, riscv64 or aarch64'
record 1 -o "$tmp/none" "$src/prog.cpp"
one_line 'not executable'
chmod +x "$src/prog.cpp"
record 1 -o "$tmp/none" "$src/prog.cpp"
one_line 'not an ELF program'
record 1 -o "$src/prog.cpp/x" "$src/riscv64/prog"
one_line 'Not a directory'
record 2
[ -z "$(ls "$tmp/none" 2>/dev/null)" ] || fail "left behind: $(ls "$tmp/none")"

# A program that writes whatever it likes into the memory that QEMU shares with the recorder.
cat >"$src/scribble.c" <<'END'
#include "contrib/capture/ring.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ring *find_ring(void)
{
	char line[4096];
	unsigned long found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (!found && fgets(line, sizeof line, maps))
		if (strstr(line, "/SYSV"))
			sscanf(line, "%lx", &found);
	fclose(maps);
	return (struct ring *)found;
}

static void *scribble(void *arg)
{
	unsigned seed = (unsigned)atoi(getenv("SCRIBBLE"));
	struct ring *ring;

	while (!(ring = find_ring()) || atomic_load(&ring->slot[0].written) < 10000000)
		usleep(1000);
	for (;; usleep(200)) {
		struct ring_slot *slot = &ring->slot[rand_r(&seed) % 3];
		uint32_t any = (uint32_t)rand_r(&seed), little = any % 300000;

		switch (rand_r(&seed) % 6) {
		case 0: slot->state = any % 5; break;
		case 1: slot->written = any % 2 ? any : slot->written + little; break;
		case 2: slot->read = any; break;
		case 3: slot->bytes[any % RING_BYTES] = (unsigned char)(any >> 24); break;
		case 4: ring->loads = any % 600; break;
		case 5: memset(ring->load[any % RING_LOADS].path, "/x"[any % 2], RING_PATH); break;
		}
	}
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, scribble, NULL);
}
END
cc -I "$root" -shared -fPIC -o "$tmp/scribble.so" "$src/scribble.c" -lpthread || fail "the scribbler"
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$tmp/scribble.so" "$(command -v qemu-riscv64)" >"$tmp/bin/qemu-riscv64"
for seed in 1 2 3 4 5; do
	PATH=$tmp/bin:$PATH SCRIBBLE=$seed timeout "$patience" "$hartfs" record -o "$tmp/o/scribbled" "$src/riscv64/prog" work 500 \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -le 1 ] || fail "scribbled with $seed: status $status: $(tail -n 3 "$tmp/err")"
	grep -q '^done$' "$tmp/out" || fail "scribbled with $seed: the program did not end"
	grep -E 'Sanitizer|runtime error' "$tmp/err" && fail "scribbled with $seed"
	cat "$tmp/err" >>"$tmp/scribbled"
done
grep -q 'shared with QEMU' "$tmp/scribbled" || fail "not said that the memory is written to: $(cat "$tmp/scribbled")"

# The libraries of a system that the program lies in.
mkdir -p "$tmp/guest/opt" "$tmp/guest/lib"
cp "$src/riscv64"/* "$tmp/guest/opt"
cp -L /usr/riscv64-linux-gnu/lib/{ld-linux-riscv64-lp64d.so.1,libc.so.6,libm.so.6,libgcc_s.so.1,libstdc++.so.6} "$tmp/guest/lib"
echo "another one" >>"$tmp/guest/lib/libc.so.6"
record 0 -o "$tmp/rooted" "$tmp/guest/opt/prog"
cmp "$tmp/guest/lib/libc.so.6" "$tmp/rooted/prog.d/libc.so.6" || fail "the libraries above the program"

# riscv32, without libraries; and a machine.
cat >"$src/bare.s" <<'END'
	.globl _start
_start:	li s0, 1000
1:	addi s0, s0, -1
	bnez s0, 1b
	.ifdef MACHINE
	li a0, 0x100000
	li a1, 0x5555
	sw a1, (a0)
2:	j 2b
	.else
	li a0, 3
	li a7, 93
	ecall
	.endif
END
riscv64-unknown-elf-as -march=rv32i -mabi=ilp32 "$src/bare.s" -o "$tmp/bare.o" &&
	riscv64-unknown-elf-ld -m elf32lriscv "$tmp/bare.o" -o "$src/bare32" || fail "riscv32"
record 3 -o "$tmp/bare" "$src/bare32"
whole "$tmp/bare/bare32.zstf" 2004
grep -q '^elf = bare32, bias = 0x0$' "$tmp/bare/bare32.d/addresses.txt" || fail "riscv32: $(cat "$tmp/bare/bare32.d/addresses.txt")"
record 1 --system -- qemu-system-aarch64 -M virt
one_line 'the exception level'
record 1 --system -- "$src/bare32"
riscv64-unknown-elf-as -march=rv64gc --defsym MACHINE=1 "$src/bare.s" -o "$tmp/bare.o" &&
	riscv64-unknown-elf-ld -Ttext 0x80000000 "$tmp/bare.o" -o "$src/machine" || fail "a machine's program"
record 0 -o "$tmp/bare" --system -- qemu-system-riscv64 -M virt -display none -bios none -kernel "$src/machine"
whole "$tmp/bare/system-riscv64.zstf" 2000
loops=$("$hartfs" cat "$tmp/bare/system-riscv64.zstf" hart0/listing.txt | awk '/bnez/' | listed_pcs | sort | uniq -c)
[[ $loops =~ ^\ *1000\ 8000000 ]] || fail "a machine: $loops"
cmp "$src/machine" "$tmp/bare/system-riscv64.d/machine" || fail "the machine's program"
grep -qx 'elf = machine' "$tmp/bare/system-riscv64.d/addresses.txt" || fail "its address"

# One vector instruction with more accesses than a capture has room for.
cat >"$src/vector.c" <<'END'
#include <stdint.h>
static uint8_t from[1024];
int main(void)
{
	__asm__ volatile("vsetvli t0, %0, e8, m8, ta, ma\n\tvle8.v v8, (%1)" : : "r"(1024L), "r"(from) : "t0", "memory");
	return 0;
}
END
riscv64-linux-gnu-gcc -march=rv64gcv -static -o "$src/vector" "$src/vector.c" || fail "vector"
QEMU_CPU=rv64,v=true,vlen=1024 record 1 -o "$tmp/vector" "$src/vector"
said '512 accesses are left out'
finish
