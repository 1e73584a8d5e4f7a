#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Position-independent programs with shared libraries, RISC-V and AArch64: every instruction of the listing lies in one of
# the files beside the capture, whose bytes it is; names are those that nm and objdump have, demangled or raw, and lines
# those of addr2line, in the listing and in program.elf. A library that changes makes the listing another one, a program
# of another build gives no names and is told, and who may not read a library may not read the views.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
for tool in python3 qemu-riscv64 qemu-aarch64 riscv64-linux-gnu-g++ aarch64-linux-gnu-g++ riscv64-linux-gnu-nm; do
	command -v "$tool" >/dev/null || skip "$tool is needed"
done

cat >"$tmp/sort.cc" <<'END_C'
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
namespace numbers {
template <class T> int compare(const void *a, const void *b) { return int(*(const T *)a - *(const T *)b); }
__attribute__((noinline)) void fill(std::vector<int> &v)
{
	for (int i = 0; i < 100; i++)
		v.push_back(i * 7919 % 1009);
}
}
int main()
{
	std::vector<int> v;
	numbers::fill(v);
	qsort(v.data(), v.size(), sizeof v[0], numbers::compare<int>);
	printf("%s %.3f\n", std::to_string(v[5]).c_str(), std::sin(v[7]));
	return 0;
}
END_C
plugin=$(dirname "$hartfs")/hartfs_capture.so
[ -e "$plugin" ] || skip "there is no plugin in the build directory"

# record ARCH QEMU LOADER SUFFIX: a run of the program as a capture, with the files that ran beside it.
record() {
	local lib=/usr/$1-linux-gnu/lib
	mkdir -p "$archive/$1.d/lib"
	"$1-linux-gnu-g++" -g -O2 "$tmp/sort.cc" -o "$archive/$1.d/sort" || fail "$1: the program cannot be built"
	cp "$lib/libc.so.6" "$lib/libm.so.6" "$lib/libstdc++.so.6" "$lib/libgcc_s.so.1" "$lib/$3" "$archive/$1.d/lib/"
	echo "no ELF" >"$archive/$1.d/notes.txt"
	"$2" -L "/usr/$1-linux-gnu" -plugin "$plugin,out=$tmp/$1" "$archive/$1.d/sort" >"$tmp/out" ||
		fail "$1: $2 ended with $?"
	mv "$tmp/$1".t0.* "$archive/$1.$4"
}
record riscv64 qemu-riscv64 ld-linux-riscv64-lp64d.so.1 stf
record aarch64 qemu-aarch64 ld-linux-aarch64.so.1 astf

cat >"$tmp/check.py" <<'END_PY'
import bisect, json, re, struct, subprocess, sys

# check.py ARCH INFO ARCHIVE PROGRAM <LISTING; what is in it again and again is checked once.
arch, info, archive, program = sys.argv[1:]
symbols = json.load(open(info))["symbols"]
if symbols["in_no_file"] or symbols["executed"] < 20000:
    sys.exit(f"{symbols['in_no_file']} of {symbols['executed']} bytes lie in no file")
pieces = []
for file in symbols["files"]:
    data = open(f"{archive}/{file['file']}", "rb").read()
    at, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    path = f"{archive}/{file['file']}"
    table = subprocess.run([f"{arch}-linux-gnu-nm", "-C", "-D" if "/lib/" in path else "-a", path],
                           capture_output=True, text=True).stdout
    names = {}
    for line in table.splitlines():
        row = line.split(None, 2)
        if len(row) == 3 and len(row[0]) == 16:
            names.setdefault(int(row[0], 16), set()).add(row[2].split("@")[0])
    stubs = subprocess.run([f"{arch}-linux-gnu-objdump", "-dC", "-j", ".plt", path], capture_output=True, text=True)
    for address, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:", stubs.stdout, re.M):
        names.setdefault(int(address, 16), set()).add(name)
    for bias in file.get("bias", []):
        for i in range(n):
            kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
            if kind == 1 and flags & 1:
                pieces.append((address + int(bias, 16), data[offset:offset + length], int(bias, 16), names, path))
pieces.sort(key=lambda piece: piece[0])
starts = [piece[0] for piece in pieces]
seen, texts, named, stubs, lines = set(), set(), 0, 0, {}
shown = re.compile(r" <(.+?)(?:\+0x([0-9a-f]+))?( [^ <>]+:[0-9]+)?>(?: -> .*| \(not taken\).*| (?:R|W|RW)\d+ .*)?$")
for line in sys.stdin:
    if line.startswith("#"):
        continue
    text = line.partition(" ")[2]
    if text in texts:
        continue
    texts.add(text)
    _, pc, opcode = text.split(None, 3)[:3]
    found = shown.search(line.rstrip())
    if (pc, found and found[1]) in seen:
        continue
    seen.add((pc, found and found[1]))
    where, want = int(pc, 16), bytes.fromhex(opcode)[::-1]
    piece = pieces[bisect.bisect_right(starts, where) - 1]
    if piece[1][where - piece[0]:where - piece[0] + len(want)] != want:
        sys.exit(f"{pc} is {opcode} in the listing, and not in any file")
    if not found:
        continue
    start = where - int(found[2] or "0", 16) - piece[2]
    wanted = piece[3].get(start, ())
    if found[1] not in wanted and not (found[1].endswith("...") and
                                       any(name.startswith(found[1][:-3]) for name in wanted)):
        sys.exit(f"{pc} is {found[1]} in the listing, but {wanted} begins there")
    if found[3]:
        lines.setdefault((piece[4], piece[2]), {})[where - piece[2]] = found[3].strip()
    elif piece[4].endswith("/sort") and not found[1].endswith("@plt"):
        lines.setdefault((piece[4], piece[2]), {})[where - piece[2]] = "?"
    named += 1
    stubs += found[1].endswith("@plt")
def lines_of(path, addresses):
    answers = subprocess.run([f"{arch}-linux-gnu-addr2line", "-e", path], capture_output=True, text=True,
                             input="".join(f"{address:x}\n" for address in addresses)).stdout.splitlines()
    for answer in answers:
        line = answer.split(" ")[0].rsplit("/", 1)[-1]
        yield "?" if "?" in line or line.endswith(":0") else line
checked = 0
for (path, bias), rows in lines.items():
    for (address, line), want, here in zip(rows.items(), lines_of(path, rows),
                                           lines_of(program, [address + bias for address in rows]), strict=True):
        if line != want:
            sys.exit(f"{path} {address:x} is {line} in the listing, and {want} for addr2line")
        if here != want:
            sys.exit(f"{path} {address:x} is {here} in program.elf, and {want} in the file")
        checked += line != "?"
if checked < 100:
    sys.exit(f"only {checked} places have lines")
if named < 1000 or stubs < 20:
    sys.exit(f"only {named} of {len(seen)} places have names, {stubs} are of stubs")
END_PY

# lacks PATTERN LISTING: the listing can be read, and does not have it.
lacks() { cat "$2" >"$tmp/now" && ! grep -q "$1" "$tmp/now"; }

# check_tools ARCH PROGRAM MAIN: what reads lines takes those of program.elf, and has nothing to say against it.
check_tools() {
	"$1-linux-gnu-readelf" -SW --debug-dump=decodedline,info,abbrev,Ranges "$2" >"$tmp/out" 2>"$tmp/err" ||
		fail "$1: readelf ended with $?"
	[ -s "$tmp/err" ] && fail "$1: readelf: $(head -n 3 "$tmp/err")"
	grep -qE "^sort.cc +15 +$(printf %#x "0x$3")( |$)" "$tmp/out" || fail "$1: readelf has no line of main"
	"$1-linux-gnu-objdump" -dl --start-address="0x$3" --stop-address="$((0x$3 + 8))" "$2" >"$tmp/out" 2>&1 ||
		fail "$1: objdump ended with $?"
	grep -q '^sort.cc:15$' "$tmp/out" || fail "$1: objdump has no line of main: $(cat "$tmp/out")"
	command -v gdb-multiarch >/dev/null || return
	gdb-multiarch -nx --batch -ex "info line *0x$3" -ex "info symbol 0x$3" "$2" >"$tmp/out" 2>&1
	grep -q '^Line 15 of "sort.cc" starts at address 0x' "$tmp/out" || fail "$1: gdb has no line of main: $(cat "$tmp/out")"
}

offered=--views=listing.txt,program.elf
do_mount --wait "$offered"
parts=()
for capture in riscv64@stf aarch64@astf; do
	views=$mnt/$capture
	listing=$tmp/$capture
	cp "$views/hart0/listing.txt" "$listing" || fail "$capture: cp of the listing"
	python3 "$tmp/check.py" "${capture%@*}" "$views/info.json" "$archive" "$views/hart0/program.elf" <"$listing" ||
		fail "$capture: places and names"
	grep -q '<main sort.cc:15>' "$listing" || fail "$capture: main has no name"
	grep -q '<qsort>' "$listing" || fail "$capture: qsort has no name"
	grep -q '<int numbers::compare<int>(void const\*, void const\*)+0x4 sort.cc:7>' "$listing" ||
		fail "$capture: no name of C++ is demangled"
	read -r first _ main _ < <(grep -m1 '<main sort' "$listing")
	part=hart0/at/$first-$((first + 19999))/listing.txt # what is made anew again and again
	parts+=("$views/$part")
	"$hartfs" cat "$offered" --param listing.names=raw --param listing.lines=0 --index-dir "$index" "$archive/${capture/@/.}" "$part" >"$tmp/raw" ||
		fail "$capture: cat with raw names ended with $?"
	grep -q '<_ZN7numbers7compareIiEEiPKvS2_+0x4>' "$tmp/raw" || fail "$capture: names=raw shows other names"
	[ -s "$views/errors.txt" ] && fail "$capture: $(head -n 3 "$views/errors.txt")"
	"${capture%@*}-linux-gnu-nm" "$views/hart0/program.elf" >"$tmp/out" || fail "$capture: nm of program.elf"
	grep -q "^$main . main$" "$tmp/out" || fail "$capture: program.elf has main elsewhere than at $main"
	check_tools "${capture%@*}" "$views/hart0/program.elf" "$main"
done
timeout "$patience" "$hartfs" verify "$offered" --index-dir "$index" "$archive/riscv64.stf" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"

# The program is stripped, and what was stripped lies beside it: names and lines are as before.
arm=$mnt/aarch64@astf part=${parts[1]}
cp "$part" "$tmp/part"
mkdir "$archive/aarch64.d/debug"
aarch64-linux-gnu-objcopy --only-keep-debug "$archive/aarch64.d/sort" "$archive/aarch64.d/debug/sort.debug"
aarch64-linux-gnu-strip "$archive/aarch64.d/sort"
split() { grep -q 'sort.debug' "$arm/info.json"; }
wait_until split || fail "nobody looks at the debug file"
cmp "$tmp/aarch64@astf" "$arm/hart0/listing.txt" || fail "with names and lines in a debug file the listing is another one"
lineless() { lacks 'sort.cc:' "$part"; }
# The same without build ids: the program names its debug file, and says which bytes that has.
linked() { cmp -s "$tmp/part" "$part"; }
aarch64-linux-gnu-objcopy --remove-section=.note.gnu.build-id "$archive/aarch64.d/debug/sort.debug"
cp "$archive/aarch64.d/sort" "$tmp/stripped"
aarch64-linux-gnu-objcopy --remove-section=.note.gnu.build-id \
	--add-gnu-debuglink="$archive/aarch64.d/debug/sort.debug" "$tmp/stripped"
cp "$tmp/stripped" "$archive/aarch64.d/sort"
wait_until linked || fail "a debug file that the program names is not taken"
printf x >>"$archive/aarch64.d/debug/sort.debug"
wait_until lineless || fail "a debug file with another checksum is taken"
truncate -s -1 "$archive/aarch64.d/debug/sort.debug"
wait_until linked || fail "the debug file is itself again, and is not taken"
rm "$archive/aarch64.d/debug/sort.debug"
wait_until lineless || fail "the lines stay without the debug file"

# A module of the kernel is told of, and changes nothing.
aarch64-linux-gnu-gcc -c -x c -o "$archive/aarch64.d/module.ko" - <<<'int probe(int x) { return x * 3; }'
told() { grep -q "^aarch64.astf: warning: of the files beside it 1 are relocatable (.o, .ko) and give no symbols: " "$arm/errors.txt"; }
wait_until told || fail "nobody tells of a module: $(cat "$arm/errors.txt")"
grep -q '"files_relocatable": 1,' "$arm/info.json" || fail "info.json does not count a module"
rm "$archive/aarch64.d/module.ko"
told_nothing() { [ ! -s "$arm/errors.txt" ]; }
wait_until told_nothing || fail "what is said of a module stays"

# What is no code of a program costs no search.
size=$(stat -c %s "$archive/aarch64.d/sort")
truncate -s 5G "$archive/aarch64.d/sort"
"$hartfs" cat "$offered" --index-dir "$index" "$archive/aarch64.astf" errors.txt >"$tmp/out" || fail "a large program: cat ended with $?"
[ -s "$tmp/out" ] && fail "a large program: $(cat "$tmp/out")"
truncate -s "$size" "$archive/aarch64.d/sort"

# A library goes: its names go with it, those of the others stay.
listing=$mnt/riscv64@stf/hart0/listing.txt
part=${parts[0]}
grep -q '<qsort>' "$part" || fail "qsort has no name in $part"
unnamed() { lacks '<qsort>' "$part"; }
mv "$archive/riscv64.d/lib/libc.so.6" "$tmp/"
wait_until unnamed || fail "the names of a library that is gone stay"
grep -q '<main ' "$part" || fail "the names of the program went with a library"
grep -q '"in_no_file": 0' "$mnt/riscv64@stf/info.json" && fail "info.json explains the code of a library that is gone"

# A program of another build: its names would be wrong.
riscv64-linux-gnu-g++ -g -O1 "$tmp/sort.cc" -o "$archive/riscv64.d/sort"
nameless() { lacks '<main' "$part"; }
wait_until nameless || fail "a program of another build gives names"
grep -q 'riscv64.d/sort: warning: it gives no symbols: [0-9]*% of the code that ran there is another' \
	"$mnt/riscv64@stf/errors.txt" || fail "nobody says that it is another build: $(cat "$mnt/riscv64@stf/errors.txt")"

# Who may not read a library may not read what is made of it.
mode_is() { [ "$(stat -c %a "$listing")" = "$1" ]; }
wait_until mode_is 444 || fail "the listing has the mode $(stat -c %a "$listing")"
chmod 0600 "$archive/riscv64.d/lib/libm.so.6"
wait_until mode_is 400 || fail "with a private library the listing has the mode $(stat -c %a "$listing")"
chmod 0644 "$archive/riscv64.d/lib/libm.so.6"
chmod 0700 "$archive/riscv64.d"
wait_until mode_is 400 || fail "with a private directory the listing has the mode $(stat -c %a "$listing")"
do_umount
finish
