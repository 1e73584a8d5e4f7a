#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Text beside the flow: what N-Trace units write of software's text is in hartN/text/CHANNEL.txt byte for byte, however the
# chunks are cut, read from the front, at random and by several at once; the listing has it in lines; a capture of nothing
# else is ready, and a channel that said nothing has no file.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "there is no python3"

python3 - "$archive" "$tmp" <<'END' || fail "the captures are not made"
import os, random, struct, sys

def message(tcode, fields):
    """fields: (value, fixed width or None)."""
    bits, used, out = tcode, 6, []
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

def write(channel, data):
    tag = channel << 2 | {4: 0, 3: 1, 2: 2, 1: 3}[len(data)]
    return message(7, [(tag, None), (int.from_bytes(data, 'little'), None)])

def capture(name, trace, elf=False):
    path = os.path.join(sys.argv[1], name)
    os.mkdir(path)
    open(os.path.join(path, 'code.bin'), 'wb').write(struct.pack('<4H', 1, 1, 1, 0x8502))
    open(os.path.join(path, 'trace.bin'), 'wb').write(trace)
    open(os.path.join(path, 'capture.ini'), 'w').write(
        '[capture]\nformat = ntrace\ntrace = trace.bin\n[program]\nraw = code.bin, address = 0x80000000\n'
        '[parameters]\nxlen = 64\n')

random.seed(19)
said = {0: b'', 3: b'', 31: b''}
trace = message(9, [(5, 4), (0, None), (0x80000000 >> 1, None)])
for i in range(3000):
    for channel in random.sample(sorted(said), random.randrange(3)):
        for _ in range(random.randrange(1, 4)):
            data = bytes(random.choice(b'ab\n"\\\x00\xff z') for _ in range(random.randrange(1, 5)))
            said[channel] += data
            trace += write(channel, data)
    trace += message(28, [(0, 2), (4, None), (0, None), (1, None)])
trace += message(33, [(4, 4), (1, 2), (0, None), (1, None)])
capture('flow', trace)
for channel, data in said.items():
    open(os.path.join(sys.argv[2], 'want.%d' % channel), 'wb').write(data)
capture('alone', write(0, b'Hell') + write(0, b'o\n') + write(2, b'x') + write(0, b'unfin'[:4]))
capture('long', b''.join(write(1, b'0123') for _ in range(2500)))
capture('damaged', write(0, b'one\n') + b'\x02\x02' + message(7, [(3, None), (0x1ff, None)]) + b'\xff' + write(0, b'two\n'))
END

readers() {
	local size=$2 at n
	cmp "$1" "$3" || fail "$1 from the front"
	for ((n = 0; n < 40; n++)); do
		at=$((RANDOM % size)) len=$((1 + RANDOM % 900))
		cmp <(tail -c +$((at + 1)) "$1" | head -c $len) <(tail -c +$((at + 1)) "$3" | head -c $len) || fail "$1 at $at"
	done
	for n in 1 2 3 4; do cmp "$1" "$3" & done
	for n in 1 2 3 4; do wait -n || fail "$1 read by several"; done
}

for chunk in $(some 7 1 1000 16384); do
	rm -rf "$index"; mkdir "$index"
	do_mount --wait --chunk="$chunk"
	text=$mnt/flow@ntrace/hart0/text
	[ "$(ls "$text" | tr '\n' ' ')" = "0.txt 3.txt 31.txt " ] || fail "chunks of $chunk: $(ls "$text")"
	for channel in 0 3 31; do
		readers "$text/$channel.txt" "$(stat -c %s "$tmp/want.$channel")" "$tmp/want.$channel"
	done
	[ ! -e "$text/1.txt" ] || fail "a channel that said nothing has a file"
	sha256sum <"$mnt/flow@ntrace/hart0/listing.txt" >>"$tmp/listings"
	cp "$mnt/flow@ntrace/hart0/listing.txt" "$tmp/listing"
	do_umount
done
[ "$(sort -u "$tmp/listings" | wc -l)" = 1 ] || fail "the listing depends on the chunks"
[ "$(grep -vc '^#' "$tmp/listing")" = 12000 ] || fail "instructions: $(grep -vc '^#' "$tmp/listing")"
# The lines of a channel say what its file says.
python3 - "$tmp" <<'END' || fail "the listing says something else than the files"
import re, sys
said = {}
for line in open(sys.argv[1] + '/listing', newline='\n'):
    m = re.fullmatch(r'# text (\d+) "(.*)"\n', line)
    if m:
        said[m[1]] = said.get(m[1], b'') + m[2].encode().decode('unicode_escape').encode('latin-1')
for channel in '0', '3', '31':
    assert said[channel] == open('%s/want.%s' % (sys.argv[1], channel), 'rb').read(), channel
END

do_mount --wait
alone=$mnt/alone@ntrace
grep -q '"state": "ready"' "$alone/info.json" || fail "a capture of text alone: $(grep state "$alone/info.json")"
printf '# text 0 "Hello\\n"\n# text 2 "x"\n# text 0 "unfi"\n' | cmp - "$alone/hart0/listing.txt" || fail "$(cat "$alone/hart0/listing.txt")"
[ ! -s "$alone/errors.txt" ] || fail "problems: $(cat "$alone/errors.txt")"
[ "$(getfattr --only-values -n user.hartfs.texts "$alone/hart0" 2>/dev/null || echo 4)" = 4 ] || fail "user.hartfs.texts"
# 4,096 bytes are on a line, and the rest on the next one.
[ "$(awk '{print length($4)}' "$mnt/long@ntrace/hart0/listing.txt" | tr '\n' ' ')" = "4098 4098 1810 " ] || fail "long lines"
printf 'one\ntwo\n' | cmp - "$mnt/damaged@ntrace/hart0/text/0.txt" || fail "text behind damage"
[ -s "$mnt/damaged@ntrace/errors.txt" ] || fail "damage is not told"
do_umount
"$hartfs" info --index-dir "$index" "$archive/alone" | grep -q 'instructions   0 retired by 1 hart; 4 texts' ||
	fail "$("$hartfs" info --index-dir "$index" "$archive/alone")"
"$hartfs" verify --index-dir "$index" "$archive/flow" || fail "hartfs verify"
"$hartfs" cat --index-dir "$index" "$archive/flow" hart0/text/3.txt | cmp - "$tmp/want.3" || fail "hartfs cat"
finish
