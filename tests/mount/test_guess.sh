#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What somebody types who has not read the manual does what is meant, or the first line names what does it: second names
# of commands and options, words for questions, ends of names, a path alone; and what guesses.def advises works.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
capture_archive
short_boot
export XDG_CACHE_HOME=$tmp/cache
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$archive/boot" || exit 1
x=rv-sys.stf.gz

# same "ARGUMENT..." "ARGUMENT...": both print the same, which is not nothing, with status 0.
same() {
	# shellcheck disable=SC2086
	"$hartfs" $1 >"$tmp/got" 2>"$tmp/err" || fail "$1: $(cat "$tmp/err")"
	# shellcheck disable=SC2086
	"$hartfs" $2 >"$tmp/want" 2>/dev/null || fail "$2 ended with $?"
	[ -s "$tmp/want" ] && cmp -s "$tmp/got" "$tmp/want" || fail "$1 is not $2: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
}
same "$x" "info $x"
same "list $x" "ls $x"
same "stat $x" "info $x"
same "compare $x $x --count" "diff $x $x --count"
same "find $x fib --first" "find $x --pc=fib --first"
same "find fib $x --first" "find $x --pc=fib --first"
same "find $x 4001014e --count" "find $x --pc=4001014e --count"
same "grep mret $x" "find $x --mnemonic=mret"
same "search $x mret --count" "find $x --mnemonic=mret --count"
same "find $x --writes 0x80005360 --last" "find $x --write=80005360 --last"
same "find $x --trap interrupt --count" "find $x --trap=interrupt --count"
same "find $x --exception 8 --count" "find $x --trap=8 --count"
same "find $x --exception --count" "find $x --trap=exception --count"
same "find $x --irq --first" "find $x --trap=interrupt --first"
same "find $x --user --count" "find $x --mode=U --count"
same "find $x --call fib --from 90000 --to 95000 --count" "find $x --call fib --after 89999 --before 95001 --count"
same "find $x --from 1000 --to 1001" "cat $x hart0/at/1000-1001/listing.txt"
same "top $x hart0" "top $x"
same "top $x -n 3 --hart 0" "top $x --limit=3"
same "cat $x flame.svg" "cat $x hart0/profile/flame.svg"
same "cat $x hart0/listing" "cat $x hart0/listing.txt"
same "cat $x listing" "cat $x hart0/listing.txt"
same "ls $x/hart0/etrace" "ls rv-sys@stf@gz/hart0/etrace"
[ "$(wc -l <"$tmp/got")" = 4 ] || fail "ls of a part: $(cat "$tmp/got")"
same "slice $x fib" "slice $x --call=fib"
same "version" "--version"

# says STATUS PATTERN ARGUMENT...: the first line has the pattern.
says() {
	local status=$1 pattern=$2 got
	shift 2
	"$hartfs" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got = "$status" ] || fail "$*: status $got, not $status"
	head -n 1 "$tmp/err" | grep -q -- "$pattern" || fail "$*: $(cat "$tmp/err")"
}
touch fin
says 2 "no command 'fin' (did you mean 'find'?)" fin
says 2 "no command 'nothing-like-it'" nothing-like-it
says 2 "try: hartfs cat $x flame.svg" flame "$x"
says 2 "try: hartfs cat CAPTURE flame.svg" flamegraph
says 2 "did you mean 'info'" help inffo
says 2 "did you mean 'first'" find "$x" --fist
says 2 "one of hartfs find" state "$x" --pc fib
says 2 "calls by --call" find "$x" --return fib
says 2 "name of a hart" top "$x" hartX
says 1 "no hart 7" top "$x" hart7
says 2 "did you mean 'fib'" find "$x" --pc fibb
says 2 "did you mean 'interrupt'" find "$x" --trap=interupt
says 2 "no register that was written" find "$x" --reg a0
says 2 "'q0' is no register" find "$x" --reg q0
says 2 "no symbol 'nonsense'" find "$x" nonsense
says 1 "directory, with listing.txt, profile/" cat "$x" hart0
says 1 "directory, with functions.txt" cat "$x" hart0/profile
says 1 "several: hart0/trace.stf, hart0/etrace" cat "$x" trace
says 1 "FIRST-LAST/, with two of the ordinals 0 to 141912" cat "$x" hart0/at/fib/listing.txt
says 1 "did you mean 'flame.svg'" cat "$x" flmae.svg
says 1 "did you mean 'hart0/listing.txt'" cat "$x" hart0/lsting.txt
says 1 "no such file" cat "$x" qqqqqq
says 1 "FIRST-LAST/, with two of the ordinals 0 to" cat "$x" at/100
says 1 "FIRST-LAST/, with two of the ordinals 0 to" cat "$x" 100-200
says 1 "hart0/etrace is a directory, with trace.bin" cat "$x" etrace
says 1 "hart0/profile is a directory, with functions.txt" cat "$x" profile
says 1 "try: hartfs top $x" cat "$x" top
says 3 "did you mean '$x/hart0'" ls "$x" hart0
says 1 "no such file" ls "$x/hart9"
says 1 "--access=80005360" find "$x" 80005360
says 2 "at/FIRST-LAST/listing.txt" slice "$x" 100 200
says 2 "hartfs find CAPTURE SYMBOL --ordinals" state "$x" fib
says 2 "not a valid value of --by=function|object|line|file" top "$x" --by symbol
says 2 "--by=line" top "$x" --by-line
says 2 "not a valid value of --to=ORDINAL: only up to" convert "$x" --to astf
says 2 "the view is an operand" convert "$x" -f astf
says 2 "these pages have the word: .*profile" help flame
says 2 "no command or topic 'zzzzzz'$" help zzzzzz
if command -v sqlite3 >/dev/null; then
	"$hartfs" sql "$x" "select * from functions, harts" >"$tmp/out" 2>"$tmp/err" && fail "a table that there is not"
	grep -qF "no table 'functions' (did you mean 'function'?)" "$tmp/err" && grep -qF .tables "$tmp/err" ||
		fail "sql: $(cat "$tmp/err")"
fi
if command -v script >/dev/null; then
	script -qec "$hartfs cat $x" /dev/null </dev/null | tail -n 1 | grep -qa "capture's own bytes" || fail "cat of a capture"
fi

# ---- for programs ----
python3 - "$hartfs" "$x" <<'END' || fail "--json"
import json, subprocess, sys
hartfs, x = sys.argv[1:]
def lines(*args):
    out = subprocess.run([hartfs, *args], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]
assert lines("index", "--json", ".") == [{"capture": "./" + x, "state": "indexed"}]
one, = lines("ls", "--json", ".")
assert one["capture"] == x and one["state"] == "indexed" and one["harts"] == 1 and one["instructions"] == 141913, one
files = lines("ls", "--json", x)
assert any(f["file"].endswith("hart0/listing.txt") and f["hart"] == 0 and f["size"] > 0 for f in files), files
top = lines("top", "--json", "-n", "3", x)
assert len(top) == 3 and all(isinstance(row["own"], int) and row["function"] for row in top), top
assert top[0]["own"] >= top[1]["own"] >= top[2]["own"] and len(top[0]["address"]) == 16, top
END

# ---- help on a terminal goes through a pager, elsewhere it does not ----
if command -v script >/dev/null; then
	PAGER="sed s/^/paged:/" script -qec "$hartfs help find" /dev/null </dev/null | tr -d '\r' >"$tmp/out"
	grep -q '^paged:Usage: hartfs find' "$tmp/out" || fail "no pager: $(head -n 2 "$tmp/out")"
	PAGER=false script -qec "$hartfs help views" /dev/null </dev/null >"$tmp/out" # it may leave early
	PAGER='' script -qec "$hartfs help find" /dev/null </dev/null | grep -q '^Usage: hartfs find' || fail "PAGER="
fi
PAGER="sed s/^/paged:/" "$hartfs" help find | grep -q '^Usage: hartfs find' || fail "a pager without a terminal"

# What is advised works.
# Words and options of other programs: what is advised is about the capture, and the option is named.
advised() { # TEXT ARGUMENT...
	"$hartfs" "${@:2}" >"$tmp/out" 2>"$tmp/err"
	grep -qF -- "$1" "$tmp/err" || fail "hartfs ${*:2}: $(head -n 1 "$tmp/err")"
}
x=$archive/boot/rv-sys.stf.gz
[ -e "$x" ] || x=$(find "$archive" -name 'rv-sys.stf.gz' | head -n 1)
advised "try: hartfs top $x" perf report "$x"
advised "try: hartfs find $x --write=ADDRESS --last" watch "$x" 80005360
advised "try: hartfs state $x ORDINAL" bt "$x" 92089
advised "try: hartfs sql $x .tables" tables "$x"
advised "unknown option '-n': the number of answers is --limit=N" find "$x" -n 3 kmain
advised "unknown option '-l': hartfs ls shows sizes" ls -la "$archive"
advised "--lazy" umount -f "$tmp/none"
advised "--count" grep -c mret "$x"

sed -n 's/^\(HF_GUESS(\|\t\).*"\(.*\)")$/\2/p' "$root/mountd/guesses.def" >"$tmp/lines"
[ "$(wc -l <"$tmp/lines")" -gt 20 ] || fail "guesses.def was not read: $(cat "$tmp/lines")"
while read -r line; do
	case $line in
	*MOUNTPOINT* | *PROGRAM* | *prune* | *lcov* | *errors.txt) continue ;;
	esac
	line=${line//CAPTURE/$x} line=${line//ORDINAL/1000} line=${line//FIRST-LAST/10-20} line=${line//PLACE/fib} line=${line//ADDRESS/80005360}
	# shellcheck disable=SC2086
	"$hartfs" ${line%% >*} >"$tmp/out" 2>"$tmp/err" </dev/null && [ -s "$tmp/out" ] || fail "hartfs $line: $(cat "$tmp/err")"
done <"$tmp/lines"
finish
