#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tarball of a release, hartfs-VERSION.tar.xz, in the current directory: what is committed, and the manual pages made
# (a build needs no pandoc then). The same bytes wherever it is made with the same pandoc and xz.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd) out=$PWD
command -v pandoc >/dev/null || { echo "pandoc is needed, for the manual pages" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$source" -B "$work/build" -G Ninja -DHARTFS_TESTS=OFF >/dev/null
cmake --build "$work/build" --target man >/dev/null
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' "$work/build/CMakeCache.txt")
mkdir "$work/hartfs-$version"
git -C "$source" archive HEAD | tar -x -C "$work/hartfs-$version"
cp -r "$work/build/man" "$work/hartfs-$version/man"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --pax-option=delete=atime,delete=ctime \
	--mtime="@$(git -C "$source" log -1 --format=%ct)" -cJf "$out/hartfs-$version.tar.xz" "hartfs-$version"
sha256sum "hartfs-$version.tar.xz"
