#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartN/profile/fdo/: profiles for compilers and optimisers are what the listing says (lib/fdo.py), of a hart and of slices, with
# traps and with gaps; and llvm-bolt, llvm-profgen and clang make of them what they should.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
capture_archive
lib=$(cd "$(dirname "$0")/../lib" && pwd)

# ---- a system with traps ----

hart=$mnt/boot/rv-sys@stf@gz/hart0 elf=rv-sys.elf insns=150000
# The beginning of it, so that a plain reading of its listing takes no time.
"$hartfs" cat -q --index-dir "$tmp/ixpiece" "$archive/boot/rv-sys.stf.gz" "hart0/at/0-$((insns - 1))/trace.stf" | gzip -1 >"$tmp/piece" &&
	mv "$tmp/piece" "$archive/boot/rv-sys.stf.gz"
# fetch DIRECTORY NAME TO: the four files of an ELF, by cp.
fetch() {
	local kind
	mkdir -p "$3"
	for kind in fdata ranges order drcov; do
		cp "$1/profile/fdo/$2.$kind" "$3/" || fail "$1: no $2.$kind"
	done
}
# judge WHAT LISTING ELF BIAS DIRECTORY
judge() {
	python3 "$lib/fdo.py" "${@:2}" >"$tmp/out" 2>&1 || fail "$1: $(tail -n 1 "$tmp/out")"
}
do_mount --wait
fetch "$hart" $elf "$tmp/whole"
judge "rv-sys" "$hart/listing.txt" "$archive/boot/$elf" 0 "$tmp/whole"
for slice in 22500-99999 10-60; do
	wait_until measured "$hart/at/$slice"
	fetch "$hart/at/$slice" $elf "$tmp/slice"
	judge "slice $slice" "$hart/at/$slice/listing.txt" "$archive/boot/$elf" 0 "$tmp/slice"
done
fetch "$hart/at/0-$((insns - 1))" $elf "$tmp/all"
diff -r "$tmp/whole" "$tmp/all" || fail "a slice of all is not the hart"
# In the middle.
for kind in fdata ranges order drcov; do
	size=$(stat -c %s "$hart/profile/fdo/$elf.$kind")
	[ "$size" = "$(stat -c %s "$tmp/whole/$elf.$kind")" ] || fail "$kind has another size"
	dd if="$hart/profile/fdo/$elf.$kind" bs=7 skip=$((size / 14)) count=20 status=none |
		cmp - <(tail -c +$((size / 14 * 7 + 1)) "$tmp/whole/$elf.$kind" | head -c 140) || fail "$kind in the middle"
done
# What is in no file is counted.
objects=$(cat "$hart/profile/fdo/objects.txt")
awk -v n=$insns '!/^#/ { n -= $1; share += $2 } END { exit !(n == 0 && share > 99.9 && share < 100.1) }' <<<"$objects" || fail "objects.txt: $objects"
grep -qE '^ +6 +0\.00 .* \(no ELF: left out\)$' <<<"$objects" || fail "code without an ELF is not counted: $objects"
[ "$(awk '$6 == "rv-sys.elf" { print $1, $4, ($5 > 0) }' <<<"$objects")" = "$((insns - 6)) 0 1" ] || fail "objects.txt: $objects"
[ "$(awk '$4 == "0" { n += $8 } END { print n + 0 }' "$tmp/whole/$elf.fdata")" -ge 1 ] || fail "transfers that a trap cut have an end"
cat "$mnt/mini/rv32-mini@stf/hart0/profile/fdo/objects.txt" | grep -qE '100\.00 .*\(no ELF: left out\)$' || fail "rv32-mini has an ELF"
[ -z "$(ls -A "$hart/profile/fdo")" ] || fail "something is listed"
for name in nothing.fdata .fdata rv-sys.fdata $elf.yaml $elf $elf.order.order objects.txt.fdata ../fdo/x.drcov; do
	[ -e "$hart/profile/fdo/$name" ] && fail "there is $name"
done
[ -e "$hart/profile/annotated/$elf.fdata" ] && fail "files of fdo are elsewhere"
[ -e "$mnt/mini/rv32-mini@stf/hart0/profile/fdo/$elf.fdata" ] && fail "another capture's ELF"
do_umount
# The same bytes with other chunks, and without a summary.
for more in --chunk=700 "--chunk=700 --summary=off"; do
	for kind in fdata ranges order drcov; do
		# shellcheck disable=SC2086
		"$hartfs" cat --index-dir "$tmp/ix${more//[^a-z0-9]/}" $more "$archive/boot/rv-sys.stf.gz" "hart0/profile/fdo/$elf.$kind" |
			cmp - "$tmp/whole/$elf.$kind" || fail "$kind with $more"
	done
done

# ---- programs ----

for tool in {riscv64,aarch64}-linux-gnu-gcc qemu-{riscv64,aarch64}; do
	command -v "$tool" >/dev/null || { [ "$failures" = 0 ] && skip "programs, llvm-bolt, llvm-profgen: no $tool (contrib/packages.sh has the list)"; finish; }
done
src=$tmp/src rec=$tmp/rec
export XDG_CACHE_HOME=$tmp/cache
mkdir "$src" "$rec"
# Two local functions of one name, the later one at the lower address; a name that has to be escaped; indirect calls; a jump
# table; a tail call; recursion.
cat >"$src/other.c" <<'END'
#define APART __attribute__((noinline, noipa))
static APART __attribute__((cold)) int step(int x) { return x * 7 + 3; }
APART int odd_name(int x) __asm__("\"odd name\"");
APART int odd_name(int x) { return x ^ 21; }
APART int other(int x) { return step(x) + odd_name(x) - step(x + 1); }
END
cat >"$src/main.c" <<'END'
#define APART __attribute__((noinline, noipa))
int printf(const char *format, ...);
int atoi(const char *text);
int other(int x);
static APART int step(int x) { return x * 5 + 1; }
APART int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
APART int up(int x) { return x + 1; }
APART int down(int x) { return x - 2; }
APART int tail(int x) { return x & 1 ? up(x) : down(x); }
static int (*volatile ways[3])(int) = {down, up, tail};
APART int work(const int *a, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		if (a[i] % 3 == 0)
			sum += step(a[i]);
		else if (a[i] & 64)
			sum ^= ways[a[i] % 3](sum);
		else
			sum -= a[i];
	}
	return sum;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100, a[256], result = 0;
	unsigned seed = 1;
	for (int i = 0; i < 256; i++)
		a[i] = (int)((seed = seed * 1103515245u + 12345u) >> 18);
	for (int i = 0; i < n; i++)
		result += work(a, 256) + (i % 4 ? other(i) : fib(7));
	printf("%d\n", result);
	return 0;
}
END
captures=()
for machine in aarch64 riscv64; do
	mkdir "$src/$machine"
	$machine-linux-gnu-gcc -O2 -g -Wl,-q -o "$src/$machine/prog" "$src/main.c" "$src/other.c" 2>"$tmp/err" || fail "$machine: $(head -n 3 "$tmp/err")"
	"$hartfs" record -q -o "$rec/$machine" -- "$src/$machine/prog" 60 >"$tmp/out" 2>"$tmp/err" || fail "record $machine: $(head -n 3 "$tmp/err")"
	captures+=("$(ls -d "$rec/$machine"/prog.*stf*)")
done
# of CAPTURE PATH: that file of it.
of() { "$hartfs" cat -q "$1" "$2"; }
for capture in "${captures[@]}"; do
	machine=$(basename "$(dirname "$capture")") to=$tmp/$machine
	mkdir "$to"
	of "$capture" hart0/listing.txt >"$to/listing.txt"
	for elf in prog $(cd "$rec/$machine/prog.d" && ls | grep '\.so'); do
		for kind in fdata ranges order drcov; do
			of "$capture" "hart0/profile/fdo/$elf.$kind" >"$to/$elf.$kind" || fail "$machine: no $elf.$kind"
		done
		bias=$(sed -n "s/^elf = $elf, bias = //p" "$rec/$machine/prog.d/addresses.txt")
		judge "$machine" "$to/listing.txt" "$rec/$machine/prog.d/$elf" "$bias" "$to"
	done
	grep -qF '1 odd\ name 0 ' "$to/prog.fdata" && grep -qxF 'odd name' "$to/prog.order" || fail "$machine: a name with a blank"
	for one in 'work [0-9a-f]* 1 step/2 0' 'other [0-9a-f]* 1 step/1 0' 'work [0-9a-f]* 1 up 0' 'tail [0-9a-f]* 1 down 0'; do
		grep -qE "^1 $one 0 [1-9]" "$to/prog.fdata" || fail "$machine: no line for $one"
	done
done

# Gaps make no transfers: of a trace with holes.
riscv64-linux-gnu-gcc -O2 -g -static -o "$src/still" "$src/main.c" "$src/other.c" &&
	"$hartfs" record -q -o "$rec/still" -- "$src/still" 20 >"$tmp/out" 2>"$tmp/err" || fail "still: $(head -n 3 "$tmp/err")"
for view in etrace ntrace; do
	capture=$(ls -d "$rec"/still/still.*stf*) holed=$tmp/holed/$view
	mkdir -p "$holed"
	for file in trace.bin program.elf capture.ini; do of "$capture" "hart0/$view/$file" >"$holed/$file"; done
	size=$(stat -c %s "$holed/trace.bin")
	for at in $((size / 3)) $((size / 2)) $((size * 3 / 4)); do
		printf '\125\252\1\377\0\0\0\177\200' | dd of="$holed/trace.bin" bs=1 seek=$at conv=notrunc status=none
	done
	of "$holed" hart0/listing.txt >"$tmp/holed/listing.txt" 2>"$tmp/err"
	grep -q '^# gap' "$tmp/holed/listing.txt" || fail "$view: no gap"
	for kind in fdata ranges order drcov; do of "$holed" "hart0/profile/fdo/program.elf.$kind" >"$tmp/holed/program.elf.$kind" 2>"$tmp/err"; done
	judge "$view with gaps" "$tmp/holed/listing.txt" "$holed/program.elf" 0 "$tmp/holed"
done

# Of more than 10 Mi instructions the other ends of indirect transfers are unknown, and all sums are the same.
capture=$rec/long
"$hartfs" record -q -o "$capture" -- "$src/riscv64/prog" 4000 >"$tmp/out" 2>"$tmp/err" || fail "record: $(head -n 3 "$tmp/err")"
capture=$(ls -d "$capture"/prog.*stf*)
"$hartfs" index "$capture" >/dev/null || fail "index"
last=$(of "$capture" hart0/profile/fdo/objects.txt | sed -n '1s/.*: \([0-9]*\) instructions.*/\1/p')
[ "$last" -gt 10485760 ] && [ "$last" -lt 20000000 ] || fail "the long one has $last instructions"
for part in "" at/0-8999999/ at/9000000-/; do of "$capture" "hart0/${part}profile/fdo/prog.fdata" >"$tmp/part${part//[^0-9]/}.fdata"; done
cat >"$tmp/sums.py" <<'END'
import collections, shlex, sys
def read(*files):
    ends, known = collections.Counter(), collections.Counter()
    for file in files:
        for line in open(file):
            a = shlex.split(line)
            if a[0] == "1":
                ends["from", a[1], a[2]] += int(a[7])
            if a[3] == "1":
                ends["to", a[4], a[5]] += int(a[7])
            known[tuple(a[:6])] += int(a[7])
    return ends, known
whole, parts = read(sys.argv[1]), read(*sys.argv[2:])
# What runs once has its blocks joined in the part in which nobody jumps there.
bad = {k: (whole[0][k], parts[0][k]) for k in set(whole[0]) | set(parts[0]) if abs(whole[0][k] - parts[0][k]) > 1}
if bad or not whole[1]:
    sys.exit("sums: %s" % list(bad.items())[:3])
for key, count in whole[1].items():
    if "0" not in (key[0], key[3]) and abs(parts[1][key] - count) > 1:
        sys.exit("edge %s: %d, %d" % (key, count, parts[1][key]))
if not any(key[3] == "0" and count > 1000 for key, count in whole[1].items()):
    sys.exit("nothing is unknown: are all indirect transfers known?")
END
python3 "$tmp/sums.py" "$tmp/part.fdata" "$tmp"/part[0-9]*.fdata >"$tmp/out" 2>&1 || fail "$(tail -n 1 "$tmp/out")"
of "$capture" hart0/profile/fdo/objects.txt | awk '$6 == "prog" { exit !($4 > 1000 && $4 == $5) }' || fail "$(of "$capture" hart0/profile/fdo/objects.txt)"
of "$capture" hart0/at/0-10999999/profile/fdo/prog.order >"$tmp/out" 2>&1 && fail "a long slice has an order"

# ---- the judges: an output that is empty is a failure, whatever the status ----

missing=
for tool in llvm-bolt-19 llvm-profgen-19 clang-19 merge-fdata-19; do command -v $tool >/dev/null || missing+=" $tool"; done
[ -z "$missing" ] || { [ "$failures" = 0 ] && skip "the judges are not installed:$missing (contrib/packages.sh has the list); the files were judged by lib/fdo.py alone"; finish; }
for machine in aarch64 riscv64; do
	to=$tmp/$machine prog=$src/$machine/prog
	capture=$(ls -d "$rec/$machine"/prog.*stf*)
	insns=$(of "$capture" hart0/profile/fdo/objects.txt | awk '$6 == "prog" { print $1 }')
	llvm-bolt-19 "$prog" -o "$to/bolted" --data "$to/prog.fdata" --reorder-blocks=ext-tsp --reorder-functions=hfsort \
		--split-functions --dyno-stats >"$to/bolt.txt" 2>&1 &&
		[ -s "$to/bolted" ] || fail "$machine: llvm-bolt: $(tail -n 3 "$to/bolt.txt")"
	# One object that it ignores is what it calls [unknown].
	grep ' was ignored' "$to/bolt.txt" | grep -v ' 1 objects' && fail "$machine: $(grep ignored "$to/bolt.txt")"
	# within WHAT OURS: what it counts in its first table is ours to 1 %.
	within() {
		awk -v what="$1" -v ours="$2" '!found && $0 ~ "^ *[0-9]+ : " what "$" { found = 1; theirs = $1 }
			END { if (!found || theirs < ours * 0.99 || theirs > ours * 1.01) { print what ": " theirs ", ours " ours; exit 1 } }' "$to/bolt.txt" >"$tmp/out" ||
			fail "$machine: llvm-bolt: $(cat "$tmp/out")"
	}
	within "executed instructions" "$insns"
	# Jumps and branches within a function, by the names in the listing.
	python3 - "$to/listing.txt" "$(sed -n 's/^elf = prog, bias = //p' "$rec/$machine/prog.d/addresses.txt")" "$to/prog.ranges" >"$tmp/taken" <<'END'
import re, sys
bias, taken, was = int(sys.argv[2], 0), 0, None
mine = [int(m[1], 16) + bias for m in re.finditer(r"^([0-9a-f]+)-[0-9a-f]", open(sys.argv[3]).read(), re.M)]
for line in open(sys.argv[1]):
    fields, place = line.split(None, 5), re.search(r" <([^+>]+)", line)
    if line[0] == "#":
        continue
    name = place and place[1].split(" ")[0] if mine[0] <= int(fields[2], 16) <= mine[-1] + 64 else None
    taken += was is not None and was == name
    was = name if " -> " in line and re.fullmatch(r"b\..*|b|j|cbn?z|tbn?z|b(eq|ne|lt|ge|ltu|geu|eqz|nez|lez|gez|gtz|ltz|gt|le)", fields[4]) else None
print(taken)
END
	within "taken branches" "$(cat "$tmp/taken")"
	# It runs, and does the same.
	[ "$(qemu-$machine -L /usr/$machine-linux-gnu "$to/bolted" 60)" = "$(qemu-$machine -L /usr/$machine-linux-gnu "$prog" 60)" ] || fail "$machine: what llvm-bolt made"
	# The names are those that llvm-bolt gives the same addresses.
	awk -F'[-:>]+' '/->/ && $1 != "1" { print "B " $1 " " $2 " " $3 " 0" } /^[0-9a-f]+-[0-9a-f]+:/ { print "F " $1 " " $2 " " $3 }' "$to/prog.ranges" >"$to/aggregated"
	llvm-bolt-19 "$prog" -p "$to/aggregated" -pa -aggregate-only -o "$to/own.fdata" >"$tmp/out" 2>&1 && [ -s "$to/own.fdata" ] || fail "$machine: aggregate: $(tail -n 2 "$tmp/out")"
	for file in own prog; do grep -oE '\b1 ([^ \\]|\\.)+' "$to/$file.fdata" | sort -u >"$to/$file.names"; done
	for name in main work fib other tail step/1 step/2 'odd\ name'; do
		grep -qxF "1 $name" "$to/own.names" && grep -qxF "1 $name" "$to/prog.names" || fail "$machine: $name: $(cat "$to/own.names")"
	done
	merge-fdata-19 "$to/prog.fdata" "$to/prog.fdata" >"$to/merged.fdata" 2>"$tmp/out"
	[ "$(awk '{ n += $NF } END { print n }' "$to/merged.fdata")" = "$(awk '{ n += 2 * $NF } END { print n }' "$to/prog.fdata")" ] || fail "$machine: merge-fdata"

	llvm-profgen-19 --binary="$prog" --unsymbolized-profile="$to/prog.ranges" --use-offset=0 --format=text --output="$to/prog.prof" >"$tmp/out" 2>&1
	grep -q '^work:[1-9]' "$to/prog.prof" && grep -q '^main:[1-9]' "$to/prog.prof" || fail "$machine: llvm-profgen: $(cat "$to/prog.prof" "$tmp/out")"
	grep -q '^fib:[0-9]*:[1-9]' "$to/prog.prof" && grep -qE '^ .*: [0-9]+ .*up:[1-9]' "$to/prog.prof" || fail "$machine: calls: $(cat "$to/prog.prof")"
	clang-19 --target=$machine-linux-gnu -O2 -g -c -fprofile-sample-use="$to/prog.prof" -Rpass-analysis=sample-profile -o "$to/main.o" "$src/main.c" 2>"$tmp/out" ||
		fail "$machine: clang: $(tail -n 3 "$tmp/out")"
	[ "$(grep -c 'Applied [1-9][0-9]* samples from profile' "$tmp/out")" -ge 5 ] || fail "$machine: clang applies nothing: $(head -n 3 "$tmp/out")"
done

# The other recipes of hartfs-profile(5), if their programs are there.
if command -v ld.lld >/dev/null; then
	clang-19 --target=aarch64-linux-gnu -w -O2 -ffunction-sections -c -o "$tmp/main.o" "$src/main.c" &&
		clang-19 --target=aarch64-linux-gnu -w -O2 -ffunction-sections -c -o "$tmp/other.o" "$src/other.c" &&
		clang-19 --target=aarch64-linux-gnu -fuse-ld=lld -Wl,--symbol-ordering-file="$tmp/aarch64/prog.order" -o "$tmp/ordered" "$tmp/main.o" "$tmp/other.o" 2>"$tmp/err" ||
		fail "ld.lld: $(head -n 3 "$tmp/err")"
	# Those that both have, in the order of the file.
	aarch64-linux-gnu-nm -n "$tmp/ordered" | sed -nE 's/^[0-9a-f]+ [Tt] (main|work|fib|other|tail|up|down)$/\1/p' >"$tmp/placed"
	grep -xE 'main|work|fib|other|tail|up|down' "$tmp/aarch64/prog.order" | cmp - "$tmp/placed" || fail "ld.lld has another order: $(cat "$tmp/placed")"
fi
if command -v create_llvm_prof >/dev/null && command -v create_gcov >/dev/null; then
	riscv64-linux-gnu-gcc -O2 -gdwarf-4 -o "$src/four" "$src/main.c" "$src/other.c" &&
		"$hartfs" record -q -o "$rec/four" -- "$src/four" 20 >"$tmp/out" 2>"$tmp/err" || fail "four: $(head -n 3 "$tmp/err")"
	of "$(ls -d "$rec"/four/four.*stf*)" hart0/profile/fdo/four.ranges >"$tmp/four.ranges"
	awk '{print} NR == 1 {n = $1} NR == n + 1 {print 0}' "$tmp/four.ranges" >"$tmp/four.autofdo"
	create_llvm_prof --profiler=text --profile="$tmp/four.autofdo" --binary="$src/four" --format=text --out="$tmp/four.prof" >"$tmp/out" 2>&1
	grep -q '^work:[1-9]' "$tmp/four.prof" || fail "create_llvm_prof: $(cat "$tmp/out")"
	create_gcov --profiler=text --profile="$tmp/four.autofdo" --binary="$src/four" --gcov="$tmp/four.afdo" -gcov_version=2 >"$tmp/out" 2>&1
	grep -qa 'work' "$tmp/four.afdo" || fail "create_gcov: $(cat "$tmp/out")"
fi
finish
