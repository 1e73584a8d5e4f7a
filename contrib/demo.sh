#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare Debian 12 (as root or with sudo) to a mounted archive of real captures and a printed listing.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES

echo "== building"
cmake --preset release >/dev/null
cmake --build --preset release --target hartfs
hartfs=$PWD/build/release/hartfs

work=$(mktemp -d)
mnt=$work/mnt
mkdir "$mnt"
cleanup() {
	mountpoint -q "$mnt" && "$hartfs" umount "$mnt"
	rm -rf "$work"
}
trap cleanup EXIT

mkdir "$work/archive"
cp -r tests/data/archive/. tests/data/astf/a64-sys.astf "$work/archive"
echo "== hartfs mount --wait $work/archive $mnt"
"$hartfs" mount --wait --index-dir "$work/index" "$work/archive" "$mnt"
echo "== the tree"
(cd "$mnt" && find . -not -path './.hartfs*' -printf '%10s  %p\n' | sort -k2)
view=$mnt/boot/rv-sys@stf@gz/hart0/listing.txt
echo "== the first lines of $view"
head -n 12 "$view"
echo "== ten lines from the middle, by offset"
dd if="$view" iflag=skip_bytes skip=$(($(stat -c %s "$view") / 2)) count=1 bs=4096 2>/dev/null | sed -n 2,11p
echo "== the first traps"
grep -m 5 '^# trap' "$view"
echo "== the same hart as E-Trace packets: $(stat -c %s "${view%/*}/etrace/trace.bin") bytes for $(grep -vc '^#' "$view") instructions"
cat "${view%/*}/etrace/capture.ini"
echo "== copied out, that is a capture again; its first packets and instructions"
cp -r "${view%/*}/etrace" "$work/copy"
"$hartfs" cat --index-dir "$work/index" "$work/copy" records.txt | head -n 4
"$hartfs" cat --index-dir "$work/index" "$work/copy" hart0/listing.txt | head -n 4
echo "== the functions that took most instructions"
head -n 8 "${view%/*}/profile/functions.txt"
pictures=$PWD/build/demo
mkdir -p "$pictures"
for picture in overview.svg flame.svg report.html; do
	cp "${view%/*}/profile/$picture" "$pictures/"
done
echo "== its pictures, for a browser, on this machine or on another (scp -r HOST:$pictures .):"
ls -d "$pictures"/*
echo "== done; build/release/hartfs help tutorial goes on from here"
