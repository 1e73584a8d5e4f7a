#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs diff, as a user types it: captures against their copies in other formats, changed copies, lost trace, two archives,
# several harts; exit statuses; what is wrong; and hundreds of pairs of captures, of which a judge that reads neither
# index nor digests knows how they differ.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
capture_archive
cp "$HARTFS_DATA"/astf/*.astf "$archive/"
here=$(cd "$(dirname "$0")/.." && pwd)
judge=$here/diff/judge.py
copies=$tmp/copies
mkdir -p "$copies" "$index"
rv=$archive/boot/rv-sys.stf.gz a64=$archive/a64-sys.astf mini=$archive/mini/piece.stf

# diff_of STATUS OPTION...: what comes out is in out and err.
diff_of() {
	local status=$1 got
	shift
	"$hartfs" diff --no-summary --index-dir "$index" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$status" ] || fail "diff $* ended with $got: $(head -n 5 "$tmp/err" "$tmp/out")"
}
same() {
	diff_of 0 "$@"
	[ ! -s "$tmp/out" ] || fail "diff $* prints something: $(head -n 5 "$tmp/out")"
}
prints() {
	[ "$(cat "$tmp/out")" = "$1" ] || fail "diff prints: $(head -n 20 "$tmp/out")"
}
cat_of() { "$hartfs" cat --no-summary --index-dir "$index" "$@"; }
# copy CAPTURE VIEW NAME [OPTION...]: a directory of packets, or a file, beside all others.
copy() {
	local file
	case $2 in
	*.*) cat_of "$1" "hart0/$2" >"$copies/$3" ;;
	*)
		mkdir "$copies/$3"
		for file in $("$hartfs" ls --index-dir "$index" "$1" | sed -n "s,.*/hart0/$2/,,p"); do
			cat_of "$1" "hart0/$2/$file" "${@:4}" >"$copies/$3/$file"
		done
		;;
	esac
}
# judged A B STATUS [data]: all differences are as brute force over both listings finds them.
judged() {
	local a b
	a=$tmp/listing-a b=$tmp/listing-b
	cat_of "$1" hart0/listing.txt >"$a"
	cat_of "$2" hart0/listing.txt >"$b"
	diff_of "$3" "$1" "$2" --all --json ${4:+--data}
	python3 "$judge" listings "$a" "$b" "$tmp/out" ${4:-} >"$tmp/judged" || fail "diff $1 $2: $(cat "$tmp/judged")"
}

# What the judge reads is a piece, and so of some chunks only.
cat_of "$archive/mini/rv32-mini.stf" hart0/at/0-39999/trace.stf >"$mini"

# ---- no code in common: they cannot meet, and it is not looked for a place ----
diff_of 1 "$rv" "$mini" --explain
grep -q '^@@ -0,[0-9]* +0,40000 @@ no code in common$' "$tmp/out" || fail "no code in common: $(grep '^@@' "$tmp/out")"
grep -q '^hartfs diff: they have no code in common.* hartfs top .* compares functions$' "$tmp/err" || fail "no word of hartfs top: $(cat "$tmp/err")"
grep -q '; 0 stretches .*, 1 and 1 chunks decoded$' "$tmp/err" || fail "no code in common: $(cat "$tmp/err")"
diff_of 1 "$rv" "$mini" --json
grep -q '"common":false' "$tmp/out" || fail "no code in common, --json: $(cut -c -200 "$tmp/out")"
diff_of 1 "$rv" "$rv" --at 0:6
grep -q 'no code in common' "$tmp/out" && fail "one capture has no code in common with itself"

# ---- one run in several formats: nothing differs ----
for view in etrace ntrace trace.stf; do
	copy "$mini" $view mini-$view
	same "$mini" "$copies/mini-$view"
done
same "$copies/mini-etrace" "$copies/mini-ntrace" --flow
copy "$a64" ete a64-ete
copy "$a64" trace.stf a64.stf
same "$a64" "$copies/a64-ete" --sandbox=required
same "$a64" "$copies/a64.stf" --data
# Accesses, with their values and without.
copy "$mini" etrace mini-data --param etrace.data=1
copy "$mini" etrace mini-addresses --param etrace.data=1 --param etrace.no_data=1
same "$mini" "$copies/mini-data" --data --explain
grep -q '^harts 0 and 0: instructions, accesses and their values; ' "$tmp/err" || fail "values: $(cat "$tmp/err")"
same "$copies/mini-addresses" "$mini" --data --explain
grep -q ' whose values are not in both captures; ' "$tmp/err" || fail "no values: $(cat "$tmp/err")"
diff_of 2 "$mini" "$copies/mini-ntrace" --data
grep -q 'mini-ntrace: .*no memory access' "$tmp/err" || fail "--data without any: $(cat "$tmp/err")"
diff_of 0 "$mini" "$mini" --count
prints 0
diff_of 0 "$mini" "$mini" --count --json
prints '{"count":0}'
# Most of it is not decoded: 873,595 instructions are 54 chunks.
copy "$rv" etrace rv-etrace
diff_of 0 "$rv" "$copies/rv-etrace" --explain
grep -qE '^harts 0 and 0: instructions; [1-9][0-9]* stretches compared by their digests, [0-9] and [0-9] chunks decoded$' "$tmp/err" ||
	fail "--explain: $(cat "$tmp/err")"

# ---- one instruction and one value are others ----
python3 - "$copies/mini-trace.stf" "$copies/changed.stf" <<'END' || fail "the copy cannot be made"
import sys
trace = bytearray(open(sys.argv[1], "rb").read())
# The 600th branch of that opcode, with another register; and, far behind it, a bit of a value that was read.
at = -1
for _ in range(600):
    at = trace.index(b"\xf0" + 0x04a7d463.to_bytes(4, "little"), at + 1)
trace[at + 2] ^= 0x80
at = trace.index(b"\x01\x3d", at + 80000)
trace[at + 2] ^= 4
open(sys.argv[2], "wb").write(trace)
END
cat_of "$mini" hart0/listing.txt >"$tmp/mini"
nth=$(awk '$4 == "04a7d463" {if (++n == 600) print $1}' "$tmp/mini")
diff_of 1 "$mini" "$copies/changed.stf"
[ "$(sed -n '1,3p' "$tmp/out")" = "--- $mini hart 0
+++ $copies/changed.stf hart 0
@@ -$nth,1 +$nth,1 @@" ] || fail "one changed instruction at $nth: $(cat "$tmp/out")"
[ "$(cut -c1 "$tmp/out" | tail -n 8 | tr -d '\n')" = "   -+   " ] || fail "the lines of it: $(cat "$tmp/out")"
cmp -s <(sed -n 's/^[ -]//p' "$tmp/out" | grep -v '^-- ') <(awk -v n="$nth" '!/^#/ && $1 >= n - 3 && $1 <= n + 3' "$tmp/mini") ||
	fail "they are not those of the listing: $(cat "$tmp/out")"
diff_of 1 "$mini" "$copies/changed.stf" --count
prints 1
diff_of 1 "$mini" "$copies/changed.stf" --count --data
prints 2
diff_of 1 "$mini" "$copies/changed.stf" --data
grep -q '^# [0-9]* instructions are equal after it, then there is another difference (--all)$' "$tmp/out" || fail "the next one: $(cat "$tmp/out")"
diff_of 1 "$mini" "$copies/changed.stf" --data --all --context 0
grep -qE '^@@ -([0-9]+),1 \+\1,1 @@ accesses differ$' "$tmp/out" || fail "the value: $(cat "$tmp/out")"
[ "$(grep -vc '^@@' "$tmp/out")" = 6 ] || fail "--context 0: $(cat "$tmp/out")"
judged "$mini" "$copies/changed.stf" 1 data
diff_of 0 "$mini" "$copies/changed.stf" --at $((nth + 1)):$((nth + 1))
diff_of 1 "$mini" "$copies/changed.stf" --at "$nth:$nth" --context 100
[ "$(grep -c '^ ' "$tmp/out")" = 100 ] || fail "--context 100: $(grep -c '^ ' "$tmp/out")"

# ---- trace is lost ----
for format in etrace ntrace; do
	cp -r "$copies/mini-$format" "$copies/lost-$format"
	size=$(stat -c %s "$copies/lost-$format/trace.bin")
	head -c 60 /dev/zero | tr '\0' '\377' | dd of="$copies/lost-$format/trace.bin" bs=1 seek=$((size / 2)) conv=notrunc status=none
	judged "$mini" "$copies/lost-$format" 1
done
judged "$copies/lost-etrace" "$copies/lost-ntrace" 1
# Two programs have nothing in common.
diff_of 1 "$rv" "$mini" --all
[ "$(grep '^@@' "$tmp/out")" = '@@ -0,873595 +0,40000 @@ no code in common' ] || fail "two programs: $(grep '^@@' "$tmp/out")"
grep -qx -- '-# 873555 instructions, 20 to 873574, are not shown' "$tmp/out" || fail "nothing says that lines are left out"

# ---- several harts ----
python3 - "$copies" <<'END' || fail "captures of two harts cannot be made"
import struct, sys
def capture(path, harts):
    out = (b"\x01STF" + struct.pack("<BII", 2, 1, 6) + struct.pack("<BH", 4, 1) + struct.pack("<BH", 5, 2) +
           struct.pack("<BBBBBH", 6, 1, 0, 0, 0, 4) + b"made" + struct.pack("<BQ", 7, 0x80020 | 0x10000) +
           struct.pack("<BIII", 8, harts[0][0], 0, 0) + struct.pack("<BQ", 9, 0x1000) + b"\x13")
    for hart, n in harts:
        out += struct.pack("<BIII", 8, hart, 0, 0) + struct.pack("<BQ", 9, 0x1000 * (hart + 1))
        out += b"".join(struct.pack("<BI", 0xf0, 0x13 | k << 20) for k in range(n))
    open(path, "wb").write(out)
capture(sys.argv[1] + "/two.stf", ((0, 50), (1, 60)))
capture(sys.argv[1] + "/other.stf", ((0, 50), (1, 64)))
capture(sys.argv[1] + "/third.stf", ((0, 50), (2, 60)))
END
if [ "$("$hartfs" ls --index-dir "$index" "$copies/two.stf" | grep -c 'hart[01]/listing.txt')" = 2 ]; then
	same "$copies/two.stf" "$copies/two.stf"
	diff_of 1 "$copies/two.stf" "$copies/other.stf"
	[ "$(grep -cE '^(---|\+\+\+) .* hart 1$|^@@ -60,0 \+60,4 @@$' "$tmp/out")" = 3 ] || fail "of two harts one differs: $(cat "$tmp/out")"
	same "$copies/two.stf" "$copies/other.stf" --hart 0
	diff_of 1 "$copies/two.stf" "$copies/other.stf" --hart 1 --count
	prints 1
	diff_of 1 "$copies/two.stf" "$copies/third.stf" --hart 1:2
	diff_of 2 "$copies/two.stf" "$copies/third.stf"
	grep -q -- '--hart N:M' "$tmp/err" || fail "other harts: $(cat "$tmp/err")"
	diff_of 2 "$copies/two.stf" "$copies/other.stf" --at 0:0
	grep -q -- '--at needs --hart' "$tmp/err" || fail "--at of two harts: $(cat "$tmp/err")"
	diff_of 2 "$copies/two.stf" "$copies/other.stf" --hart 7
else
	fail "two.stf does not have two harts: $("$hartfs" ls --index-dir "$index" "$copies/two.stf")"
fi

# ---- a function, and many small pieces, are in one run alone ----
python3 - "$copies" <<'END' || fail "captures with pieces cannot be made"
import random, struct, sys
rng = random.Random(3)
HEAD = (b"\x01STF" + struct.pack("<BII", 2, 1, 6) + struct.pack("<BH", 4, 1) + struct.pack("<BH", 5, 2) +
        struct.pack("<BBBBBH", 6, 1, 0, 0, 0, 4) + b"made" + struct.pack("<BQ", 7, 0x80020 | 0x10000) +
        struct.pack("<BIII", 8, 0, 0, 0))

def capture(path, blocks):
    """Blocks (address, opcodes); each jumps to the next one."""
    out = HEAD + struct.pack("<BQ", 9, blocks[0][0]) + b"\x13"
    for (_, opcodes), (behind, _) in zip(blocks, blocks[1:] + blocks[:1]):
        out += b"".join(struct.pack("<BI", 0xf0, o) for o in opcodes)
        out += struct.pack("<BQ", 31, behind) + struct.pack("<BI", 0xf0, 0x6f)
    open(path, "wb").write(out)

def block(address, n):
    return address, [0x13 | rng.randrange(1 << 12) << 20 for _ in range(n)]

functions = [block(0x10000 + 0x1000 * i, rng.randint(3, 60)) for i in range(24)]
run = [rng.choice(functions) for _ in range(2000)]
added = block(0x100000, 5000)
small = [block(0x200000 + 0x1000 * i, rng.randint(1, 40)) for i in range(7)]
capture(sys.argv[1] + "/run.stf", run)
capture(sys.argv[1] + "/function.stf", run[:1000] + [added] + run[1000:])
pieces = list(run)
for at in sorted(rng.sample(range(1, 2000, 8), 60), reverse=True):
    pieces.insert(at, rng.choice(small))
capture(sys.argv[1] + "/pieces.stf", pieces)
END
diff_of 1 "$copies/run.stf" "$copies/function.stf" --all --context 0
[ "$(grep -c '^@@' "$tmp/out")" = 1 ] && grep -qE '^@@ -[0-9]+,0 \+[0-9]+,5001 @@' "$tmp/out" ||
	fail "an inserted function: $(grep '^@@' "$tmp/out" | head -n 5)"
diff_of 1 "$copies/run.stf" "$copies/pieces.stf" --count
prints 60
judged "$copies/run.stf" "$copies/pieces.stf" 1

# ---- what is wrong ----
wrong() {
	diff_of 2 "$@"
	grep -q '^hartfs diff: ' "$tmp/err" || fail "diff $*: $(cat "$tmp/err")"
}
wrong
wrong "$rv"
wrong "$rv" "$rv" "$rv"
wrong "$rv" "$rv" --at 1
wrong "$rv" "$rv" --at 1:
wrong "$rv" "$rv" --at -1:1
wrong "$rv" "$rv" --at 873596:0
wrong "$rv" "$rv" --at 0:99999999999999999999999
wrong "$rv" "$rv" --hart 1
wrong "$rv" "$rv" --hart 4294967295
wrong "$rv" "$rv" --hart 0:0:0
wrong "$rv" "$rv" --context x
wrong "$rv" "$archive/nothing"
wrong "$archive" "$rv"
wrong "$rv" "$archive/notes.md"
# The ends of both are compared with nothing, or all with nothing.
same "$rv" "$rv" --at 873595:873595
diff_of 1 "$rv" "$rv" --at 873594:873595 --json
python3 - "$tmp/out" <<'END' || fail "--json: $(cat "$tmp/out")"
import json, sys
part = json.load(open(sys.argv[1]))
assert part["kind"] == "flow" and part["a"]["ordinal"] == 873594 and part["a"]["count"] == 1 and len(part["a"]["lines"]) >= 1
assert part["b"] == {"hart": 0, "ordinal": 873595, "count": 0, "lines": []} and part["same"] == 0 and part["last"] is True
END

# ---- captures that others made of one program ----
if [ -d "${HARTFS_CORPUS:-}/etrace/towers" ]; then
	cp -r "$HARTFS_CORPUS"/etrace/{towers,bootrom64.bin} "$copies"
	chmod -R u+w "$copies"
	for level in htm_rb_rh spec_htm_all; do
		mkdir "$copies/towers-$level"
		cp "$HARTFS_CORPUS/ntrace/towers/nex-$level.bin" "$copies/towers-$level/trace.bin"
		cp "$HARTFS_CORPUS/ntrace/towers/prog.elf" "$copies/towers-$level/program.elf"
		sed "s/implicit_return = 1/implicit_return = $([ $level != htm_rb_rh ] && echo 1 || echo 0)/; s/xlen = .*/xlen = 64/" \
			"$copies/mini-ntrace/capture.ini" >"$copies/towers-$level/capture.ini"
	done
	same "$copies/towers-htm_rb_rh" "$copies/towers-spec_htm_all"
	for config in c111_delta_rs16 c111_full_rs4096 lean; do
		same "$copies/towers/$config" "$copies/towers/c111_bp_rs16"
	done
	judged "$copies/towers/lean" "$copies/towers-spec_htm_all" 1
fi

# ---- the judge ----
# HARTFS_SEED: other captures; HARTFS_PAIRS: so many.
batch=$(dirname "$hartfs")/tests/diff_batch
if [ -x "$batch" ]; then
	mkdir "$tmp/pairs"
	python3 "$judge" pairs "$batch" "$tmp/pairs" "${HARTFS_SEED:-1}" "${HARTFS_PAIRS:-2100}" >"$tmp/judged" ||
		fail "the judge: $(tail -n 5 "$tmp/judged")"
	cat "$tmp/judged"
else
	echo "diff_batch was not built: no judge"
fi
finish
