#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs state, hartfs find --stack and at/N-N/state.txt: what they say is in the listing; the same with and without a
# summary, for chunks of any size, in every format; what a trace does not tell is "?". tests/find/judge.py asks at random.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
capture_archive
short_boot
cp "$HARTFS_DATA"/astf/*.astf "$archive/"
# Of 845,000 instructions the first 100,000.
"$hartfs" cat -q --index-dir "$index" "$archive/a64-sys.astf" hart0/at/0-99999/trace.astf >"$tmp/short.astf" &&
	mv "$tmp/short.astf" "$archive/a64-sys.astf" || fail "no slice to test with"
rv=$archive/boot/rv-sys.stf.gz a64=$archive/a64-sys.astf mini=$archive/mini/rv32-mini.stf
chunk=16384
run() { timeout "$patience" "$hartfs" "$1" --index-dir "$index" --chunk "$chunk" "${@:2}"; }

# ---- a recorded call ----
run find "$rv" --call fib --nth 100 --stack >"$tmp/out" || fail "--stack ended with $?"
run cat "$rv" hart0/listing.txt >"$tmp/rv"
count=$(grep -vc '^#' "$tmp/rv")
# Whoever called is the instruction before; the call returns behind it.
caller=$(awk '$1 == 92088 {print $3}' "$tmp/rv") size=$(awk '$1 == 92088 {print length($4) / 2}' "$tmp/rv")
back=$(printf '%016x' $((16#$caller + size)))
[ "$(sed -n 2p "$tmp/out" | cut -d ' ' -f 1-3)" = "#0 000000004001014e <fib>" ] || fail "the innermost call: $(cat "$tmp/out")"
[ "$(sed -n 3p "$tmp/out" | cut -d ' ' -f 1,2)" = "#1 $back" ] || fail "the caller, $back: $(cat "$tmp/out")"
run find "$rv" --call fib --nth 100 --stack --json | python3 -c '
import json, sys
stack = json.load(sys.stdin)["stack"]
assert stack[0]["pc_symbol"] == "fib" and stack[0]["kind"] == "function" and stack[1]["pc"] == sys.argv[1]
' "$back" || fail "--stack --json"
run find "$rv" --call fib --nth 100 --stack --explain 2>&1 >/dev/null | grep -q 'stacks from the summary, 1 chunks' || fail "--explain"
run find "$rv" --call fib --stack --limit 300 --reverse >"$tmp/back"
run find "$rv" --call fib --stack --no-summary --index-dir "$tmp" --limit 300 --reverse 2>"$tmp/err" | cmp -s - "$tmp/back" ||
	fail "--stack --reverse without a summary differs"
run find "$rv" --call fib --stack --count 2>/dev/null && fail "--stack --count"

# ---- where trace tells nothing ----
run state "$rv" 92089 >"$tmp/out" || fail "state ended with $?"
grep -qx 'register ?' "$tmp/out" || fail "registers of a trace without any: $(cat "$tmp/out")"
grep -qx 'context hw=0 pid=1 tid=1 asid=? vmid=?' "$tmp/out" || fail "context: $(cat "$tmp/out")"
# Accesses: the last 16 of the listing.
awk '/^#/ {next} $1 > 92089 {exit} {for (i = 5; i <= NF; i++) if ($i ~ /^[RW][0-9]+$/) print "access", $1, $i, $(i + 1)}' "$tmp/rv" |
	tail -n 16 | tac >"$tmp/want"
grep ^access "$tmp/out" | cmp -s "$tmp/want" - || fail "accesses: $(grep ^access "$tmp/out" | diff "$tmp/want" - | head -n 4)"

# ---- the same with and without a summary ----
same() {
	local file=$1 n=$2 hart=${3:-0} ordinal
	for ordinal in 0 1 $((n / 3)) $((n - 1)); do
		run state "$file" "$ordinal" --hart "$hart" >"$tmp/with" || fail "state $file $ordinal ended with $?"
		run state "$file" "$ordinal" --hart "$hart" --summary=off --index-dir "$tmp/none" | cmp -s "$tmp/with" - ||
			fail "state $ordinal of $file differs without a summary, chunks of $chunk"
	done
}
mkdir "$tmp/none"
for chunk in 80 16384; do
	same "$rv" "$count"
	same "$a64" 100000
	same "$mini" 200000
	rm -rf "$tmp/none"/*
done

# Where another context is on since the chunk began: its stack is that of an earlier chunk, followed to there.
for ordinal in $(awk '/^# context .*pid=/ {change = 1; next} /^[0-9]/ && change {change = 0; n++; if (n % 15 == 10) print $1 + 40}' "$tmp/rv" | head -n 4); do
	run find "$rv" --after $((ordinal - 1)) --pc 0-ffffffffffffffff --first --stack >"$tmp/with"
	run find "$rv" --after $((ordinal - 1)) --pc 0-ffffffffffffffff --first --stack --summary=off --index-dir "$tmp/none" |
		cmp -s "$tmp/with" - || fail "the stack at $ordinal, behind a change of context, differs without a summary"
done

# ---- in a mount: exact size, packets as sources ----
do_mount --wait
hart=$mnt/boot/rv-sys@stf@gz/hart0
run state "$rv" 92089 >"$tmp/want"
cmp -s "$hart/at/92089-92089/state.txt" "$tmp/want" || fail "state.txt is another text"
[ "$(stat -c %s "$hart/at/92089-92089/state.txt")" = "$(stat -c %s "$tmp/want")" ] || fail "the size of state.txt"
ls "$hart/at/92089-92089" | grep -qx state.txt || fail "state.txt is not listed"
[ ! -e "$hart/at/1-2/state.txt" ] || fail "state.txt of two instructions"
mkdir "$tmp/packets"
cp -r "$hart/etrace" "$tmp/packets/etrace" && cp -r "$hart/ntrace" "$tmp/packets/ntrace"
cp -r "$mnt/a64-sys@astf/hart0/ete" "$tmp/packets/ete" || fail "views"
do_umount
for format in etrace ntrace ete; do
	id=$(run info --json "$tmp/packets/$format" | python3 -c 'import json, sys; print(json.load(sys.stdin)["harts"][0]["id"])')
	run cat "$tmp/packets/$format" "hart$id/listing.txt" >"$tmp/list"
	run state "$tmp/packets/$format" 5000 >"$tmp/out" || fail "state of $format ended with $?"
	pc=$(awk '$1 == 5000 {print $3}' "$tmp/list")
	grep -q "^pc $pc" "$tmp/out" && grep -q "^call 0 $pc" "$tmp/out" || fail "state of $format: $(cat "$tmp/out")"
	grep -qx 'access ?' "$tmp/out" && grep -qx 'register ?' "$tmp/out" || fail "$format tells of no data: $(cat "$tmp/out")"
	run state "$tmp/packets/$format" 5000 --summary=off --index-dir "$tmp/none" | cmp -s "$tmp/out" - ||
		fail "state of $format differs without a summary"
done

# ---- what is wrong ----
wrong() {
	local want=$1
	shift
	run state "$@" >"$tmp/out" 2>&1
	status=$?
	[ "$status" = "$want" ] && grep -q '^hartfs state: ' "$tmp/out" || fail "state $* ended with $status: $(cat "$tmp/out")"
}
wrong 2 "$rv"
wrong 2 "$rv" x
wrong 2 "$rv" 1 2
wrong 2 "$rv" -- -1
wrong 2 "$rv" 99999999999999999999999
wrong 1 "$rv" "$count"
wrong 1 "$rv" 18446744073709551615
wrong 1 "$rv" 1 --hart 3
wrong 1 "$archive/nothing" 1
wrong 1 "$archive" 1
# A damaged summary is noticed, and the answer is right.
run state "$rv" 92089 >"$tmp/want"
damage_pages "$index"/*.hfq
run state "$rv" 92089 2>"$tmp/err" | cmp -s "$tmp/want" - || fail "state with a damaged summary: $(cat "$tmp/err")"
finish
