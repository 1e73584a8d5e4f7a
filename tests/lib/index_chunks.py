#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chunks of an index file, as hartfs-index(5) describes its pages: index_chunks.py FILE COLUMN... prints a line for each."""
import sqlite3
import subprocess
import sys

INDEX = "ordinal stream_offset pc events attempts problems discard flow data rest entry".split()
VIEW = "offset checked checksum entry".split()


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

    def step(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def numbers(page, rows):
    form = page.take(1)[0]
    assert form in (0, 1, 2)
    if form == 0:
        return [int.from_bytes(page.take(8), "little") for _ in range(rows)]
    values, value, step = [], 0, 0
    for _ in range(rows):
        step = page.step() + (step if form == 2 else 0)
        value = (value + step) % (1 << 64)
        values.append(value)
    return values


def unpack(data, rows, names):
    page = Bytes(subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout)
    columns = [numbers(page, rows) for _ in names[:-1]]
    sizes = [page.varint() for _ in range(rows)]
    columns.append([page.take(n).hex() for n in sizes])
    assert page.at == len(page.data)
    return list(zip(*columns))


def main():
    db = sqlite3.connect("file:%s?immutable=1" % sys.argv[1], uri=True)
    names = INDEX if db.execute("PRAGMA application_id").fetchone()[0] == 0x48415254 else VIEW
    for key, first, rows, size, data in db.execute("SELECT * FROM chunk ORDER BY id"):
        for i, row in enumerate(unpack(data, rows, names)):
            assert i or row[0] == first
            print(key + i, *[row[names.index(name)] for name in sys.argv[2:]])


main()
