#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# program.elf and symbols: other people's readers take the one, the listing's code is all in it; the listing names the
# places of the ELF beside the capture, and follows it when it goes, comes or changes, without other views being made anew.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
capture_archive
short_boot
command -v python3 >/dev/null || skip "python3 is needed"
sys=$mnt/boot/rv-sys@stf@gz
mini=$mnt/mini/rv32-mini@stf

# A program that changes: the last addi of the capture is another one than before at the same address.
mkdir "$archive/changes"
python3 - "$archive/mini/rv32-mini.stf" "$archive/changes/x.stf" <<'END' || fail "cannot make a program that changes"
import re, sys
data = bytearray(open(sys.argv[1], "rb").read())
found = [m.start() for m in re.finditer(rb"\xf0(?=[\x13\x93]..[^\xf0])", data, re.S) if data[m.start() + 2] & 0x70 == 0]
data[found[-1] + 4] ^= 0x10
open(sys.argv[2], "wb").write(data)
END
do_mount --wait

for elf in "$sys/hart0/program.elf" "$mini/hart0/program.elf"; do
	[ -f "$elf" ] || { fail "there is no $elf"; finish; }
	[ "$(wc -c <"$elf")" = "$(stat -c %s "$elf")" ] || fail "$elf: not the size that was promised"
	if command -v readelf >/dev/null; then
		readelf -a "$elf" >"$tmp/out" 2>"$tmp/err" || fail "readelf -a $elf ended with $?"
		[ ! -s "$tmp/err" ] || fail "readelf -a $elf: $(head -n 3 "$tmp/err")"
	else
		echo "SKIP (in part): no readelf"
	fi
	objdump=$(command -v llvm-objdump-19 llvm-objdump riscv64-linux-gnu-objdump | head -n 1)
	if [ "$objdump" ]; then
		"$objdump" -d "$elf" >"$tmp/out" 2>"$tmp/err" || fail "$objdump -d $elf ended with $?"
		[ ! -s "$tmp/err" ] || fail "$objdump -d $elf: $(head -n 3 "$tmp/err")"
		grep -qE '^ *[0-9a-f]+:.*addi' "$tmp/out" || fail "$objdump shows no code in $elf"
	else
		echo "SKIP (in part): no objdump for RISC-V"
	fi
done

# Every instruction of the listing is in the program; where the archive's ELF has bytes, they are the same.
cat >"$tmp/check.py" <<'END'
import struct, sys

def segments(path):
    data = open(path, "rb").read()
    wide = data[4] == 2
    at, size, n = (struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)) if wide else \
        (struct.unpack_from("<I", data, 28)[0], *struct.unpack_from("<HH", data, 42))
    for i in range(n):
        row = data[at + i * size:at + (i + 1) * size]
        if wide:
            kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", row)
        else:
            kind, offset, address, _, length = struct.unpack_from("<IIIII", row)
        if kind == 1 and length:
            yield address, data[offset:offset + length]

def read(segments, address, n):
    for start, data in segments:
        if start <= address and address + n <= start + len(data):
            return data[address - start:address - start + n]
    return None

program = list(segments(sys.argv[1]))
source = list(segments(sys.argv[2])) if len(sys.argv) > 2 else []
count = known = 0
for line in sys.stdin:
    pc, opcode = line.split()
    want = bytes.fromhex(opcode)[::-1]
    got = read(program, int(pc, 16), len(want))
    if got != want:
        sys.exit(f"{pc} is {opcode} in the listing, {got} in program.elf")
    theirs = read(source, int(pc, 16), len(want))
    if theirs not in (None, want):
        sys.exit(f"{pc} is {opcode} in the listing, {theirs} in {sys.argv[2]}")
    count += 1
    known += theirs is not None
if not count or (source and not known):
    sys.exit("nothing was compared")
END
instructions() { awk '!/^#/ {print $3, $4}' "$1" | sort -u; }
instructions "$sys/hart0/listing.txt" | python3 "$tmp/check.py" "$sys/hart0/program.elf" "$archive/boot/rv-sys.elf" ||
	fail "rv-sys: listing and program.elf differ"
instructions "$mini/hart0/listing.txt" | python3 "$tmp/check.py" "$mini/hart0/program.elf" ||
	fail "rv32-mini: listing and program.elf differ"

# A program that is not one image does not exist, and info.json says why.
[ -e "$mnt/changes/x@stf/hart0/listing.txt" ] || fail "no listing of a program that changes"
[ ! -e "$mnt/changes/x@stf/hart0/program.elf" ] || fail "a program that changes is shown as one image"
grep -A2 'hart0/program.elf' "$mnt/changes/x@stf/info.json" | grep -q 'cannot be one image: the code at 0x[0-9a-f]* changes' ||
	fail "info.json does not say why there is no program.elf"

# Symbols: every name in the listing is at its place, and the functions of the ELF are all named.
if command -v readelf >/dev/null; then
	readelf -sW "$archive/boot/rv-sys.elf" | awk '$5 ~ /^(LOCAL|GLOBAL)$/ && $4 ~ /^(FUNC|NOTYPE)$/ && $8 !~ /^\$/ && $8 != "" {
		print $2, $3, $4, $8}' >"$tmp/symbols"
	awk '!/^#/ {name = "-"; for (i = 5; i <= NF; i++) if ($i ~ /^<[^<>]*>$/) name = substr($i, 2, length($i) - 2)
		print $3, name}' "$sys/hart0/listing.txt" | sort -u >"$tmp/named"
	python3 - "$tmp/symbols" "$tmp/named" <<'END' || fail "symbols of the listing"
import sys
places, functions = {}, []
for line in open(sys.argv[1]):
    value, size, kind, name = line.split()
    places.setdefault(name, []).append(int(value, 16))
    if kind == "FUNC":
        functions.append((int(value, 16), int(value, 16) + int(size, 0)))
named = 0
for line in open(sys.argv[2]):
    pc, name = line.split()
    pc = int(pc, 16)
    if name == "-":
        if any(a <= pc < b for a, b in functions):
            sys.exit(f"{pc:x} lies in a function and has no name")
        continue
    name, _, offset = name.partition("+")
    if pc - int(offset or "0", 16) not in places.get(name, []):
        sys.exit(f"{pc:x} is not {name}+{offset}")
    named += 1
if named < 500:
    sys.exit(f"only {named} places have names")
END
	readelf -sW "$sys/hart0/program.elf" | grep -q ' FUNC .* ktrap$' || fail "program.elf has no symbols"
fi

# The ELF goes, comes back and changes: the listing follows; the decode index and the other tables stay as they are.
listing=$sys/hart0/listing.txt
others() { (cd "$index" && ls -i | grep -v listing | grep -vF .hfc | sort); }
first_of() { grep -m1 '^6 ' "$listing"; }
unnamed() { ! first_of | grep -q '<'; }
named() { first_of | grep -q "<$1>"; }
named _start || fail "instruction 6 is not called _start: $(first_of)"
cp "$listing" "$tmp/first"
others >"$tmp/before"
mv "$archive/boot/rv-sys.elf" "$tmp/rv-sys.elf"
wait_until unnamed || fail "the symbols stay when the ELF is gone"
[ "$(wc -c <"$listing")" = "$(stat -c %s "$listing")" ] || fail "the listing without symbols has another size"
! grep -q '"symbols"' "$sys/info.json" || fail "info.json tells of an ELF that is gone"
sed 's/ *<[^<>]*>//' "$tmp/first" | tr -s ' ' | sed 's/ $//' >"$tmp/want"
tr -s ' ' <"$listing" | sed 's/ $//' | cmp - "$tmp/want" || fail "without symbols more than the symbols is gone"
sed 's/_start/_begin/g' "$tmp/rv-sys.elf" >"$archive/boot/rv-sys.elf"
wait_until named _begin || fail "the changed ELF is not noticed: $(first_of)"
echo "no ELF" >"$archive/boot/rv-sys.elf"
wait_until unnamed || fail "a file that is no ELF names something"
grep -A8 '"symbols"' "$sys/info.json" | grep -q '"error"' || fail "info.json does not say that the ELF is none"
rm "$archive/boot/rv-sys.elf"
ln -s "$tmp/rv-sys.elf" "$archive/boot/rv-sys.elf"
wait_until unnamed || fail "a symbolic link to an ELF is followed"
grep -q '"symbols"' "$sys/info.json" && fail "a symbolic link counts as an ELF"
rm "$archive/boot/rv-sys.elf"
cp -p "$tmp/rv-sys.elf" "$archive/boot/rv-sys.elf"
wait_until named _start || fail "the ELF that came back is not noticed"
cmp "$listing" "$tmp/first" || fail "with the same ELF the listing is another one"
others | cmp - "$tmp/before" || fail "other index files than the listing's were made anew: $(others)"
# From one mount to the next, too: the size of a listing is that with the ELF that is there now.
size=$(stat -c %s "$listing")
do_umount
mv "$archive/boot/rv-sys.elf" "$tmp/rv-sys.elf"
do_mount --wait
[ "$(stat -c %s "$listing")" -lt "$size" ] || fail "a new mount shows the size of a listing with symbols that are gone"
do_umount
cp -p "$tmp/rv-sys.elf" "$archive/boot/rv-sys.elf"
do_mount --wait
[ "$(stat -c %s "$listing")" = "$size" ] || fail "a new mount shows the size of a listing without the symbols"
cmp "$listing" "$tmp/first" || fail "with the same ELF the listing is another one in a new mount"
timeout "$patience" "$hartfs" verify --index-dir "$index" "$archive" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
do_umount
finish
