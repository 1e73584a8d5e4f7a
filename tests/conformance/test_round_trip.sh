#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every view of the real executions that is a capture itself, mounted again, gives the same instructions and traps.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/roundtrip.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
archive=$HARTFS_CORPUS/qemu
do_mount --wait
round_trip
do_umount
finish
