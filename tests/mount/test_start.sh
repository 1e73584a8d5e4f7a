#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is killed while a mount starts, hartfs mount tells the truth: 0 and the mount answers, or not 0 and nothing of
# it is left.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/hostile.sh"
need_fuse
plain_archive

# begin: a mount whose start takes for ever; its processes are in $front, $keeper and $victim, all is said in $tmp/err.
three() { [ "$(servers | wc -l)" = 3 ]; }
begin() {
	loop long
	"$hartfs" mount --wait --expansion=0 -j 1 --index-dir "$index" --log "$log" "$archive" "$mnt" 2>"$tmp/err" &
	front=$!
	wait_until is_mounted "$mnt" || fail "no mount"
	three || fail "not three processes: $(servers)"
	keeper=$(servers | sed -n 2p) victim=$(server)
}
ends_with() {
	wait $front
	local status=$?
	[ $status = "$1" ] || fail "$2: hartfs mount ended with $status, not $1: $(cat "$tmp/err")"
}
nothing_left() {
	is_mounted "$mnt" && fail "$1: still mounted"
	no_servers || fail "$1: processes are left: $(servers)"
	ls "$mnt" >/dev/null || fail "$1: a dead mountpoint is left"
	do_mount -j 1
	do_umount
}

begin
kill -KILL "$keeper"
ends_with 1 "the supervisor killed"
grep -q "$mnt: the supervisor was killed before the mount answered: nothing is mounted$" "$tmp/err" ||
	fail "the supervisor killed: $(cat "$tmp/err")"
nothing_left "the supervisor killed"

begin
kill -KILL "$keeper" "$victim"
ends_with 1 "both killed"
nothing_left "both killed"

begin
kill -KILL "$victim"
ends_with 1 "the server killed"
nothing_left "the server killed"

# Somebody waits in the mount: it goes all the same.
begin
exec 5<"$mnt/random.bin"
(cd "$mnt/sub" && exec sleep "$patience") &
sleeper=$!
wait_until works_in "$sleeper" "$mnt/sub"
kill -KILL "$keeper"
ends_with 1 "the supervisor of a busy mount killed"
exec 5<&-
kill $sleeper
nothing_left "the supervisor of a busy mount killed"

# The server itself says that the mount answers. A supervisor that is killed then is not needed.
begin
stop "$keeper"
head -c 20 "$archive/long/trace.bin" >"$tmp/short"
mv "$tmp/short" "$archive/long/trace.bin"
front_ended() { stat "$mnt/long@ntrace/info.json" >/dev/null; ! [ -e "/proc/$front" ]; }
wait_until front_ended || fail "hartfs mount waits for a supervisor that stands still"
kill -KILL "$keeper"
ends_with 0 "the supervisor killed when the mount answered"
cmp "$archive/random.bin" "$mnt/random.bin" || fail "a mount without supervisor does not answer"
do_umount

# At any moment.
for ((i = 0; i < 20; i++)); do
	"$hartfs" mount --index-dir "$index" --log "$log" "$archive" "$mnt" 2>"$tmp/err" &
	front=$!
	sleep "0.0$((i % 10))"
	# Of the children of hartfs mount the supervisor is the one that stays.
	read -r keeper 2>/dev/null <"/proc/$front/task/$front/children" && kill -KILL $keeper 2>/dev/null
	wait $front
	case $? in
	0)
		cmp "$archive/random.bin" "$mnt/random.bin" || fail "hartfs mount ended with 0, and nothing answers"
		do_umount
		;;
	*)
		is_mounted "$mnt" && fail "hartfs mount ended with an error, and something is mounted"
		no_servers || fail "hartfs mount ended with an error, and left processes: $(servers)"
		;;
	esac
done
finish
