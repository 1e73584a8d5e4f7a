#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An RV64 and an RV32 hart in one N-Trace capture, told apart by SRC or by frames: the same halfwords are c.addiw
# for one and c.jal for the other. What a hart is comes from its own parameters or its own program. And a hart that never
# synchronises beside one that does, in N-Trace and E-Trace: it is told of, and the other one is whole.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "there is no python3"

python3 - "$archive" <<'END' || fail "the captures are not made"
import os, struct, sys

BASES = 0xffffffff80001000, 0x80001000
# c.nop; c.addiw a6, 4 or c.jal to the second one of two c.jr a0
CODE = struct.pack('<12H', 0x0001, 0x2811, 0x8502, *[1] * 8, 0x8502)

def message(tcode, src, srcbits, fields):
    """fields: (value, fixed width or None)."""
    bits, used, out = tcode | src << 6, 6 + srcbits, []
    for value, width in fields:
        bits |= value << used
        used += width if width else max(value.bit_length(), 1)
        if not width:
            while used > 0:
                out.append((bits & 63) << 2)
                bits >>= 6
                used -= 6
            out[-1] |= 1
            bits = used = 0
    out[-1] |= 3
    return bytes(out)

def session(hart, srcbits):
    src = hart if srcbits else 0
    return [message(9, src, srcbits, [(5, 4), (0, None), (BASES[hart] >> 1, None)]),
            *[message(28, src, srcbits, [(0, 2), (3, None), (0, None), (1, None)])] * (40 + hart),
            message(33, src, srcbits, [(4, 4), (1, 2), (0, None), (1, None)])]

def frame(id, data):
    """One byte of id, then up to 14 of data."""
    data = data[:14].ljust(14, b'\0')
    out = bytearray(16)
    out[0], out[1:15] = id << 1 | 1, data
    for i in range(2, 15, 2):
        out[15] |= (out[i] & 1) << i // 2
        out[i] &= 0xfe
    return bytes(out)

def capture(name, traces, text, format='ntrace'):
    path = os.path.join(sys.argv[1], name)
    os.mkdir(path)
    open(os.path.join(path, 'code.bin'), 'wb').write(CODE)
    for i, trace in enumerate(traces):
        open(os.path.join(path, 'trace%d.bin' % i), 'wb').write(trace)
    with open(os.path.join(path, 'capture.ini'), 'w') as f:
        f.write('[capture]\nformat = %s\n' % format + text)

RAW = '[program%s]\nraw = code.bin, address = 0x%x\n'
SAID = ''.join(RAW % (' %d' % i, base) + '[parameters %d]\nxlen = %d\n' % (i, 64 - 32 * i) for i, base in enumerate(BASES))
both = [m for pair in zip(session(0, 2), session(1, 2)) for m in pair] + session(1, 2)[-1:]
capture('said', [b''.join(both)], 'trace = trace0.bin\n' + SAID + '[parameters]\nsrcbits = 2\n')
quiet = [m for pair in zip(session(0, 2), session(1, 2)[1:]) for m in pair]
capture('quiet-n', [b''.join(quiet)], 'trace = trace0.bin\n' + SAID + '[parameters]\nsrcbits = 2\n')
# support, sync at 0x80001000, and reports of c.jr: the same address
SYNC, REPORT = b'\x73' + struct.pack('<I', 0x80000000 | BASES[1] >> 1), b'\x02'
packets = [(0, b'\x1f\x00'), (1, b'\x1f\x00'), (0, SYNC)] + [(1, REPORT)] * 5
capture('quiet-e', [b''.join(bytes([len(p), src]) + p for src, p in packets)],
        'framing = encap\nsrcid_bits = 8\ntrace = trace0.bin\n' + RAW % ('', BASES[1]) +
        '[parameters]\nversion = 2.0\niaddress_width = 32\nprivilege_width = 3\n', 'etrace')

streams = [b''.join(session(i, 0)) for i in (0, 1)]
framed = b''.join(frame(1 + i, streams[i][at:at + 14]) for at in range(0, max(map(len, streams)), 14)
                  for i in (0, 1) if at < len(streams[i]))
capture('framed', [framed], 'framing = coresight\ntrace = trace0.bin\n' +
        ''.join(RAW % (' %d' % (i + 1), base) + '[parameters %d]\nxlen = %d\n' % (i + 1, 64 - 32 * i)
                for i, base in enumerate(BASES)))
END

# check CAPTURE HART XLEN ROUNDS: rounds of three instructions, the second one in the language of that hart.
check() {
	local listing="$mnt/$1/hart$2/listing.txt"
	local want='0000000080001002 2811     jal 20                  -> 0000000080001016'
	[ "$3" = 32 ] || want='ffffffff80001002 2811     addiw a6, a6, 4'
	[ "$(grep -c " $want *$" "$listing")" = "$4" ] || fail "$1 hart $2: $(head "$listing" "$mnt/$1/errors.txt")"
	[ "$(grep -vc '^#' "$listing")" = $((3 * $4)) ] || fail "$1 hart $2: $(tail "$listing")"
	[ ! -s "$mnt/$1/errors.txt" ] || fail "$1: $(cat "$mnt/$1/errors.txt")"
	! grep '#' "$mnt/$1/records.txt" || fail "$1/records.txt"
	tr -d ' \n' <"$mnt/$1/info.json" | grep -qE "\"id\":$2,\"instructions\":[0-9]*,\"attempts\":0,(\"[a-z]*\":0,)*\"xlen\":$3" ||
		fail "$1: $(cat "$mnt/$1/info.json")"
}

# check_views HART OF CAPTURE, XLEN: what they say of it.
check_views() {
	grep -qx "xlen = $2" "$1/ntrace/capture.ini" || fail "$(cat "$1/ntrace/capture.ini")"
	grep -qx "iaddress_width = $2" "$1/etrace/capture.ini" || fail "$(cat "$1/etrace/capture.ini")"
	[ "$(od -An -tu1 -j4 -N1 "$1/program.elf")" -eq $(($2 / 32)) ] || fail "$1/program.elf is of another class"
}

instructions() { grep -v '^#' "$1/hart${2:-0}/listing.txt" | sed 's/ *$//'; }

do_mount --wait
check said@ntrace 0 64 40
check said@ntrace 1 32 41
check framed@ntrace 1 64 40
check framed@ntrace 2 32 41
check_insns() { [ "$(instructions "$mnt/$1" "$2" | wc -l)" = "$3" ] || fail "$1: $(head "$mnt/$1/hart$2/listing.txt")"; }
check_insns quiet-n@ntrace 0 120
check_insns quiet-n@ntrace 1 0
grep -q 'this source sent 42 messages, and never synchronised; .*hart 1' "$mnt/quiet-n@ntrace/errors.txt" ||
	fail "$(cat "$mnt/quiet-n@ntrace/errors.txt")"
check_insns quiet-e@etrace 0 1
check_insns quiet-e@etrace 1 0
grep -q 'this source sent 5 packets, and never synchronised; .*hart 1' "$mnt/quiet-e@etrace/errors.txt" ||
	fail "$(cat "$mnt/quiet-e@etrace/errors.txt")"
[ "$(cat "$mnt"/quiet-*/errors.txt | wc -l)" = 2 ] || fail "$(cat "$mnt"/quiet-*/errors.txt)"
for hart in 0 1; do
	views=$mnt/said@ntrace/hart$hart
	check_views "$views" $((64 - 32 * hart))
	cp "$views/program.elf" "$tmp/hart$hart.elf"
	cp -r "$views/ntrace" "$tmp/copy-n$hart"
	cp -r "$views/etrace" "$tmp/copy-e$hart"
	cp "$views/trace.stf" "$tmp/copy$hart.stf"
done
do_umount

# The same without a word: the classes of the ELF files, of which one is for every hart without its own.
mkdir "$archive/elf"
cp "$tmp"/*.elf "$archive/said/trace0.bin" "$archive/elf"
printf '[capture]\nformat = ntrace\ntrace = trace0.bin\n[program]\nelf = hart0.elf\n[program 1]\nelf = hart1.elf\n' \
	>"$archive/elf/capture.ini"
printf '[parameters]\nsrcbits = 2\n' >>"$archive/elf/capture.ini"
mv "$tmp"/copy* "$archive"
do_mount --wait
for hart in 0 1; do
	check elf@ntrace $hart $((64 - 32 * hart)) $((40 + hart))
	check_views "$mnt/elf@ntrace/hart$hart" $((64 - 32 * hart))
	check copy-n$hart@ntrace 0 $((64 - 32 * hart)) $((40 + hart))
	check copy-e$hart@etrace 0 $((64 - 32 * hart)) $((40 + hart))
	cmp <(instructions "$mnt/copy$hart@stf") <(instructions "$mnt/elf@ntrace" $hart) ||
		fail "trace.stf of hart $hart: $(head -n 3 "$mnt/copy$hart@stf/hart0/listing.txt")"
done
do_umount
finish
