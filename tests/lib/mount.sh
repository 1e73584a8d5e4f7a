# SPDX-License-Identifier: Apache-2.0
# Shared by the mount tests: each has a directory of its own, which is unmounted and removed whatever happens, and
# asserts what the kernel says (mountinfo), not what exit codes say. HARTFS_BIN is the program.
# shellcheck shell=bash
set -u
export LC_ALL=C
hartfs=${HARTFS_BIN:?is the program to test}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-test.XXXXXX") || exit 1
archive=$tmp/archive mnt=$tmp/mnt index=$tmp/index log=$tmp/log
mkdir "$archive" "$mnt" "$index"
failures=0
# nap SECONDS: sleeps without a program of its own, which would cost more than what is waited for.
mkfifo "$tmp/.nothing"
nap() { read -rt "$1" <>"$tmp/.nothing" || :; }
# Seconds after which what should come will not. This bounds hangs, and no verdict is drawn from a shorter time.
patience=600
# A server that is told to end with work under way leaves its threads where they are.
export TSAN_OPTIONS="${TSAN_OPTIONS:-} report_thread_leaks=0"
# A python3 that is a script, as pyenv has, starts a dozen programs before Python: ten times what Python costs.
if [ -x /usr/bin/python3 ] && read -rn 2 shebang <"$(type -P python3)" && [ "$shebang" = '#!' ]; then
	mkdir "$tmp/.path" && ln -s /usr/bin/python3 "$tmp/.path/" && PATH=$tmp/.path:$PATH
fi

cleanup() {
	local status=$? point
	trap - EXIT
	for point in "$mnt" "$tmp/mnt2" "$archive/mnt"; do
		while is_mounted "$point"; do
			umount -l "$point" 2>/dev/null || fusermount3 -u -z "$point" 2>/dev/null || break
		done
	done
	for ((i = 0; i < 50; i++)); do no_servers && break; nap 0.1; done
	for pid in $(servers); do kill -9 "$pid"; done
	if grep -qE 'Sanitizer|runtime error|Assertion|died of signal (4|6|7|8|11)$' "$log" 2>/dev/null; then
		echo "FAIL: the server complains of itself"
		status=1
	fi
	# Also of a test that forgot finish, or that skipped its rest.
	if [ "$failures" -gt 0 ] && { [ "$status" -eq 0 ] || [ "$status" -eq 77 ]; }; then
		status=1
	fi
	if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ -s "$log" ]; then
		sed 's/^/log: /' "$log"
	fi
	rm -rf --one-file-system "$tmp"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

skip() {
	echo "SKIP: $*"
	exit 77
}

fail() {
	echo "FAIL: ${FUNCNAME[1]}:${BASH_LINENO[0]}: $*"
	failures=$((failures + 1))
}

# All of them; with a sanitizer, which learns nothing from a second round of the same code, the first one.
some() {
	if [ -n "${HARTFS_SOME:-}" ]; then echo "$1"; else echo "$@"; fi
}

# To be the last line of a test.
finish() {
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}

need_fuse() {
	[ "$(id -u)" = 0 ] || [ -w /dev/fuse ] || skip "/dev/fuse cannot be used by this user"
	(exec 3<>/dev/fuse) 2>/dev/null || skip "/dev/fuse cannot be opened"
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "only root can do this"
}

# find_servers [WORD]: into $processes, by their start: those of this test's mounts, or with these words in their command.
# A number says nothing of the order, it comes round again. Without a fork, because everybody who waits asks again and again.
find_servers() {
	local proc args stat pid at
	local -A began=() parent=()
	processes=()
	for proc in /proc/[0-9]*; do
		mapfile -d '' -t args <"$proc/cmdline" && [ "${args[0]:-}" = "$hartfs" ] || continue
		[[ " ${args[*]:1}"$'\n' == *"${1:-$tmp}"* ]] && read -r stat <"$proc/stat" || continue
		read -ra stat <<<"${stat##*) }"
		pid=${proc#/proc/} began[$pid]=${stat[19]} parent[$pid]=${stat[1]}
		for ((at = ${#processes[@]}; at > 0; at--)); do
			began_before "$pid" "${processes[at - 1]}" || break
		done
		processes=("${processes[@]:0:at}" "$pid" "${processes[@]:at}")
	done 2>/dev/null
}
# Of find_servers: a parent began before its child, though maybe in the same hundredth of a second.
began_before() {
	[ "${began[$1]}" = "${began[$2]}" ] || { [ "${began[$1]}" -lt "${began[$2]}" ]; return; }
	[ "${parent[$2]}" = "$1" ] || { [ "${parent[$1]}" != "$2" ] && [ "$1" -lt "$2" ]; }
}

servers() {
	local processes
	find_servers
	[ ${#processes[@]} = 0 ] || printf '%s\n' "${processes[@]}"
}
supervisor() { servers | head -n 1; }
server() { servers | tail -n 1; }

is_mounted() {
	local lines line fields
	mapfile -t lines </proc/self/mountinfo
	for line in "${lines[@]}"; do
		[[ $line == *' - fuse.hartfs '* ]] && read -ra fields <<<"$line" && [ "${fields[4]}" = "$1" ] && return
	done
	return 1
}

# wait_until COMMAND...: until the command succeeds.
wait_until() {
	local end=$((SECONDS + patience))
	until "$@" 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		nap 0.05
	done
}

no_servers() {
	local processes
	find_servers
	[ ${#processes[@]} = 0 ]
}
# stop PID: until all of its threads stand still, which takes as long as they are busy.
stop() {
	kill -STOP "$1"
	wait_until stands "$1"
}
stands() { ! grep -h '^State:' /proc/"$1"/task/*/status | grep -qv 'T (stopped)'; }
# works_in PID DIRECTORY
works_in() { [ "/proc/$1/cwd" -ef "$2" ]; }
not_mounted() { ! is_mounted "$1"; }
# measured DIRECTORY...: of slices, whose files come when they have been measured; nobody waits longer than two seconds.
measured() {
	local names directory
	for directory; do
		names=$(ls "$directory") && [ -n "$names" ] && [[ $'\n'$names$'\n' != *$'\nINDEXING\n'* ]] || return
	done
}

# do_mount [OPTION...]: the test's archive on its mountpoint.
do_mount() {
	timeout "$patience" "$hartfs" mount --index-dir "$index" --log "$log" "$@" "$archive" "$mnt"
	case $? in
	0) ;;
	3) [[ " $* " == *" --wait "* ]] || { fail "mount ended with 3"; exit 1; } ;; # some captures are no good
	*) fail "mount ended with an error"; exit 1 ;;
	esac
	is_mounted "$mnt" || { fail "mount succeeded, but nothing is mounted"; exit 1; }
}

do_umount() {
	local processes pid
	pid=$(server)
	timeout "$patience" "$hartfs" umount "$mnt" || fail "umount ended with $?"
	is_mounted "$mnt" && fail "still mounted after umount"
	find_servers
	[ -z "$pid" ] || [[ " ${processes[*]} " != *" $pid "* ]] || fail "umount returned before the server was gone"
	# A supervisor that has just begun has not told of itself yet, and ends behind its server.
	wait_until no_servers || fail "processes are left: $(servers)"
}

# damage_pages FILE...: three bytes in each page of an index file but the first half of its first one.
damage_pages() {
	python3 - "$@" <<-'END'
		import os, sys
		for name in sys.argv[1:]:
		    fd = os.open(name, os.O_WRONLY)
		    for at in range(5000, os.fstat(fd).st_size, 4096):
		        os.pwrite(fd, b"xyz", at)
	END
}

# Files that are no captures, for tests that only need a tree.
plain_archive() {
	mkdir -p "$archive/sub/deep"
	echo hello >"$archive/sub/hello.txt"
	head -c 3000000 /dev/urandom >"$archive/random.bin"
	: >"$archive/empty"
	ln -s sub/hello.txt "$archive/link"
}

# The captures of tests/data, and with them whatever HARTFS_CORPUS has of STF.
capture_archive() {
	[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
	cp -r "$HARTFS_DATA/archive/." "$archive/"
}

# short_boot [BYTES]: of the 870,000 instructions of the boot capture only the first 142,000, up to where a record ends.
short_boot() {
	gzip -dc "$archive/boot/rv-sys.stf.gz" | head -c "${1:-1627218}" | gzip -1 >"$tmp/short.gz"
	mv "$tmp/short.gz" "$archive/boot/rv-sys.stf.gz"
}
# short_archive: the captures of tests/data, but only the first 42,000 and 27,000 instructions.
short_archive() {
	capture_archive
	short_boot 460004
	truncate -s 319987 "$archive/mini/rv32-mini.stf"
}

# For find: what changes by itself is left out. To look into profile/ is to have its files made, which it then lists.
steady=(! \( \( -name .hartfs -o -path '*/hart[0-9]*/profile' \) -prune \))

# Every regular file below the mount, but not what changes by itself.
all_files() {
	(cd "$1" && find . "${steady[@]}" -type f -print | sort)
}

# The view directories of the captures.
view_dirs() {
	(cd "$mnt" && find . "${steady[@]}" -type d -name '*@*' -print | sort)
}

# The listings there are: the big text views.
listings() {
	(cd "$mnt" && find . "${steady[@]}" -name listing.txt -print | sort)
}

# What must not change about the archive: names, inodes, sizes, times, owners.
snapshot() {
	(cd "$archive" && find . -printf '%p %i %s %T@ %C@ %m %u %n\n' | sort)
}
