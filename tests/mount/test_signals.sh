#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# However a mount ends, it ends whole: no dead mountpoint, no process, and the supervisor's status tells.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
plain_archive

has_two() { [ "$(servers | wc -l)" = 2 ]; }
gone() {
	wait_until not_mounted "$mnt" || fail "$1: still mounted"
	wait_until no_servers || fail "$1: processes are left: $(servers)"
	ls "$mnt" >/dev/null || fail "$1: a dead mountpoint is left"
}

for signal in TERM INT; do
	do_mount
	[ "$(servers | wc -l)" = 2 ] || fail "not two processes: $(servers)"
	kill -$signal "$(supervisor)"
	gone "SIG$signal to the supervisor"
done

do_mount
kill -TERM "$(server)"
gone "SIGTERM to the server"

do_mount
kill -KILL "$(server)"
gone "SIGKILL to the server"

# The same while files are open and directories are somebody's own.
do_mount
exec 5<"$mnt/random.bin"
(cd "$mnt/sub" && exec sleep "$patience") &
sleeper=$!
wait_until works_in "$sleeper" "$mnt/sub"
kill -TERM "$(supervisor)"
gone "SIGTERM to the supervisor of a busy mount"
cat <&5 >/dev/null 2>&1
exec 5<&-
kill $sleeper

do_mount
exec 5<"$mnt/random.bin"
kill -KILL "$(server)"
gone "SIGKILL to the server of a busy mount"
exec 5<&-

# Without its supervisor a mount lives on, and can be unmounted.
do_mount
kill -KILL "$(supervisor)"
cmp "$archive/random.bin" "$mnt/random.bin" || fail "a mount without supervisor does not answer"
"$hartfs" umount "$mnt" || fail "a mount without supervisor cannot be unmounted"
gone "SIGKILL to the supervisor"

# The kernel gives a number of a device that is gone to the next mount, maybe while the server behind the former has not
# ended yet: umount must not take that one for its own.
device() { stat -c %D "$1"; }
# Leaves a server that is stopped, without its mount, and another mount of the same number on mnt2.
reuse_number() {
	local number end=$((SECONDS + patience))
	while :; do
		do_mount
		number=$(device "$mnt") slow=$(server)
		stop "$slow"
		umount -l "$mnt"
		mkdir -p "$tmp/mnt2"
		"$hartfs" mount --index-dir "$index" "$archive" "$tmp/mnt2" || fail "a second mount"
		[ "$(device "$tmp/mnt2")" != "$number" ] || return 0
		[ "$SECONDS" -lt "$end" ] || { fail "the number is never used again"; exit 1; }
		# Another test has got it.
		kill -CONT "$slow"
		"$hartfs" umount "$tmp/mnt2"
		wait_until no_servers || fail "processes are left: $(servers)"
	done
}
# The supervisor of the second mount may have told of itself, or not (which looks as if it had been killed): the one of the
# first lives in any case.
for second in whole killed; do
	reuse_number
	[ $second = whole ] || kill -KILL "$(servers | sed -n 3p)"
	timeout "$patience" "$hartfs" umount "$tmp/mnt2" || fail "umount of a mount whose supervisor is $second ended with $?"
	wait_until has_two && [ "$(server)" = "$slow" ] || fail "umount waited for another server: $(servers)"
	kill -CONT "$slow"
	gone "a number that is used again"
done

# Nor must a late supervisor, whose mount somebody else took away, unmount the next one.
reused=
for ((i = 0; i < 20 && $(id -u) == 0; i++)); do
	do_mount
	number=$(device "$mnt") late=$(supervisor)
	stop "$late"
	kill -KILL "$(server)"
	umount -l "$mnt"
	"$hartfs" mount --index-dir "$index" "$archive" "$mnt" || fail "a mount after one that was taken away"
	[ "$(device "$mnt")" = "$number" ] && reused=yes
	kill -CONT "$late"
	ended() { ! [ -e "/proc/$late" ]; }
	wait_until ended || fail "a supervisor without mount does not end"
	is_mounted "$mnt" && cmp "$archive/random.bin" "$mnt/random.bin" || fail "a late supervisor unmounts another mount"
	"$hartfs" umount "$mnt" || fail "umount"
	wait_until no_servers || fail "processes are left: $(servers)"
	[ -z "$reused" ] || break
done

has() { grep -qs "$2" "$1"; }
# A mount whose processes are slow to end, on a slow disk: umount waits, however long that takes, and says so.
do_mount
slow=$(supervisor)
stop "$slow"
timeout "$patience" "$hartfs" umount "$mnt" 2>"$tmp/err" &
unmounting=$!
wait_until has "$tmp/err" 'unmounted; waiting for the server' || fail "umount does not say that it waits: $(cat "$tmp/err")"
kill -CONT "$slow"
wait $unmounting || fail "umount of a slow mount ended with $?"
gone "a slow end"

# SIGHUP opens the log anew, whoever gets it, and unmounts nothing.
do_mount
for who in supervisor server both; do
	mv "$log" "$log.1"
	case $who in
	both) kill -HUP $(servers) ;;
	*) kill -HUP "$($who)" ;;
	esac
	wait_until has "$log" 'opened anew' || fail "SIGHUP to $who: no new log"
	is_mounted "$mnt" && cmp "$archive/random.bin" "$mnt/random.bin" || fail "SIGHUP to $who: the mount does not answer"
done
# Nor is the server's own lost while the supervisor's new file is on its way.
stop "$(server)"
rm "$log"
kill -HUP "$(supervisor)"
wait_until has "$log" 'opened anew' || fail "SIGHUP to supervisor of a stopped server: no new log"
mv "$log" "$log.2"
kill -HUP "$(server)"
kill -CONT "$(server)"
wait_until has "$log" 'opened anew' || fail "SIGHUP to a server that is about to get a new log: no newer log"
[ "$(stat -c %a "$log")" = 600 ] || fail "the new log's mode is $(stat -c %a "$log")"
# Nor is a new one that comes together with the end.
stop "$(server)"
mv "$log" "$log.3"
kill -HUP "$(supervisor)"
wait_until has "$log" 'opened anew' || fail "SIGHUP to supervisor of a stopped server: no new log"
ending=$(server)
kill -TERM "$ending"
kill -CONT "$ending"
gone "SIGTERM to the server with a new log"
has "$log" 'was unmounted' || fail "a server that ends writes to the old log"
do_mount
# A directory that is gone: the old file stays, and says so.
mkdir "$tmp/logs"
do_umount
has "$log" 'was unmounted' || fail "the server writes to the old log"
has "$log.1" 'was unmounted' && fail "the old log is still written"
(cd "$tmp" && "$hartfs" mount --index-dir "$index" --log logs/hartfs.log "$archive" "$mnt") || fail "no mount"
mv "$tmp/logs" "$tmp/rotated"
kill -HUP "$(supervisor)"
wait_until has "$tmp/rotated/hartfs.log" 'logs/hartfs.log cannot be opened anew: No such file' || fail "a failure is not told"
do_umount
has "$tmp/rotated/hartfs.log" 'was unmounted' || fail "the old log is not written any more"
# Without a log there is nothing to be done, without supervisor nobody to do it.
"$hartfs" mount --index-dir "$index" "$archive" "$mnt" || fail "no mount"
kill -HUP $(servers)
kill -KILL "$(supervisor)"
kill -HUP "$(server)"
ls "$mnt" >/dev/null || fail "SIGHUP ended a mount"
do_umount

# The started process waits for the mount: a terminal that is closed is no reason to stop that; if it is killed, nobody
# waits any more, and the mount is as any other.
for signal in HUP KILL; do
	rm -rf "$index" && mkdir "$index"
	"$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" 2>/dev/null &
	front=$!
	wait_until is_mounted "$mnt" || fail "no mount"
	kill -$signal $front 2>/dev/null
	wait $front 2>/dev/null
	status=$?
	# 137: killed. Without that it may have been ready before the signal.
	[ $status = 0 ] || { [ $signal = KILL ] && [ $status = 137 ]; } || fail "SIG$signal to the started process: $status"
	nap 0.2
	wait_until has "$log" 'is mounted on' || fail "SIG$signal to the started process: not mounted"
	wait_until has_two || fail "SIG$signal to the started process: $(servers | wc -l) processes"
	do_umount
done

# In the foreground the command itself is the supervisor.
"$hartfs" mount -f --index-dir "$index" "$archive" "$mnt" 2>"$tmp/foreground" &
front=$!
wait_until is_mounted "$mnt" || fail "no mount from the foreground"
wait_until test -e "$mnt/random.bin" || fail "no answer from the foreground"
kill -HUP $front
nap 0.2
ls "$mnt" >/dev/null && is_mounted "$mnt" || fail "SIGHUP ended a mount in the foreground"
kill -TERM $front
wait $front
status=$?
[ $status = 0 ] || fail "the foreground ended with $status: $(cat "$tmp/foreground")"
gone "SIGTERM in the foreground"

"$hartfs" mount -f --index-dir "$index" "$archive" "$mnt" 2>"$tmp/foreground" &
front=$!
wait_until test -e "$mnt/random.bin" || fail "no answer from the foreground"
kill -KILL "$(server)"
wait $front
[ $? = 1 ] || fail "a dead server in the foreground goes unnoticed"
gone "SIGKILL in the foreground"
grep -q 'signal 9' "$tmp/foreground" || fail "the log does not tell of it"
finish
