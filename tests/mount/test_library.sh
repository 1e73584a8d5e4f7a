#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libhartfs as it is installed: the shared library exports the functions of its header and nothing else, and has no state
# but what is listed here; with what pkg-config says, the programs of contrib/examples build as C and as C++, with the
# shared and with the static library, and print what the listing has.
. "$(dirname "$0")/../lib/mount.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) build=$(dirname "$hartfs")
for tool in cmake pkg-config cc c++ nm objdump readelf; do
	command -v "$tool" >/dev/null || skip "$tool is missing"
done
[ -e "$build/cmake_install.cmake" ] || skip "the program is not in its build directory"
capture_archive
short_boot
prefix=$tmp/prefix
for component in Unspecified dev; do
	cmake --install "$build" --prefix "$prefix" --component "$component" >"$tmp/out" 2>&1 || fail "$(tail -n 3 "$tmp/out")"
done
header=$(find "$prefix" -name hartfs.h)
pc=$(find "$prefix" -name hartfs.pc)
[ -s "$header" ] && [ -s "$pc" ] || { fail "no header, or nothing for pkg-config"; exit 1; }
export PKG_CONFIG_PATH=${pc%/*} LD_LIBRARY_PATH=${pc%/pkgconfig/*}
library=$LD_LIBRARY_PATH/libhartfs.so
sanitizers=$(sed -n 's/^HARTFS_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
flags=(-Wall -Wextra -Wpedantic -Werror ${sanitizers:+-fsanitize=$sanitizers -fno-sanitize-recover=all})
[ "$(sed -n 's/^#define HARTFS_VERSION_NUMBER \([0-9]*\)u$/\1/p' "$header")" = "$(pkg-config --modversion hartfs |
	awk -F. '{print $1 * 1000000 + $2 * 1000 + $3}')" ] || fail "the header is of another version"

# What is exported, and in which version of it.
cc -E -P "$header" | grep -oE '\bhartfs_[a-z_]+ ?\(' | tr -d ' (' | grep -vx hartfs_options_init | sort -u >"$tmp/want"
nm -D --defined-only "$library" | awk '$2 != "A" {print $2, $3}' | sort >"$tmp/got"
diff <(sed 's/.*/T &@@HARTFS_0/' "$tmp/want") "$tmp/got" || fail "exported is not what the header declares"
[ "$(wc -l <"$tmp/want")" -ge 14 ] || fail "the header declares only $(cat "$tmp/want")"
readelf -d "$library" >"$tmp/out"
grep -q 'SONAME.*\[libhartfs\.so\.0\]' "$tmp/out" || fail "its name is $(grep SONAME "$tmp/out")"
# SQLite and LLVM keep what points into it.
grep -q NODELETE "$tmp/out" || fail "dlclose unloads it"
[ "$(readlink -f "$library")" = "$LD_LIBRARY_PATH/libhartfs.so.$(pkg-config --modversion hartfs)" ] || fail "no version"
nm -g --defined-only "${library%.so}.a" 2>/dev/null | awk 'NF == 3 {print $3}' | grep -vE '^(hf|hartfs)_' |
	grep -v asan >"$tmp/out" && fail "names of the static library that are not ours: $(head -n 5 "$tmp/out")"

# All that it can write to but what it was given: loaded once, or not at all (LLVM, SQLite's file layer, names of files beside views),
# free contexts and memory of zstd, damaged files by what the system calls them, scans and builds that share
# the memory and threads of the process; and errors, one a thread.
cat >"$tmp/want" <<'END'
building comparing condemned error failed free_list free_rooms here last last_errno
llvm loaded needless once register_result sides sides_once system_vfs version vfs yard
END
if [ -z "$sanitizers" ]; then # which have state of their own
	objdump -t "$library" | awk 'NF > 4 && $(NF - 2) ~ /^[.](data|bss|tdata|tbss)$/ {print $NF}' | sed 's/[.][0-9]*$//' |
		grep -vxE '[.].*|completed|__TMC_END__|__dso_handle|' | sort -u >"$tmp/got"
	diff <(tr ' ' '\n' <"$tmp/want") "$tmp/got" || fail "other state than is listed here"
fi

# example NAME HOW COMPILER...: is built in the way that HOW says.
example() {
	local name=$1 how=$2 static=()
	shift 2
	[[ $how == static* ]] && static=(--static)
	# shellcheck disable=SC2046
	"$@" "${flags[@]}" -o "$tmp/$name-$how" "$root/contrib/examples/$name.c" \
		$(pkg-config --cflags --libs "${static[@]}" hartfs | sed "${static[*]:+s/-lhartfs/-l:libhartfs.a/}") \
		>"$tmp/out" 2>&1 || fail "$name, $how: $(head -n 5 "$tmp/out")"
}
example count_opcodes static cc -std=c11
example count_opcodes c++20 c++ -std=c++20 -x c++
example print_function c++ c++ -std=c++11 -x c++
readelf -d "$tmp/count_opcodes-static" | grep -q libhartfs && fail "the static one needs the shared library"
for name in count_opcodes print_function; do
	example "$name" shared cc -std=c11
	readelf -d "$tmp/$name-shared" | grep -q 'NEEDED.*\[libhartfs\.so\.0\]' || fail "$name: it needs no libhartfs.so.0"
	[ "$(grep -c . "$root/contrib/examples/$name.c")" -lt 45 ] || fail "$name is no short example"
done

# And with what CMake finds.
mkdir "$tmp/project"
cat >"$tmp/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(count C)
find_package(hartfs 0.2 REQUIRED)
add_executable(count $root/contrib/examples/count_opcodes.c)
target_link_libraries(count hartfs::hartfs)
END
cmake -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/out" 2>&1 &&
	cmake --build "$tmp/project/build" >>"$tmp/out" 2>&1 || fail "find_package: $(tail -n 5 "$tmp/out")"

capture=$archive/boot/rv-sys.stf.gz
"$hartfs" cat --index-dir "$index" "$capture" hart0/listing.txt >"$tmp/listing" || fail "no listing"
awk '!/^#/ { byte = substr($4, length($4) - 1); high = index("0123456789abcdef", substr(byte, 1, 1)) - 1
	     count[high % 8 substr(byte, 2)]++ }
     END { for (opcode in count) print 0, opcode, count[opcode] }' "$tmp/listing" | sort >"$tmp/want"
for way in shared static c++20; do
	"$tmp/count_opcodes-$way" "$capture" >"$tmp/got" || fail "count_opcodes, $way"
	cmp <(sort "$tmp/got") "$tmp/want" || fail "$way: it counts something else"
done
sed -n 's/^\([0-9]*\) [^ ]* 0*\([0-9a-f]*\) \([0-9a-f]*\) .*<fib[+>].*/\1 \2 \3/p' "$tmp/listing" |
	awk '{print $1, $2, substr("0000" $3, length($3) - 3)}' >"$tmp/want"
[ -s "$tmp/want" ] || fail "the listing has no function fib"
for way in shared c++; do
	"$tmp/print_function-$way" "$capture" hart0/listing.txt fib >"$tmp/got" || fail "print_function, $way"
	cmp "$tmp/got" "$tmp/want" || fail "$way: it prints something else"
done

# The program of the manual, built and run as it says.
awk '/^```/ { inside = !inside; blocks += inside; next } inside && blocks == 1' "$root/fs/hartfs.3.md" >"$tmp/first.c"
sed -n '/^It prints:/,/^For/s/^    //p' "$root/fs/hartfs.3.md" >"$tmp/want"
mkdir "$tmp/traces"
cp -r "$archive/boot" "$tmp/traces"
(cd "$tmp" && export HOME=$tmp && eval "$(sed -n 's/^    \(cc\) /\1 ${flags[*]} /p; s|^    \(./first.*\)|\1|p' "$root/fs/hartfs.3.md")") \
	>"$tmp/got" 2>&1
cmp "$tmp/got" "$tmp/want" || fail "hartfs(3): $(cat "$tmp/got")"

# A capture with a description, and captures that are none or are no good.
mkdir "$archive/packets"
for file in trace.bin capture.ini program.elf; do
	"$hartfs" cat --index-dir "$index" "$archive/mini/rv32-mini.stf" "hart0/ntrace/$file" >"$archive/packets/$file" || fail "$file"
done
cmp <("$tmp/count_opcodes-shared" "$archive/packets") <("$tmp/count_opcodes-shared" "$archive/mini/rv32-mini.stf") ||
	fail "the packets have other instructions"
head -c 60 "$archive/mini/rv32-mini.stf" | tr '\0' '\377' >"$archive/bad.stf"
for path in "$archive/bad.stf" "$archive/notes.md" "$archive" "$tmp/nowhere"; do
	"$tmp/count_opcodes-shared" "$path" >"$tmp/out" 2>"$tmp/err" && fail "$path counts"
	grep -qF "$path: " "$tmp/err" || fail "$path: not said why: $(cat "$tmp/err")"
	[ -s "$tmp/out" ] && fail "$path has instructions"
done
finish
