#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_harts.py FILE [SEED]: an STF capture of three harts that take turns: loops, calls, branches that are taken or not, and
accesses of 1 to 8 bytes that overlap, in the lower and in the upper half of the addresses."""
import random
import struct
import sys

HALVES = (0x80000000, 0xffffffff80000000)
PIECES = 24


def opcode(word):
    return struct.pack("<BI", 0xf0, word)


def target(address):
    return struct.pack("<BQ", 31, address)


class Hart:
    """Goes from piece to piece: some plain instructions and accesses, a branch, then a jump, a call or a return."""

    def __init__(self, number, rng):
        self.number, self.rng, self.back = number, rng, []
        self.base = [rng.choice(HALVES) + 0x1000 * i + 0x100000 * number for i in range(PIECES)]
        self.length = [rng.randint(1, 9) for _ in range(PIECES)]
        self.at = self.base[0]

    def select(self):
        return struct.pack("<BIII", 8, self.number, 0, 0) + struct.pack("<BQ", 9, self.at)

    def access(self):
        rng = self.rng
        size = rng.choice((1, 2, 4, 8))
        address = rng.choice(HALVES) + 0x4000 + rng.randint(0, 200)
        write = rng.random() < 0.5
        words = {1: (0x00050583, 0x00b50023), 2: (0x00051583, 0x00b51023), 4: (0x00052583, 0x00b52023),
                 8: (0x00053583, 0x00b53023)}
        head = struct.pack("<BQHHB", 60, address, size, 0, 2 if write else 1)
        return head + struct.pack("<BQ", 61, rng.getrandbits(8 * size)) + opcode(words[size][write])

    def plain(self):
        self.at += 4
        return self.access() if self.rng.random() < 0.5 else opcode(0x13 | self.rng.randrange(4) << 20)

    def go(self, word, to):
        self.at = to
        return target(to) + opcode(word)

    def leave(self):
        kind = self.rng.random()
        if kind < 0.3 and self.back:
            return self.go(0x00008067, self.back.pop())
        if kind < 0.6 and len(self.back) < 20:
            self.back.append(self.at + 4)
            return self.go(0x000080e7, self.rng.choice(self.base))
        return self.go(0x00050067, self.rng.choice(self.base))

    def turn(self):
        out = self.select()
        for _ in range(self.rng.randint(1, 60)):
            for _ in range(self.length[self.at // 0x1000 % PIECES]):
                out += self.plain()
            if self.rng.random() < 0.5:
                self.at += 4
                out += opcode(0x00b50463)
            out += self.leave()
        return out


def main():
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    harts = [Hart(number, rng) for number in (0, 1, 5)]
    out = (b"\x01STF" + struct.pack("<BII", 2, 1, 6) + struct.pack("<BH", 4, 1) + struct.pack("<BH", 5, 2) +
           struct.pack("<BBBBBH", 6, 1, 0, 0, 0, 4) + b"made" + struct.pack("<BQ", 7, 0x80020 | 0x10000) +
           harts[0].select() + b"\x13")
    for _ in range(90):
        out += rng.choice(harts).turn()
    with open(sys.argv[1], "wb") as file:
        file.write(out)


if __name__ == "__main__":
    main()
