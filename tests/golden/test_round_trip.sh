#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every view of the captures of tests/data that is a capture itself, mounted again, gives the same instructions and traps.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/roundtrip.sh"
need_fuse
capture_archive
mkdir "$archive/arm"
cp "$HARTFS_DATA/astf/a64-sys.astf" "$archive/arm"
do_mount --wait
round_trip
do_umount
finish
