#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs find, as a user types it: what it prints is what a search in listing.txt finds, with and without a summary and
# for chunks of any size; exit statuses; what is no question; what a trace cannot tell; damage; and 2,000 random questions
# to a judge that reads nothing but listings.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
capture_archive
cp "$HARTFS_DATA"/astf/*.astf "$archive/"
here=$(cd "$(dirname "$0")/.." && pwd)
export XDG_CACHE_HOME=$tmp/cache
rv=$archive/boot/rv-sys.stf.gz a64=$archive/a64-sys.astf mini=$archive/mini/rv32-mini.stf
chunk=16384
find_in() { "$hartfs" find --index-dir "$index" --chunk "$chunk" "$@"; }
listing() { "$hartfs" cat -q --index-dir "$index" "$1" hart0/listing.txt; }
# The beginning of it, so that a plain reading of its listing takes no time.
"$hartfs" cat -q --index-dir "$index" "$rv" hart0/at/0-149999/trace.stf | gzip -1 >"$tmp/piece" && mv "$tmp/piece" "$rv"

# finds STATUS CAPTURE WANTED OPTION...: that file is what comes out.
finds() {
	local status=$1 capture=$2 wanted=$3 got
	shift 3
	find_in "$capture" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$status" ] || fail "find $* of $(basename "$capture") ended with $got: $(cat "$tmp/err")"
	cmp -s "$wanted" "$tmp/out" || fail "find $* of $(basename "$capture"), chunks of $chunk: $(diff "$wanted" "$tmp/out" | head -n 3)"
}
# counts CAPTURE NUMBER OPTION...
counts() {
	echo "$2" >"$tmp/count"
	finds $(($2 == 0)) "$1" "$tmp/count" "${@:3}" --count
}

# ---- every question, against awk ----
# What is to be found: a file, or a number in the variable of that name.
want=$tmp/want
mkdir "$want"
listing "$rv" >"$tmp/rv"
eval "$(awk -v to="$want/" '
	$1 == 24 {fault = 1}
	$1 == 25 {fault = 0}
	fault {print >(to "fault")}
	/^# trap / {traps += n != trapped; trapped = n}
	/^# trap interrupt/ && n != interrupted {print at >(to "interrupt"); interrupted = n}
	/^# trap .*cause=5 / && n != cause {print at >(to "cause"); cause = n}
	/^#/ {next}
	{n++; at = $1}
	$2 == "M" {machine++}
	$3 == "0000000080001028" {
		print >(to "pc")
		print $1 >(to "ordinals")
		if (++pcs == 1000) print >(to "thousandth")
		if ($1 > 500 && $1 < 60000) print >(to "between")
		taken += /-> /
		not_taken += /\(not taken\)/
	}
	$4 == "fee79de3" {print >(to "opcode")}
	$5 == "csrrw" {print >(to "csrrw")}
	/ W[0-9]+ 0000000080005360/ {print >(to "write")}
	/ R[0-9]+ 0000000080005360/ {print >(to "read")}
	/ [RW][0-9]+ 0000000080005360=0*20( |$)/ {print >(to "value")}
	END {
		printf "traps=%d machine=%d pcs=%d taken=%d not_taken=%d all=%d\n", traps, machine, pcs, taken, not_taken, n
	}' "$tmp/rv")"
head -n 1 "$want/pc" >"$want/first"
tail -n 1 "$want/pc" >"$want/last"
eval "$(listing "$a64" | awk '!/^#/ {bl += $5 == "bl"; el0t += $2 == "EL0t"} END {printf "bl=%d el0t=%d\n", bl, el0t}')"
jal=$(listing "$mini" | awk '!/^#/ && $5 == "jal" {n++} END {print n}')
ask_all() {
	finds 0 "$rv" "$want/pc" --pc 80001028
	finds 0 "$rv" "$want/pc" --pc page+0x28
	finds 0 "$rv" "$want/pc" --pc 'page+40' --hart 0
	finds 0 "$rv" "$want/first" --pc 80001028 --first
	finds 0 "$rv" "$want/last" --pc 80001028 --last
	finds 0 "$rv" "$want/last" --pc 80001028 --first --reverse
	finds 0 "$rv" "$want/thousandth" --pc 80001028 --nth 1000
	finds 0 "$rv" "$want/ordinals" --pc 80001028 --ordinals
	counts "$rv" "$pcs" --pc 80001028
	counts "$rv" "$taken" --pc 80001028 --taken
	counts "$rv" "$not_taken" --pc 80001028 --not-taken
	finds 0 "$rv" "$want/between" --pc 80001028 --after 500 --before 60000
	finds 0 "$rv" "$want/opcode" --opcode fee79de3
	finds 0 "$rv" "$want/csrrw" --mnemonic csrrw
	counts "$rv" "$machine" --mode M
	finds 0 "$rv" "$want/write" --write 80005360
	finds 0 "$rv" "$want/read" --read 80005360/1
	finds 0 "$rv" "$want/value" --access 80005360 --value 20
	counts "$rv" "$traps" --trap
	finds 0 "$rv" "$want/interrupt" --trap=interrupt --ordinals
	finds 0 "$rv" "$want/cause" --trap=5 --ordinals
finds 0 "$rv" "$want/cause" --trap 5 --ordinals
	finds 0 "$rv" "$want/fault" --trap='load access fault' --first
	finds 1 "$rv" /dev/null --gap
	finds 1 "$rv" /dev/null --pc 80001028 --nth 99999999
	counts "$rv" 0 --pc 7
	counts "$a64" "$bl" --mnemonic bl --taken
	counts "$a64" "$el0t" --mode EL0t
	counts "$a64" "$el0t" --mode EL0
	counts "$mini" "$jal" --mnemonic jal
}
for summary in off on; do
	index=$tmp/index-$summary
	mkdir "$index"
	"$hartfs" index -q --summary=$summary --index-dir "$index" "$archive" || fail "indexing ended with $?"
	ask_all
done

# What the summary is for: one chunk is decoded for the first answer, none for a count; without, all are.
explains() {
	[[ $(find_in "$rv" "${@:2}" --explain 2>&1 >"$tmp/out") =~ $1 ]] || fail "--explain of ${*:2} is not $1"
}
explains 'list of runs, exact; .* 0 decoded$' --pc 80001028 --count
explains 'list of runs, exact; .* 1 decoded$' --pc 80001028 --first
explains 'list of runs, exact; .* 1 decoded$' --pc 80001028 --last
explains 'list of runs, exact; .* [12] decoded$' --pc 80001028 --nth 1000
explains 'list of runs, an upper bound; ' --pc 80001028 --read 0-ffffffffffffffff
explains '^hart 0: list of accesses, an upper bound; 1 of [0-9]* chunks are candidates, 1 decoded$' --write 80006980 --last
explains 'list of accesses, an upper bound; .* 0 decoded$' --write 90000000/8
explains 'list of rare events, exact; .* 0 decoded$' --trap --count
explains 'list of rare events, exact; .* 1 decoded$' --trap --nth 70
explains 'list of rare events, exact; .* 0 decoded$' --gap --count
explains '^hart 0: scan, for ' --value 5

# Sums: the list has every instruction once.
counts "$rv" "$all" --pc 0-ffffffffffffffff
explains 'list of runs, exact; .* 0 decoded$' --pc 0-ffffffffffffffff --count

# ---- other forms ----
find_in "$rv" --trap=5 --first --json >"$tmp/out"
python3 - "$tmp/out" "$tmp/rv" <<'END' || fail "--json: $(cat "$tmp/out")"
import json, sys
hit = json.load(open(sys.argv[1]))
assert hit["hart"] == 0 and hit["ordinal"] == 24 and len(hit["lines"]) == 3
assert hit["lines"][0] + "\n" in open(sys.argv[2]).read()
END
[ "$(find_in "$rv" --gap --count --json)" = '{"count":0}' ] || fail "--count --json"
[ "$(find_in "$rv" --mnemonic addi --limit 7 --count)" = 7 ] || fail "--limit does not limit --count"
find_in "$rv" --mnemonic addi | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" = 141 ] || fail "a reader that leaves: no SIGPIPE"
find_in "$rv" --mnemonic addi >/dev/full 2>"$tmp/err"
[ $? = 2 ] && grep -q "standard output" "$tmp/err" || fail "a full disk: $(cat "$tmp/err")"
# A path of the view directory is the capture, too.
[ "$(find_in "${rv%/*}/rv-sys@stf@gz" --pc 80001028 --count)" = "$(find_in "$rv" --pc 80001028 --count)" ] || fail "a view directory"

# ---- a place of two names ----
if command -v riscv64-unknown-elf-objcopy >/dev/null; then
	mkdir "$tmp/named"
	cp "$rv" "$tmp/named/rv.stf.gz"
	riscv64-unknown-elf-objcopy --add-symbol __kwork=.text:0x9e,function,global "${rv%.stf.gz}.elf" "$tmp/named/rv.elf" || fail "objcopy"
	calls=$(find_in "$rv" --call kwork --count)
	[ "$calls" -gt 0 ] || fail "there is no call of kwork"
	rv=$tmp/named/rv.stf.gz
	for name in kwork __kwork __kwork@8000109e; do counts "$rv" "$calls" --call "$name"; done
	[ "$(find_in "$rv" --pc __kwork+4 --first)" = "$(find_in "$rv" --pc kwork+4 --first)" ] || fail "--pc by the other name"
	find_in "$rv" --call __kwork --first | grep -q '<kwork>' || fail "the name that is shown"
	rv=$archive/boot/rv-sys.stf.gz
fi

# ---- what never retires ----
finds 1 "$rv" /dev/null --mnemonic ecall
grep -q 'no ecall retired: .* --trap$' "$tmp/err" || fail "--mnemonic ecall: $(cat "$tmp/err")"
finds 1 "$mini" /dev/null --mnemonic ecall
[ -s "$tmp/err" ] && fail "--mnemonic ecall where nothing traps: $(cat "$tmp/err")"

# ---- what is wrong ----
wrong() {
	find_in "$rv" "$@" >"$tmp/out" 2>&1
	status=$?
	[ "$status" = 2 ] && [[ $'\n'$(<"$tmp/out") == *$'\nhartfs find: '* ]] || fail "find $* ended with $status: $(cat "$tmp/out")"
}
wrong
wrong --pc
wrong --pc 8zz
wrong --pc 12345678123456781
wrong --pc 0x
wrong --pc 20-10
wrong --pc no_such_symbol
wrong --pc page+zz
wrong --opcode 123456789
wrong --opcode 12/
wrong --write 80005360/0
wrong --write 80005360/-1
wrong --write 80005360/99999999999999999999999
wrong --write ffffffffffffffff/2
wrong --mode W
wrong --trap=nonsense
wrong --trap nonsense
wrong --context pid
wrong --context pid=4294967296
wrong --context pid=1,pid=1
wrong --value 1_
wrong --value 1 --value 2
wrong --nth 0 --pc 1
wrong --first --last --pc 1
wrong --first --nth 3 --pc 1
wrong --limit -1 --pc 1
wrong --after x --pc 1
wrong --hart 7 --pc 1
wrong --hart 4294967295 --pc 1
wrong --hart 99999999999999999999 --pc 1
wrong --taken=3
many=()
for ((i = 0; i < 33; i++)); do many+=(--taken); done
wrong "${many[@]}"
find_in "$archive/nothing" --taken >"$tmp/out" 2>&1
[ $? = 2 ] || fail "a capture that is not there: $(cat "$tmp/out")"
find_in "$archive" --taken >"$tmp/out" 2>&1
[ $? = 2 ] || fail "a directory: $(cat "$tmp/out")"
# The last ordinals and addresses there are.
finds 1 "$rv" /dev/null --pc ffffffffffffffff
finds 1 "$rv" /dev/null --pc 80001028 --after 18446744073709551615
finds 1 "$rv" /dev/null --pc 80001028 --before 0
finds 1 "$rv" /dev/null --taken --after 500 --before 501

# ---- what a trace cannot tell ----
wrong --register x10
grep -q 'cannot say' "$tmp/out" || fail "a trace without registers: $(cat "$tmp/out")"
wrong --register q0
grep -q "'q0' is no register as listings name them (x10, " "$tmp/out" || fail "a register by another name: $(cat "$tmp/out")"
rv=$a64 wrong --register mepc9
grep -q "is no register as listings name them (x0, sp, " "$tmp/out" || fail "no register of Arm: $(cat "$tmp/out")"
rv=$a64 wrong --context asid=3
grep -q 'does not tell' "$tmp/out" || fail "contexts that nobody knows: $(cat "$tmp/out")"

# ---- a damaged summary ----
damage_pages "$index"/*.hfq
finds 0 "$rv" "$want/pc" --pc 80001028
grep -qE 'summary is damaged' "$tmp/err" || [ -z "$(find_in "$rv" --pc 80001028 --explain 2>&1 | grep 'list of')" ] ||
	fail "a damaged summary is believed: $(cat "$tmp/err")"

# ---- the judge ----
# HARTFS_SEED: other questions; HARTFS_QUESTIONS: so many percent of them. contrib/judge.sh asks many more, and of whole
# captures: the judge takes 25 s to read one of these.
batch=$(dirname "$hartfs")/tests/find_batch
if [ -x "$batch" ]; then
	seed=${HARTFS_SEED:-1} percent=${HARTFS_QUESTIONS:-100}
	mkdir "$tmp/cut"
	zcat "$rv" | head -c 600000 >"$tmp/cut/rv.stf"
	cp "$archive/boot/rv-sys.elf" "$tmp/cut/rv.elf"
	head -c 250000 "$a64" >"$tmp/cut/a64.astf"
	head -c 400000 "$mini" >"$tmp/cut/mini.stf"
	for chunk in $(some 7 1 1000 16384); do
		case $chunk in
		1) captures=("$archive/figure.astf" "$archive/tables.astf") count=125 ;;
		7) captures=("$archive/figure.astf" "$tmp/cut/mini.stf") count=125 ;;
		1000) captures=("$tmp/cut/rv.stf") count=250 ;;
		*) captures=("$tmp/cut/a64.astf") count=250 ;;
		esac
		mkdir "$tmp/index$chunk"
		python3 "$here/find/judge.py" "$hartfs" "$batch" "$tmp/index$chunk" "$seed" $((count * percent / 100)) "$chunk" "${captures[@]}" \
			>"$tmp/judge" || fail "the judge disagrees: $(cat "$tmp/judge")"
		rm -rf "$tmp/index$chunk"
	done
fi
finish
