#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two harts' N-Trace as it may arrive: bare, behind one ATB bridge each, both behind one, as a dump of words in the
# wrong order, as a circular buffer, as text. The same listings, whole and from anywhere.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "there is no python3"

python3 - "$archive" <<'END' || fail "the captures are not made"
import os, struct, sys

BASE = 0x1000
CODE = struct.pack('<4I', 0x00000013, 0xfeb51ee3, 0x00000013, 0x00050067)  # a loop, and a jump to its start

def message(tcode, src, srcbits, fields):
    """fields: (value, fixed width or None)."""
    bits, used, out = tcode | src << 6, 6 + srcbits, []

    def flush(mseo):
        nonlocal bits, used
        while True:
            out.append((bits & 63) << 2)
            bits >>= 6
            used -= 6
            if used <= 0:
                break
        out[-1] |= mseo
        bits = used = 0

    for value, width in fields:
        bits |= value << used
        used += width if width else max(value.bit_length(), 1)
        if not width:
            flush(1)
    out[-1] |= 3
    return bytes(out)

def session(k, rounds, src=0, srcbits=0):
    out = [message(9, src, srcbits, [(5, 4), (0, None), (BASE >> 1, None)])]
    for i in range(rounds):
        out.append(message(28, src, srcbits, [(0, 2), (4 * (k + 1) + 4, None), (0, None), (((2 << k) - 1) << 1, None)]))
        k = (k + 3) % 9
    return out + [message(33, src, srcbits, [(4, 4), (1, 2), (0, None), (1, None)])]

def frames(pairs):
    """pairs: (id, byte)."""
    out, cur, pairs = bytearray(), None, list(pairs)
    while pairs:
        frame = bytearray(16)
        for i in range(0, 15, 2):
            now = pairs[0][0] if pairs else 0
            if now != cur:
                cur = now
                frame[i] = cur << 1 | 1
                if i < 14 and pairs:
                    frame[i + 1] = pairs.pop(0)[1]
                continue
            byte = pairs.pop(0)[1] if pairs else 0
            frame[i] = byte & 0xfe
            frame[15] |= (byte & 1) << i // 2
            if i == 14:
                continue
            if pairs and pairs[0][0] == cur:
                frame[i + 1] = pairs.pop(0)[1]
            else:  # the new id instead, which holds behind the odd byte
                cur = pairs[0][0] if pairs else 0
                frame[i], frame[i + 1] = cur << 1 | 1, byte
                frame[15] |= 1 << i // 2
        out += frame
    return bytes(out)

def turns(streams, step):
    """Both in turn: step 0 message by message, else bytes, with padding between some."""
    streams, turn = [list(s) for s in streams], 0
    while any(streams):
        which, n = turn % 2, 1 + turn % step if step else 1
        part, streams[which] = streams[which][:n], streams[which][n:]
        yield from ((which, x) for x in part)
        if step and turn % 5 == 0:
            yield None, 0x24
        turn += 1

def capture(name, trace, *parameters, framing='raw'):
    path = os.path.join(sys.argv[1], name)
    os.mkdir(path)
    open(os.path.join(path, 'code.bin'), 'wb').write(CODE)
    open(os.path.join(path, 'trace.bin'), 'wb').write(trace)
    with open(os.path.join(path, 'capture.ini'), 'w') as f:
        print('[capture]\nformat = ntrace\ntrace = trace.bin\nframing = %s\n[program]\nraw = code.bin, address = 0x%x\n'
              '[parameters]\nxlen = 64' % (framing, BASE), *parameters, sep='\n', file=f)

rounds = [(1, 700), (8, 400)]
for hart, (k, n) in enumerate(rounds):
    capture('bare%d' % hart, b''.join(session(k, n)))
ids = [0x11, 0x6f, 0]
plain = [b''.join(session(k, n)) for k, n in rounds]
bridges = frames((ids[2 if w is None else w], b) for w, b in turns(plain, 23))
capture('bridges', bridges, framing='coresight')
funnel = b''.join(m for _, m in turns([session(k, n, 5 + h, 3) for h, (k, n) in enumerate(rounds)], 0))
capture('funnel', funnel, 'srcbits = 3')
other = bytes([0x24]) * 500
framed = frames((ids[2 if w is None else w], b) for w, b in turns([funnel, other], 9))
capture('framed', framed, 'srcbits = 3', framing='coresight')
capture('words', bytes(framed[i ^ 3] for i in range(len(framed))), 'srcbits = 3', 'word_bytes = 4', framing='coresight')
funnel += b'\xff' * (-len(funnel) % 4)
words = ['0x%08x' % w for w in struct.unpack('<%dI' % (len(funnel) // 4), funnel)]
text = ''.join('0x%x <ram+%d>:\t%s\n' % (0x20000000 + 4 * i, 4 * i, '\t'.join(words[i:i + 4])) for i in range(0, len(words), 4))
capture('gdb', text.encode(), 'srcbits = 3', 'text = hex_words')
plain_text = '# bytes\n' + '\n'.join(funnel[i:i + 30].hex() for i in range(0, len(funnel), 30))
capture('plain', plain_text.encode(), 'srcbits = 3', 'text = hex')
capture('spoilt', plain_text.replace('\n', '\n...', 7).encode(), 'srcbits = 3', 'text = hex')
at = len(funnel) // 3
turned = funnel[-at:] + funnel[:-at]
capture('circle', turned, 'srcbits = 3', 'wrap_offset = %d' % at, 'wrapped = 0')
capture('both', bytes(turned[i ^ 3] for i in range(len(turned))), 'srcbits = 3', 'word_bytes = 4',
        'wrap_offset = %d' % at, 'wrapped = 0')
END

do_mount --wait
# same LISTING BARE: as a whole, and from odd offsets on, the last ones first.
same() {
	local size at
	size=$(stat -c %s "$mnt/$2")
	[ "$size" -gt 100000 ] || fail "$2 has $size bytes: $(cat "$mnt/${2%%/*}/errors.txt")"
	for at in $((size - 7)) $((size / 2 + 1)) 4097 13 0; do
		cmp -s <(dd if="$mnt/$1" bs=1 skip="$at" count=3001 status=none) <(tail -c +$((at + 1)) "$mnt/$2" | head -c 3001) ||
			fail "$1 is another one at $at: $(cat "$mnt/${1%%/*}/errors.txt")"
	done
	cmp "$mnt/$1" "$mnt/$2" || fail "$1: $(cat "$mnt/${1%%/*}/errors.txt")"
}
same bridges@ntrace/hart17/listing.txt bare0@ntrace/hart0/listing.txt
same bridges@ntrace/hart111/listing.txt bare1@ntrace/hart0/listing.txt
for capture in funnel framed words circle both gdb plain; do
	same "$capture@ntrace/hart5/listing.txt" bare0@ntrace/hart0/listing.txt
	same "$capture@ntrace/hart6/listing.txt" bare1@ntrace/hart0/listing.txt
	[ ! -s "$mnt/$capture@ntrace/errors.txt" ] || fail "$capture: $(cat "$mnt/$capture@ntrace/errors.txt")"
done

messages() { cut -d' ' -f2- "$1" | sed 's/ ID=[0-9]*//'; }
cmp <(messages "$mnt/gdb@ntrace/records.txt") <(messages "$mnt/plain@ntrace/records.txt") || fail "records.txt of text"
grep -q 'line 2 of the text' "$mnt/spoilt@ntrace/errors.txt" || fail "$(cat "$mnt/spoilt@ntrace/errors.txt")"
# records.txt: the messages of both bridges, one after the other.
records=$mnt/bridges@ntrace/records.txt
cmp <(messages "$records") <(messages "$mnt/bare0@ntrace/records.txt"; messages "$mnt/bare1@ntrace/records.txt") ||
	fail "records.txt of frames: $(head -n 3 "$records")"
tail -c +5002 "$records" | head -c 3001 >"$tmp/want"
do_umount
do_mount --wait
dd if="$records" bs=1 skip=5001 count=3001 status=none | cmp - "$tmp/want" || fail "records.txt is another one at 5001"
# Where a message begins depends on neither words nor the write pointer.
cmp <(messages "$mnt/circle@ntrace/records.txt" | grep -v '^idle') <(messages "$mnt/funnel@ntrace/records.txt") ||
	fail "records.txt of a circular buffer: $(head -n 3 "$mnt/circle@ntrace/records.txt")"
cmp <(messages "$mnt/both@ntrace/records.txt") <(messages "$mnt/circle@ntrace/records.txt") ||
	fail "both are not the same"
do_umount
finish
