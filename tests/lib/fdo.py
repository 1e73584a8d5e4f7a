#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fdo.py LISTING ELF BIAS DIRECTORY: whether NAME.fdata, .ranges, .order and .drcov in the directory, for the ELF of that name,
are what the listing says. It reads the listing and the ELF by itself."""
import bisect
import collections
import os
import re
import struct
import sys

listing, elf, bias, directory = sys.argv[1], sys.argv[2], int(sys.argv[3], 0), sys.argv[4]
name = os.path.basename(elf)
INDIRECT = {"jr", "jalr", "ret", "br", "blr", "c.jr", "c.jalr", "retaa", "retab", "braa", "blraa"}
NO_TRANSFER = {"mret", "sret", "eret", "ecall", "ebreak", "svc", "hvc", "smc", "brk"}
CALLS = {"bl", "blr", "jal", "jalr", "call"}


def die(*what):
    sys.exit(name + ": " + " ".join(str(w) for w in what))


# ---- the ELF ----

image = open(elf, "rb").read()
wide = image[4] == 2


def table(at, layout, size, count):
    return [struct.unpack_from("<" + layout, image, at + i * size) for i in range(count)]


if wide:
    phoff, shoff = struct.unpack_from("<QQ", image, 32)
    phsize, phnum, shsize, shnum, shstr = struct.unpack_from("<HHHHH", image, 54)
    segments = [(p[0], p[1], p[3], p[6]) for p in table(phoff, "IIQQQQQQ", phsize, phnum)]
    sections = [(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[9]) for s in table(shoff, "IIQQQQIIQQ", shsize, shnum)]
else:
    phoff, shoff = struct.unpack_from("<II", image, 28)
    phsize, phnum, shsize, shnum, shstr = struct.unpack_from("<HHHHH", image, 42)
    segments = [(p[0], p[6], p[2], p[5]) for p in table(phoff, "IIIIIIII", phsize, phnum)]
    sections = [(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[9]) for s in table(shoff, "IIIIIIIIII", shsize, shnum)]
loads = [(start, start + size, flags) for kind, flags, start, size in segments if kind == 1]
code = [(start, end) for start, end, flags in loads if flags & 1]


def string(at):
    return image[at:image.index(b"\0", at)].decode()


plt = [(s[3], s[3] + s[5]) for s in sections if string(sections[shstr][4] + s[0]) in (".plt", ".iplt", ".plt.sec")]
symbols = []  # address, size, name, typed, local, weak, end of its section
for s in sections:
    if s[1] != (2 if any(s[1] == 2 for s in sections) else 11):
        continue
    strings = sections[s[6]][4]
    for at in range(s[4], s[4] + s[5], s[7]):
        if wide:
            st_name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", image, at)
        else:
            st_name, value, size, info, _, section = struct.unpack_from("<IIIBBH", image, at)
        text = string(strings + st_name)
        if not text or not section or section >= shnum:
            continue
        kind, home = info & 15, sections[section]
        if kind in (2, 10) or (kind == 0 and home[2] & 4 and not re.match(r"\$[xdat](\.|$|rv)", text)):
            symbols.append((value, size, text, kind != 0, info >> 4 == 0, info >> 4 == 2, home[3] + home[5]))
symbols.sort()
numbers, names_at = collections.Counter(), collections.defaultdict(set)
for address, size, text, typed, local, weak, end in symbols:
    text = text.split("@")[0]
    plain = text
    if local:
        numbers[text] += 1
        text = "%s/%d" % (text, numbers[text])
    names_at[address].add((text, plain))
functions = []  # start, end
reach = 0
for address, size, text, typed, local, weak, end in sorted(symbols, key=lambda s: (s[0], not s[3], -s[1])):
    if (functions and functions[-1][0] == address) or (not typed and (address < reach or text.startswith(".L"))):
        continue
    if functions and functions[-1][2] and functions[-1][1] > address:
        functions[-1] = (functions[-1][0], address, True)
    functions.append((address, address + size if size else end, not size))
    if typed:
        reach = max(reach, address + size)
starts = [f[0] for f in functions]


def inside(address):
    return any(start <= address < end for start, end in code)


def is_plt(address):
    return any(start <= address < end for start, end in plt)


def function_of(address):
    i = bisect.bisect(starts, address)
    while i and i > bisect.bisect(starts, address) - 8:
        i -= 1
        if address < functions[i][1]:
            return functions[i][0]
    return None


# ---- the listing ----

executed, transfers, not_taken, on, resumed = (collections.Counter() for _ in range(5))
sizes, ends, first_call = {}, set(), {}
before = None  # address, size, mnemonic, target, not taken
broken = kind = None
for line in open(listing, errors="replace"):
    if line[0] == "#":
        word = line[2:].split(None, 1)[0].rstrip(":\n")
        if word in ("trap", "trap-return", "gap", "doubt", "discontinuity"):
            broken = broken or word
            kind = word
        continue
    fields = line.split(None, 5)
    pc, opcode, mnemonic = int(fields[2], 16) - bias, fields[3], fields[4]
    size = len(opcode) // 2
    taken = re.search(r" -> ([0-9a-f]{8,16})", line)
    if before:
        at, at_size, word, target, fell = before
        if target is not None and word not in NO_TRANSFER:
            if not broken:
                transfers[at, pc] += 1
                if word in CALLS and pc not in first_call:
                    first_call[pc] = len(first_call)
            else:
                transfers[at, None if word in INDIRECT else target] += 1
                resumed[target] += 1
        elif fell and broken in (None, "trap", "trap-return"):
            not_taken[at, at + at_size] += 1
        elif not broken and pc == at + at_size:
            on[at, pc] += 1
        if broken and pc != at + at_size or kind in ("trap-return", "discontinuity", "gap", "doubt"):
            resumed[pc] += 1
    else:
        resumed[pc] += 1
    executed[pc] += 1
    sizes[pc] = size
    target = int(taken.group(1), 16) - bias if taken else None
    fell = "(not taken)" in line
    if taken or fell:
        ends.add(pc)
    before = pc, size, mnemonic, target, fell
    broken = kind = None
if before and before[3] is not None and before[2] not in NO_TRANSFER:
    transfers[before[0], None if before[2] in INDIRECT else before[3]] += 1
elif before and before[4]:
    not_taken[before[0], before[0] + before[1]] += 1
mine = {pc: n for pc, n in executed.items() if inside(pc)}
if not mine:
    die("nothing of it was executed")

# ---- ranges ----

lines = open(directory + "/" + name + ".ranges").read().split("\n")
count = int(lines[0])
ranges = [re.fullmatch(r"([0-9a-f]+)-([0-9a-f]+):([1-9]\d*)", text) for text in lines[1:1 + count]]
branches = [re.fullmatch(r"([0-9a-f]+)->([0-9a-f]+):([1-9]\d*)", text) for text in lines[2 + count:-1]]
if not all(ranges) or not all(branches) or len(branches) != int(lines[1 + count]) or lines[-1]:
    die(".ranges: not in the format")
found, last_end = {}, -1
for match in ranges:
    first, last, n = int(match[1], 16), int(match[2], 16), int(match[3])
    if first <= last_end or first > last:
        die(".ranges: not in order at", match[0])
    at = first
    while at <= last:
        if at in ends and at != last:
            die(".ranges: beyond a transfer:", match[0])
        if at not in mine:
            die(".ranges: no instruction at %x" % at)
        found[at] = n
        last_end = at
        at += sizes[at]
    if last_end != last:
        die(".ranges: does not end with an instruction:", match[0])
if found != mine:
    die(".ranges: other counts:", [(hex(a), mine.get(a), found.get(a)) for a in set(mine) | set(found) if mine.get(a) != found.get(a)][:3])
want = collections.Counter()
for (a, b), n in transfers.items():
    if b is not None and inside(b):
        want[a if inside(a) else 1, b] += n
entries = sum(want.values())
got = {(int(m[1], 16), int(m[2], 16)): int(m[3]) for m in branches}
if len(got) != len(branches) or list(got) != sorted(got, key=lambda k: (k[0] == 1, k)):
    die(".ranges: branches are not in order, or twice")
if got != want:
    bad = [(k, want.get(k), got.get(k)) for k in set(want) | set(got) if want.get(k, 0) != got.get(k, 0)]
    die(".ranges: other branches: from, to, listing, file:", bad[:4])

# ---- fdata ----


def place(address):
    function = None if address is None or not inside(address) else function_of(address)
    if address is not None and inside(address) and is_plt(address):
        return "PLT"
    return None if function is None else (function, address - function)


edges, loose = collections.Counter(), {}
for (a, b), n in list(transfers.items()) + list(not_taken.items()):
    edges[place(a), place(b)] += n
arrived = collections.Counter()
for (a, b), n in transfers.items():
    arrived[b] += n
for (a, b), n in on.items():
    if arrived[b] and a not in ends:
        edges[place(a), place(b)] += n
    loose[place(a), place(b)] = resumed[b]
got, order = collections.Counter(), []
for text in open(directory + "/" + name + ".fdata"):
    match = re.fullmatch(r"([01]) ((?:[^ \\]|\\.)+) ([0-9a-f]+) ([01]) ((?:[^ \\]|\\.)+) ([0-9a-f]+) 0 ([1-9]\d*)\n", text)
    if not match:
        die(".fdata: not in the format:", text)
    pair = []
    for i in (1, 4):
        text, offset = re.sub(r"\\(.)", r"\1", match[i + 1]), int(match[i + 2], 16)
        if match[i] == "0":
            if (text, offset) != ("[unknown]", 0):
                die(".fdata: unknown, but", match[0])
            pair.append(None)
        elif text.endswith("@PLT"):
            pair.append("PLT")
        else:
            homes = [a for a, those in names_at.items() if any(text == t for t, _ in those)]
            if len(homes) != 1:
                die(".fdata: no name of one place:", text)
            pair.append((homes[0], offset))
    if pair == [None, None]:
        die(".fdata: from nowhere to nowhere")
    got[tuple(pair)] += int(match[7])
    order.append(pair)
for pair in set(got) | set(edges):
    if pair in ((None, None), ("PLT", "PLT")):
        continue
    extra = got[pair] - edges[pair]
    # What a trap interrupted goes on behind it.
    if extra < 0 or extra > (loose.get(pair, 0) or resumed[sum(pair[1])] if isinstance(pair[1], tuple) else 0):
        die(".fdata:", pair, "listing", edges[pair], "file", got[pair])
into, last = collections.Counter(), {}
for (a, b), n in got.items():
    if isinstance(b, tuple):
        into[sum(b)] += n
checked = 0
for address, n in arrived.items():
    if address is None or not inside(address) or place(address) in (None, "PLT") or resumed[address]:
        continue
    checked += 1
    if into[address] != executed[address]:
        die(".fdata: %x was executed %d times, and %d come in" % (address, executed[address], into[address]))
if not checked:
    die("no place whose edges can be summed up")

# ---- order ----

lines = open(directory + "/" + name + ".order").read().split("\n")
if lines.pop() or len(set(lines)) != len(lines) and len({t for s in names_at.values() for t in s}) == len({p for s in names_at.values() for _, p in s}):
    die(".order: not in the format")
wanted, seen = [], set()
for pc in first_call:
    function = function_of(pc) if inside(pc) and not is_plt(pc) else None
    if function is not None and function not in seen:
        seen.add(function)
        wanted.append(function)
ran = {function_of(pc) for pc in mine if not is_plt(pc)} - {None}
if len(lines) != len(ran):
    die(".order: has", len(lines), "functions, of which", len(ran), "ran")
if not plt or os.environ.get("FDO_STRICT"):
    at = 0
    # What was being executed already, or is entered by traps, was not called first.
    others = {function_of(pc) for pc in resumed if inside(pc)}
    for function in (f for f in wanted if f not in others):
        those = {p for _, p in names_at[function]}
        while at < len(lines) and lines[at] not in those:
            at += 1
        if at == len(lines):
            die(".order:", those, "is not where it was called first")
        at += 1
for text in lines:
    if not any(text in {p for _, p in names_at[f]} for f in ran):
        die(".order:", text, "did not run")

# ---- drcov ----

data = open(directory + "/" + name + ".drcov", "rb").read()
base, top = min(l[0] for l in loads) & ~4095, max(l[1] for l in loads) + 4095 & ~4095
head = ("DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count 1\n"
        "Columns: id, base, end, entry, checksum, timestamp, path\n"
        "  0, 0x%016x, 0x%016x, 0x0000000000000000, 0x00000000, 0x00000000, %s\nBB Table: " % (base, top, name)).encode()
if not data.startswith(head):
    die(".drcov: the head is", data[:len(head)])
digits, _, body = data[len(head):].partition(b" bbs\n")
if len(body) != 8 * int(digits):
    die(".drcov:", int(digits), "blocks in", len(body), "bytes")
bytes_run = {pc + k for pc in mine for k in range(sizes[pc])}
covered, begins = set(), set()
for offset, size, module in struct.iter_unpack("<IHH", body):
    here = range(base + offset, base + offset + size)
    if module or not size or here[0] in covered:
        die(".drcov: a block of", size, "at", hex(here[0]))
    if any(pc in ends and pc + sizes[pc] < here.stop for pc in here if pc in mine):
        die(".drcov: a transfer in the middle of a block at", hex(here[0]))
    covered.update(here)
    begins.add(here[0])
if covered != bytes_run:
    die(".drcov: other code:", sorted(covered ^ bytes_run)[:3])
if not {b for (_, b), _ in transfers.items() if b is not None and b in mine} <= begins:
    die(".drcov: no block begins where a transfer leads to")
print(name, len(mine), "instructions,", sum(transfers.values()), "transfers,", checked, "places summed up,", entries, "entries")
