#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a limit drops, cuts or clamps is told where it happens, and by name: hartfs-limits(7). Limits of which a capture
# can be made in a moment; the others have unit tests.
. "$(dirname "$0")/../lib/mount.sh"
command -v python3 >/dev/null || skip "python3 is needed"
python3 - "$archive" <<'PY' || skip "the captures could not be made"
import struct, sys
where = sys.argv[1]
NOP = b'\xf0\x13\0\0\0'

def header(extra=b'', isa=1, iem=2):
    return (b'\x01STF' + b'\x02' + struct.pack('<II', 1, 6) + extra + b'\x04' + struct.pack('<H', isa) +
            b'\x05' + struct.pack('<H', iem) + b'\x06\x01\x01\0\0\0\0' + b'\x07' + struct.pack('<Q', 0x48) +
            b'\x09' + struct.pack('<Q', 0x1000) + b'\x13')

def comment(text):
    return b'\x03' + struct.pack('<I', len(text)) + text

def put(name, *parts):
    with open(f'{where}/{name}', 'wb') as f:
        f.write(b''.join(parts))

# a content record that belongs to no access is one problem
ORPHAN = b'\x3d' + struct.pack('<Q', 1)
put('few.stf', header(), (ORPHAN + NOP) * 3000)
put('many.stf', header(), (ORPHAN + NOP) * 4000)
put('more.stf', header(), (ORPHAN + NOP) * 5000)
put('strings.stf', header(comment(b'x' * 300000)), NOP * 10)
put('records.stf', header(comment(b'x') * 4200), NOP * 10)
# a range of 4 GiB: address, size, attr (bit 6), write
put('range.stf', header(isa=2), b'\x3c' + struct.pack('<QHHB', 0x40, 0, 0x40, 2) +
    b'\x3d' + struct.pack('<Q', 1 << 32) + b'\xf0' + struct.pack('<I', 0xd503201f), NOP)

# an ELF with one function of a long name
def elf(name):
    strings = b'\0' + name + b'\0'
    symbols = bytes(24) + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, 0x1000, 0x100)
    at = 64
    parts = [bytes(0x100), symbols, strings]
    rows = [bytes(64)]
    for kind, flags, address, link, entry, part in ((1, 6, 0x1000, 0, 0, parts[0]), (2, 0, 0, 3, 24, symbols),
                                                  (3, 0, 0, 0, 0, strings)):
        rows.append(struct.pack('<IIQQQQIIQQ', 0, kind, flags, address, at, len(part), link, 1, 1, entry))
        at += len(part)
    head = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 243, 1, 0x1000, 0, at, 0, 64, 0, 0, 64,
                                                          len(rows), 0)
    return head + b''.join(parts) + b''.join(rows)

put('few.elf', elf(b'n' * 250))
PY
mkdir "$archive/long"
{
	printf '[capture]\nformat = ntrace\ntrace = t.bin\n'
	head -c 1100000 /dev/zero | tr '\0' '\n'
} >"$archive/long/capture.ini"
echo >"$archive/long/t.bin"

# Frames of two trace ids, 16 and 34, of which the description knows one.
mkdir "$archive/frames"
printf '[capture]\nformat = ete\ntrace = t.bin\nframing = coresight\n[parameters 16]\nTRCDEVARCH = 0x47705a13\n' \
	>"$archive/frames/capture.ini"
printf '\x21%*s\x45%*s' 15 '' 15 '' | tr ' ' '\0' >"$archive/frames/t.bin"

# view CAPTURE FILE
view() { timeout "$patience" "$hartfs" cat --index-dir "$index" "$archive/$1" "$2" 2>"$tmp/err"; }

# told CAPTURE: how many problems its errors.txt tells of, with those that it only counts.
told() {
	view "$1" errors.txt | awk '/: and [0-9]+ more problems$/ {n += $(NF - 2); next} {n++} END {print n + 0}'
}

# Each is told, or counted.
for capture in few:3000 many:4000 more:5000; do
	[ "$(told "${capture%:*}.stf")" = "${capture#*:}" ] ||
		fail "errors.txt of ${capture%:*} accounts for $(told "${capture%:*}.stf") of ${capture#*:} problems"
	view "${capture%:*}.stf" hart0/listing.txt | grep -c '^# note .*memory access before it' >"$tmp/n"
	[ "$(cat "$tmp/n")" = "${capture#*:}" ] || fail "the listing of ${capture%:*} has $(cat "$tmp/n")"
done

view strings.stf errors.txt | grep -q 'more than 256 KiB of strings' || fail "cut strings: $(view strings.stf errors.txt)"
view strings.stf hart0/listing.txt | head -n 1 | grep -q '^# note .*more than 256 KiB' || fail "not in the listing"
view strings.stf info.json | grep -q '"strings_cut": *true' || fail "not in info.json"

view records.stf errors.txt >"$tmp/out" && cat "$tmp/err" >>"$tmp/out"
grep -q 'more than 4,096 records' "$tmp/out" "$tmp/err" || fail "a long header: $(cat "$tmp/out" "$tmp/err")"

view range.stf errors.txt | grep -q '4 GiB or more' || fail "a cut range: $(view range.stf errors.txt)"
view range.stf hart0/listing.txt | grep -B1 -A1 '4 GiB or more' | grep -q ' W4294967295 ' ||
	fail "a cut range: $(view range.stf hart0/listing.txt | head -n 5)"

view few.stf hart0/listing.txt | grep -m 1 ' <n' | grep -qE '<n{197}\.\.\.>' ||
	fail "a long name: $(view few.stf hart0/listing.txt | grep -m 1 ' <')"

view long/capture.ini errors.txt >"$tmp/out" || view long errors.txt >>"$tmp/out"
grep -q 'longer than 1 MiB' "$tmp/out" "$tmp/err" || fail "a long description: $(cat "$tmp/out" "$tmp/err")"

view frames errors.txt | grep -q ': 1 trace ids have data that no source' || fail "frames: $(view frames errors.txt)"
view frames info.json | tr -d ' \n' | grep -q '"trace_ids_without_source":\[34\]' || fail "frames: $(view frames info.json)"
view frames hart16/listing.txt | head -n 1 | grep -q '^# note 1 trace ids' || fail "frames: $(view frames hart16/listing.txt)"
finish
