#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""where.py HART ARM SEED COUNT [SAID]: compares files of HART/where/ in a mount with the listing beside them, which the judge of
hartfs find reads. SAID: a file may be refused as one that hartfs find has to be asked for; otherwise none may."""
import errno
import os
import random
import sys
import threading

import judge

hart, arm, seed, count = sys.argv[1], sys.argv[2] == "arm", sys.argv[3], int(sys.argv[4])
may_refuse = len(sys.argv) > 5
rng = random.Random(seed)
insns, _ = judge.read(open(hart + "/listing.txt", encoding="latin-1").read(), arm)
bad = refused = 0


def wrong(path, what):
    global bad
    bad += 1
    print(f"{path}: {what}")


def lines_of(found):
    return "".join(f"{o:20d}\n" for o in found).encode()


def read_in_pieces(path, size):
    """Short reads and all, from one end to the other."""
    out = []
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(size):
            out.append(piece)
    return b"".join(out)


def check(path, holds):
    global refused
    want = lines_of(o for o, i in enumerate(insns) if holds(i))
    path = f"{hart}/where/{path}"
    try:
        size = os.stat(path).st_size
    except OSError as e:
        if not (may_refuse and e.errno == errno.EFBIG):
            return wrong(path, e)
        refused += 1
        return None
    if size != len(want):
        return wrong(path, f"{size} bytes instead of {len(want)}")
    if read_in_pieces(path, rng.choice((21, 100, 4096)) if size < 21 * 300 else 1 << 17) != want:
        return wrong(path, "other bytes")
    fd = os.open(path, os.O_RDONLY)
    for _ in range(3):
        at, n = rng.randrange(size + 1), rng.randrange(1, 64)
        got = os.pread(fd, n, at)
        # A reply may be short, but only the end of the file is none.
        if want[at:at + len(got)] != got or (not got and at < size):
            wrong(path, f"{n} bytes at {at}: {got}")
    os.close(fd)
    if 21 < size < 21 * 3000:
        readers = [threading.Thread(target=lambda: read_in_pieces(path, 1 << 16) == want or wrong(path, "at once")) for _ in range(2)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    return None


def touches(kinds, first, last):
    return judge.access(kinds, first, last, None)


KINDS = {"write": ("W", "RW"), "read": ("R", "RW"), "access": ("R", "W", "RW", "?")}
symbols = {}
for i in insns:
    if i.place and not i.place[1]:
        symbols.setdefault(i.place[0], set()).add(i.pc)
# What a line shortens is not the name, nor can a file be called so.
symbols = {name: pcs for name, pcs in symbols.items() if "/" not in name and len(name) < 200}
accessed = [i for i in insns if i.accesses]
trapped = [i for i in insns if i.traps]
branches = [i for i in insns if i.taken or i.not_taken]
called = [i for i in insns if i.called]
written = [i for i in insns if i.registers]
single = [i for i in insns if len(symbols.get(i.place[0] if i.place else "", ())) == 1]

for n in range(count):
    i = rng.choice(insns)
    pc, opcode, name, mode = i.pc, i.opcode, i.name, i.mode
    check(f"pc/{pc:x}", lambda i: i.pc == pc)
    if n % 4 == 0:
        last = pc + rng.randrange(1, 64)
        check(f"pc/{pc:x}-{last:x}", lambda i: pc <= i.pc <= last)
        check(f"opcode/{opcode:x}", lambda i: i.opcode == opcode)
        check(f"mnemonic/{name}", lambda i: i.name == name)
        check(f"mode/{mode}", lambda i: i.mode == mode)
    if branches:
        branch = rng.choice(branches).pc
        check(f"taken/{branch:x}", lambda i: i.pc == branch and i.taken)
        check(f"not-taken/{branch:x}", lambda i: i.pc == branch and i.not_taken)
    if called:
        target = rng.choice(called)
        spelled = f"{target.pc:x}"
        check("call/" + (spelled if spelled[0].isdigit() or len(spelled) == 16 else "0x" + spelled),
              lambda i: i.pc == target.pc and i.called)
    if symbols:
        symbol = rng.choice(sorted(symbols))
        check(f"symbol/{symbol}", lambda i: i.pc in symbols[symbol])
        check(f"call/{symbol}", lambda i: i.pc in symbols[symbol] and i.called)
        if len(symbols[symbol]) > 1:
            one = rng.choice(sorted(symbols[symbol]))
            check(f"symbol/{symbol}@{one:x}", lambda i: i.pc == one)
            check(f"call/{symbol}@{one:x}", lambda i: i.pc == one and i.called)
    if single:
        i = rng.choice(single)
        place, at = i.place, i.pc
        check(f"symbol/{place[0]}" + (f"+{place[1]:#x}" if place[1] else ""), lambda i: i.pc == at)
    if accessed:
        how = rng.choice(("write", "read", "access"))
        address = rng.choice(rng.choice(accessed).accesses)[2] or 0
        last = address + rng.choice((0, 0, 7, 63))
        check(f"{how}/{address:x}" + (f"-{last:x}" if last > address else ""), touches(KINDS[how], address, last))
    if written:
        register = rng.choice(rng.choice(written).registers)[0]
        check(f"register/{register}", lambda i: any(r[0] == register for r in i.registers))
    if trapped:
        what, cause, named = rng.choice(rng.choice(trapped).traps)
        check(f"trap/{what}", lambda i: any(t[0] == what for t in i.traps))
        if cause != "?":
            check(f"trap/{cause}", lambda i: any(t[1] == cause for t in i.traps))
        if named:
            check(f"trap/{named}", lambda i: any(t[2] == named for t in i.traps))
if trapped:
    check("trap/any", lambda i: bool(i.traps))
check("gap/any", lambda i: i.gap)
check("pc/0-ffffffffffffffff", lambda i: True)
print(f"{hart}: seed {seed}, {bad} wrong, {refused} refused")
sys.exit(bad > 0)
