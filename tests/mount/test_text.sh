#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Text beside the flow: what N-Trace units write of software's text is in hartN/text/CHANNEL.txt byte for byte, however the
# chunks are cut, read from the front, at random and by several at once; the listing has it in lines; a capture of nothing
# else is ready, and a channel that said nothing has no file. The same of an ITM, beside an ETM and by itself.
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
def frames(pieces):
    """CoreSight frames of (id, up to 14 bytes)."""
    whole = b''
    for id, data in pieces:
        out = bytearray(16)
        out[0], out[1:15] = id << 1 | 1, data.ljust(14, b'\0')
        for i in range(2, 15, 2):
            out[15] |= (out[i] & 1) << i // 2
            out[i] &= 0xfe
        whole += out
    return bytes(whole)

def pieces(id, data, fill):
    return [(id, data[i:i + 14].ljust(14, fill)) for i in range(0, len(data), 14)]

def snapshot(name, files):
    path = os.path.join(sys.argv[1], name)
    os.mkdir(path)
    for file, content in files.items():
        open(os.path.join(path, file), 'wb').write(content if isinstance(content, bytes) else content.encode())

# ETMv4 of a Cortex-M33: three times round nop, nop, b; what fills the frames is Ignore (70 is no ITM's).
etm = b'\0' * 11 + b'\x80\x01\0\x04\x83\0\x10\0\0\0' + b'\xf7' * 3
sync, text = b'\0' * 5 + b'\x80', b'printf through the trace\n'
itm = sync + b''.join(b'\x01' + bytes([c]) for c in text) + b'\x17\x02\x10\0\0' + b'\x0e\x0f\x10' + b'\x20'
itm += sync[:-1] + b'\0' * (-len(itm + sync) % 14) + sync[-1:]
buffer = frames(pieces(2, itm, b'\0') + pieces(1, etm, b'\x70'))
snapshot('board', {
    'trace.bin': buffer, 'code.bin': struct.pack('<3H', 0xbf00, 0xbf00, 0xe7fc),
    'snapshot.ini': '[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=etm.ini\ndevice2=itm.ini\n'
                    '[trace]\nmetadata=trace.ini\n',
    'trace.ini': '[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB\nfile=trace.bin\nformat=coresight\n'
                 '[source_buffers]\nETM=ETB\nITM=ETB\n[core_trace_sources]\ncpu=ETM\n',
    'cpu.ini': '[device]\nname=cpu\nclass=core\ntype=Cortex-M33\n[regs]\n[dump]\nfile=code.bin\naddress=0x1000\nlength=6\n',
    'etm.ini': '[device]\nname=ETM\nclass=trace_source\ntype=ETM4.2\n[regs]\nTRCCONFIGR=1\nTRCTRACEIDR=1\n'
               'TRCIDR0=0x280006e1\nTRCIDR1=0x4100f424\nTRCIDR2=4\nTRCIDR8=0\n',
    'itm.ini': '[device]\nname=ITM\nclass=trace_source\ntype=ITM\n[regs]\nITMTCR(0xE80)=0x00020001\n'})
snapshot('swo', {'swo.bin': itm, 'capture.ini': '[capture]\nformat = itm\ntrace = swo.bin\n'})
snapshot('two', {'bus.bin': frames(pieces(3, itm, b'\0') + pieces(2, itm, b'\0')),
                 'capture.ini': '[capture]\nformat = itm\ntrace = bus.bin\nframing = coresight\n'})
# The same source on pins, with padding (id 0) and neither FSYNCs nor the first bytes; then one byte is missing.
port = b''
for i in range(1500):
    data = bytes([1, 0x20 + 7 * i % 90, 0x17]) + struct.pack('<I', 0x08000000 + 2 * i)
    out = bytearray([3]) + data + bytearray([1]) + bytearray(7)
    for k in range(2, 15, 2):
        low = 0 if k == 8 else out[k] & 1
        out[15] |= low << k // 2
        out[k] &= 0xff if k == 8 else 0xfe
    port += out
snapshot('port', {'port.bin': port[7:12000] + port[12001:],
                  'capture.ini': '[capture]\nformat = itm\ntrace = port.bin\nframing = coresight_sync\n'})
capture('damaged', write(0, b'one\n') + b'\x02\x02' + message(7, [(3, None), (0x1ff, None)]) + b'\xff' + write(0, b'two\n'))
END

# readers TEXT: each channel's from the front, from the middle, at random, and by several at once.
readers() {
	local channel n
	for channel in 0 3 31; do
		cmp "$1/$channel.txt" "$tmp/want.$channel" || fail "$1/$channel.txt from the front"
		cmp <(tail -c +1234 "$1/$channel.txt" | head -c 700) <(tail -c +1234 "$tmp/want.$channel" | head -c 700) || fail "$1/$channel.txt at 1233"
		for n in 1 2 3 4; do cmp "$1/$channel.txt" "$tmp/want.$channel" & done
	done
	python3 - "$1" "$tmp/want" <<-'END' || fail "$1 at random"
		import os, random, sys
		for channel in "0", "3", "31":
		    text = os.open("%s/%s.txt" % (sys.argv[1], channel), os.O_RDONLY)
		    want = open("%s.%s" % (sys.argv[2], channel), "rb").read()
		    for _ in range(40):
		        at, size = random.randrange(len(want)), random.randrange(1, 901)
		        assert os.pread(text, size, at) == want[at:at + size], (channel, at, size)
	END
	for n in {1..12}; do wait -n || fail "$1 read by several"; done
}

for chunk in $(some 7 1 1000 16384); do
	rm -rf "$index"; mkdir "$index"
	do_mount --wait --chunk="$chunk"
	text=$mnt/flow@ntrace/hart0/text
	[ "$(ls "$text" | tr '\n' ' ')" = "0.txt 3.txt 31.txt " ] || fail "chunks of $chunk: $(ls "$text")"
	readers "$text"
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
mkdir "$archive/again"
cp "$mnt/flow@ntrace/hart0/ntrace/"* "$archive/again/"
do_umount
do_mount --wait
for file in listing.txt text/0.txt text/3.txt text/31.txt; do
	# A listing shows columns where there are symbols; where the last jump went only the instruction behind it would tell.
	cmp <(sed 's/ *$//; $s/ *->.*//' "$mnt/again@ntrace/hart0/$file") <(sed 's/ *$//; $s/ *->.*//' "$mnt/flow@ntrace/hart0/$file") || fail "a copy of ntrace/ has another $file"
done
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
do_mount --wait
board=$mnt/board@ete
[ "$(grep -vc '^#' "$board/hart1/listing.txt")" = 9 ] || fail "the ETM: $(head "$board/hart1/listing.txt")"
for itm in "$board/hart2" "$mnt/swo@itm/hart0" "$mnt/two@itm/hart2" "$mnt/two@itm/hart3"; do
	printf 'printf through the trace\n' | cmp - "$itm/text/0.txt" || fail "$itm/text"
	printf '# text 0 "printf through the trace\\n"\n# sample pc=0000000000001002\n# exception 15 entered\n# cycles 2\n' |
		cmp - "$itm/listing.txt" || fail "$itm: $(cat "$itm/listing.txt")"
done
[ ! -e "$board/hart1/text" ] || fail "the ETM has text"
samples=$board/hart2/profile/samples.txt
grep -q '^# hart2: 1 samples of the pc, 0 asleep, 0 denied' "$samples" || fail "samples.txt: $(cat "$samples")"
grep -q '^ *1 100.00% 0000000000001002 ' "$samples" || fail "samples.txt: $(cat "$samples")"
grep -q '<text.*1 samples of the pc of hart2</text>' "$board/hart2/profile/samples.svg" || fail "samples.svg: $(cat "$board/hart2/profile/samples.svg")"
[ ! -e "$board/hart1/profile/samples.txt" ] || fail "the ETM was not sampled"
! grep -q 1002 "$board/hart2/profile/functions.txt" || fail "samples are mixed with what was executed"
[ ! -e "$board/all" ] || fail "all/ without a time that both have"
[ ! -s "$board/errors.txt" ] || fail "board: $(cat "$board/errors.txt")"
grep -q SOFTWARE "$board/records.txt" || fail "records.txt of the ITM"
port=$mnt/port@itm
grep -q '"state": "ready"' "$port/info.json" || fail "port: $(cat "$port/info.json")"
! grep -q trace_ids_without_source "$port/info.json" || fail "a hart has a source: $(grep trace_ids "$port/info.json")"
grep -q 'offset 0: no frame synchronisation.* 9 bytes passed over' "$port/errors.txt" || fail "the first frame: $(cat "$port/errors.txt")"
[ "$(grep -c 'no frame synchronisation' "$port/errors.txt")" = 2 ] || fail "one slip: $(cat "$port/errors.txt")"
grep '^# sample' "$port/hart1/listing.txt" >"$tmp/samples"
seq -f '%.0f' 0 1499 | while read -r i; do printf '# sample pc=%016x\n' $((0x08000000 + 2 * i)); done >"$tmp/all"
[ -z "$(comm -23 <(sort "$tmp/samples") <(sort "$tmp/all"))" ] || fail "samples that nobody sent: $(comm -23 <(sort "$tmp/samples") <(sort "$tmp/all") | head)"
sort -c "$tmp/samples" || fail "samples in another order"
[ "$(wc -l <"$tmp/samples")" -ge 1470 ] || fail "of 1500 samples $(wc -l <"$tmp/samples")"
do_umount
"$hartfs" info --index-dir "$index" "$archive/alone" | grep -q 'instructions   0 retired by 1 hart; 4 texts' ||
	fail "$("$hartfs" info --index-dir "$index" "$archive/alone")"
# Questions: those of the flow by ordinal, all of them as a table.
awk '!/^#/ {n = $1} /^# text 3 / {print n + 0}' "$tmp/listing" | uniq >"$tmp/three"
"$hartfs" find --index-dir "$index" --ordinals --marker=text:3 "$archive/flow" >"$tmp/found"
cmp "$tmp/found" "$tmp/three" || fail "--marker=text:3: $(diff "$tmp/found" "$tmp/three" | head -n 4)"
"$hartfs" find --index-dir "$index" --ordinals --marker=3 "$archive/flow" | cmp - "$tmp/three" || fail "--marker=3"
awk '!/^#/ {n = $1} /^# text / {print n + 0}' "$tmp/listing" | uniq | cmp - <("$hartfs" find --index-dir "$index" --ordinals --marker "$archive/flow") || fail "--marker"
# From one to the next that is told of another instruction.
mapfile -t three <"$tmp/three"
[ "$("$hartfs" slice --index-dir "$index" --marker=text:3 --nth 2 "$archive/flow")" = "$archive/flow@ntrace/hart0/at/${three[1]}-${three[2]}" ] ||
	fail "slice --marker: $("$hartfs" slice --index-dir "$index" --marker=text:3 --nth 2 "$archive/flow") and ${three[*]:1:2}"
[ "$("$hartfs" slice --index-dir "$index" --marker=3 --nth ${#three[@]} "$archive/flow")" = "$archive/flow@ntrace/hart0/at/${three[-1]}-" ] ||
	fail "slice --marker, the last"
"$hartfs" slice --index-dir "$index" --marker=3 --nth 1000 "$archive/flow" 2>&1 | grep -q 'no marker 1000 of 3' || fail "slice --marker, too many"
"$hartfs" find --index-dir "$index" --marker=sample "$archive/flow" && fail "samples that are none"
"$hartfs" find --index-dir "$index" --marker=texd "$archive/flow" 2>&1 | grep -q "'texd' is no marker.*text" || fail "a wrong kind"
"$hartfs" find --index-dir "$index" --marker=text:x "$archive/flow" 2>&1 | grep -q "'text:x' is no marker" || fail "a wrong number"
[ "$("$hartfs" sql --index-dir "$index" --csv "$archive/alone" "SELECT kind, number, text FROM marker" | tr -d '\r' | tr '\n' ' ')" = \
	'kind,number,text text,0,Hell text,0,"o " text,2,x text,0,unfi ' ] ||
	fail "sql: $("$hartfs" sql --index-dir "$index" --csv "$archive/alone" "SELECT kind, number, text FROM marker")"
"$hartfs" verify --index-dir "$index" "$archive/flow" || fail "hartfs verify"
"$hartfs" cat --index-dir "$index" "$archive/flow" hart0/text/3.txt | cmp - "$tmp/want.3" || fail "hartfs cat"
finish
