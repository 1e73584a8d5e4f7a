#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of table chunk of a view table, as hartfs-index(5) describes its pages: index_chunks.py FILE COLUMN... prints a line
for each."""
import sqlite3
import subprocess
import sys

VIEW = "offset chunk checked checksum entry".split()


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def number(self, form, guess):
        """One that is written as its distance from a guess."""
        if form == 0:
            return int.from_bytes(self.take(8), "little")
        distance = self.varint()
        return (guess + (distance if form == 1 else distance >> 1 ^ -(distance & 1))) % (1 << 64)


def columns(page, sizes):
    """Rows of so many numbers each, which are written column by column."""
    rows = [[] for _ in sizes]
    for column in range(max(sizes)):
        form = page.take(1)[0]
        assert form < 6 or (form == 6 and column == VIEW.index("checked"))
        model = page.varint() if form in (4, 5) else 0
        before = [0, 0]
        for i, row in [(i, row) for i, row in enumerate(rows) if sizes[i] > column]:
            behind = rows[i + 1][0] - row[0] if form == 6 and i + 1 < len(rows) else 0
            guess = {0: 0, 1: 0, 2: before[1], 3: 2 * before[1] - before[0], 6: behind}.get(form)
            row.append(page.number(form, row[model] * (form - 3) if guess is None else guess))
            before = [before[1], row[column]]
    return rows


def varint(value):
    text = bytearray()
    while value > 127:
        text.append(value & 127 | 128)
        value >>= 7
    return bytes(text) + bytes([value])


def unpack(data, rows, names):
    page = Bytes(subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout)
    numbers = page.take(1)[0]
    counts = [row[0] for row in columns(page, [1] * rows)]
    fixed = len(names) - 1
    values = columns(page, [fixed + (count if numbers else 0) for count in counts])
    entries = [b"".join(map(varint, row[fixed:])) if numbers else page.take(count) for row, count in zip(values, counts)]
    assert page.at == len(page.data)
    return [row[:fixed] + [entry.hex()] for row, entry in zip(values, entries)]


def main():
    db = sqlite3.connect("file:%s?immutable=1" % sys.argv[1], uri=True)
    assert db.execute("PRAGMA application_id").fetchone()[0] != 0x48415254, "a decode index"
    for key, first, rows, size, data in db.execute("SELECT * FROM chunk ORDER BY id"):
        for i, row in enumerate(unpack(data, rows, VIEW)):
            assert i or row[0] == first
            print(key + i, *[row[VIEW.index(name)] for name in sys.argv[2:]])


main()
