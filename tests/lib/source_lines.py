# SPDX-License-Identifier: Apache-2.0
"""The places of a listing against the files of a recording, and its source lines against LLVM's addr2line.

source_lines.py NAME.d SEED <LISTING: every executed opcode is what a file of NAME.d has at the address that
addresses.txt says; of 10,000 places drawn with the seed, or of all if there are fewer, the listing has the line that
addr2line has. Prints how many places there are, of how many files, and how many of those compared have a line.

Not GNU's addr2line: that of binutils 2.40 names the function's file with the line of an inlined one.
"""
import bisect
import random
import re
import struct
import subprocess
import sys

DRAWN = 10000
# NAME+0xOFFSET FILE:LINE in angle brackets, before what the instruction did.
SHOWN = re.compile(r" <[^ ].*?( [^ <>]+:[0-9]+)?>(?: -> .*| \(not taken\).*| (?:R|W|RW)\d+ .*)?$")


def pieces_of(directory):
    """(first address, bytes, path, bias) of each executable segment, in order."""
    pieces = []
    for line in open(directory + "/addresses.txt"):
        found = re.fullmatch(r"elf = (.*), bias = (0x[0-9a-f]+)\n", line)
        if not found:
            continue
        path, bias = directory + "/" + found[1], int(found[2], 16)
        data = open(path, "rb").read()
        table, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        for i in range(count):
            kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, table + i * size)
            if kind == 1 and flags & 1:
                pieces.append((address + bias, data[offset:offset + length], path, bias))
    return sorted(pieces)


def places_of(listing, pieces):
    """{pc: (path, address in the file, line or None)}; ends the program where no file has the opcode."""
    starts = [piece[0] for piece in pieces]
    places = {}
    for line in listing:
        if line.startswith("#"):
            continue
        _, _, pc, opcode = line.split(None, 4)[:4]
        pc, opcode = int(pc, 16), bytes.fromhex(opcode)[::-1]
        if pc in places:
            continue
        start, data, path, bias = pieces[max(bisect.bisect_right(starts, pc) - 1, 0)]
        if data[max(pc - start, 0):][:len(opcode)] != opcode:
            sys.exit(f"no file has {opcode.hex()} at {pc:x}")
        shown = SHOWN.search(line.rstrip())
        places[pc] = path, pc - bias, shown and shown[1] and shown[1].strip()
    return places


def answers_of(path, addresses):
    """What addr2line says of the addresses: FILE:LINE, or None."""
    found = subprocess.run(["llvm-addr2line-19", "-e", path], capture_output=True, text=True, check=True,
                           input="".join(f"{address:x}\n" for address in addresses)).stdout.splitlines()
    for answer in found:
        answer = answer.split(" ")[0].rsplit("/", 1)[-1]
        yield None if "?" in answer or answer.endswith(":0") else answer


def main():
    directory, seed = sys.argv[1:]
    places = places_of(sys.stdin, pieces_of(directory))
    drawn = random.Random(int(seed)).sample(sorted(places), min(DRAWN, len(places)))
    by_file = {}
    for pc in drawn:
        by_file.setdefault(places[pc][0], []).append(pc)
    lines = 0
    for path, pcs in by_file.items():
        answers = answers_of(path, [places[pc][1] for pc in pcs])
        for pc, answer in zip(pcs, answers, strict=True):
            if places[pc][2] != answer:
                sys.exit(f"seed {seed}: {pc:x} is {places[pc][2]} in the listing, and {answer} for addr2line")
            lines += answer is not None
    print(len(places), len({place[0] for place in places.values()}), lines)


main()
