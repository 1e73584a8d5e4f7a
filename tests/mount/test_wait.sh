#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# While a capture is not indexed nobody is told that its files do not exist: EAGAIN, or (option block) whoever asks waits,
# as hartfs wait does. All of them see that it is ready, and can be killed before.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/hostile.sh"
need_fuse
short_archive
loop long
mv "$archive/mini/rv32-mini.stf" "$archive/x.stf"
capture bad 'format = ntrac' 'trace = t'

# One thread indexes, and begins with the long one.
begin() {
	rm -rf "${index:?}"/*
	loop long
	do_mount --expansion=0 -j 1 "$@"
	stat "$mnt/long@ntrace/info.json" >/dev/null || fail "the long one has no info.json"
	at_work "$(server)" || fail "the server does nothing"
	[ -e "$mnt/long@ntrace/INDEXING" ] || fail "the long one is ready: $(ls "$mnt/long@ntrace")"
}
# The long one is another capture now: the work on it ends once a look-up that the kernel does not answer itself sees it.
is_seen() { stat "$mnt/long@ntrace/info.json" >/dev/null; grep -q 'long: changed' "$tmp/log"; }
end_long() {
	: >"$tmp/log"
	head -c 20 "$archive/long/trace.bin" >"$tmp/short"
	mv "$tmp/short" "$archive/long/trace.bin"
	wait_until is_seen
}
# until_killed PID-FILE STATUS-FILE: a process that is just being started may miss a signal.
is_killed() { kill "$(cat "$1")"; [ -s "$2" ]; }
until_killed() {
	wait_until [ -s "$1" ]
	wait_until is_killed "$1" "$2"
	[ "$(cat "$2")" = 143 ] || fail "what is killed ends with $(cat "$2")"
}
says() { LC_ALL=C stat "$mnt/$1" 2>&1 | grep -q "$2" || fail "$1: $(stat "$mnt/$1" 2>&1 | head -n 1) instead of '$2'"; }

begin
for name in hart0 hart0/listing.txt hart99 errors.txt source.bin records.txt; do
	says "long@ntrace/$name" 'Resource temporarily unavailable'
	says "long@ntrace/$name" 'Resource temporarily unavailable'
done
says long@ntrace/nothing 'No such file'
says long@ntrace/INDEXING 'Size: 64'
[ "$(ls "$mnt/long@ntrace")" = $'INDEXING\ninfo.json' ] || fail "the list: $(ls "$mnt/long@ntrace")"

# hartfs wait: of a capture, a view, a view that will not be, a directory with a capture that is none.
declare -A waiting
n=0
for path in x.stf x@stf x@stf/hart0/listing.txt x@stf/hart9 . boot bad; do
	(timeout "$patience" "$hartfs" wait "$mnt/$path" 2>"$tmp/err$n"; echo $? >"$tmp/status$n") &
	waiting[$path]=$n
	n=$((n + 1))
done
(timeout "$patience" "$hartfs" wait "$mnt/long" & echo $! >"$tmp/pid"; wait $!; echo $? >"$tmp/status.killed") 2>/dev/null &
wait_until [ -s "$tmp/pid" ]
for n in ${waiting[.]} .killed; do [ -e "$tmp/status$n" ] && fail "hartfs wait did not wait ($n)"; done
# What is waited for does not wait for the long one.
wait_until [ -s "$tmp/status${waiting[x.stf]}" ] || fail "x.stf is not ready"
[ "$(cat "$tmp/status${waiting[x.stf]}")" = 0 ] || fail "wait x.stf: $(cat "$tmp/status${waiting[x.stf]}")"
until_killed "$tmp/pid" "$tmp/status.killed"
[ -e "$mnt/long@ntrace/INDEXING" ] || fail "the long one was ready too early"
end_long
wait
for path in x.stf x@stf x@stf/hart0/listing.txt boot; do
	[ "$(cat "$tmp/status${waiting[$path]}")" = 0 ] || fail "wait $path: $(cat "$tmp/status${waiting[$path]}" "$tmp/err${waiting[$path]}")"
done
[ "$(cat "$tmp/status${waiting[.]}")" = 3 ] || fail "wait for all: $(cat "$tmp/status${waiting[.]}")"
grep -q "bad/capture.ini:2: unknown format 'ntrac'" "$tmp/err${waiting[.]}" || fail "wait for all: $(cat "$tmp/err${waiting[.]}")"
[ "$(cat "$tmp/status${waiting[bad]}")" = 1 ] || fail "wait for a bad one: $(cat "$tmp/status${waiting[bad]}")"
grep -q 'hart9: No such file' "$tmp/err${waiting[x@stf/hart9]}" || fail "hart9: $(cat "$tmp/err${waiting[x@stf/hart9]}")"
[ -s "$mnt/x@stf/hart0/listing.txt" ] || fail "it is not ready"
says x@stf/hart9 'No such file'
for path in "$mnt/notes.md" "$mnt/none" "$archive" "$mnt/.hartfs"; do
	"$hartfs" wait "$path" 2>"$tmp/err" && fail "wait $path succeeds"
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "wait $path: $(cat "$tmp/err")"
done
do_umount
"$hartfs" cat --index-dir "$index" "$archive/x.stf" hart0/listing.txt >"$tmp/listing" || fail "cat"

# With option block everybody waits, and gets all of it.
begin -o block
for n in 1 2 3; do cat "$mnt/x@stf/hart0/listing.txt" >"$tmp/read$n" 2>"$tmp/err$n" & done
(cat "$mnt/x@stf/hart9" 2>"$tmp/err.hart9"; echo $? >"$tmp/status.hart9") &
(cat "$mnt/long@ntrace/hart0/listing.txt" >/dev/null & echo $! >"$tmp/pid2"; wait $!; echo $? >"$tmp/status.reader") 2>/dev/null &
wait_until [ -s "$tmp/pid2" ]
for n in 1 2 3; do wait_until cmp -s "$tmp/listing" "$tmp/read$n" || fail "reader $n waits for the long one"; done
wait_until [ -s "$tmp/status.hart9" ] || fail "hart9 waits for the long one"
[ -e "$tmp/status.reader" ] && fail "the long one was not waited for"
until_killed "$tmp/pid2" "$tmp/status.reader"
[ -e "$mnt/long@ntrace/INDEXING" ] || fail "the long one was ready too early"
end_long
wait
for n in 1 2 3; do cmp "$tmp/listing" "$tmp/read$n" || fail "reader $n: $(cat "$tmp/err$n")"; done
grep -q 'No such file' "$tmp/err.hart9" || fail "hart9: $(cat "$tmp/err.hart9")"
do_umount

# A mount that ends answers those who wait.
begin -o block
(cat "$mnt/long@ntrace/hart0/listing.txt" 2>/dev/null; echo $? >"$tmp/status.end") &
pid=$(server)
kill -TERM "$(supervisor)"
ends_soon "$pid" "SIGTERM with a look-up that waits"
wait_until no_servers || fail "processes are left: $(servers)"
wait
[ "$(cat "$tmp/status.end")" = 1 ] || fail "who waited ended with $(cat "$tmp/status.end")"
finish
