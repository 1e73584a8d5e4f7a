#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing can be changed, not even by root, and the error says why.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
plain_archive
before=$(snapshot)
do_mount

# refused COMMAND...: must fail with EROFS.
refused() {
	"$@" 2>"$tmp/err" && fail "$* succeeded"
	grep -q 'Read-only file system' "$tmp/err" || fail "$*: $(cat "$tmp/err")"
}

refused rm -f "$mnt/random.bin"
refused rmdir "$mnt/sub/deep"
refused mkdir "$mnt/directory"
refused touch "$mnt/new"
refused touch "$mnt/empty"
refused mv "$mnt/empty" "$mnt/full"
refused ln "$mnt/empty" "$mnt/hard"
refused ln -s empty "$mnt/soft"
refused chmod 777 "$mnt/empty"
refused mkfifo "$mnt/fifo"
refused truncate -s 0 "$mnt/random.bin"
refused bash -c "echo x >>'$mnt/empty'"
[ "$(id -u)" = 0 ] && refused chown 1:1 "$mnt/empty"

# Root may remount what is read-only: the server still refuses.
if [ "$(id -u)" = 0 ] && mount -o remount,rw "$mnt" 2>/dev/null; then
	refused rm -f "$mnt/random.bin"
	refused touch "$mnt/new"
	refused truncate -s 0 "$mnt/random.bin"
fi
do_umount
[ "$(snapshot)" = "$before" ] || fail "the archive was written"
finish
