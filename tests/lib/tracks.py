#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""all/overview.svg of a view directory against the listings of its harts: which functions ran in which column, where no
instruction did, where the hart has times, where links lead, and what has room.

tracks.py VIEWS           prints for each track its hart, its columns with code, and those without anything
tracks.py --turns VIEWS HART:FUNCTION...
                          of long harts, whose listings are not read: these take turns, and run little but that function
"""
import base64
import bisect
import collections
import os
import re
import struct
import sys
import xml.etree.ElementTree as tree
import zlib

SVG = '{http://www.w3.org/2000/svg}'
BAND, LINE_AT, LINE, KINDS, LOST = 22, 24, 6, 8, 10
ROOM = 600


def check(what, wanted, found):
    if wanted != found:
        sys.exit('%s: %.300r instead of %.300r' % (what, found, wanted))


def rows_of_png(data):
    at, chunks = 8, collections.defaultdict(bytes)
    while at < len(data):
        size, = struct.unpack('>I', data[at:at + 4])
        chunks[data[at + 4:at + 8]] += data[at + 8:at + 8 + size]
        at += 12 + size
    width, height = struct.unpack('>II', chunks[b'IHDR'][:8])
    raw, rows = zlib.decompress(chunks[b'IDAT']), []
    for y in range(height):
        kind, row = raw[y * (width + 1)], raw[y * (width + 1) + 1:(y + 1) * (width + 1)]
        rows.append(row if kind == 0 else bytes(a + b & 255 for a, b in zip(row, rows[-1])))
    return rows


class Hart:
    """What its listing says: the function of each instruction, and points (instructions before, time)."""

    def __init__(self, path):
        self.names, self.points, self.places, self.tids, self.losses = [], [], [], set(), 0
        for line in open(path):
            if line[0] != '#':
                name = re.search(r' <([^>+]+)(?:\+0x[0-9a-f]+)?>(?= |$)', line.rstrip())
                self.names.append(name[1] if name else '')
            elif re.match(r'# time \d+', line):
                time = int(line.split()[2])
                self.places.append(max([time] + self.places[-1:]))
                if 'back=' not in line and (not self.points or time >= self.points[-1][1]):
                    self.points.append((len(self.names), time))
                elif 'back=' not in line:
                    self.losses += 1
            elif line.startswith('# context '):
                self.tids.update(re.findall(r' tid=(\d+)', line))
            elif re.match(r'# (gap|doubt|discontinuity) ', line):
                self.losses += 1

    def moments(self):
        """(ordinal, tick) of each instruction whose time is known, or between which times it is."""
        for (low, before), (high, after) in zip(self.points, self.points[1:]):
            for i in range(low, high):
                yield i, before + (after - before) * (i - low) // (high - low)
        if self.points and self.points[-1][0] < len(self.names):
            yield self.points[-1]


def check_track(hart, number, rows, begins, named):
    columns = len(begins)
    at = lambda time: bisect.bisect_right(begins, time) - 1
    ran = [set() for _ in begins]
    for ordinal, time in hart.moments():
        ran[at(time)].add(hart.names[ordinal])
    drawn = [{row[c] for row in rows[:BAND]} - {0} for c in range(columns)]
    check('hart%d: columns with code' % number, [c for c in range(columns) if ran[c]], [c for c in range(columns) if drawn[c]])
    for name, kind in named.items():
        check('hart%d: columns with %s' % (number, name), [c for c in range(columns) if name in ran[c]],
              [c for c in range(columns) if kind in drawn[c]])
    line = [sum(row[c] != 0 for row in rows[LINE_AT:]) for c in range(columns)]
    lost = [rows[-1][c] == LOST for c in range(columns)]
    if not hart.losses:
        check('hart%d: losses' % number, False, any(lost))
    want = [0] * columns
    ends = [(0, None)] + hart.points + [(len(hart.names), None)]
    for (low, before), (high, after) in zip(ends, ends[1:]):
        if high - low > (before is not None) or (before is None and high):
            for c in range(0 if before is None else at(before), columns if after is None else at(after) + 1):
                want[c] = 2
    for _, time in hart.points:
        want[at(time)] = LINE
    check('hart%d: what is known' % number, [LINE if lost[c] else want[c] for c in range(columns)], line)
    print(number, sum(map(bool, ran)), sum(not r and not l for r, l in zip(ran, line)))


def check_links(views, links, number, hart):
    """The slices of a hart go on where the one before ended."""
    known = [i for i, _ in hart.moments()]
    ranges = [tuple(map(int, re.search(r'/at/(\d+)-(\d+)/', link).groups())) for link in links]
    check('hart%d: slices' % number, [known[0]] + [last + 1 for _, last in ranges] if known else [],
          [first for first, _ in ranges] + [known[-1] + 1] if known else ranges)
    for link in links:
        if not os.path.exists(os.path.join(views, 'all', link)):
            sys.exit('%s leads nowhere' % link)


def check_room(element, left=0.0, width=float(ROOM), label=False):
    """Texts end before the picture does, if it is 600 pixels wide, and labels before the plots begin."""
    def pixels(value):
        return float(value[:-1]) / 100 * width if value.endswith('%') else float(value)
    if element.tag == SVG + 'text' and element.get('text-anchor') is None:
        end = left + pixels(element.get('x')) + (6.4 if label else 6.7) * len(''.join(element.itertext()))
        if end > (left + width if label else ROOM):
            sys.exit('no room for %r' % ''.join(element.itertext()))
    for child in element:
        if child.tag == SVG + 'svg':
            share = child.get('width', '100%')
            check_room(child, left + pixels(child.get('x', '0')), pixels(share), share == '12%')
        else:
            check_room(child, left, width, label)


def legend_of(svg):
    """Colours are numbered in its order."""
    kinds = [e for e in svg.iter(SVG + 'svg') if e.find(SVG + 'title') is not None and e.find(SVG + 'rect') is not None]
    return {e.find(SVG + 'title').text.strip(): 2 + i for i, e in enumerate(kinds)}


def images_of(svg):
    return [rows_of_png(base64.b64decode(e.get('href').split(',', 1)[1])) for e in svg.iter(SVG + 'image')]


def tracks_of(svg):
    """{hart: links of its track}."""
    tracks = collections.defaultdict(list)
    for a in svg.iter(SVG + 'a'):
        tracks[int(re.match(r'\.\./hart(\d+)/', a.get('href'))[1])].append(a.get('href'))
    return tracks


def judge_turns(views, *wanted):
    svg = tree.parse(os.path.join(views, 'all', 'overview.svg')).getroot()
    check_room(svg)
    named, tracks, taken = legend_of(svg), tracks_of(svg), collections.Counter()
    images = dict(zip(tracks, images_of(svg)))
    if 'accurate to 16,384' not in ''.join(svg.itertext()):
        sys.exit('it does not say how accurate it is')
    for number, name in (want.split(':') for want in wanted):
        rows, kind = images[int(number)], named[name]
        mine = [c for c in range(len(rows[0])) if [row[c] for row in rows[:BAND]].count(kind) > BAND / 2]
        # While it does not wait, the first thread may run instead, for a moment.
        parts = sum(b - a > 100 for a, b in zip(mine, mine[1:])) + 1
        idle = [c for c in range(mine[0], mine[-1]) if not any(row[c] for row in rows)]
        if parts != 2 or len(mine) < 600 or len(idle) < 300:
            sys.exit('hart%s ran %s in %d parts, %d columns, and waited for %d' % (number, name, parts, len(mine), len(idle)))
        taken.update(mine)
        for link in tracks[int(number)]:
            if not os.path.exists(os.path.join(views, 'all', link)):
                sys.exit('%s leads nowhere' % link)
    if sum(n > 1 for n in taken.values()) > 8:
        sys.exit('two ran at a time in %d columns' % sum(n > 1 for n in taken.values()))


def judge(views):
    path = os.path.join(views, 'all', 'overview.svg')
    harts = {int(name[4:]): Hart(os.path.join(views, name, 'listing.txt')) for name in os.listdir(views) if name.startswith('hart')}
    svg = tree.parse(path).getroot()
    if os.path.getsize(path) > 1 << 20 or len(list(svg.iter())) > 2600:
        sys.exit('it has %d bytes and %d elements' % (os.path.getsize(path), len(list(svg.iter()))))
    check_room(svg)
    times = [time for hart in harts.values() for time in hart.places]
    first, length = min(times), max(times) - min(times) + 1
    pieces = min(length, 1600)
    begins = [first + -(-length * c // pieces) for c in range(pieces)]
    named = legend_of(svg)
    named = {name: kind for name, kind in named.items() if any(name in hart.names for hart in harts.values())}
    tracks = tracks_of(svg)
    shown = sorted(sorted(harts, key=lambda n: (-len(harts[n].names), n))[:64])
    check('tracks', shown, list(tracks))
    images = iter(images_of(svg))
    labels = ' '.join(''.join(e.itertext()).strip() for e in svg.iter(SVG + 'text'))
    for number in shown:
        hart = harts[number]
        check('the name of a track', '../hart%d/profile/overview.svg' % number, tracks[number][0])
        check_links(views, tracks[number][1:], number, hart)
        if hart.points:
            check_track(hart, number, next(images), begins, named)
        else:
            print(number, 0, 0)
        for tid in hart.tids if len(hart.tids) == 1 else ():
            check('the thread of hart%d' % number, True, 'hart%d tid %s ' % (number, tid) in labels)
    check('more images than tracks', None, next(images, None))
    left = sum(len(hart.names) - sum(1 for _ in hart.moments()) for n, hart in harts.items() if n in shown)
    said = re.search(r'([\d,]+) instructions are not drawn', labels)
    check('what is not drawn', left, int(said[1].replace(',', '')) if said else 0)
    said = re.search(r'([\d,]+) more harts', labels)
    check('harts without a track', len(harts) - len(shown), int(said[1].replace(',', '')) if said else 0)


if __name__ == '__main__':
    if sys.argv[1] == '--turns':
        judge_turns(*sys.argv[2:])
    else:
        judge(sys.argv[1])
