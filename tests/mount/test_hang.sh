#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A mount whose processes are killed at the worst moment: whoever waits in it gets an error, and nobody is needed to take
# it away.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/kill.sh"
need_fuse
need_root
inner=$tmp/inner
mkdir "$inner"
end() {
	local status=$?
	kill -CONT $(servers) 2>/dev/null
	is_mounted "$inner" && umount -l "$inner"
	kill_cleanup
	(exit $status)
	cleanup
}
trap end EXIT
kill_setup

# While the kernel is told of a changed capture whose bytes readers wait for.
for victim in server both supervisor either; do
	kill_aimed $victim || fail "$victim killed: readers are still there"
	case $victim in
	server)
		wait_until not_mounted "$mnt" || fail "$victim killed: still mounted"
		;;
	supervisor)
		ls "$mnt" >/dev/null || fail "a mount without supervisor does not answer"
		timeout "$patience" "$hartfs" umount "$mnt" || fail "a mount without supervisor cannot be unmounted"
		;;
	*)
		# The next mount takes the dead one away.
		timeout "$patience" "$hartfs" mount "${kill_options[@]}" --log "$log" "$archive" "$mnt" 2>"$tmp/err" ||
			fail "no mount over a dead one: $(cat "$tmp/err")"
		[ $victim = either ] || grep -q 'a dead mount was removed' "$tmp/err" || fail "not told: $(cat "$tmp/err")"
		ls "$mnt" >/dev/null || fail "the new mount does not answer"
		do_umount
		;;
	esac
	wait_until no_servers || fail "$victim killed: processes are left: $(servers)"
done

# Dead mounts on dead mounts.
mkdir "$tmp/mnt2"
for point in "$mnt" "$tmp/mnt2"; do
	"$hartfs" mount "${kill_options[@]}" --log "$log" "$archive" "$point" || fail "no mount"
done
mount --bind "$tmp/mnt2" "$mnt" && mount --bind "$tmp/mnt2" "$mnt" || fail "no bind mounts"
kill -KILL $(servers)
wait_until no_servers
timeout "$patience" "$hartfs" mount "${kill_options[@]}" --log "$log" "$archive" "$mnt" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
[ "$(grep -c 'a dead mount was removed' "$tmp/err")" = 3 ] || fail "not three: $(cat "$tmp/err")"
timeout "$patience" "$hartfs" mount "${kill_options[@]}" "$archive" "$mnt" 2>"$tmp/err" && fail "mounted twice on one place"
grep -q 'mounted there already' "$tmp/err" || fail "$(cat "$tmp/err")"
do_umount
"$hartfs" umount --lazy "$tmp/mnt2" || fail "a dead mount cannot be unmounted"
is_mounted "$tmp/mnt2" && fail "a dead mount is still there"
"$hartfs" umount --quiet --lazy "$tmp/mnt2" 2>"$tmp/err" && fail "unmounted what is not there"
[ -s "$tmp/err" ] && fail "not quiet: $(cat "$tmp/err")"

# A server that cannot be killed: it waits for an archive that does not answer, here another mount, whose server is stopped
# in the middle of a look-up.
# Only such a request keeps what was killed. Its stack is in $stack: one that ends has closed files, and may have let go.
in_request() {
	local task
	for task in /proc/"$victim"/task/*; do
		grep -qs '^State:	D' "$task/status" && stack=$(cat "$task/stack") && [[ $stack == *request_wait_answer* ]] && return
	done
	return 1
}
ended() { not_there "$victim"; }
not_there() { ! [ -e "/proc/$1" ]; }
settled() { ended || in_request; }
# The inner mount has a request that takes long: it waits for an index.
asked() { waits "$number" 1 && nap 0.05 && waits "$number" 1 || no_jobs; }
# get_stuck: a mount of a mount on $mnt, a reader in it, and a server that does not end; its number is in $victim.
get_stuck() {
	local i number stack=
	for ((i = 0; i < 20; i++)); do
		rm -rf "$index" && mkdir "$index"
		"$hartfs" mount -j 1 --index-dir "$index" --log "$log" "$archive" "$inner" || fail "the inner mount"
		mkdir -p "$tmp/outer-index"
		"$hartfs" mount --index-dir "$tmp/outer-index" --log "$log" "$inner" "$mnt" || fail "the outer mount"
		read -r _ blocked < <(processes_of "$inner")
		read -r keeper victim < <(processes_of "$mnt")
		number=$(connection "$inner")
		stat "$mnt/c/x@stf/hart0" "$mnt/c/x@stf@xz/hart0" >/dev/null 2>&1 &
		wait_until asked
		stop "$blocked"
		# Requests that were not taken yet can be given up, those that were not.
		kill -KILL "$victim"
		wait_until settled
		ended || [[ $stack == *do_exit* ]] || return 0
		kill -CONT "$blocked"
		wait
		"$hartfs" umount "$mnt" "$inner" 2>/dev/null
		wait_until no_servers
	done
	[ "$failures" = 0 ] || exit 1
	skip "no server gets stuck"
}
let_go() {
	kill -CONT "$blocked"
	# As long as it is there it uses the inner mount.
	wait_until ended || fail "the server does not end"
	"$hartfs" umount "$inner" || fail "the inner mount stays"
	wait_until no_servers || fail "processes are left: $(servers)"
}
ln -f "$tmp/kill/long.stf.xz" "$archive/c/x.stf.xz"

get_stuck
readers_end || fail "a reader waits for a server that was killed and does not end"
wait_until not_mounted "$mnt" || fail "the supervisor leaves a mount that nobody serves"
let_go
grep -q 'dead and does not end: its connection is aborted' "$log" || fail "the log does not tell of it"

for way in umount mount late; do
	get_stuck
	if [ $way = late ]; then
		stop "$keeper"
	else
		kill -KILL "$keeper"
		wait_until not_there "$keeper"
	fi
	case $way in
	umount)
		timeout "$patience" "$hartfs" umount "$mnt" 2>"$tmp/err" && fail "a server is left, and umount does not tell"
		grep -q 'unmounted, but the server' "$tmp/err" || fail "$(cat "$tmp/err")"
		;;
	mount)
		timeout "$patience" "$hartfs" mount --index-dir "$tmp/outer-index" "$tmp/kill" "$mnt" || fail "mount ended with $?"
		[ -e "$mnt/short.stf.xz" ] || fail "the new mount does not answer"
		"$hartfs" umount "$mnt" || fail "the new mount stays"
		;;
	late)
		# The supervisor ends while umount waits for it: the server is still there.
		timeout "$patience" "$hartfs" umount "$mnt" 2>"$tmp/err" &
		unmounting=$!
		wait_until not_mounted "$mnt" || fail "umount leaves the mount"
		kill -KILL "$keeper"
		wait $unmounting && fail "a supervisor ended, its server is left, and umount does not tell"
		grep -q 'unmounted, but the server' "$tmp/err" || fail "$(cat "$tmp/err")"
		;;
	esac
	readers_end || fail "$way does not end the connection"
	is_mounted "$mnt" && fail "$way leaves the mount"
	let_go
done
finish
