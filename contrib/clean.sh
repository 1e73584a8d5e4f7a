#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The package in a clean Debian 12: makes it, installs it into a new system (debootstrap, chroot; as root) with what it
# recommends and two cross compilers, and goes the way of a new user there (tests/mount/test_first_minute.sh).
#   contrib/clean.sh [DIRECTORY]    where the system is made; it is used again if it is there. Without: a temporary one.
# MIRROR: of Debian.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES dpkg-dev debootstrap
[ "$(id -u)" = 0 ] || { echo "only root can make a system" >&2; exit 1; }
mirror=${MIRROR:-http://deb.debian.org/debian}
root=${1:-$(mktemp -d)}

echo "== the package"
cmake --preset release >/dev/null
cmake --build --preset release
(cd build/release && cpack >/dev/null)

echo "== a clean Debian 12 in $root"
[ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
leave() {
	umount "$root/dev" "$root/proc" "$root/sys" 2>/dev/null || true
	[ -n "${1:-}" ] || rm -rf --one-file-system "$root"
}
trap 'leave "${1:-}"' EXIT
mount --bind /dev "$root/dev"
mount -t proc none "$root/proc"
mount -t sysfs none "$root/sys"
cp build/release/hartfs_*.deb "$root/tmp/hartfs.deb"
rm -rf "$root/tmp/tests"
cp -r tests "$root/tmp/tests"
cp /etc/resolv.conf "$root/etc/"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get update -q
inside apt-get install -y -q --no-install-recommends g++-riscv64-linux-gnu g++-aarch64-linux-gnu llvm-19 python3
echo "== apt-get install hartfs"
before=$(date +%s)
inside apt-get install -y -q /tmp/hartfs.deb
echo "== installed in $(($(date +%s) - before)) s; the way of a new user"
inside HARTFS_BIN=/usr/bin/hartfs bash /tmp/tests/mount/test_first_minute.sh
inside hartfs --version
