#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""big_program.py DIRECTORY [UNITS [MEGABYTES]]: writes kernel.elf and kernel.stf into DIRECTORY: a RISC-V program with
symbols and line tables of DWARF 5, of the size of a kernel's (2,200 units: 242,000 functions, 4.1 million rows), and a
run through every tenth function of it. The rest of the ELF's size is a hole, named .debug_info: hartfs reads
that section for listing.inlined=1 alone."""
import array
import os
import random
import struct
import sys

BASE = 0xffffffff80000000
FUNCTIONS = 110  # of a unit
WORDS = 20  # of a function
ROWS = 17
HEADERS = 80  # files of a unit beside its own
rng = random.Random(1)


def uleb(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def function_rows():
    """What an assembler for RISC-V writes, where every distance waits for the linker."""
    out, left = bytearray(), WORDS
    for row in range(ROWS):
        step = 1 if row < ROWS - 1 and (left <= ROWS - row or rng.random() < 0.8) else min(left, 2)
        left -= step
        if rng.random() < 0.1:
            out += b"\x04" + uleb(rng.randrange(HEADERS + 1))
        out += b"\x05" + uleb(rng.randrange(1, 80))
        if rng.random() < 0.5:
            out.append(6)
        if rng.random() < 0.1:
            out += b"\0\x02\x04" + uleb(rng.randrange(1, 8))
        out += b"\x03" + uleb(rng.randrange(12)) + b"\x01" + b"\x09" + struct.pack("<H", step * 4)
    return bytes(out[:-2]) + struct.pack("<H", (step + left) * 4)


def line_table(unit, names, patterns):
    """names: offsets of names among the strings; the first is the directory's."""
    head = b"\x01\x01\x01" + struct.pack("bBB", -5, 14, 13) + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1))
    head += b"\x01\x01\x1f\x01" + struct.pack("<I", names[0])
    head += b"\x02\x01\x1f\x02\x0b" + uleb(HEADERS + 1)
    for name in [names[1 + unit]] + rng.sample(names[1:], HEADERS):
        head += struct.pack("<IB", name, 0)
    start = BASE + unit * FUNCTIONS * WORDS * 4
    program = b"\x00\x09\x02" + struct.pack("<Q", start) + b"".join(rng.choices(patterns, k=FUNCTIONS))
    body = struct.pack("<HBBI", 5, 8, 0, len(head)) + head + program + b"\x00\x01\x01"
    return struct.pack("<I", len(body)) + body


def strings(names):
    offsets, at = [], 0
    for name in names:
        offsets.append(at)
        at += len(name) + 1
    return offsets, b"".join(name.encode() + b"\0" for name in names)


def symbols(units):
    names = ["", *("unit%d_function_%d" % (i // FUNCTIONS, i) for i in range(units * FUNCTIONS))]
    offsets, text = strings(names)
    rows = b"".join(struct.pack("<IBBHQQ", offset, 0x12 if i % 3 else 0x02, 0, 1, BASE + i * WORDS * 4, WORDS * 4)
                    for i, offset in enumerate(offsets[1:]))
    return bytes(24) + rows, text


def section(name, kind, flags, address, offset, size, link=0, row=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, 0, 1, row)


def write_elf(path, code, units, total):
    files, line_strings = strings(["/usr/src/kernel", *("subsystem/unit%d.c" % i for i in range(units))])
    patterns = [function_rows() for _ in range(256)]
    lines = b"".join(line_table(unit, files, patterns) for unit in range(units))
    table, names = symbols(units)
    offsets, section_names = strings(["", ".text", ".symtab", ".strtab", ".shstrtab", ".debug_line", ".debug_line_str",
                                      ".debug_info"])
    parts = [code, table, names, section_names, lines, line_strings]
    at, places = 4096, []
    for part in parts:
        places.append(at)
        at += len(part) + 15 & ~15
    hole = max(0, total - at - 4096)
    headers = section(0, 0, 0, 0, 0, 0)
    kinds = ((1, 6, BASE), (2, 0, 0), (3, 0, 0), (3, 0, 0), (1, 0, 0), (1, 0, 0))
    for i, (kind, flags, address) in enumerate(kinds):
        headers += section(offsets[1 + i], kind, flags, address, places[i], len(parts[i]), 3 if kind == 2 else 0,
                           24 if kind == 2 else 0)
    headers += section(offsets[7], 1, 0, 0, at, hole)
    with open(path, "wb") as out:
        out.write(b"\x7fELF\x02\x01\x01".ljust(16, b"\0"))
        out.write(struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, BASE, 64, at + hole, 0, 64, 56, 1, 64, 8, 4))
        out.write(struct.pack("<IIQQQQQQ", 1, 5, 4096, BASE, BASE, len(code), len(code), 4096))
        for place, part in zip(places, parts):
            out.seek(place)
            out.write(part)
        out.seek(at + hole)
        out.write(headers)
    return len(lines)


def write_trace(path, words):
    """Each tenth function from its first instruction to its last one."""
    with open(path, "wb") as out:
        out.write(b"\x01STF\x02" + struct.pack("<II", 1, 6) + b"\x04\x01\x00\x05\x02\x00")
        out.write(b"\x06" + struct.pack("<BBBBH", 1, 1, 0, 0, 1) + b"-" + b"\x07" + struct.pack("<Q", 0x80021))
        out.write(b"\x09" + struct.pack("<Q", BASE) + b"\x13")
        for first in range(0, len(words), WORDS * 10):
            for i in range(first, first + WORDS):
                if i == first + WORDS - 1:
                    out.write(b"\x1f" + struct.pack("<Q", BASE + (first + WORDS * 10) * 4))
                out.write(b"\xf0" + struct.pack("<I", words[i]))


def main():
    directory = sys.argv[1]
    units = int(sys.argv[2]) if len(sys.argv) > 2 else 2200
    total = (int(sys.argv[3]) if len(sys.argv) > 3 else 500) << 20
    # addi with any registers and numbers
    words = array.array("I", (rng.getrandbits(32) & 0xffff8f80 | 0x13 for _ in range(units * FUNCTIONS * WORDS)))
    os.makedirs(directory, exist_ok=True)
    size = write_elf(directory + "/kernel.elf", words.tobytes(), units, total)
    write_trace(directory + "/kernel.stf", words)
    print("%d units, %d functions, %d rows in %d bytes of .debug_line" %
          (units, units * FUNCTIONS, units * FUNCTIONS * ROWS, size))


main()
