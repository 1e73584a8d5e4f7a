#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pictures with a time axis say what the listing says: overview.svg which code and data were used in which column, and how
# many traps there were; calls.perfetto has the stacks of stacks.folded and the calls of callers.txt. report.html and
# .hartfs/index.html are well formed, and stand alone.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
short_archive
mkdir "$archive/arm"
raw=$archive/arm/a64-sys.astf
"$hartfs" cat --views=trace.astf --index-dir="$index" "$HARTFS_DATA/astf/a64-sys.astf" hart0/at/0-29999/trace.astf >"$raw" ||
	fail "trace.astf"
# The same with its second timestamp before the first: of that the clock is instructions, as everywhere without times.
record=$("$hartfs" cat --index-dir="$index" "$raw" records.txt | awk '$2 == "TIMESTAMP" { n++ } n == 2 { print $1; exit }')
cp "$raw" "$archive/arm/back.astf"
printf '\005' | dd of="$archive/arm/back.astf" bs=1 seek=$((record + 8)) conv=notrunc status=none || fail "no timestamp in trace.astf"
odd='odd & "<b>#% .stf'
cp "$archive/mini/rv32-mini.stf" "$archive/$odd"

# DIRECTORY whole|slice SAID...: with listing.txt, stacks.folded, callers.txt and the pictures. Of a capture with times
# untimed.perfetto has the same calls without. SAID is what calls.perfetto says at its beginning.
cat >"$tmp/check.py" <<'END_PY'
import base64, collections, os, re, struct, sys, zlib
import xml.etree.ElementTree as tree
SVG = "{http://www.w3.org/2000/svg}"
ACCESS = re.compile(r" (RW|R|W)(\d+) ([0-9a-f]{16})(?:\{[^}]*\})?(?:=[0-9a-f_]+)?(?= |$)")
LIMIT = 1 << 20

def path(name):
    return os.path.join(sys.argv[1], name)

def check(what, wanted, found):
    if wanted != found:
        sys.exit("%s: %r instead of %r" % (what, found if len(repr(found)) < 300 else "...", wanted if len(repr(wanted)) < 300 else "..."))

def rows_of_png(data):
    """The rows of points of a PNG with a palette."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, collections.defaultdict(bytes)
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] += body
        at += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (width + 1)
    rows = []
    for y in range(height):
        kind, row = raw[y * (width + 1)], raw[y * (width + 1) + 1:(y + 1) * (width + 1)]
        assert kind == 0 or (kind == 2 and rows)
        rows.append(row if kind == 0 else bytes(a + b & 255 for a, b in zip(row, rows[-1])))
    return rows

def different(rows):
    """Without empty ones, and each once: this does not depend on heights and gaps."""
    found = []
    for row in rows:
        if any(row) and (not found or found[-1] != row):
            found.append(row)
    return found

# What the listing says.
steps, accesses, traps, times = [], [], collections.Counter(), []
for line in open(path("listing.txt")):
    if line[0] != "#":
        fields = line.split(None, 4)
        steps.append((int(fields[2], 16), len(fields[3]) // 2))
    elif line.startswith("# trap "):
        traps[line.split()[2]] += 1
    elif re.match(r"# time \d+$", line):
        times.append((len(steps), int(line.split()[2])))
    if line[0] != "#":
        for kind, size, address in ACCESS.findall(line):
            accesses.append((len(steps) - 1, kind, int(address, 16), int(size)))
count = len(steps)
base = next(int(line.split()[0]) for line in open(path("listing.txt")) if line[0] != "#")

# overview.svg
size = os.path.getsize(path("overview.svg"))
if size > LIMIT:
    sys.exit("overview.svg is larger than a MiB")
svg = tree.parse(path("overview.svg")).getroot()
elements = list(svg.iter())
if len(elements) > 2000:
    sys.exit("overview.svg has %d elements" % len(elements))
links = [e.get("href") for e in svg.iter(SVG + "a")]
up = [link for link in links if link.startswith("../../../")]
check("the link up", ["../../../profile/overview.svg"] if sys.argv[2] == "slice" else [], up)
links = [link for link in links if link not in up]
labels = [("".join(e.itertext()), float(e.get("x").rstrip("%")), e.get("x")[-1] == "%") for e in svg.iter(SVG + "text")]
check("what has no room in 600 pixels", [], [label for label, x, share in labels if not share and x + 6.7 * len(label) > 600])
shown = [int(label.replace(",", "")) for label, x, share in labels if share]
ticks = [base + count * i // 4 + (count * i % 4 > 0) - (i == 4) for i in range(5)]
check("the axis of instructions", ticks, shown[:5])
# A slice may have the time of an earlier instruction, which its listing does not tell.
before = [[time for at, time in times if base + at <= tick] for tick in ticks[::2]]
if sys.argv[2] == "whole":
    check("the axis of time", [known[-1] for known in before if known], shown[5:])
else:
    check("the axis of time", [], [time for time in shown[5:] if times and times[-1][1] < time])
ranges = [[int(n) for n in re.match(r"\.\./(?:at|\.\.)/(\d+)-(\d+)/(?:listing.txt|profile/overview.svg)$", link).groups()] for link in links]
check("links", [base] + [last + 1 for first, last in ranges], [first for first, last in ranges] + [base + count])
text = "".join(svg.find(SVG + "desc").itertext())
for kind, name in (("exception", "exceptions?"), ("interrupt", "interrupts?")):
    found = re.search(r"([\d,]+) " + name + r"\.", text)
    check(name, traps[kind], int(found[1].replace(",", "")) if found else 0)
images = [base64.b64decode(e.get("href").split(",", 1)[1]) for e in svg.iter(SVG + "image")]
check("number of images", 3 if accesses else 2, len(images))
columns = len(rows_of_png(images[0])[0])
check("columns", min(count, 1600), columns)
units = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40, "PiB": 50, "EiB": 60}
shifts = []
for number, size, unit in re.findall(r"([\d,]+) blocks? of (\d+) (\w+)", text):
    shifts.append((int(number.replace(",", "")), int(size).bit_length() - 1 + units[unit]))

whole = collections.defaultdict(lambda: bytearray(columns))
for i, (pc, size) in enumerate(steps):
    for block in {pc >> shifts[0][1], pc + size - 1 >> shifts[0][1]}:
        whole[block][i * columns // count] = 1
found = different([bytes(min(p, 1) for p in row) for row in rows_of_png(images[1])])
check("code: blocks", shifts[0][0], len(whole))
check("code", different([bytes(whole[b]) for b in sorted(whole)]), found)
if accesses:
    blocks = collections.defaultdict(lambda: bytearray(columns))
    for i, kind, address, size in accesses:
        for block in range(address >> shifts[1][1], (address + max(size, 1) - 1 >> shifts[1][1]) + 1):
            blocks[block][i * columns // count] |= {"R": 1, "W": 2, "RW": 3}[kind]
    check("data: blocks", shifts[1][0], len(blocks))
    check("data", different([bytes(blocks[b]) for b in sorted(blocks)]), different(rows_of_png(images[2])))

# calls.perfetto, with a reader of the wire format of its own.
def fields(data):
    at = 0
    def number():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n
    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 2:
            n = number()
            assert at + n <= len(data)
            yield key >> 3, data[at:at + n]
            at += n
        else:
            sys.exit("calls.perfetto: wire type %d" % (key & 7))

def packets(data):
    for field, packet in fields(data):
        assert field == 1
        packet = dict(fields(packet))
        if 50 in packet:
            unpacked = zlib.decompress(packet[50])
            assert len(unpacked) <= 512 << 10
            yield from packets(unpacked)
        else:
            yield packet

def events_of(name):
    """Its clock, what it says at its beginning, and its slices: (time, type, name, resumed)."""
    data = open(path(name), "rb").read()
    if len(data) > LIMIT:
        sys.exit("%s is larger than a MiB" % name)
    names, cleared, clock, said, events = {}, False, None, [], []
    for packet in packets(data):
        flags = packet.get(13, 0)
        cleared = cleared or flags & 1
        assert cleared or not flags & 2
        if 12 in packet:
            for field, entry in fields(packet[12]):
                entry = dict(fields(entry))
                assert field == 2 and entry[1] not in names
                names[entry[1]] = entry[2].decode("utf-8")
        if 60 in packet and 3 in dict(fields(packet[60])):
            clock = dict(fields(dict(fields(packet[60]))[3]))[6].decode("utf-8").rsplit(": ", 1)[1]
        if 11 not in packet:
            continue
        event = dict(fields(packet[11]))
        assert flags & 2
        if event[9] == 3:
            said.append(event[23].decode("utf-8"))
        else:
            assert not events or packet[8] >= events[-1][0]
            events.append((packet[8], event[9], names[event[10]] if event[9] == 1 else "", 22 in event))
    return clock, said, events

def moments(times):
    """The time before each instruction, in units of a power of ten, and the power: between two times spread evenly."""
    times = sorted(dict(times).items())
    scale = 1
    while (times[-1][1] - times[0][1]) * scale < times[-1][0] - times[0][0]:
        scale *= 10
    found = [times[0][1] * scale] * times[0][0]
    for (low, before), (high, after) in zip(times, times[1:]):
        found += [before * scale + (after - before) * scale * i // (high - low) for i in range(high - low)]
    return found + [times[-1][1] * scale] * (count + 1 - times[-1][0]), scale

clock, said, events = events_of("calls.perfetto")
if os.path.exists(path("untimed.perfetto")):
    # The same without times: what is told of its ordinals is checked there.
    when, scale = moments(times)
    check("clock", "%d ns is 1 tick of the trace's time" % scale, clock)
    check("what it says of time", True, "between two timestamps the time is spread evenly over the instructions" in said)
    check("what it says of its ends", times[0][0] + count - times[-1][0] > 0, any(text.startswith("no time is known of ") for text in said))
    clock, said, untimed = events_of("untimed.perfetto")
    check("times", [(when[e[0] - base],) + e[1:] for e in untimed], events)
    events = untimed
check("clock without time", "1 ns is 1 instruction", clock)
check("what calls.perfetto says", sys.argv[3:], said)
stack, last = [], base
own, calls = collections.Counter(), collections.Counter()
for moment, kind, name, resumed in events:
    # A trap handler is a root in the folded stacks.
    if stack and moment > last:
        roots = [i for i, name_of in enumerate(stack) if name_of[0] == "["]
        own[";".join(stack[roots[-1] if roots else 0:])] += moment - last
    last = moment
    if kind == 1:
        stack.append(name)
        if not resumed:
            calls[stack[-1]] += 1
    else:
        assert kind == 2
        stack.pop()
check("calls.perfetto: open calls", 0, len(stack))
folded = collections.Counter()
for line in open(path("stacks.folded")):
    chain, n = line.rsplit(" ", 1)
    folded[chain] += int(n)
check("calls.perfetto: instructions", count, sum(own.values()))
check("calls.perfetto: stacks", folded, own)
callers = collections.Counter()
for line in open(path("callers.txt")):
    if line[0] != "#":
        n, _, pair = line.split(None, 2)
        callers[pair.split(" <- ")[0]] += int(n)
calls = collections.Counter({k: n for k, n in calls.items() if k[0] != "["})
if sys.argv[2] == "slice" and sum((callers - calls).values()) == 1:
    # The last instruction of the slice is a call: what it called is not in there.
    callers = calls
check("calls.perfetto: calls", callers, calls)
END_PY

# FILE: well-formed, with what is needed in it; PATHS is a file with what its links may name.
cat >"$tmp/page.py" <<'END_PY'
import html.parser, sys, urllib.parse
VOID = {"meta", "col", "br", "link", "input"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.text, self.tags = [], [], [], set()
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and not value.startswith("data:"):
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit("%s: </%s> closes nothing" % (sys.argv[1], tag))
    def handle_data(self, data):
        self.text.append(data)
page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
page.close()
if page.open:
    sys.exit("%s: %s is open at its end" % (sys.argv[1], page.open))
if len(sys.argv) > 2 and sys.argv[2] == "alone":
    if page.links:
        sys.exit("%s refers to %s" % (sys.argv[1], page.links[0]))
    if not {"svg", "table", "pre"} <= page.tags:
        sys.exit("%s has no picture, table or text" % sys.argv[1])
else:
    for link in page.links:
        print(urllib.parse.unquote(link))
END_PY

# judge VIEWS whole|slice [UNTIMED] [SAID...]: the pictures of a hart or of a slice of it.
judge() {
	local file dir=$tmp/files
	rm -rf "$dir"
	mkdir -p "$dir"
	[ "$2" = whole ] || wait_until measured "$1"
	[ -z "${3-}" ] || cp "$3/profile/calls.perfetto" "$dir/untimed.perfetto" || fail "$3: cp of calls.perfetto"
	for file in overview.svg flame.svg calls.perfetto report.html stacks.folded callers.txt; do
		cp "$1/profile/$file" "$dir/$file" || fail "$1: cp of $file"
	done
	cp "$1/listing.txt" "$dir/"
	python3 "$tmp/check.py" "$dir" "$2" "${@:4}" >"$tmp/out" 2>&1 || fail "$1: $(tail -n 1 "$tmp/out")"
	if command -v xmllint >/dev/null; then
		xmllint --noout "$dir/overview.svg" "$dir/flame.svg" >"$tmp/out" 2>&1 || fail "$1: $(head -n 1 "$tmp/out")"
	fi
	for file in overview.svg flame.svg; do
		grep -o ' href="[^d"][^"]*"' "$dir/$file" | cut -d '"' -f 2 | while read -r link; do
			[ -e "$1/profile/$link" ] || echo "$file: $link leads nowhere"
		done >"$tmp/out"
		[ ! -s "$tmp/out" ] || fail "$1: $(head -n 1 "$tmp/out")"
	done
	python3 "$tmp/page.py" "$dir/report.html" alone >"$tmp/out" 2>&1 || fail "$1: $(tail -n 1 "$tmp/out")"
	[ "$(stat -c %s "$dir/report.html")" -lt 1048576 ] || fail "$1: report.html is larger than a MiB"
}

do_mount --wait
for capture in boot/rv-sys@stf@gz mini/rv32-mini@stf; do
	judge "$mnt/$capture/hart0" whole
done
for name in '40010000 rv-sys.elf: sort' ' stack, rv-sys.elf' '>10000000<'; do
	grep -qF -- "$name" "$mnt/boot/rv-sys@stf@gz/hart0/profile/overview.svg" || fail "overview.svg has no $name"
done
grep -q '[0-9] heap' "$mnt/boot/rv-sys@stf@gz/hart0/profile/overview.svg" && fail "a machine has a heap"
judge "$mnt/boot/rv-sys@stf@gz/hart0/at/23456-34567" slice
# With times: in a slice they begin after its first instruction; a slice of one instruction has none.
back="clock: instructions, as the time of the trace goes back"
judge "$mnt/arm/a64-sys@astf/hart0" whole "$mnt/arm/back@astf/hart0" "$back"
judge "$mnt/arm/back@astf/hart0" whole "" "$back"
judge "$mnt/arm/a64-sys@astf/hart0/at/7-7" slice
# A slice that has the whole hart leads to the same slices as the hart.
last=$(($(grep -vc '^#' "$mnt/arm/a64-sys@astf/hart0/listing.txt") - 1))
judge "$mnt/arm/a64-sys@astf/hart0/at/0-$last" slice "$mnt/arm/back@astf/hart0/at/0-$last" "$back"
(cd "$mnt/arm/a64-sys@astf/hart0/at/0-$last/profile" &&
	wait_until test -s "$(grep -o 'href="[^"]*listing.txt' overview.svg | head -n 1 | cut -d '"' -f 2)") || fail "a link of a slice of all leads nowhere"
(cd "$mnt/boot/rv-sys@stf@gz/hart0/at/23456-34567/profile" &&
	wait_until test -s "$(grep -o '\.\./\.\./[0-9]*-[0-9]*/listing.txt' overview.svg | head -n 1)") || fail "a link of a slice leads nowhere"
wait_until test -e "$mnt/boot/rv-sys@stf@gz/hart0/at/0-99/listing.txt" || fail "a link of the overview leads nowhere"

# The page of the archive: each of its links leads to a file, also from a name that is markup.
cp "$mnt/.hartfs/index.html" "$tmp/index.html" || fail "index.html"
python3 "$tmp/page.py" "$tmp/index.html" >"$tmp/links" 2>"$tmp/out" || fail "index.html: $(tail -n 1 "$tmp/out")"
[ "$(grep -c 'hart0/profile/report.html$' "$tmp/links")" = 5 ] || fail "index.html: $(grep -c report.html "$tmp/links") reports"
while read -r link; do
	[ -e "$mnt/.hartfs/$link" ] || fail "index.html: $link leads nowhere"
done <"$tmp/links"
grep -q '5 captures' "$tmp/index.html" || fail "index.html does not say how many captures there are"
grep -q '<b>#' "$tmp/index.html" && fail "a name is markup in index.html"
[ ! -e "$mnt/.hartfs/index-2.html" ] || fail "five captures have a second page"
do_umount

# More captures than a page has.
mkdir "$archive/many"
python3 -c 'import os, sys
for i in range(1, 1000): os.link(sys.argv[1] + "/mini/rv32-mini.stf", "%s/many/%d.stf" % (sys.argv[1], i))' "$archive"
do_mount
wait_until grep -q '1,004 captures' "$mnt/.hartfs/index.html" || fail "index.html does not have them all"
ls "$mnt/.hartfs" | grep -qx 'index-2.html' || fail "there is no second page"
cat "$mnt/.hartfs/index.html" "$mnt/.hartfs/index-2.html" | grep -c '<tr><td' >"$tmp/rows"
[ "$(cat "$tmp/rows")" = 1004 ] || fail "both pages have $(cat "$tmp/rows") captures"
[ "$(grep -o 'href="index[^"]*"' "$mnt/.hartfs/index-2.html" | tr '\n' ' ')" = 'href="index.html" href="index-2.html" ' ] || fail "the pages do not lead to each other"
do_umount

finish
