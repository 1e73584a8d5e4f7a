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
# A server that is told to end with work under way leaves its threads where they are.
export TSAN_OPTIONS="${TSAN_OPTIONS:-} report_thread_leaks=0"

cleanup() {
	local status=$? point
	trap - EXIT
	for point in "$mnt" "$tmp/mnt2" "$archive/mnt"; do
		while is_mounted "$point"; do
			umount -l "$point" 2>/dev/null || fusermount3 -u -z "$point" 2>/dev/null || break
		done
	done
	for ((i = 0; i < 50; i++)); do [ -z "$(servers)" ] && break; sleep 0.1; done
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

# Processes of this test's mounts, supervisors first.
servers() {
	local proc args
	for proc in /proc/[0-9]*; do
		args=$(tr '\0' '\n' 2>/dev/null <"$proc/cmdline") || continue
		case $args in
		"$hartfs"$'\n'*"$tmp"*) echo "${proc#/proc/}" ;;
		esac
	done | sort -n
}

supervisor() { servers | head -n 1; }
server() { servers | tail -n 1; }

is_mounted() {
	awk -v p="$1" '$5 == p && / - fuse\.hartfs / {found = 1} END {exit !found}' /proc/self/mountinfo
}

# wait_until COMMAND...: until the command succeeds, for as long as the slowest machine may take.
wait_until() {
	local end=$((SECONDS + 400))
	until "$@" 2>/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

no_servers() { [ -z "$(servers)" ]; }
not_mounted() { ! is_mounted "$1"; }

# do_mount [OPTION...]: the test's archive on its mountpoint.
do_mount() {
	timeout 300 "$hartfs" mount --index-dir "$index" --log "$log" "$@" "$archive" "$mnt"
	case $? in
	0) ;;
	3) [[ " $* " == *" --wait "* ]] || { fail "mount ended with 3"; exit 1; } ;; # some captures are no good
	*) fail "mount ended with an error"; exit 1 ;;
	esac
	is_mounted "$mnt" || { fail "mount succeeded, but nothing is mounted"; exit 1; }
}

do_umount() {
	timeout 300 "$hartfs" umount "$mnt" || fail "umount ended with $?"
	is_mounted "$mnt" && fail "still mounted after umount"
	no_servers || fail "umount returned before the server was gone: $(servers)"
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

# Every regular file below the mount, but not what changes by itself.
all_files() {
	(cd "$1" && find . -name .hartfs -prune -o -type f -print | sort)
}

# The view directories of the captures.
view_dirs() {
	(cd "$mnt" && find . -name .hartfs -prune -o -type d -name '*@*' -print | sort)
}

# The listings there are: the big text views.
listings() {
	(cd "$mnt" && find . -name .hartfs -prune -o -name listing.txt -print | sort)
}

# What must not change about the archive: names, inodes, sizes, times, owners.
snapshot() {
	(cd "$archive" && find . -printf '%p %i %s %T@ %C@ %m %u %n\n' | sort)
}
