#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every view of real executions that is a capture itself, mounted again, gives the same instructions and traps.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/roundtrip.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
cp -r "$HARTFS_CORPUS"/qemu/{a64,rv}* "$archive" || exit 1
shorten_qemu "$archive"
do_mount --wait
round_trip
do_umount
finish
