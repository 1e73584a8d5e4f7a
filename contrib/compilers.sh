#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds with another compiler or another C library than gcc and glibc, with warnings as errors, and runs the tests of
# modules and codecs (Debian 12):
#	contrib/compilers.sh clang|musl [REGEX of ctests]
# clang builds everything with clang 14, in build/clang. musl builds the program and those tests in build/musl. Debian has
# no libraries for musl, so zlib, xz, zstd, deflate, xxhash, SQLite, seccomp, iberty and fuse are built first, from
# Debian's sources, in build/musl/libraries. LLVM is C++ and is not: nothing is disassembled there, so what needs that is not
# tested (needs_llvm). Nor are sim/, which wraps calls by glibc's names, and what is loaded into other programs.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
which=${1-}
tests=${2:-'^(unit|prop|codec)\.'}
build=$PWD/build/$which
prefix=$build/libraries
left_out='^$'
# Listings, and whatever opens an archive: without LLVM hf_fs_open refuses. codec_loops write every view.
needs_llvm='unit\.(arm|astf_example|breakout|disasm|exec|fs_[^n].*|index_stf|library|library_events|list_cache|listing|open_pool|profile_parallel_pair|riscv|wrong_values)|prop\.slice|codec\..*'
# addr2line names musl's start file in the gaps between functions.
odd='unit\.lines'
options=(-DHARTFS_WERROR=ON)

# source_of NAME: Debian's source of that name, unpacked; the directory is then the current one.
source_of() {
	echo "=== $1"
	rm -rf "$prefix/sources/$1"
	mkdir -p "$prefix/sources/$1"
	cd "$prefix/sources/$1"
	apt-get source -q "${apt[@]}" --download-only "$1"
	dpkg-source -x ./*.dsc unpacked
	cd unpacked
}

# Each in its own way, into $prefix.
build_libraries() {
	local apt configure="--host=x86_64-linux-musl --prefix=$prefix --disable-shared"
	export CC=musl-gcc CFLAGS="-O2 -fPIE -isystem $prefix/include" MAKEFLAGS="-j$(nproc) PREFIX=$prefix"
	mkdir -p "$prefix"/{sources/lists,include,lib/pkgconfig}
	# musl's compiler does not see the kernel's headers.
	ln -sfn /usr/include/linux "$prefix/include/linux"
	ln -sfn /usr/include/asm-generic "$prefix/include/asm-generic"
	ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$prefix/include/asm"
	apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
		'Origin: Debian' >"$prefix/sources/sources.list"
	apt=(-o "Dir::Etc::SourceList=$prefix/sources/sources.list" -o Dir::Etc::SourceParts=/dev/null
	     -o "Dir::State::Lists=$prefix/sources/lists" -o APT::Sandbox::User=root)
	apt-get update -q "${apt[@]}"
	(source_of zlib; ./configure --static --prefix="$prefix"; make install)
	(source_of xz-utils; ./configure $configure --disable-{xz,xzdec,lzmadec,lzmainfo,scripts,doc,nls}; make install)
	(source_of libzstd; make -C lib install-static install-includes install-pc)
	(source_of libdeflate; make libdeflate.a
	 put lib libdeflate.a; put include libdeflate.h; described libdeflate 1.14 -ldeflate)
	(source_of xxhash; make libxxhash.a
	 put lib libxxhash.a; put include xxhash.h xxh3.h; described libxxhash 0.8.1 -lxxhash)
	# The library's one file is put together by programs for this machine.
	(source_of sqlite3; ./configure $configure --disable-tcl --disable-readline; make BCC=gcc sqlite3.c sqlite3.pc
	 $CC $CFLAGS -c sqlite3.c; ar rcs libsqlite3.a sqlite3.o
	 put lib libsqlite3.a; put include sqlite3.h; put lib/pkgconfig sqlite3.pc)
	(source_of libseccomp; ./configure $configure; make -C include install; make -C src install; make install-pkgconfDATA)
	(source_of libiberty; cd libiberty; ./configure --host=x86_64-linux-musl; make libiberty.a
	 put lib libiberty.a; put include ../include/{demangle,libiberty,ansidecl}.h)
	(source_of fuse3; meson setup made --default-library=static --prefix="$prefix" --libdir=lib -D{examples,utils,tests}=false
	 ninja -C made install)
	# Hundreds of MB, and walls.sh would look at them.
	rm -r "$prefix/sources"
	touch "$prefix/made"
}

put() { # FOLDER FILE...
	install -m 644 -t "$prefix/$1" "${@:2}"
}

# For libraries that write no such file of their own.
described() { # NAME VERSION LIBS
	printf 'Name: %s\nDescription: %s\nVersion: %s\nCflags: -isystem %s\nLibs: -L%s %s\n' "$1" "$1" "$2" \
		"$prefix/include" "$prefix/lib" "$3" >"$prefix/lib/pkgconfig/$1.pc"
}

case $which in
clang)
	install_packages $BUILD_PACKAGES clang-14
	options+=(-DCMAKE_C_COMPILER=clang-14)
	;;
musl)
	left_out="^($needs_llvm|$odd)\$"
	install_packages $BUILD_PACKAGES musl-tools dpkg-dev meson gperf tcl
	if [ ! -e "$prefix/made" ]; then
		mkdir -p "$prefix"
		trap 'tail -n 40 "$prefix/log"' EXIT
		build_libraries >"$prefix/log" 2>&1
		trap - EXIT
	fi
	export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
	options+=(-DCMAKE_C_COMPILER=musl-gcc -DCMAKE_C_FLAGS="-isystem $prefix/include" -DHARTFS_LLVM=loaded
		  -DIBERTY_INCLUDE="$prefix/include" -DIBERTY_LIBRARY="$prefix/lib/libiberty.a")
	;;
*)
	echo "usage: contrib/compilers.sh clang|musl [REGEX]" >&2
	exit 2
	;;
esac
# Not again: a compiler that is named again makes cmake begin anew.
[ -e "$build/build.ninja" ] || cmake --preset release -B "$build" "${options[@]}" >/dev/null
targets=()
if [ "$which" = musl ]; then
	mapfile -t targets < <(ninja -C "$build" -t targets all |
		sed -nE 's#^(hartfs|tests/(unit[a-z_]*|codec_loops)): .*#\1#p' | grep -v unit_riscv)
fi
ninja -C "$build" "${targets[@]}"
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure -R "$tests" -E "$left_out"
