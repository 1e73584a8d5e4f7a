#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartN/profile/: basic-block vectors, memory, coverage, annotated sources, profiles of slices. Their counts are those of the
# listing; lcov and genhtml read what is for them.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
capture_archive
mkdir "$archive/arm"
# piece CAPTURE LIMIT: the beginning of it, so that a plain reading of its listing takes no time.
piece() { "$hartfs" cat -q --index-dir "$tmp/ixpieces" "$1" "hart0/at/0-$2/trace.${3:-stf}"; }
piece "$archive/boot/rv-sys.stf.gz" 79999 | gzip -1 >"$tmp/piece" && mv "$tmp/piece" "$archive/boot/rv-sys.stf.gz"
piece "$archive/mini/rv32-mini.stf" 29999 >"$tmp/piece" && mv "$tmp/piece" "$archive/mini/rv32-mini.stf"
piece "$HARTFS_DATA/astf/a64-sys.astf" 39999 astf >"$archive/arm/a64-sys.astf"

# What the files say, and what the listing says: LISTING PROFILE_DIRECTORY INTERVAL.
cat >"$tmp/check.py" <<'END'
import bisect, collections, re, sys
listing, directory, interval = sys.argv[1], sys.argv[2], int(sys.argv[3])
pcs, ends, touched = [], [], collections.Counter()
for text in open(listing):
    if text[0] == "#":
        continue
    fields = text.split(None, 4)
    pcs.append(int(fields[2], 16))
    ends.append(pcs[-1] + len(fields[3]) // 2)
    place = re.search(r" <([^+> ]+(?: [^+>]*)?)(?:\+0x[0-9a-f]+)?(?: ([^ >]+:\d+))?>", text)
    who = place[1] if place else "?"
    for kind, size, address in re.findall(r" (R|W|RW)(\d+) ([0-9a-f]{16})(?=[= \n])", text):
        first = int(address, 16)
        for page in range(first >> 12, (first + max(int(size), 1) - 1 >> 12) + 1):
            for name in who, "(all)":
                touched["R", page << 12, name] += "R" in kind
                touched["W", page << 12, name] += "W" in kind

def rows(name, columns):
    for text in open(directory + "/" + name):
        if text[0] != "#":
            yield text.rstrip("\n").split(None, columns)

def die(*what):
    sys.exit(" ".join(str(w) for w in what))

# The format of SimPoint: T:ID:COUNT :ID:COUNT, ids from 1, none twice, no empty line, an end to the last one.
text = open(directory + "/bbv.bb").read()
lines = [line for line in text.splitlines() if not line.startswith("#")]
if not text.endswith("\n") or len(lines) != len(pcs) // interval:
    die("bbv.bb:", len(lines), "intervals of", interval, "in", len(pcs))
start = [int(row[1], 16) for row in rows("bbv.map", 3)]
if [int(row[0]) for row in rows("bbv.map", 3)] != list(range(1, len(start) + 1)) or start != sorted(set(start)):
    die("bbv.map: ids are not 1, 2...")
if sum(int(row[2]) for row in rows("bbv.map", 3)) != len(set(pcs)):
    die("bbv.map: other instructions than the", len(set(pcs)), "that were executed")
for i in range(1, len(pcs)):
    if pcs[i] != ends[i - 1] and start[bisect.bisect(start, pcs[i]) - 1] != pcs[i]:
        die("bbv.map: no block begins at", hex(pcs[i]))
for number, line in enumerate(lines):
    if not re.fullmatch(r"T(:[1-9]\d*:[1-9]\d* )+", line):
        die("bbv.bb: interval", number, "is", line[:60])
    pairs = [tuple(map(int, pair.split(":")[1:])) for pair in line[1:].split()]
    want = collections.Counter(bisect.bisect(start, pc) for pc in pcs[number * interval:(number + 1) * interval])
    if len(dict(pairs)) != len(pairs) or dict(pairs) != dict(want) or sum(want.values()) != interval:
        die("bbv.bb: interval", number, "differs")

found = collections.Counter()
for reads, writes, page, who in rows("memory.txt", 3):
    found["R", int(page, 16), who] += int(reads)
    found["W", int(page, 16), who] += int(writes)
if +found != +touched:
    die("memory.txt:", [(k, touched[k], found[k]) for k in set(found) | set(touched) if found[k] != touched[k]][:3])
END

# NAME HART_DIRECTORY INTERVAL
check() {
	mkdir -p "$tmp/files"
	cat "$2/profile/bbv-$3.bb" >"$tmp/files/bbv.bb" && cat "$2/profile/bbv.map" >"$tmp/files/bbv.map" &&
		cat "$2/profile/memory.txt" >"$tmp/files/memory.txt" || fail "$1: cat"
	wait_until measured "$2"
	python3 "$tmp/check.py" "$2/listing.txt" "$tmp/files" "$3" >"$tmp/out" 2>&1 || fail "$1: $(tail -n 1 "$tmp/out")"
}

do_mount --wait
check rv-sys "$mnt/boot/rv-sys@stf@gz/hart0" 10000
check rv32-mini "$mnt/mini/rv32-mini@stf/hart0" 10000
check a64-sys "$mnt/arm/a64-sys@astf/hart0" 17777
check "a slice" "$mnt/boot/rv-sys@stf@gz/hart0/at/23456-65678" 10000

# A slice of all is the hart, and two that make it up have its instructions.
hart=$mnt/boot/rv-sys@stf@gz/hart0
for file in functions.txt callers.txt lines.txt memory.txt bbv-10000.bb callgrind.out; do
	cmp "$hart/profile/$file" "$hart/at/0-79999/profile/$file" || fail "$file of all as a slice"
done
mix() { awk '!/^#/ {n[$4 " " $3] += $1} END {for (k in n) print k, n[k]}' "$@" | sort; }
mix "$hart/profile/mix.txt" >"$tmp/mix"
mix "$hart/at/0-50000/profile/mix.txt" "$hart/at/50001-/profile/mix.txt" | cmp - "$tmp/mix" || fail "mix of two slices"
grep -q '^# hart0: 50001 instructions retired, 0 to 50000 of it$' "$hart/at/0-50000/profile/functions.txt" || fail "head of a slice"

# Names that stand for nothing.
for name in bbv-0100000.bb bbv-9999.bb bbv-.bb bbv-x.bb bbv-1e6.bb bbv-99999999999999999999.bb annotated/nothing.c annotated/.. annotated/. lcov.info; do
	[ -f "$hart/profile/$name" ] && fail "there is $name"
done
long_name=$(printf '%0300d' 0)
"$hartfs" cat --index-dir "$tmp/ixlong-name" "$archive/boot/rv-sys.stf.gz" "hart0/profile/annotated/$long_name" >/dev/null 2>"$tmp/err"
[ $? -eq 1 ] || fail "a long name: $(cat "$tmp/err")"
[ -d "$hart/profile/annotated" ] || fail "there is no annotated"
[ -z "$(ls -A "$hart/profile/annotated")" ] || fail "something in profile/annotated is listed"
[ "$(grep -c '^T' "$hart/profile/bbv.bb")" = 0 ] && grep -q '80000 are no whole one' "$hart/profile/bbv.bb" || fail "bbv.bb of a short hart"
do_umount

# Of a trace that ends before its first instruction there is a profile, of nothing.
head -c 140 "$HARTFS_DATA/archive/mini/rv32-mini.stf" >"$tmp/none.stf"
for file in functions.txt mix.txt bbv.bb bbv.map memory.txt overview.svg calls.perfetto report.html flame.svg; do
	"$hartfs" cat --index-dir "$tmp/ixnone" "$tmp/none.stf" "hart0/profile/$file" >"$tmp/none" 2>"$tmp/err" && [ -s "$tmp/none" ] ||
		fail "$file without an instruction: $(cat "$tmp/err")"
done

# From a summary, with other chunks: the same bytes.
for file in bbv-10000.bb bbv.map memory.txt at/23456-65678/profile/bbv-10000.bb; do
	for more in --chunk=700 "--chunk=700 --summary=off"; do
		[[ $file == */* ]] && path=hart0/$file || path=hart0/profile/$file
		"$hartfs" cat --index-dir "$tmp/ix${more//[^a-z0-9]/}" $more "$archive/boot/rv-sys.stf.gz" "$path" | cksum
	done | uniq | wc -l | grep -qx 1 || fail "$file: other bytes with a summary"
done

# Vectors of some modes alone: by brute force over the listing, all bytes of the file. "EL1" is EL1t or EL1h; of what the trace
# calls EL1 alone, or ?, it does not tell whether it is EL1h.
cat >"$tmp/modes.py" <<'END'
import bisect, collections, os, sys
listing, bbv_map, length, *files = sys.argv[1:3] + [int(sys.argv[3])] + sys.argv[4:]
insns = [line.split(None, 3)[:3] for line in open(listing) if line[0] != "#"]
first, start = int(insns[0][0]), [int(line.split()[1], 16) for line in open(bbv_map) if line[0] != "#"]
known = {}
levels = ("EL0", "EL1", "EL2", "EL3")
def expected(modes):
    def sure(mode):
        return mode in modes or mode[:3] in levels and mode[:3] in modes
    def perhaps(mode):
        return not sure(mode) and (mode == "?" or mode in levels and any(m[:3] == mode for m in modes))
    those = [(int(o), int(pc, 16)) for o, mode, pc in insns if sure(mode)]
    unknown, whole = sum(perhaps(i[1]) for i in insns), len(those) // length
    want = ["# %d intervals of %d instructions of mode%s %s; the last %d are no whole one" %
            (whole, length, "s" * (len(modes) > 1), "+".join(modes), len(those) % length)]
    print("+".join(modes), whole, len(those), unknown)
    if unknown:
        want.append("# %d instructions are left out, as the trace does not tell enough of their mode" % unknown)
    for k in range(whole):
        end = those[(k + 1) * length][0] if (k + 1) * length < len(those) else first + len(insns)
        cells = collections.Counter(bisect.bisect(start, pc) for _, pc in those[k * length:(k + 1) * length])
        want += ["# interval %d: at/%d-%d" % (k, those[k * length][0], end - 1),
                 "T" + "".join(":%d:%d " % cell for cell in sorted(cells.items()))]
    return want + [""]
for file in files:
    modes, got = os.path.basename(file), open(file).read().split("\n")[1:]
    if modes not in known:
        known[modes] = expected(modes.split("+"))
    if known[modes] != got:
        bad = next((w, g) for w, g in zip(known[modes], got + ["the end"]) if w != g)
        sys.exit("%s: is %s\ninstead of %s" % (modes, bad[1][:200], bad[0][:200]))
END
# CAPTURE HART_OR_SLICE LENGTH MODES... : with and without a summary
check_modes() {
	local capture=$1 of=$2 length=$3 modes n=0
	cat_of() { "$hartfs" cat --index-dir "$tmp/ixmodes" "$capture" "$of/$1"; }
	cat_of listing.txt >"$tmp/listing" && cat_of profile/bbv.map >"$tmp/map" || fail "$capture: listing and map"
	rm -rf "$tmp/vectors"
	for more in $(some summary=off,chunk=700 chunk=700); do
		mkdir -p "$tmp/vectors/$((++n))"
		for modes in "${@:4}"; do
			"$hartfs" cat --index-dir "$tmp/ixmodes${more//[^a-z0-9]/}" --${more/,/ --} --param "bbv.modes=$modes" "$capture" "$of/profile/bbv-$length.bb" \
				>"$tmp/vectors/$n/$modes" || fail "$capture: cat of modes $modes"
		done
	done
	python3 "$tmp/modes.py" "$tmp/listing" "$tmp/map" "$length" "$tmp"/vectors/*/* >"$tmp/out" 2>&1 || fail "$capture, $of: $(tail -n 2 "$tmp/out")"
	cat "$tmp/out" >>"$tmp/modes"
}
check_modes "$archive/boot/rv-sys.stf.gz" hart0 10000 U S M U+S U+S+M VU
check_modes "$archive/boot/rv-sys.stf.gz" hart0/at/23456-75678 10000 U S
check_modes "$archive/mini/rv32-mini.stf" hart0 10000 U '?'
check_modes "$archive/arm/a64-sys.astf" hart0 11111 EL0t EL1 EL1h
mkdir "$tmp/levels"
(
	archive=$tmp/levels index=$tmp/ixlevels
	mkdir "$index" && cp "$tmp/archive/arm/a64-sys.astf" "$archive/"
	do_mount --wait && cp -r "$mnt/a64-sys@astf/hart0/ete" "$tmp/packets"
	do_umount
)
check_modes "$tmp/packets" hart1 10000 EL0 EL1h EL1h+EL0 '?'
# rv32-mini is one mode, of which all is whole; an ETE tells levels, not stack pointers.
grep -qx 'U 3 30000 0' "$tmp/modes" && grep -qx 'VU 0 0 0' "$tmp/modes" || fail "modes: $(cat "$tmp/modes")"
grep -qE '^EL1h 0 0 [1-9]' "$tmp/modes" || fail "EL1h of an ETE: $(cat "$tmp/modes")"
# In a mount, for all, and said wrongly.
do_mount --wait -o bbv.modes=U
cp "$hart/profile/bbv-10000.bb" "$tmp/copy"
read -r _ whole insns _ < <(grep -m1 '^U ' "$tmp/modes")
[ "$(sed -n 2p "$tmp/copy")" = "# $whole intervals of 10000 instructions of mode U; the last $((insns % 10000)) are no whole one" ] ||
	fail "in a mount: $(sed -n 2p "$tmp/copy")"
range=$(sed -n 's/^# interval 1: //p' "$tmp/copy")
[ "$(awk '!/^#/ && $2 == "U"' "$hart/$range/listing.txt" | wc -l)" = 10000 ] || fail "$range has other instructions"
do_umount
for wrong in bbv.modes=X bbv.modes=U+ bbv.modes= bbv.mode=U bbv.modes=u; do
	"$hartfs" cat --index-dir "$tmp/ixmodes" --param "$wrong" "$archive/boot/rv-sys.stf.gz" hart0/profile/bbv.bb >"$tmp/out" 2>&1 && fail "$wrong is taken"
done
"$hartfs" cat --index-dir "$tmp/ixmodes" --param bbv.modes=X "$archive/boot/rv-sys.stf.gz" hart0/profile/bbv.bb 2>&1 |
	grep -q "bbv.modes=X: modes must be as listings name them (U, S, " || fail "a wrong mode: another message"

# A slice that is too long to be decoded: its instructions are counted all the same, its calls estimated.
run=$(dirname "$hartfs")/tests/make_run
if [ -x "$run" ]; then
	"$run" 3 10600000 stf "$tmp/long.zstf" >/dev/null || fail "make_run"
	long() { "$hartfs" cat -q --views=program.elf --index-dir "$tmp/ixlong" "$tmp/long.zstf" "hart0/$1"; }
	"$hartfs" index -q --views=program.elf --index-dir "$tmp/ixlong" "$tmp/long.zstf" || fail "index of a long one"
	for part in at/0-4999 at/5000-10599999 .; do
		long "$part/profile/mix.txt" >"$tmp/mix.${part//[^0-9]/}"
		long "$part/profile/branches.txt" | awk '!/^#/ {print $5, $1, $2}' >"$tmp/branches.${part//[^0-9]/}"
	done
	mix "$tmp/mix.04999" "$tmp/mix.500010599999" | cmp - <(mix "$tmp/mix.") || fail "mix of a long slice"
	sums() { awk '{n[$1] += $2; m[$1] += $3} END {for (k in n) print k, n[k], m[k]}' "$@" | sort; }
	sums "$tmp/branches.04999" "$tmp/branches.500010599999" | cmp - <(sums "$tmp/branches.") || fail "branches of a long slice"
	long at/5000-10599999/profile/functions.txt >"$tmp/functions"
	grep -q '^# an estimate' "$tmp/functions" || fail "functions of a long slice do not say that calls are estimated"
	[ "$(awk '!/^#/ {n += $1} END {print n}' "$tmp/functions")" = 10595000 ] || fail "own instructions of a long slice"
	[ "$(long at/5000-10599999/profile/stacks.folded | awk '{n += $NF} END {print n}')" = 10595000 ] || fail "stacks of a long slice"
	for file in stacks.folded flame.svg speedscope.json callgrind.out callers.txt; do
		long "at/5000-10599999/profile/$file" | grep -q estimate || fail "$file of a long slice does not say that it is an estimate"
	done
	long profile/memory.txt >"$tmp/memory"
	grep -q '^# in how many of the 647 chunks' "$tmp/memory" && awk '!/^#/ && ($1 > 647 || $2 > 647 || NF != 4) {exit 1}' "$tmp/memory" ||
		fail "memory of a long hart: $(head -n 3 "$tmp/memory")"
	for interval in 1000000 333333; do
		long "profile/bbv-$interval.bb" | awk -v n="$interval" '/^T/ {sum = 0; for (i = 1; i <= NF; i++) {split($i, a, ":"); sum += a[3]}
			if (sum != n) {exit 1} m++} END {if (m != int(10600000 / n)) exit 1}' || fail "vectors of a long hart"
	done

	# Without a summary it has no profile, and no link of the page of all captures leads to one. Whether there is one shows
	# also where the catalogue tells of the capture, and nothing of it was opened.
	archive=$tmp/longs
	mkdir "$archive" && mv "$tmp/long.zstf" "$archive/"
	page() {
		do_mount --wait "--summary=$1" --views=program.elf
		cp "$mnt/.hartfs/index.html" "$tmp/page.$2" || fail "index.html"
		[ "$3" = page ] || cat "$mnt/long@zstf/hart0/profile/report.html" >"$tmp/report.$2" 2>"$tmp/err"
		do_umount
	}
	has_links() {
		grep -q 'long@zstf/hart0/profile/report.html' "$tmp/page.$1" || fail "index.html, $1: no link to a report"
	}
	says_why() {
		grep -q 'long@zstf/hart0/profile' "$tmp/page.$1" && fail "index.html, $1: a link to no report"
		grep -q 'long@zstf.*hart0: none, as a hart this long needs a summary' "$tmp/page.$1" ||
			fail "index.html, $1: does not say why there are no pictures"
	}
	index=$tmp/ixpage-off
	page off off report
	says_why off
	[ -s "$tmp/report.off" ] && fail "a report of a long hart without a summary"
	page off "off again" page
	says_why "off again"
	index=$tmp/ixlong
	page on on report
	has_links on
	[ -s "$tmp/report.on" ] || fail "no report of a long hart with a summary"
	page on "on again" page
	has_links "on again"
	rm "$index"/*.hfq || fail "there is no summary"
	page off "gone" report
	says_why "gone"
	[ -s "$tmp/report.gone" ] && fail "a report of a long hart whose summary is gone"
else
	echo "no make_run: long slices are not tested"
fi

# A program that counts its own calls, and its source.
command -v riscv64-linux-gnu-gcc >/dev/null && command -v qemu-riscv64 >/dev/null || skip "no compiler or QEMU for riscv64: no coverage is compared"
cat >"$tmp/count.c" <<'END'
#include <stdio.h>
static unsigned fibs, leaves;
__attribute__((noinline)) static unsigned leaf(unsigned n) { leaves++; return n; }
__attribute__((noinline)) unsigned fib(unsigned n) { fibs++; return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) unsigned never(unsigned n)
{
	return n + 1;
}
int main(int argc, char **argv)
{
	unsigned n = fib(12);
	if (argc > 5)
		n = never(n);
	printf("%u fib %u leaf %u\n", n, fibs, leaves);
	return 0;
}
END
(cd "$tmp" && riscv64-linux-gnu-gcc -g -O1 -fno-optimize-sibling-calls -static -o count count.c) || fail "the compiler"
"$hartfs" record -o "$tmp/rec" -- "$tmp/count" >"$tmp/out" 2>"$tmp/err" || fail "record: $(cat "$tmp/err")"
read -r _ _ fibs _ leaves < <(grep ' fib ' "$tmp/out")
of() { "$hartfs" cat --index-dir "$index" "$tmp/rec/count.zstf" "hart0/profile/$1"; }
of lcov.info >"$tmp/lcov.info"
for line in "FNDA:$fibs,fib" "FNDA:$leaves,leaf" "FNDA:1,main" "FNDA:0,never" "DA:4,$fibs" "DA:3,$leaves" DA:7,0 DA:11,1 end_of_record; do
	[ "$line" = DA:7,0 ] && line='DA:[578],0'
	grep -qx "$line" "$tmp/lcov.info" || fail "lcov.info has no $line"
done
if command -v lcov >/dev/null && command -v genhtml >/dev/null; then
	(cd "$tmp" && lcov --rc lcov_branch_coverage=1 --summary lcov.info >out 2>&1) || fail "lcov: $(cat "$tmp/out")"
	grep -q 'functions\.*: 75.0% (3 of 4 functions)' "$tmp/out" || fail "lcov: $(cat "$tmp/out")"
	# From anywhere, as the files have their directories.
	grep -qx "SF:$tmp/count.c" "$tmp/lcov.info" || fail "lcov.info: $(grep SF: "$tmp/lcov.info")"
	(cd / && genhtml -q --branch-coverage -o "$tmp/html" "$tmp/lcov.info" >"$tmp/out" 2>&1) || fail "genhtml: $(cat "$tmp/out")"
	[ -s "$tmp/html/index.html" ] || fail "genhtml wrote nothing"
else
	echo "no lcov: lcov.info is not judged by it"
fi
# Without the text, and with it: lines are those of lines.txt.
of annotated/count.c >"$tmp/annotated" || fail "annotated"
grep -q '^# the text is not there' "$tmp/annotated" || fail "it does not say that there is no text"
of lines.txt | awk '$4 ~ /^count.c:/ {split($4, a, ":"); print $1, $3, a[2]}' | sort >"$tmp/lines"
awk '!/^#/ && $1 != "-" {print $1, $2, $3}' "$tmp/annotated" | sort | cmp - "$tmp/lines" || fail "annotated: other lines"
mkdir -p "$tmp/rec/count.d/src"
cp "$tmp/count.c" "$tmp/rec/count.d/src/"
of annotated/count.c >"$tmp/annotated"
grep -q '^# count.d/src/count.c$' "$tmp/annotated" || fail "it does not say whose text it is: $(sed -n 3p "$tmp/annotated")"
awk '!/^#/ && $1 != "-" {print $1, $2, $3}' "$tmp/annotated" | sort | cmp - "$tmp/lines" || fail "annotated, with text: other lines"
sed '/^#/d; s/^[^|]*| \{0,1\}//' "$tmp/annotated" | cmp - "$tmp/count.c" || fail "annotated: another text"
# In the debug directory, and control characters; not what a link leads to.
rm -r "$tmp/rec/count.d/src"
mkdir "$tmp/debug"
printf 'a\033[31mb\r\n\tc\n' >"$tmp/debug/count.c"
"$hartfs" cat --index-dir "$index" --debug-dir="$tmp/debug" "$tmp/rec/count.zstf" hart0/profile/annotated/count.c >"$tmp/annotated"
grep -q "^# $tmp/debug/count.c\$" "$tmp/annotated" && grep -q '| a?\[31mb$' "$tmp/annotated" && grep -q "| 	c\$" "$tmp/annotated" &&
	grep -q '^# after the end of the text' "$tmp/annotated" || fail "annotated of the debug directory: $(head -n 8 "$tmp/annotated")"
# Columns in front of millions of lines are more than their text.
head -c 1048577 /dev/zero | tr '\0' '\n' >"$tmp/debug/count.c"
"$hartfs" cat --index-dir "$index" --debug-dir="$tmp/debug" "$tmp/rec/count.zstf" hart0/profile/annotated/count.c >"$tmp/annotated"
grep -q '^# the text has more than 1,048,576 lines$' "$tmp/annotated" && [ "$(wc -l <"$tmp/annotated")" -lt 100 ] ||
	fail "annotated of too many lines: $(head -n 5 "$tmp/annotated")"
truncate -s -1 "$tmp/debug/count.c"
"$hartfs" cat --index-dir "$index" --debug-dir="$tmp/debug" "$tmp/rec/count.zstf" hart0/profile/annotated/count.c |
	grep -c '|' | grep -qx 1048577 || fail "annotated of as many lines as can be"
ln -s "$tmp/count.c" "$tmp/rec/count.d/count.c"
of annotated/count.c | grep -q '^# the text is not there' || fail "a link is followed"

finish
