#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A tarball for machines on which nothing can be installed: the program with every library that it needs, the C library
# and its loader included, so that it runs on any Linux of this architecture, whatever that has itself.
#	contrib/portable.sh [BUILD]		makes hartfs-VERSION-MACHINE.tar.xz in the current directory, of build/release
#	contrib/portable.sh try TARBALL SYSTEM...	reads a listing with it as a user without rights, asks all questions,
#						and again on a kernel without Landlock and seccomp
# SYSTEM: a suite of Debian, which is made for this and removed; or the directory of a system. As root, with debootstrap
# and python3.
# MIRROR: of Debian.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
limit=40000000

# The libraries that these files need.
needed() { ldd "$@" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' | sort -u; }

# The licences of the package that a file is of, and which package that is.
licence() {
	local package
	package=$(dpkg-query -S "$(realpath "$1")" "$1" "${1#/usr}" "/usr${1#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1)
	[ -n "$package" ] && cp "/usr/share/doc/$package/copyright" "$root/licences/$package" ||
		{ echo "no licence of $1 is known" >&2; exit 1; }
	dpkg-query -W -f '${Package} ${Version}, of the source ${source:Package} ${source:Version}\n' "$package" | head -n 1 \
		>>"$work/packages"
}

wrapper() {
	cat >"$1" <<-END
		#!/bin/sh
		# The program under the loader and the libraries that are beside it.
		here=\$(dirname "\$(readlink -f "\$0")")$3
		HARTFS=\$here/hartfs PATH=\$here/lib/bin:\$PATH exec "\$here/lib/$loader" --library-path "\$here/lib" "\$here/lib/$2" "\$@"
	END
	chmod 755 "$1"
}

# cached NAME: what the build found; of a build from outside of this system, by its name in it.
cached() { sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt" | sed 's|.*/usr/|/usr/|'; }

make() {
	local version name file text
	build=${1:-$source/build/release}
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
	# The shell, and what is linked into the program and its part of LLVM.
	for file in "$(command -v sqlite3)" "$(cached IBERTY_LIBRARY)" "$("$(cached LLVM_CONFIG)" --libdir)/libLLVMCore.a" \
		"$(c++ -print-file-name=libstdc++.a)" "$(cc -print-libgcc-file-name)"; do
		licence "$file"
	done
	{
		echo "The licences of what is in lib/. It is Debian's, unchanged; https://snapshot.debian.org has the sources."
		sort -u "$work/packages"
	} >"$root/licences/README"
	file=$(ldd "$build/hartfs" | sed -n 's/^\t\(\/[^ ]*ld-[^ ]*\).*/\1/p')
	loader=$(basename "$file")
	cp -L "$file" "$root/lib/$loader"
	wrapper "$root/hartfs" hartfs ''
	wrapper "$root/lib/bin/sqlite3" sqlite3 /../..
	cp "$source/LICENSE" "$root/licences/hartfs"
	cp "$source/contrib/capture/LICENSE" "$root/licences/hartfs_capture"
	cp "$source/debian/copyright" "$root/licences/hartfs-parts"
	for text in $(grep -oh '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$root"/licences/*); do
		cp -L "$text" "$root/licences/"
	done
	cp "$source"/README.md "$source"/CHANGES.md "$root"
	cp -r "$source/contrib/completion" "$root/share/completion"
	cp -r "$source/tests/data/archive" "$root/samples"
	for file in "$source"/*/hartfs*.[1-8].md; do
		file=$(basename "$file" .md)
		"$build/hartfs" help "${file%.*}" >"$root/share/manual/$file.txt"
	done
	tar -C "$work" --owner=0 --group=0 --sort=name -cJf "$name.tar.xz" "$name"
	echo "$name.tar.xz: $(du -sb "$root" | cut -f1) bytes unpacked, $(stat -c %s "$name.tar.xz") packed"
	[ "$(du -sb "$root" | cut -f1)" -le $limit ] || { echo "that is more than $limit" >&2; exit 1; }
}

# system SUITE|DIRECTORY: the directory of such a system, with /proc; made if need be.
system() {
	if [ -e "$1/etc/debian_version" ]; then
		system=$(realpath "$1") new=
	else
		system=$(mktemp -d) new=1
		chmod 755 "$system"
		debootstrap $arch --variant=minbase "$1" "$system" "$mirror" >"$system.log" 2>&1 ||
			{ echo "$1: no system can be made: $(tail -n 1 "$system.log")"; leave; return 1; }
		cp /etc/resolv.conf "$system/etc/"
	fi
	# In a container debootstrap makes it a link to the machine's own.
	[ ! -L "$system/proc" ] || { rm "$system/proc" && mkdir "$system/proc"; }
	trap leave EXIT
	mount -t proc none "$system/proc"
	# A machine with FUSE, without its program.
	[ -e "$system/dev/fuse" ] || mknod -m 666 "$system/dev/fuse" c 10 229
}

leave() {
	umount "$system/proc" 2>/dev/null || true
	[ -z "$new" ] || rm -rf --one-file-system "$system" "$system.log"
}

# What a user does, with the tarball's files on its input.
user='
cd
began=$(date +%s%N)
reached() { echo "$1 after $((($(date +%s%N) - began) / 1000000)) ms" >&2; }
fail() { echo "$1" >&2; exit 1; }
tar -x
reached unpacked
cd hartfs-*
sample=samples/boot/rv-sys.stf.gz
./hartfs cat -v $sample hart0/listing.txt >listing 2>said || fail "cat: $(cat said)"
reached "a listing of $(wc -l <listing) lines"
grep confined said >&2
[ "$(./hartfs find $sample --write 80005360/8 --last | cut -d" " -f1)" = 856440 ] || fail find
[ "$(./hartfs sql samples "SELECT count(*) FROM capture" | tail -n 1)" = 2 ] || fail sql
./hartfs top --limit=1 $sample | grep -q 141400 || fail top
./hartfs cat $sample hart0/trace.stf >copy.stf || fail "cat of another format"
./hartfs diff $sample copy.stf || fail "diff: $?"
./hartfs info $sample | grep -q 873,595 || fail info
./hartfs index samples || fail index
./hartfs state $sample 92089 | grep -q . || fail state
mkdir mnt
./hartfs mount samples mnt 2>said && fail "mounted without fusermount3"
cat said >&2
grep -q "fusermount3.*need no mount" said || fail "mount says $(cat said)"
[ -s licences/libc6 ] && [ -s licences/README ] && [ -s share/manual/hartfs.1.txt ] || fail "licences, manual"
for text in $(grep -oh "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" licences/*); do
	[ -s "licences/${text##*/}" ] || fail "no $text"
done
ldd lib/hartfs_capture.so 2>&1 | grep "not found" && fail "QEMU of this machine cannot load the plugin"
reached "all of it"'

try() {
	local tarball=$1 suite kernel without home arch=
	tarball=$(realpath "$tarball")
	case $tarball in *-aarch64.tar.xz) arch=--arch=arm64 ;; esac
	shift
	for suite; do
		system "$suite" || { failed=1; continue; }
		for kernel in "this kernel" "without Landlock and seccomp"; do
			without=
			[ "$kernel" = "this kernel" ] || without="python3 $source/tests/lib/without.py landlock,seccomp"
			home=$(mktemp -d "$system/tmp/user.XXXXXX")
			chown 12345:12345 "$home"
			echo "== $suite, Debian $(cat "$system/etc/debian_version"), glibc $(chroot "$system" ldd --version | sed -n '1s/.* //p'), $kernel"
			xz -dc "$tarball" | $without chroot --userspec=12345:12345 "$system" /usr/bin/env -i \
				HOME="${home#"$system"}" PATH=/usr/bin:/bin sh -euc "$user" || { echo FAILED; failed=1; }
			rm -rf --one-file-system "$home"
		done
		leave
	done
	exit $((failed))
}

failed=0
case ${1-} in
try) shift && try "$@" ;;
*) make "$@" ;;
esac
