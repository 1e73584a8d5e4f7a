#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What somebody looks at is indexed first, also when the only thread that indexes is busy with a capture that takes an
# hour: that one is put aside, goes on afterwards and ends right, and a mount ends meanwhile as quickly as ever.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/hostile.sh"
need_fuse
short_archive
cp "$archive/mini/rv32-mini.stf" "$archive/small.stf"
rm -rf "${archive:?}/mini"

# loops NAME COUNT: as loop, of so many times four million branches.
loops() {
	loop "$1"
	head -c $((8 + $2 * 7)) "$archive/$1/trace.bin" >"$tmp/short"
	mv "$tmp/short" "$archive/$1/trace.bin"
}
loops long 60
loops longer 59
# A sanitizer makes it ten times slower.
count=6
grep -qE '__asan_init|__tsan_init' "$hartfs" && count=2
loops some $count
ready() { [ -s "$mnt/$1/hart0/listing.txt" ]; }
is_indexing() { [ -e "$mnt/$1/INDEXING" ]; }
text() { cat "$mnt/$1/INDEXING"; }
is_aside() { grep -qE '^ +[0-9.]+% indexed, put aside for another capture *$' "$mnt/$1/INDEXING"; }

# Undisturbed.
"$hartfs" index --index-dir "$tmp/index2" -q "$archive/some" "$archive/small.stf" || fail "index"
# The end of its listing, which has millions of lines.
end_of_some() {
	local insns
	insns=$("$hartfs" info --json --index-dir "$tmp/index2" "$archive/some" | sed -n 's/^ *"instructions": \([0-9]*\).*/\1/p' | head -n 1)
	"$hartfs" cat --index-dir "$tmp/index2" "$archive/some" "hart0/at/$((insns - 4000))-/listing.txt" | tail -n 3000 | sha256sum
}
end_of_some >"$tmp/some"

do_mount --expansion=0 -j 1
stat "$mnt/long@ntrace/hart0" >/dev/null 2>&1
wait_until is_indexing long@ntrace || fail "the long one is not being indexed"
at_work "$(server)" || fail "the server does nothing"
# A small one.
wait_until ready small@stf || fail "the small one waits for the long one"
is_indexing long@ntrace || fail "the long one is ready: $(ls "$mnt/long@ntrace")"
# Another one that takes as long, which becomes ordinary itself, and one that ends in some seconds.
stat "$mnt/longer@ntrace/hart0" >/dev/null 2>&1
wait_until is_aside long@ntrace || fail "it is not put aside: $(text long@ntrace)"
before=$(text long@ntrace)
grep -qE '^ +[0-9.]+% +aside  long$' "$mnt/.hartfs/progress.txt" || fail "progress: $(cat "$mnt/.hartfs/progress.txt")"
state_of() { python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.hartfs.state").decode())' "$1"; }
[ "$(state_of "$mnt/long@ntrace")" = indexing ] || fail "its state: $(state_of "$mnt/long@ntrace")"
timeout "$patience" "$hartfs" wait "$mnt/some" || fail "wait: $?"
[ "$(tail -n 3000 "$mnt/some@ntrace/hart0/listing.txt" | sha256sum)" = "$(cat "$tmp/some")" ] || fail "it came out otherwise"
is_indexing long@ntrace && is_indexing longer@ntrace || fail "a long one is ready"
# What was put aside goes on when somebody looks at it.
goes_on() { stat "$mnt/long@ntrace/hart0" >/dev/null 2>&1; [ "$(text long@ntrace)" != "$before" ] && ! is_aside long@ntrace; }
wait_until goes_on || fail "the long one does not go on: $(text long@ntrace)"
wait_until is_aside longer@ntrace || fail "the other one is not put aside: $(text longer@ntrace)"
grep -q 'changed\|failed\|damaged' "$log" && fail "the log: $(cat "$log")"
# The end, with one that is put aside.
pid=$(server)
kill -TERM "$(supervisor)"
ends_soon "$pid" "SIGTERM with a capture that is put aside"
wait_until no_servers || fail "processes are left: $(servers)"

# What was put aside is not lost: alone it comes to its end, from where it was.
rm -r "$archive/long" "$archive/longer"
do_mount --expansion=0 -j 1
stat "$mnt/some@ntrace/hart0" >/dev/null 2>&1
timeout "$patience" "$hartfs" wait "$mnt" || fail "wait for all: $?"
[ "$(tail -n 3000 "$mnt/some@ntrace/hart0/listing.txt" | sha256sum)" = "$(cat "$tmp/some")" ] || fail "it came out otherwise"
do_umount

# One that is put aside again and again ends right, its views and all. A fast machine is done with it before somebody has
# looked at another one: then it has to be a longer one.
begun() { is_indexing some@ntrace || ready some@ntrace; }
line_of() { grep -n " $1: indexed" "$log" | tail -n 1 | cut -d: -f1; }
for n in 1 2 3 4 5 6; do head -c $((3000 + n)) /dev/zero | cat "$archive/small.stf" - >"$archive/s$n.stf"; done
for times in 1 3 7; do
	loops some $((count * times))
	"$hartfs" index --index-dir "$tmp/index2" -q "$archive/some" || fail "index of $times times as many"
	end_of_some >"$tmp/some"
	rm -rf "${index:?}"/*
	do_mount --expansion=0 -j 1
	# A look waits up to two seconds, in which a fast machine is half done.
	stat "$mnt/some@ntrace/hart0" >/dev/null 2>&1 &
	wait_until begun || fail "it is not being indexed"
	for n in 1 2 3 4 5 6; do
		wait_until ready "s$n@stf" || fail "s$n waits"
		nap 0.2
	done
	timeout "$patience" "$hartfs" wait "$mnt/some" || fail "wait: $?"
	[ "$(tail -n 3000 "$mnt/some@ntrace/hart0/listing.txt" | sha256sum)" = "$(cat "$tmp/some")" ] || fail "it came out otherwise"
	do_umount
	[ "$(line_of s1.stf)" -ge "$(line_of some)" ] || finish
done
fail "it was not put aside: $(cat "$log")"
finish
