#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every process that decodes confines itself: what the kernel says of them, and what happens where it cannot.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
need_root
short_archive
chmod 755 "$tmp"

# A build for ThreadSanitizer or AddressSanitizer has no list of system calls, and says so.
filter=2
"$hartfs" cat -v --index-dir "$index" "$archive/notes.md" 2>"$tmp/said" >/dev/null || fail "cat of a plain file"
grep -q 'no seccomp: built with a sanitizer' "$tmp/said" && filter=0
grep -q 'sandbox=off' "$tmp/said" && skip "this build, for coverage, confines nothing unless it is asked to"
[ $filter = 2 ] && grep -q 'not confined as it could be' "$tmp/said" && skip "this machine cannot: $(cat "$tmp/said")"
grep -q 'confined: Landlock [0-9]*, .*capabilities: dac_read_search' "$tmp/said" ||
	fail "cat -v does not say how it is confined: $(cat "$tmp/said")"

# field PID NAME: of what the kernel says of a process.
field() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"; }
is_confined() { [ "$(field "$1" NoNewPrivs)" = 1 ] && [ "$(field "$1" Seccomp)" = "$filter" ]; }

# check_process PID CAPABILITIES WHAT
check_process() {
	local set
	wait_until is_confined "$1" || fail "$3: Seccomp $(field "$1" Seccomp), NoNewPrivs $(field "$1" NoNewPrivs)"
	for set in CapPrm CapEff; do
		[ "$(field "$1" $set)" = "$2" ] || fail "$3: $set is $(field "$1" $set)"
	done
	for set in CapInh CapBnd CapAmb; do
		[ "$(field "$1" $set)" = 0000000000000000 ] || fail "$3: $set is $(field "$1" $set)"
	done
}

# The server of a shared mount, and its supervisor, which can unmount, and with a log file open that again.
do_mount --wait -o allow_other
check_process "$(server)" 0000000000000004 "the server"
check_process "$(supervisor)" 0000000000200006 "the supervisor"
grep -q '"sandbox": "Landlock [0-9]*, .*capabilities: dac_read_search' "$mnt/.hartfs/status.json" ||
	fail "status.json: $(grep sandbox "$mnt/.hartfs/status.json")"
grep -q 'confined: Landlock' "$log" || fail "the log does not say how the server is confined"
cat "$mnt/boot/rv-sys@stf@gz/hart0/listing.txt" >"$tmp/listing" || fail "a confined server does not read"
do_umount

# The commands, each while it waits for room in a pipe that is full.
mkfifo "$tmp/fifo"
for command in "cat $archive/boot/rv-sys.stf.gz hart0/listing.txt" "info $archive" "info $archive/boot/rv-sys.stf.gz" \
	"index $archive" "verify $archive/mini" "index --prune --dry-run"; do
	# What --prune can name.
	touch -d '2 days ago' "$index/.0123456789abcdef0123456789abcdef.hfi.part"
	exec 3<>"$tmp/fifo"
	dd if=/dev/zero of="$tmp/fifo" oflag=nonblock bs=4096 count=1024 2>/dev/null
	# shellcheck disable=SC2086
	"$hartfs" $command --index-dir "$index" >"$tmp/fifo" 3>&- 2>"$tmp/err" &
	pid=$!
	check_process $pid 0000000000000004 "$command"
	# What it is allowed to open does not depend on what the kernel remembers.
	echo 3 2>/dev/null >/proc/sys/vm/drop_caches
	cat <"$tmp/fifo" >"$tmp/out" 3>&- &
	reader=$!
	exec 3>&-
	wait $pid || fail "$command ended with $?: $(cat "$tmp/err")"
	wait $reader
done

# A server that was taken over tells its supervisor of a mount that is another's, again and again: that one lives.
if command -v python3 >/dev/null; then
	mkdir "$tmp/mnt2"
	do_mount
	"$hartfs" mount --index-dir "$index" "$archive/mini" "$tmp/mnt2" || fail "a second mount"
	find_servers "$mnt"$'\n'
	keeper=${processes[0]} victim=${processes[1]} number=$(mountpoint -d "$tmp/mnt2")
	find_servers "$tmp/mnt2"$'\n'
	# Both have told their names before they confine themselves.
	for pid in "$keeper" "${processes[0]}"; do wait_until is_confined "$pid"; done
	# But for what it reads in /proc, of its server, from time to time.
	what_it_has() {
		local fd
		for fd in "/proc/$keeper/fd/"*; do
			fd=$(readlink -v "$fd") && [[ $fd != /proc/* ]] && echo "$fd"
		done 2>/dev/null
		grep -o "@hartfs-$number-.*" /proc/net/unix | sort -u
	}
	what_it_has >"$tmp/had"
	python3 - "$victim" "$tmp/mnt2" <<-'END' || fail "the reports"
		import ctypes, fcntl, os, socket, struct, sys, termios, time
		victim, point = int(sys.argv[1]), sys.argv[2]
		libc = ctypes.CDLL(None)
		PIDFD_OPEN, PIDFD_GETFD = 434, 438
		pidfd = libc.syscall(PIDFD_OPEN, victim, 0)
		copies = [libc.syscall(PIDFD_GETFD, pidfd, int(fd), 0) for fd in os.listdir(f"/proc/{victim}/fd")
		          if os.readlink(f"/proc/{victim}/fd/{fd}").startswith("socket:")]
		to, = [s for s in map(lambda fd: socket.socket(fileno=fd), copies) if s.type == socket.SOCK_SEQPACKET]
		def taken():
		    return struct.unpack("i", fcntl.ioctl(to, termios.TIOCOUTQ, b"    "))[0] == 0
		MOUNTED = 1
		for _ in range(200):
		    to.send(struct.pack("=i4xQQi4x", MOUNTED, os.stat(point).st_dev, time.monotonic_ns(), 0))
		    while not taken():
		        time.sleep(0.001)
	END
	# It takes signals when it is done with a report.
	mv "$log" "$log.1"
	kill -HUP "$keeper"
	wait_until [ -s "$log" ] || fail "no new log"
	what_it_has | diff "$tmp/had" - >"$tmp/diff" || fail "the supervisor's descriptors and names: $(cat "$tmp/diff")"
	kill -KILL "$victim"
	wait_until not_mounted "$mnt" || fail "the mount of the server that was killed stays"
	[ -e "$tmp/mnt2/rv32-mini.stf" ] || fail "another mount was ended"
	"$hartfs" umount "$tmp/mnt2" || fail "the second mount cannot be unmounted"
	wait_until no_servers || fail "processes are left: $(servers)"
fi

# Off is off, and said; anything else is an error.
do_mount -o sandbox=off
[ "$(field "$(server)" Seccomp)" = 0 ] || fail "sandbox=off: there is a filter"
grep -q '"sandbox": "off"' "$mnt/.hartfs/status.json" || fail "sandbox=off: status.json does not say so"
grep -q 'not confined: sandbox=off' "$log" || fail "sandbox=off: the log does not say so"
do_umount
"$hartfs" cat --sandbox=maybe "$archive/notes.md" 2>/dev/null
[ $? = 2 ] || fail "--sandbox=maybe is no usage error"

# A kernel without Landlock.
command -v python3 >/dev/null || skip "python3 is needed for the rest"
without() { timeout "$patience" python3 "$(dirname "$0")/../lib/without.py" landlock "$hartfs" "$@" --index-dir "$index"; }
for options in allow_other allow_other,sandbox=required sandbox=required; do
	without mount -o $options "$archive" "$mnt" 2>"$tmp/err" && fail "-o $options without Landlock is mounted"
	is_mounted "$mnt" && fail "-o $options without Landlock stays mounted"
	grep -q 'required, but this kernel has no Landlock' "$tmp/err" || fail "-o $options: $(cat "$tmp/err")"
done
: >"$log"
without mount --log "$log" -o allow_other,sandbox=try "$archive" "$mnt" || fail "-o sandbox=try without Landlock"
grep -q 'not confined as it could be: this kernel has no Landlock' "$log" || fail "-o sandbox=try: nothing in the log"
do_umount
without cat "$archive/notes.md" >/dev/null 2>"$tmp/err" || fail "cat without Landlock"
[ -s "$tmp/err" ] && fail "cat without Landlock says $(cat "$tmp/err")"
without verify --sandbox=required "$archive/mini" >/dev/null 2>"$tmp/err" && fail "verify --sandbox=required"
grep -q 'required, but this kernel has no Landlock' "$tmp/err" || fail "verify --sandbox=required: $(cat "$tmp/err")"
# A kernel without seccomp has no Landlock either; both are said.
timeout "$patience" python3 "$(dirname "$0")/../lib/without.py" landlock,seccomp "$hartfs" cat -v --index-dir "$index" "$archive/notes.md" \
	>/dev/null 2>"$tmp/err" || fail "cat without seccomp: $(cat "$tmp/err")"
[ "$filter" = 0 ] || grep -q 'this kernel has no Landlock; no seccomp: this kernel has no seccomp' "$tmp/err" ||
	fail "cat -v without seccomp: $(cat "$tmp/err")"

# Root without its capabilities cannot write where only somebody else may.
mkdir -m 700 "$tmp/theirs"
chown 65534 "$tmp/theirs"
"$hartfs" cat --index-dir "$tmp/theirs" "$archive/notes.md" 2>"$tmp/err" >/dev/null
grep -q 'indexes cannot be kept: the index directory belongs to user 65534' "$tmp/err" ||
	fail "nothing about an index directory of somebody else: $(cat "$tmp/err")"
finish
