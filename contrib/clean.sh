#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# README's first commands in a clean Debian 12 (debootstrap, chroot; as root): the demo and the package are made in one
# new system, from what is committed; packages made in two directories must have the same bytes, and lintian no errors. The
# package is installed into another system, with what it recommends and two cross compilers, and goes the way of a new user
# there (tests/mount/test_first_minute.sh).
#   contrib/clean.sh [DIRECTORY]    where the systems are made; the bare one is used again if it is there. Without: a
#                                   temporary one.
# MIRROR: of Debian.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
[ "$(id -u)" = 0 ] || { echo "only root can make a system" >&2; exit 1; }
install_packages debootstrap git
mirror=${MIRROR:-http://deb.debian.org/debian}
commit=$(git rev-parse HEAD)
work=${1:-$(mktemp -d)}

leave() {
	umount "$work"/{maker,user}/{dev,proc,sys} 2>/dev/null || true
	rm -rf --one-file-system "$work"/{maker,user}
	[ -n "${1:-}" ] || rm -rf --one-file-system "$work"
}
trap 'leave "${1:-}"' EXIT

# new_system NAME: a copy of the bare one, with devices.
new_system() {
	cp -a "$work/bare" "$work/$1"
	mount --bind /dev "$work/$1/dev"
	# In a container debootstrap makes it a link to the machine's own.
	[ ! -L "$work/$1/proc" ] || { rm "$work/$1/proc" && mkdir "$work/$1/proc"; }
	mount -t proc none "$work/$1/proc"
	mount -t sysfs none "$work/$1/sys"
}
# inside NAME COMMAND...
inside() {
	local system=$work/$1
	shift
	chroot "$system" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}

echo "== a bare Debian 12 in $work"
mkdir -p "$work"
if [ ! -e "$work/bare/etc/debian_version" ]; then
	debootstrap --variant=minbase bookworm "$work/bare" "$mirror" >/dev/null
	cp /etc/resolv.conf "$work/bare/etc/"
	# The system is thrown away: nothing waits for the disk.
	echo force-unsafe-io >"$work/bare/etc/dpkg/dpkg.cfg.d/unsafe"
fi

echo "== the demo and the package"
new_system maker
mkdir "$work/maker/hartfs"
git archive $commit | tar -x -C "$work/maker/hartfs"
inside maker bash -c 'cd /hartfs && contrib/demo.sh'
inside maker bash -c "apt-get install -y -q --no-install-recommends $PACKAGING_PACKAGES"
for place in /one /another/place; do
	mkdir -p "$work/maker$place/hartfs"
	git archive $commit | tar -x -C "$work/maker$place/hartfs"
	inside maker bash -c "cd $place/hartfs && dpkg-buildpackage -b -us -uc && rm ../*.buildinfo ../*.changes"
	(cd "$work/maker$place" && sha256sum *.deb) | tee "$work/maker$place.sums"
done
cmp "$work"/maker/one.sums "$work/maker/another/place.sums"
inside maker bash -c 'lintian --fail-on error /one/*.deb'

echo "== a system of a user"
new_system user
cp "$work"/maker/one/hartfs_*.deb "$work/user/tmp/hartfs.deb"
cp -r "$work/maker/hartfs/tests" "$work/user/tmp/tests"
inside user apt-get update -q
inside user apt-get install -y -q --no-install-recommends g++-riscv64-linux-gnu g++-aarch64-linux-gnu llvm-19 python3
echo "== apt-get install hartfs"
before=$(date +%s)
inside user apt-get install -y -q /tmp/hartfs.deb
echo "== installed in $(($(date +%s) - before)) s; the way of a new user"
inside user HARTFS_BIN=/usr/bin/hartfs bash /tmp/tests/mount/test_first_minute.sh
inside user hartfs --version
