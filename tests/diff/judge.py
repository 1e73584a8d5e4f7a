#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py pairs DIFF_BATCH DIRECTORY SEED COUNT: makes captures, and copies of them that were changed in a known way, has
them compared, with chunks of several sizes, and judges the answers by brute force.
judge.py listings A B DIFFERENCES [data]: judges what hartfs diff --all --json said of two captures with these listings.
Neither shares any code with what it judges. Exit status 1 if an answer is wrong."""
import json
import random
import re
import struct
import subprocess
import sys

MEET = 16  # equal instructions make a place to meet, or all up to both ends
ACCESS = re.compile(r" (RW|R|W|\?)(\d+) ([0-9a-f]{16}|\?)(?:\{[^}]*\})?(?:=([0-9a-f_]+))?(?= |$)")
FLOW, ACCESSES, APART = 0, 1, 2


class Wrong(Exception):
    pass


def run_of_equal(a, b, i, j):
    """In larger and larger pieces, which Python compares faster than their items."""
    n, size = 0, 8
    while True:
        x, y = a[i + n:i + n + size], b[j + n:j + n + size]
        if x != y:
            return n + next((k for k, (p, q) in enumerate(zip(x, y)) if p != q), min(len(x), len(y)))
        n += len(x)
        if len(x) < size:
            return n
        size *= 2


def judge(a, b, at, parts, data):
    """parts: (kind, ordinal, count, ordinal, count, same, last) of all differences from at on. An instruction is
    ((pc, opcode), accesses)."""
    flows = [insn[0] for insn in a], [insn[0] for insn in b]
    compared = (a, b) if data else flows
    i, j = at
    n = run_of_equal(*compared, i, j)
    i, j = i + n, j + n
    for number, (kind, oa, ca, ob, cb, same, last) in enumerate(parts):
        if (oa, ob) != (i, j):
            raise Wrong(f"they part at {i} and {j}, and not at {oa} and {ob}")
        if kind == ACCESSES:
            if ca != cb or not ca or any(a[i + k][0] != b[j + k][0] or a[i + k][1] == b[j + k][1] for k in range(ca)):
                raise Wrong(f"at {i} and {j} not just accesses differ")
        elif i < len(a) and j < len(b) and a[i][0] == b[j][0]:
            raise Wrong(f"at {i} and {j} the instructions are the same")
        i, j = i + ca, j + cb
        if i > len(a) or j > len(b):
            raise Wrong("a difference reaches beyond the end")
        n = run_of_equal(*compared, i, j)
        if n != same:
            raise Wrong(f"from {i} and {j} on {n} are equal, and not {same}")
        meet = run_of_equal(*flows, i, j)
        if kind == FLOW and meet < MEET and (i + meet, j + meet) != (len(a), len(b)):
            raise Wrong(f"at {i} and {j} they do not meet")
        i, j = i + n, j + n
        if last != ((i, j) == (len(a), len(b))) or last != (number == len(parts) - 1):
            raise Wrong(f"{number} is not the last")
    if (i, j) != (len(a), len(b)):
        raise Wrong(f"{i} of {len(a)} and {j} of {len(b)} were compared")


# ---- captures ----

def header(pc):
    return (b"\x01STF" + struct.pack("<BII", 2, 1, 6) + struct.pack("<BH", 4, 1) + struct.pack("<BH", 5, 2) +
            struct.pack("<BBBBBH", 6, 1, 0, 0, 0, 4) + b"made" + struct.pack("<BQ", 7, 0x80020) +
            struct.pack("<BQ", 9, pc) + b"\x13")


def write_stf(path, items):
    out = [header(items[0][0][0] if items else 0)]
    for k, ((pc, opcode), accesses) in enumerate(items):
        following = items[k + 1][0][0] if k + 1 < len(items) else pc + 4
        if following != pc + 4:
            out.append(struct.pack("<BQ", 0x1f, following))
        for kind, address, value in accesses:
            out.append(struct.pack("<BQHHBBQ", 0x3c, address, 8, 0, kind, 0x3d, value))
        out.append(struct.pack("<BI", 0xf0, opcode))
    with open(path, "wb") as f:
        f.write(b"".join(out))


def instruction(rng, pc, accesses):
    if accesses and rng.random() < 0.3:
        kind = rng.choice((1, 2))
        opcode = (0x3003 if kind == 1 else 0x3023) | rng.randrange(32) << 15
        return ((pc, opcode), ((kind, 8 * rng.randrange(1 << 20), rng.getrandbits(64)),))
    return ((pc, 0x13 | rng.getrandbits(12) << 20 | rng.randrange(1, 32) << 7), ())


def again(rng, item):
    """The same instruction, executed once more."""
    return (item[0], tuple((kind, 8 * rng.randrange(1 << 20), rng.getrandbits(64)) for kind, _, _ in item[1]))


def program(rng, size, base, loops):
    """What a program of that many instructions did: straight on, or with loops too."""
    items, pc = [], base
    while len(items) < size:
        block = [instruction(rng, pc + 4 * k, True) for k in range(rng.randrange(3, 40))]
        pc += 4 * len(block) + 4 * rng.randrange(0, 3)
        items += block
        for _ in range(rng.randrange(1, 20) if loops and rng.random() < 0.4 else 0):
            items += [again(rng, item) for item in block]
    return items[:size]


# Each gives the changed copy, and of how many instructions the difference may be made, if the program has no loops.
def change_instruction(rng, items):
    k = rng.randrange(len(items))
    (pc, opcode), accesses = items[k]
    return items[:k] + [((pc, opcode ^ 1 << 20), accesses)] + items[k + 1:], 2


def insert_function(rng, items):
    k, n = rng.randrange(len(items)), rng.choice((1, 5, 40, 300, 1500))
    return items[:k] + program(rng, n, 0x90000000, rng.random() < 0.5) + items[k:], n


def delete_range(rng, items):
    k, n = rng.randrange(len(items)), rng.choice((1, 7, 60, 500))
    return items[:k] + items[k + n:], n


def change_access(rng, items):
    at = [k for k in range(len(items)) if items[k][1]]
    if not at:
        return items, 0
    k = rng.choice(at)
    code, ((kind, address, value), *more) = items[k]
    access = rng.choice(((kind, address ^ 8, value), (kind, address, value ^ 1 << rng.randrange(64))))
    return items[:k] + [(code, (access, *more))] + items[k + 1:], 2


def add_access(rng, items):
    at = [k for k in range(len(items)) if items[k][1]]
    if not at:
        return items, 0
    k = rng.choice(at)
    code, accesses = items[k]
    return items[:k] + [(code, accesses + ((accesses[0][0], 8 * rng.randrange(1000), 7),))] + items[k + 1:], 2


def cut_off(rng, items):
    n = rng.randrange(len(items))
    return items[:n], len(items) - n


def other_program(rng, items):
    return program(rng, rng.randrange(1, len(items) + 1), 0xa0000000, True), None


def loop_more(rng, items):
    k, n = rng.randrange(len(items)), rng.randrange(2, 30)
    return items[:k + n] + [again(rng, item) for item in items[k:k + n]] * rng.randrange(1, 20) + items[k + n:], None


def nothing(rng, items):
    return items, 0


CHANGES = (change_instruction, insert_function, delete_range, change_access, add_access, cut_off, other_program, loop_more,
           nothing)


def several(rng, items):
    for _ in range(rng.randrange(2, 6)):
        items = rng.choice(CHANGES[:-3])(rng, items)[0] or items
    return items, None


def read_parts(line):
    words = line.split("=")
    err, digests = map(int, words[1].split())
    return err, digests, [tuple(map(int, part.split(",")))[:6] + (part.endswith(",1"),) for part in words[0].split()]


def make_pairs(directory, rng, count):
    pairs = []
    bases = [(f"base{n}.stf", program(rng, rng.choice((1, 15, 100, 400, 3000)), 0x80000000, n % 2 == 1), n % 2 == 0)
             for n in range(max(2, count // 25))]
    for name, items, _ in bases:
        write_stf(f"{directory}/{name}", items)
    for n in range(count):
        name, items, straight = bases[n % len(bases)]
        change = (CHANGES + (several,))[n // len(bases) % (len(CHANGES) + 1)]
        changed, size = change(rng, items)
        write_stf(f"{directory}/copy{n}.stf", changed)
        pairs.append((name, items, f"copy{n}.stf", changed, size if straight else None, change.__name__))
    return pairs


def ask(batch, directory, chunks, look, rng, pairs):
    """Both ways round, from the beginning and from elsewhere, with accesses and without."""
    questions, lines = [], []
    for name, items, other, changed, size, what in pairs:
        if not changed:
            continue
        data = rng.random() < 0.5 and all(any(x[1] for x in side) for side in (items, changed))
        at = (0, 0)
        if rng.random() < 0.3:
            at, size = (rng.randrange(len(items) + 1), rng.randrange(len(changed) + 1)), None
        if rng.random() < 0.5:
            name, items, other, changed, at = other, changed, name, items, (at[1], at[0])
        questions.append((items, changed, at, data, size, what))
        lines.append(f"{name} {other} {at[0]} {at[1]} {int(data)}\n")
    done = subprocess.run([batch, directory, str(chunks[0]), str(chunks[1]), str(look)], input="".join(lines), text=True,
                          capture_output=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(questions), done.stderr
    return zip(lines, questions, map(read_parts, answers))


def judge_pairs(batch, directory, seed, count):
    rng, bad, kinds, by_digests = random.Random(seed), 0, {}, 0
    pairs = make_pairs(directory, rng, count)
    sizes = ((7, 1000, 40), (1000, 16384, 100), (16384, 7, 1), (16384, 16384, 0), (1000, 1000, 500))
    for n, (a, b, look) in enumerate(sizes):
        for line, (items, changed, at, data, size, what), (err, digests, parts) in ask(
                batch, directory, (a, b), look, rng, pairs[n::len(sizes)]):
            kinds[what] = kinds.get(what, 0) + 1
            by_digests += digests
            try:
                if err:
                    raise Wrong(f"error {err}")
                judge(items, changed, at, parts, data)
                if size is not None and sum(part[2] + part[4] for part in parts) > size:
                    raise Wrong(f"{what} of {size} is more than that: {parts}")
            except Wrong as wrong:
                bad += 1
                print(f"chunks of {a} and {b}, {line.strip()}, {what}: {wrong}")
    print(f"seed {seed}: {sum(kinds.values())} pairs, {by_digests} stretches by digests:",
          ", ".join(f"{n} {what}" for what, n in sorted(kinds.items())))
    return bad or not by_digests


# ---- listings ----

def read_listing(path):
    items = []
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            if line[:1].isdigit():
                word = line.split(None, 4)
                items.append(((word[2], word[3]), [m.groups() for m in ACCESS.finditer(line.rstrip("\n"))]))
    return items


def judge_listings(a, b, differences, data):
    parts = []
    with open(differences) as f:
        for line in f:
            part = json.loads(line)
            kind = ("flow", "accesses", "apart").index(part["kind"])
            for side, path in (("a", a), ("b", b)):
                first = [line for line in part[side]["lines"] if line[:1].isdigit()]
                if first and int(first[0].split()[0]) != part[side]["ordinal"]:
                    raise Wrong("the lines are others")
            parts.append((kind, part["a"]["ordinal"], part["a"]["count"], part["b"]["ordinal"], part["b"]["count"],
                          part["same"], part["last"]))
    judge(read_listing(a), read_listing(b), (0, 0), parts, data)
    print(f"{len(parts)} differences")


def main():
    if sys.argv[1] == "pairs":
        return judge_pairs(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    try:
        judge_listings(*sys.argv[2:5], len(sys.argv) > 5)
    except Wrong as wrong:
        print(wrong)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
