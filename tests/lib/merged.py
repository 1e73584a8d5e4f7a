#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of several harts with times, and what all/listing.txt of a capture must be.

make DIRECTORY            N-Trace captures of several harts: times that go back, equal ones, none at all
check VIEWS...            the file against the listings beside it; prints its size, or "none" where it must not be
"""
import os
import random
import struct
import sys

BASE = 0x80001000
# c.nop; c.addiw a6, 4; c.jr a0: three instructions an indirect jump
CODE = struct.pack('<3H', 0x0001, 0x2811, 0x8502)
SRCBITS = 7


def message(tcode, src, fields):
    """fields: (value, fixed width or None)."""
    bits, used, out = tcode | src << 6, 6 + SRCBITS, []
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


class Hart:
    """Its messages, each with the time at which it comes in the file."""

    def __init__(self, src):
        self.src, self.time, self.out = src, None, []

    def add(self, tcode, fields, time):
        self.out.append(message(tcode, self.src, fields + ([(time, None)] if time is not None else [])))

    def sync(self, time=None):
        self.time = time
        self.add(9, [(2 if self.out else 5, 4), (0, None), (BASE >> 1, None)], time)

    def jump(self, step=None):
        """step None: a message without a time."""
        self.add(28, [(0, 2), (3, None), (0, None), (1, None)], step)
        if step is not None:
            self.time += step

    def end(self):
        self.add(33, [(4, 4), (1, 2), (0, None), (1, None)], 0 if self.time is not None else None)


def capture(root, name, harts, more=''):
    path = os.path.join(root, name)
    os.makedirs(path)
    queues = [list(h.out) for h in harts]
    rng = random.Random(7)
    with open(os.path.join(path, 'trace.bin'), 'wb') as f:
        while any(queues):
            # In what order messages of several harts come says nothing of their times.
            f.write(rng.choice([q for q in queues if q]).pop(0))
    with open(os.path.join(path, 'code.bin'), 'wb') as f:
        f.write(CODE)
    with open(os.path.join(path, 'capture.ini'), 'w') as f:
        f.write('[capture]\nformat = ntrace\ntrace = trace.bin\n[program]\nraw = code.bin, address = 0x%x\n'
                '[parameters]\nxlen = 64\nsrcbits = %d\n%s' % (BASE, SRCBITS, more))


def walk(src, start, count, rng, most, sparse=1, head=0):
    """head: so many jumps before the first time."""
    hart = Hart(src)
    if head:
        hart.sync()
        for _ in range(head):
            hart.jump()
    hart.sync(start)
    for i in range(count):
        hart.jump(rng.randrange(most) if i % sparse == 0 else None)
    return hart


def make(root):
    rng = random.Random(20)
    harts = [walk(0, 1000, 1400, rng, 40), walk(1, 0, 700, rng, 90, head=5), walk(2, 500, 300, rng, 3, sparse=7),
             Hart(4), walk(6, 25000, 400, rng, 200, sparse=50)]
    # One goes back, twice, and comes up to where it was; one begins again at 0; one has no times.
    harts[0].sync(20000)
    for _ in range(200):
        harts[0].jump(rng.randrange(30))
    harts[0].sync(15000)
    for _ in range(400):
        harts[0].jump(rng.randrange(200))
    harts[2].sync(0)
    for _ in range(100):
        harts[2].jump(1)
    harts[3].sync()
    for _ in range(200):
        harts[3].jump()
    for hart in harts:
        hart.end()
    capture(root, 'many', harts)

    # With a time at each jump: one waits for the other, which goes on alone, and has an odd end; and very many.
    harts = [walk(0, 5000, 300, rng, 9), walk(1, 5000, 400, rng, 9)]
    harts[1].sync(harts[1].time + 4000)
    for _ in range(200):
        harts[1].jump(rng.randrange(9))
    harts[0].sync(harts[0].time + 100)
    for _ in range(5):
        harts[0].jump()
    crowd = [walk(i, rng.randrange(3000), rng.randrange(1, 60), rng, 60) for i in range(70)]
    for hart in harts + crowd:
        hart.end()
    capture(root, 'waits', harts, 'timestamps = add\n')
    capture(root, 'crowd', crowd, 'timestamps = add\n')

    # Every time is the same; and times that take all 64 bits.
    same = [walk(i, 77, 60, rng, 1) for i in range(3)]
    capture(root, 'same', same)
    large = [Hart(0), Hart(1)]
    for i, hart in enumerate(large):
        for k in range(5):
            hart.sync((1 << 64) - 11 + 2 * k + i)
            hart.jump(0)
    capture(root, 'large', large)

    # What has no merged listing: no times, times of one hart, one hart.
    plain = [Hart(0), Hart(1)]
    for hart in plain:
        hart.sync()
        for _ in range(50):
            hart.jump()
    capture(root, 'plain', plain)
    capture(root, 'half', [walk(0, 5, 50, rng, 9), plain[1]])
    capture(root, 'one', [walk(0, 5, 50, rng, 9)])


# ---- the judge: it sorts, and knows nothing of the index ----

def pieces(lines):
    """(time, goes back, lines) of what a hart did from one time that is greater than all before to the next."""
    most, behind, out = None, False, [(None, False, [])]
    for line in lines:
        if line.startswith(b'# time ') and not line.startswith(b'# time ?'):
            time = int(line.split()[2])
            if most is None or time > most:
                most, behind = time, False
                out.append((most, False, []))
            elif time < most and not behind:
                behind = True
                out.append((most, True, []))
        out[-1][2].append(line)
    return [p for p in out if p[2]]


def merged(listings):
    """listings: {hart: bytes}; None if fewer than two harts have times."""
    runs = []
    for hart, text in sorted(listings.items()):
        for at, (time, back, lines) in enumerate(pieces(text.splitlines(keepends=True))):
            runs.append((-1 if time is None else time, hart, at, back, lines))
    if len({hart for time, hart, *_ in runs if time >= 0}) < 2:
        return None
    out, last = [], None
    for time, hart, _, back, lines in sorted(runs, key=lambda r: r[:3]):
        if hart != last or time < 0 or back:
            out.append(b'# hart %d%s\n' % (hart, b' time unknown' if time < 0 else b' time goes back' if back else b''))
        last = hart
        out += lines
    return b''.join(out)


def alone(text):
    """{hart: bytes} of a merged listing, as the manual says to get one."""
    out, hart = {}, None
    for line in text.splitlines(keepends=True):
        if line.startswith(b'# hart '):
            hart = int(line.split()[2])
        else:
            out.setdefault(hart, []).append(line)
    return {hart: b''.join(lines) for hart, lines in out.items()}


def check(views):
    listings = {}
    for name in os.listdir(views):
        if name.startswith('hart'):
            with open(os.path.join(views, name, 'listing.txt'), 'rb') as f:
                listings[int(name[4:])] = f.read()
    want, path = merged(listings), os.path.join(views, 'all', 'listing.txt')
    if want is None:
        assert not os.path.exists(os.path.join(views, 'all')), 'it is there'
        print('none')
        return
    with open(path, 'rb') as f:
        got = f.read()
    assert got == want, '%s: %d bytes, not %d; they part at %d' % (
        path, len(got), len(want), next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want))))
    assert os.stat(path).st_size == len(want), 'stat says another size'
    assert alone(got) == {h: t for h, t in listings.items() if t}, 'a hart is not its listing'
    print(len(want))


if __name__ == '__main__':
    for path in sys.argv[2:]:
        {'make': make, 'check': check}[sys.argv[1]](path)
