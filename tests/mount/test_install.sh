#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What gets installed is complete, works from there, and is taken away again.
. "$(dirname "$0")/../lib/mount.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) build=$(dirname "$hartfs")
command -v cmake >/dev/null || skip "cmake is needed"
[ -e "$build/cmake_install.cmake" ] || skip "the program is not in its build directory"
short_archive

# starts_from UNIT ROOT PREFIX: every program of the unit is where the installation below ROOT has put it.
starts_from() {
	local program count=0
	while read -r program; do
		count=$((count + 1))
		[ "$program" = "$3/bin/hartfs" ] && [ -x "$2$program" ] || fail "${1##*/lib/}: there is no $program"
	done < <(sed -n 's/^Exec[A-Za-z]*=-*\([^ ]*hartfs\) .*/\1/p' "$1")
	[ "$count" -eq 3 ] || fail "${1##*/lib/}: $count lines start hartfs"
}

# As a package is made: with a prefix of its own, which need not be that of the build, below another root.
DESTDIR=$tmp/stage cmake --install "$build" --prefix /usr >"$tmp/out" 2>&1 || fail "staged: $(tail -n 3 "$tmp/out")"
for manager in system user; do
	starts_from "$tmp/stage/usr/lib/systemd/$manager/hartfs@.service" "$tmp/stage" /usr
done
for file in LICENSE copyright; do
	[ -s "$tmp/stage/usr/share/doc/hartfs/$file" ] || fail "$file is not installed"
done
grep -qx 'License: Apache-2.0' "$tmp/stage/usr/share/doc/hartfs/copyright" || fail "no licence in the copyright file"

# Whoever names the version names this one.
version=$("$hartfs" --version | sed -n '1s/.* //p')
for line in "$(sed -n 's/^hartfs (\(.*\)).*/\1/p;q' "$root/debian/changelog")" "$(sed -n 's/^Version: //p' "$root/contrib/packaging/hartfs.spec")" \
	"$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$root/CHANGES.md" | head -n 1)"; do
	[ "$line" = "$version" ] || fail "this is version $version, and somebody says '$line'"
done

# What is loaded by name is a dependency that no tool finds in the program.
if command -v dpkg-query >/dev/null && [ "$(dpkg-query -W -f '${Status}' libllvm19 2>/dev/null)" = 'install ok installed' ]; then
	readelf -d "$hartfs" | grep -q 'NEEDED.*LLVM' || grep -q 'llvm-config-1[0-8]' "$build/CMakeCache.txt" ||
		find "$tmp/stage" -name hartfs_llvm.so | grep -q . || fail "a package that does not bring LLVM"
fi

prefix=$tmp/prefix
cmake --install "$build" --prefix "$prefix" >"$tmp/out" 2>&1 || fail "cmake --install: $(tail -n 3 "$tmp/out")"
for file in bin/hartfs share/bash-completion/completions/hartfs share/zsh/site-functions/_hartfs share/fish/vendor_completions.d/hartfs.fish \
	lib/systemd/system/hartfs@.service \
	lib/systemd/user/hartfs@.service; do
	[ -s "$prefix/$file" ] || fail "$file is not installed"
done
plugin=$(find "$prefix" -path '*/hartfs/hartfs_capture.so')
[ -n "$plugin" ] || fail "the plugin is not installed"
# The installed program finds the installed plugin, and no other one.
if command -v qemu-riscv64 riscv64-unknown-elf-as riscv64-unknown-elf-ld >/dev/null; then
	printf '_start: li a0, 5\nli a7, 93\necall\n.globl _start\n' | riscv64-unknown-elf-as -march=rv64gc -o "$tmp/five.o" - &&
		riscv64-unknown-elf-ld -o "$tmp/five" "$tmp/five.o"
	"$prefix/bin/hartfs" record -q -o "$tmp/five.out" "$tmp/five"
	[ $? = 5 ] && [ -s "$tmp/five.out/five.zstf" ] || fail "the installed program does not record"
	rm "$plugin"
	"$prefix/bin/hartfs" record -q -o "$tmp/five.out" "$tmp/five" 2>&1 | grep -q 'plugin is not installed' ||
		fail "a plugin from elsewhere"
	cp "$build/hartfs_capture.so" "$plugin"
fi
# The samples that come with it are captures.
[ "$("$prefix/bin/hartfs" ls "$prefix/share/hartfs/samples" | grep -cE 'rv-sys.stf.gz|rv32-mini.stf|a64-sys.astf')" = 3 ] ||
	fail "samples: $("$prefix/bin/hartfs" ls "$prefix/share/hartfs/samples")"
# The installed program and library load the installed part of LLVM.
if [ -e "$build/hartfs_llvm.so" ]; then
	LD_DEBUG=files LD_DEBUG_OUTPUT="$tmp/files" "$prefix/bin/hartfs" cat "$prefix/share/hartfs/samples/boot/rv-sys.stf.gz" \
		hart0/listing.txt >/dev/null || fail "no listing of a sample"
	if [ -s "$(echo "$tmp"/files.* | cut -d ' ' -f 1)" ]; then
		grep -q "$prefix.*/hartfs_llvm.so" "$tmp"/files.* || fail "the installed hartfs_llvm.so is not loaded"
	fi
fi
# The installed extension finds the installed program, and the other way round.
if command -v sqlite3 >/dev/null; then
	[ "$("$prefix/bin/hartfs" sql "$archive" "SELECT count(*) > 0 AS n FROM capture")" = $'n\n1' ] || fail "hartfs sql does not work"
	sqlite3 :memory: ".load $(find "$prefix" -name hartfs.so)" "SELECT hartfs_open('$archive')" >/dev/null ||
		fail "the installed extension does not work"
fi
"$prefix/bin/hartfs" --version | grep -q '^hartfs ' || fail "the installed program does not run"
grep -h '@[A-Z_]*@' "$prefix"/lib/systemd/*/* && fail "a unit is not filled in"
for manager in system user; do
	starts_from "$prefix/lib/systemd/$manager/hartfs@.service" '' "$prefix"
done
if [ -d "$prefix/share/man" ]; then
	for page in "$root"/mountd/hartfs*.[0-9].md "$root"/index/hartfs*.[0-9].md "$root"/fs/hartfs*.[0-9].md; do
		page=$(basename "$page" .md)
		page=man${page##*.}/$page
		[ -s "$prefix/share/man/$page" ] || fail "$page is not installed"
		if command -v man >/dev/null; then
			# How a table falls on a page costs nothing but looks.
			man -l --warnings "$prefix/share/man/$page" 2>&1 >"$tmp/page" |
				grep -v 'around line\|table wider\|table text block\|adjust line\|break line' >"$tmp/err"
			[ -s "$tmp/err" ] && fail "$page: $(head -n 3 "$tmp/err")"
		fi
	done
else
	echo "no pandoc: no manual pages"
fi
if command -v systemd-analyze >/dev/null; then
	cp "$root"/contrib/systemd/*mount "$tmp"
	cp "$prefix/lib/systemd/system/hartfs@.service" "$tmp"
	# Lines about the unit itself; that manual pages are not in their place is no news.
	for unit in hartfs@.service mnt-traces.mount mnt-traces.automount; do
		systemd-analyze verify "$tmp/$unit" 2>&1 | grep -E 'hartfs@|mnt-traces' | grep -v "'man " >"$tmp/err" &&
			fail "$unit: $(cat "$tmp/err")"
	done
	systemd-analyze security --help | grep -q -- --threshold && {
		systemd-analyze security --offline=true --threshold=42 "$tmp/hartfs@.service" >"$tmp/exposure" 2>&1 ||
			fail "hardened no more: $(tail -n 1 "$tmp/exposure")"
	}
fi
# What the hardened unit mounts others see: it makes no mount namespace, and the capabilities that it leaves are enough.
unit=$prefix/lib/systemd/system/hartfs@.service
grep -E '^(Private|Protect(System|Home|Kernel|Control|Proc)|ProcSubset|(Read(Only|Write)|Inaccessible|Exec|NoExec)Paths|BindPaths|BindReadOnly|TemporaryFileSystem|Root|Mount|Extension|LogNamespace|DynamicUser)' "$unit" &&
	fail "the unit gets a mount namespace of its own"
grep -q '^NoNewPrivileges=yes' "$unit" || fail "the system's unit is not hardened"
grep -q '^NoNewPrivileges' "$prefix/lib/systemd/user/hartfs@.service" && fail "a user's unit cannot start fusermount3"
if [ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && command -v setpriv >/dev/null; then
	capabilities=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z' 'a-z' | sed 's/ *cap_/,+/g')
	setpriv --no-new-privs --bounding-set "$capabilities" "$prefix/bin/hartfs" mount -o allow_other --index-dir "$index" \
		--log "$log" "$archive" "$mnt" || fail "no mount with the unit's capabilities"
	is_mounted "$mnt" || fail "others do not see what the unit mounts"
	[ -e "$mnt/boot/rv-sys.stf.gz" ] || fail "others do not see what is in the mount"
	setpriv --no-new-privs --bounding-set "$capabilities" "$prefix/bin/hartfs" umount "$mnt" || fail "umount with the unit's capabilities"
fi

# The job array, as Slurm would run its tasks: together they index everything.
PATH=$prefix/bin:$PATH
for task in 3 5 7; do
	SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3 \
		SLURM_CPUS_PER_TASK=2 "$root/contrib/slurm/hartfs-index.sbatch" "$archive" "$index" >>"$tmp/tasks" ||
		fail "task $task ended with $?"
done
[ "$(grep -c ': indexed$' "$tmp/tasks")" = "$(find "$archive" -name '*.stf*' | wc -l)" ] || fail "$(cat "$tmp/tasks")"

cmake -DMANIFEST="$build/install_manifest.txt" -P "$root/cmake/uninstall.cmake" >/dev/null 2>&1 || fail "uninstall"
find "$prefix" -type f | grep . && fail "these are left after uninstall"
finish
