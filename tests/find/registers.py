#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""registers.py STF RECORDS COUNT OUT: writes a copy of an STF of RISC-V in which the first COUNT instructions, and attempts,
have register records before them: written, read or as they are, of each kind. RECORDS is its records.txt. The copy ends behind
these instructions."""
import random
import struct
import sys

source, records, count, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
data = open(source, "rb").read()
rows = [line.split() for line in open(records)]
rng = random.Random(1)
INT, FLOAT, VECTOR, CSR = 1, 2, 3, 4
STATE, READ, WRITTEN = 0x10, 0x20, 0x30
VLEN = 256
# Some of them rare, so that lists leave chunks out.
NUMBERS = {INT: [5, 10, 10, 10, 32], FLOAT: [3], VECTOR: [2], CSR: [0x300, 0x7c0]}


def register():
    kind = rng.choices((INT, FLOAT, VECTOR, CSR), (400, 40, 3, 1))[0]
    role = rng.choices((STATE, READ, WRITTEN), (1, 3, 3))[0]
    words = VLEN // 64 if kind == VECTOR else 1
    return (struct.pack("<BHB", 40, rng.choice(NUMBERS[kind]), role | kind) +
            b"".join(struct.pack("<Q", rng.getrandbits(64)) for _ in range(words)))


parts, done, at = [], 0, 0
for offset, name, *_ in rows:
    offset = int(offset)
    if name == "END_HEADER":
        parts += [data[at:offset], struct.pack("<BI", 10, VLEN)]
        at = offset
    if name not in ("INST_OPCODE32", "INST_OPCODE16"):
        continue
    if done == count:
        parts.append(data[at:at + (5 if data[at] == 240 else 3)])
        break
    parts.append(data[at:offset])
    parts += [register() for _ in range(rng.choice((0, 0, 1, 2)))]
    at, done = offset, done + 1
open(out, "wb").write(b"".join(parts))
