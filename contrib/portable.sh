#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A tarball for machines on which nothing can be installed: the program with every library that it needs, the C library
# and its loader included, so that it runs on any Linux of this architecture, whatever that has itself.
#	contrib/portable.sh [BUILD]		makes hartfs-VERSION-MACHINE.tar.xz in the current directory, of build/release
#	contrib/portable.sh try TARBALL SUITE...	reads a listing with it in new Debian systems, as a user without rights
# MIRROR: of Debian, for the systems (debootstrap, chroot; as root).
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)

# The libraries that these files need.
needed() { ldd "$@" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' | sort -u; }

# Its licence, by the package that a file is of; and the names that it has there.
licence() {
	local package
	package=$(dpkg-query -S "$(realpath "$1")" "${1#/usr}" "/usr${1#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1)
	[ -n "$package" ] && cp "/usr/share/doc/$package/copyright" "$root/licences/$package" && return
	echo "no licence of $1 is known" >&2
	exit 1
}

wrapper() {
	cat >"$1" <<-END
		#!/bin/sh
		# The program under the loader and the libraries that are beside it.
		here=\$(dirname "\$(readlink -f "\$0")")$3
		HARTFS=\$here/hartfs PATH=\$here/lib/bin:\$PATH exec "\$here/lib/$loader" --library-path "\$here/lib" --argv0 "\$here/lib/$2" "\$here/lib/$2" "\$@"
	END
	chmod 755 "$1"
}

make() {
	local build=${1:-$source/build/release} version name file
	version=$("$build/hartfs" --version | sed -n '1s/.* //p')
	name=hartfs-$version-$(uname -m)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	root=$work/$name
	mkdir -p "$root"/lib/bin "$root"/licences "$root"/share/manual
	for file in hartfs hartfs.so hartfs_llvm.so hartfs_capture.so; do
		strip -o "$root/lib/$file" "$build/$file"
	done
	cp "$(command -v sqlite3)" "$root/lib/sqlite3"
	for file in $(needed "$build"/hartfs "$build"/hartfs.so "$build"/hartfs_llvm.so "$root/lib/sqlite3"); do
		cp -L "$file" "$root/lib/"
		licence "$file"
	done
	licence "$(command -v sqlite3)"
	file=$(ldd "$build/hartfs" | sed -n 's/^\t\(\/[^ ]*ld-[^ ]*\).*/\1/p')
	loader=$(basename "$file")
	cp -L "$file" "$root/lib/$loader"
	wrapper "$root/hartfs" hartfs ''
	wrapper "$root/lib/bin/sqlite3" sqlite3 /../..
	cp "$source/LICENSE" "$root/licences/hartfs"
	cp "$source/debian/copyright" "$root/licences/hartfs-parts"
	cp "$source"/README.md "$source"/CHANGES.md "$root"
	cp -r "$source/contrib/completion" "$root/share/completion"
	cp -r "$source/tests/data/archive" "$root/samples"
	for file in $(cd "$source" && git ls-files '*.[1-8].md'); do
		file=$(basename "$file" .md)
		"$build/hartfs" help "${file%.*}" >"$root/share/manual/$file.txt"
	done
	tar -C "$work" --owner=0 --group=0 --sort=name -cJf "$name.tar.xz" "$name"
	echo "$name.tar.xz: $(du -sm "$root" | cut -f1) MB unpacked, $(($(stat -c %s "$name.tar.xz") / 1000000)) MB packed"
}

try() {
	local tarball=$1 suite system began
	tarball=$(realpath "$tarball")
	shift
	for suite; do
		system=$(mktemp -d)
		chmod 755 "$system"
		debootstrap --variant=minbase "$suite" "$system" "${MIRROR:-http://deb.debian.org/debian}" >"$system.log" 2>&1 ||
			{ echo "$suite: no system can be made: $(tail -n 1 "$system.log")"; rm -rf "$system"; continue; }
		mkdir "$system/home/user"
		chown 12345:12345 "$system/home/user"
		mount -t proc none "$system/proc"
		began=$(date +%s)
		chroot --userspec=12345:12345 "$system" /usr/bin/env -i HOME=/home/user PATH=/usr/bin:/bin sh -euc '
			cd; tar -x; cd hartfs-*
			./hartfs cat samples/mini/rv32-mini.stf hart0/listing.txt | grep -c "addi"
			./hartfs find samples/mini/rv32-mini.stf --taken --count
			./hartfs sql samples "SELECT count(*) FROM capture"
			./hartfs top samples/boot/rv-sys.stf.gz -n 1 | tail -n 1' < <(xz -dc "$tarball") >"$system.out" 2>&1 &&
			echo "$suite, glibc $(chroot "$system" ldd --version | sed -n '1s/.* //p'): works, $(($(date +%s) - began)) s" ||
			{ echo "$suite: FAILED"; cat "$system.out"; }
		umount "$system/proc"
		rm -rf --one-file-system "$system" "$system.log" "$system.out"
	done
}

case ${1-} in
try) shift && try "$@" ;;
*) make "$@" ;;
esac
