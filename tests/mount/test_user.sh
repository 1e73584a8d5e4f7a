#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user mounts, reads and unmounts. Where /dev/fuse is root's alone this happens in a mount namespace of its
# own, with a node that everyone may open in its place.
. "$(dirname "$0")/../lib/mount.sh"

user_part() {
	plain_archive
	before=$(snapshot)
	do_mount
	cmp "$archive/random.bin" "$mnt/random.bin" || fail "a file differs"
	grep " $mnt " /proc/self/mountinfo | grep -q "user_id=$(id -u)" || fail "not this user's mount"
	do_umount
	do_mount
	kill -TERM "$(supervisor)"
	wait_until not_mounted "$mnt" || fail "SIGTERM to the supervisor leaves it mounted"
	do_mount
	kill -KILL "$(server)"
	wait_until not_mounted "$mnt" || fail "a dead server leaves a dead mount"
	wait_until no_servers || fail "processes are left: $(servers)"
	# Both killed leave a dead mount, which the next mount, or umount, takes away.
	for next in mount umount; do
		do_mount
		kill -KILL $(servers)
		wait_until no_servers || fail "processes are left: $(servers)"
		is_mounted "$mnt" || fail "who unmounted it?"
		[ $next = umount ] || do_mount
		do_umount
	done
	"$hartfs" mount --index-dir "$index" -o allow_other "$archive" "$mnt" 2>"$tmp/err" && {
		grep -q '^user_allow_other' /etc/fuse.conf || fail "allow_other without permission"
		do_umount
	}
	[ "$(snapshot)" = "$before" ] || fail "the archive was written"
	finish
}

command -v fusermount3 >/dev/null || skip "there is no fusermount3"
if [ "$(id -u)" != 0 ]; then
	need_fuse
	user_part
fi
if [ "${1:-}" != inside ]; then
	command -v unshare >/dev/null && command -v setpriv >/dev/null || skip "unshare and setpriv are needed"
	chmod 755 "$tmp"
	unshare -m --propagation private true 2>/dev/null || skip "no mount namespace to be had"
	# The error of a device that may not be opened is explained, in a line.
	if [ "$(stat -c %a /dev/fuse)" = 600 ]; then
		chown -R 65534:65534 "$tmp"
		setpriv --reuid 65534 --regid 65534 --clear-groups "$hartfs" mount --index-dir "$index" "$archive" "$mnt" \
			2>"$tmp/err" && fail "mounted without the device"
		[ "$(wc -l <"$tmp/err")" = 1 ] && grep -q 'mode should be 0666' "$tmp/err" || fail "unclear: $(cat "$tmp/err")"
	fi
	unshare -m --propagation private bash "$0" inside
	status=$?
	[ "$failures" = 0 ] || exit 1
	exit $status
fi
. "$(dirname "$0")/../lib/namespace.sh"
forget_other_mounts
# The node's place must not be mounted nodev, nor the program out of this user's reach.
mkdir "$tmp/node" && mknod "$tmp/node/fuse" c 10 229 && chmod 666 "$tmp/node/fuse" &&
	mount --bind "$tmp/node/fuse" /dev/fuse || skip "no device node can be put over /dev/fuse"
cp "$hartfs" "$tmp/hartfs" && chmod 755 "$tmp" "$tmp/hartfs"
setpriv --reuid 65534 --regid 65534 --clear-groups bash -c 'exec 3<>/dev/fuse' 2>/dev/null || skip "the node does not work"
HARTFS_BIN=$tmp/hartfs TMPDIR=$tmp/user
export HARTFS_BIN TMPDIR
mkdir "$TMPDIR" && chown 65534:65534 "$TMPDIR"
# Without fusermount3 it is said what to do.
: >"$tmp/nothing"
mkdir "$TMPDIR/mnt" && chown 65534:65534 "$TMPDIR/mnt"
mount --bind "$tmp/nothing" "$(command -v fusermount3)" || skip "fusermount3 cannot be hidden"
setpriv --reuid 65534 --regid 65534 --clear-groups "$HARTFS_BIN" mount --index-dir "$TMPDIR/index" "$archive" "$TMPDIR/mnt" \
	2>"$tmp/err" && fail "mounted without fusermount3"
grep -q 'fusermount3.*need no mount' "$tmp/err" || fail "without fusermount3: $(cat "$tmp/err")"
umount "$(command -v fusermount3)"
[ "$failures" = 0 ] || exit 1
setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$TMPDIR" bash "$(readlink -f "$0")" inside
exit $?
