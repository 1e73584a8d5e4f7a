#!/usr/bin/env bash
# From a bare Debian 12 (as root or with sudo) to a mounted archive of real captures and a printed listing.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES

echo "== building"
cmake --preset release -DHARTFS_WERROR=OFF >/dev/null
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

echo "== hartfs mount --wait tests/data/archive $mnt"
"$hartfs" mount --wait --index-dir "$work/index" tests/data/archive "$mnt"
echo "== the tree"
(cd "$mnt" && find . -not -path './.hartfs*' -printf '%10s  %p\n' | sort -k2)
view=$mnt/boot/rv-sys@stf@gz/hart0/listing.txt
echo "== the first lines of $view"
head -n 12 "$view"
echo "== ten lines from the middle, by offset"
dd if="$view" bs=1 skip=$(($(stat -c %s "$view") / 2)) count=700 2>/dev/null | tail -n +2 | head -n 10
echo "== the first traps"
grep -m 5 '^# trap' "$view"
echo "== done"
