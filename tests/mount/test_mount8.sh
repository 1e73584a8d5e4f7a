#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mount(8) and fstab lines: the type fuse.hartfs, and the older hartfs#ARCHIVE, with options that only mount(8) knows.
# mount.fuse3 looks for programs in the system's own places: one of them is replaced in a mount namespace of its own.
. "$(dirname "$0")/../lib/mount.sh"
need_root
need_fuse
[ -x /sbin/mount.fuse ] || skip "there is no mount.fuse"
if [ "${1:-}" != inside ]; then
	unshare -m --propagation private true 2>/dev/null || skip "no mount namespace to be had"
	unshare -m --propagation private bash "$0" inside
	exit $?
fi
. "$(dirname "$0")/../lib/namespace.sh"
forget_other_mounts
plain_archive
mkdir "$tmp/bin"
ln -s "$hartfs" "$tmp/bin/hartfs"
mount --bind "$tmp/bin" /usr/local/bin || skip "nothing can be bound over /usr/local/bin"
hartfs=hartfs # as it appears in the processes' arguments

check() {
	is_mounted "$mnt" || { fail "$1 does not mount"; return; }
	grep " $mnt " /proc/self/mountinfo | grep nosuid | grep -q nodev || fail "$1: a mount with suid or dev"
	cmp "$archive/random.bin" "$mnt/random.bin" || fail "$1: a file differs"
	touch "$mnt/empty" 2>/dev/null && fail "$1: not read-only"
	umount "$mnt" || fail "$1: umount ended with $?"
	wait_until no_servers || fail "$1: processes are left: $(servers)"
}

mount -t fuse.hartfs "$archive" "$mnt" -o "cache=1G,index_dir=$index,log=$log,noauto,nofail,x-systemd.automount,_netdev"
check "mount -t fuse.hartfs"
mount -t fuse "hartfs#$archive" "$mnt" -o "index_dir=$index,log=$log,user,relatime"
check "mount -t fuse hartfs#"
echo "$archive $mnt fuse.hartfs noauto,user,cache=1G,threads=2,index_dir=$index,log=$log,views=listing.txt,quiet 0 0" >"$tmp/fstab"
mount -T "$tmp/fstab" "$mnt"
check "a line of fstab"
mount -t fuse.hartfs "$archive" "$mnt" -o "index_dir=$index,frobnicate" 2>/dev/null && fail "an unknown option is taken"
is_mounted "$mnt" && fail "mounted with an unknown option"
finish
