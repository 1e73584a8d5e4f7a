#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py HARTFS FIND_BATCH INDEX SEED COUNT CHUNK[,CHUNK...] CAPTURE...: asks random questions of hartfs find and hartfs
state, with and without a summary, and answers them by brute force over the text of listing.txt; for chunks of each size
COUNT. It shares no code with the reader or the finder.
Prints the seed and how many questions of each kind there were; exit status 1 if an answer differs."""
import collections
import random
import os
import json
import re
import shutil
import subprocess
import sys
import zlib

import calls as model
import moments

INSN = re.compile(r"(\d+) (\S+) ([0-9a-f]{16}) ([0-9a-f]{8}|[0-9a-f]{4})(?: +|$)(.*)")
ACCESS = re.compile(r" (RW|R|W|\?)(\d+) ([0-9a-f]{16}|\?)(?:\{[^}]*\})?(?:=([0-9a-f_]+))?(?= |$)")
REGISTER = re.compile(r"(?<= )([a-z][a-z0-9_.]*)=([0-9a-f_]+)(?= |$)")
TARGET = re.compile(r" -> ([0-9a-f]{16})(?= |$)")
PLACE = re.compile(r" <([^>]+?)(?:\+0x([0-9a-f]+))?>")
WALK = re.compile(r" walk [0-9a-f]+/[0-9a-f]+ first=\d+(?: [0-9a-f]+:[0-9a-f]+)*")
TRAP = re.compile(r"# trap (exception|interrupt) cause=(\d+|\?)(?: \(([^)]*)\))?")
KEYS = ("hw", "pid", "tid", "asid", "vmid")
BREAKS = ("# trap", "# discontinuity", "# gap", "# doubt")


class Insn:
    __slots__ = ("mode", "pc", "opcode", "size", "name", "taken", "not_taken", "called", "context", "accesses", "registers",
                 "traps", "gap", "line", "behind", "place", "stack", "told", "spans")


def is_call(name, text, arm):
    if arm:
        return bool(re.fullmatch(r"bl(r|raa|rab|raaz|rabz)?", name))
    operands = text.split(None, 1)[1] if " " in text else ""
    first = operands.split(",")[0].split()[0] if operands else ""
    if name in ("jal", "c.jal"):
        return "," not in operands or first in ("ra", "t0")
    if name in ("jalr", "c.jalr"):
        return "," not in operands or first in ("ra", "t0")
    return False


def read(listing, arm):
    """The instructions of a listing, each with all that follows it, and behind which trace is missing."""
    insns, context, broken, calls, lead = [], {}, False, False, []
    stacks, secure, losses, key = model.Calls(arm), False, [], ()
    went = None  # where a call went to, as long as nothing else sent the flow elsewhere
    for line in listing.splitlines():
        if line[:1].isdigit():
            m = INSN.match(line)
            i = Insn()
            i.mode, i.pc, i.opcode, text = m[2], int(m[3], 16), int(m[4], 16), m[5]
            i.name = text.split(" ")[0]
            target = TARGET.search(text) if "->" in text else None
            i.taken, i.not_taken, i.size = bool(target), "(not taken)" in text, len(m[4]) // 2
            i.called = calls and not broken
            i.context, i.traps, i.gap, i.line, i.behind = context, [], False, line, []
            place = PLACE.search(text) if "<" in text else None
            i.place = (place[1], int(place[2] or "0", 16)) if place else None
            i.accesses, i.registers, i.told, i.spans = (), (), (), ()
            if " walk " in text:
                text = WALK.sub("", text)
            if ACCESS.search(text):
                i.accesses = [(a[1], int(a[2]), None if a[3] == "?" else int(a[3], 16), a[4])
                              for a in ACCESS.finditer(text)]
                i.spans = moments.ACCESS.findall(text)
            if "=" in text or "~" in text:
                i.registers = REGISTER.findall(ACCESS.sub("", text))
                i.told = moments.TOLD.findall(ACCESS.sub("", text))
            stacks.insn(i, key, int(target[1], 16) if target else None, text)
            went = None if broken else went
            calls, broken = i.taken and is_call(i.name, text, arm), False
            if i.taken:
                calls = calls or (went is not None and model.is_stub(text, i.pc - went))
                went = int(target[1], 16) if calls else None
            insns.append(i)
            if lead:
                note(i, lead)
                lead = []
            continue
        if line.startswith("# context"):
            context = dict(context)
            for word in line.split()[2:]:
                name, _, value = word.partition("=")
                if name in KEYS and value == "?":
                    context.pop(name, None)
                elif name in KEYS:
                    context[name] = int(value)
                elif name in ("secure", "non-secure"):
                    secure = name == "secure"
            key = (secure, *sorted(context.items()))
        broken = broken or line.startswith(BREAKS)
        stacks.other(line)
        if line.startswith(moments.LOST) and insns:
            losses.append(len(insns) - 1)
        if insns:
            note(insns[-1], [line])
        else:
            lead.append(line)
    return insns, losses


def note(insn, lines):
    for line in lines:
        insn.behind.append(line)
        trap = TRAP.match(line)
        if trap:
            insn.traps.append((trap[1], trap[2], trap[3]))
        insn.gap = insn.gap or line.startswith("# gap")


def same(value, wanted, size):
    """Whether data as the listing has it is the value that was asked for."""
    if value is None:
        return False
    words = [int(word, 16) for word in value.split("_")]
    if len(words) != len(wanted):
        return False
    if len(words) == 1 and size and size < 8 and words[0] & ((1 << 8 * size) - 1) == wanted[0]:
        return True
    return words == wanted


def access(kinds, first, last, value):
    def holds(i):
        for kind, size, address, data in i.accesses:
            if kind not in kinds or address is None:
                continue
            if address <= last and address + max(size, 1) - 1 >= first and (value is None or same(data, value, size)):
                return True
        return False
    return holds


class Asker:
    """Questions to one hart, from what there is in it."""

    def __init__(self, rng, insns, hart, arm, calls):
        self.rng, self.insns, self.hart, self.arm = rng, insns, hart, arm
        self.kinds = ["pc", "pc", "range", "opcode", "mask", "mnemonic", "taken", "not-taken", "mode", "trap", "gap", "context"]
        if calls:
            self.kinds += ["call", "call"]
        self.accessed = [i for i in insns if i.accesses]
        self.written = [i for i in insns if i.registers]
        self.trapped = [i for i in insns if i.traps]
        self.called = [i for i in insns if i.called]
        self.placed = [i for i in insns if i.place]
        # Several functions may be of one name.
        self.starts = {}
        for i in self.placed:
            if not i.place[1]:
                self.starts.setdefault(i.place[0], set()).add(i.pc)
        self.kinds += ["write", "read", "access", "accessed-value"] * bool(self.accessed)
        self.kinds += ["register", "register-value", "value"] * bool(self.written)
        self.kinds += ["symbol"] * bool(self.starts)

    def term(self, kind):
        """The parts of the question, and a function that answers it for one instruction."""
        rng, i = self.rng, self.rng.choice(self.insns)
        if kind == "pc":
            pc = i.pc + rng.choice((0, 0, 0, 0, 2))
            return [f"pc={pc:#x}"], lambda i: i.pc == pc
        if kind == "range":
            first = max(i.pc - rng.randrange(64), 0)
            last = first + rng.randrange(1, 256)
            return [f"pc={first:#x}-{last:x}"], lambda i: first <= i.pc <= last
        if kind == "symbol":
            name = rng.choice(sorted(self.starts))
            pcs = self.starts[name]
            return [f"pc={name}"], lambda i: i.pc in pcs
        if kind == "call":
            pc = rng.choice(self.called).pc if self.called and rng.random() < 0.8 else i.pc
            return [f"call={pc:#x}"], lambda i: i.pc == pc and i.called
        if kind == "opcode":
            opcode = i.opcode
            return [f"opcode={opcode:x}"], lambda i: i.opcode == opcode
        if kind == "mask":
            mask, opcode = rng.choice((0x7f, 0xfe00707f, 0xffff0000, 0xfc000000)), i.opcode
            return [f"opcode={opcode:x}/{mask:x}"], lambda i: (i.opcode ^ opcode) & mask == 0
        if kind == "mnemonic":
            name = i.name
            return [f"mnemonic={name}"], lambda i: i.name == name
        if kind == "taken":
            return ["taken"], lambda i: i.taken
        if kind == "not-taken":
            return ["not-taken"], lambda i: i.not_taken
        if kind == "mode":
            mode = i.mode
            if re.fullmatch("EL[0-3]", mode):
                return [f"mode={mode}"], lambda i: i.mode[:3] == mode
            return [f"mode={mode}"], lambda i: i.mode == mode
        if kind == "gap":
            return ["gap"], lambda i: i.gap
        if kind == "trap":
            return self.trap()
        if kind == "context":
            context = {k: v for k, v in i.context.items() if rng.random() < 0.7} or {"pid": 1}
            text = ",".join(f"{k}={v}" for k, v in context.items())
            return [f"context={text}"], lambda i: all(i.context.get(k) == v for k, v in context.items())
        return self.data(kind)

    def trap(self):
        rng = self.rng
        choice = rng.randrange(4) if self.trapped else 0
        if choice == 0:
            return ["trap"], lambda i: bool(i.traps)
        what, cause, name = rng.choice(rng.choice(self.trapped).traps)
        if choice == 1 and cause != "?":
            return [f"trap={cause}"], lambda i: any(t[1] == cause for t in i.traps)
        if choice == 2 and name:
            return [f"trap={name}"], lambda i: any(t[2] == name for t in i.traps)
        return [f"trap={what}"], lambda i: any(t[0] == what for t in i.traps)

    def data(self, kind):
        rng = self.rng
        if kind in ("register", "register-value"):
            name, value = rng.choice(rng.choice(self.written).registers)
            if kind == "register":
                return [f"register={name}"], lambda i: any(r[0] == name for r in i.registers)
            wanted = [int(word, 16) for word in value.split("_")]
            return ([f"register={name}", f"value={value}"],
                    lambda i: any(r[0] == name and same(r[1], wanted, 0) for r in i.registers))
        if kind == "value":
            name, value = rng.choice(rng.choice(self.written).registers)
            wanted = [int(word, 16) for word in value.split("_")]
            return [f"value={value}"], lambda i: (any(same(r[1], wanted, 0) for r in i.registers) or
                                                  any(same(a[3], wanted, a[1]) for a in i.accesses))
        how, size, address, data = rng.choice(rng.choice(self.accessed).accesses)
        address = address or 0
        if kind == "accessed-value":
            if data is None:
                return self.data("access")
            wanted = [int(word, 16) for word in data.split("_")]
            first, last = (address, address) if rng.random() < 0.5 else (0, (1 << 64) - 1)
            return [f"access={first:#x}-{last:x}", f"value={data}"], access(("R", "W", "RW", "?"), first, last, wanted)
        first = max(address + rng.choice((0, 0, 0, 1, -1, 4)), 0)
        size = rng.choice((1, 1, 4, 8, 64, 4096))
        kinds = {"write": ("W", "RW"), "read": ("R", "RW"), "access": ("R", "W", "RW", "?")}[kind]
        return [f"{kind}={first:#x}/{size}"], access(kinds, first, first + size - 1, None)

    def question(self):
        rng = self.rng
        kinds = [rng.choice(self.kinds) for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3)))]
        if sum("value" in kind for kind in kinds) or "register" in kinds:
            kinds = kinds[:1] if "value" in kinds[0] else [k for k in kinds if "value" not in k]
        parts, tests = [f"hart={self.hart}"], []
        for kind in kinds:
            more, holds = self.term(kind)
            parts += more
            tests.append(holds)
        n = len(self.insns)
        first, end = 0, n
        if rng.random() < (0.2 if n < 50000 else 0.99):
            first = rng.randrange(n)
            end = min(n, first + rng.randrange(1, 5000))
            if first:
                parts.append(f"after={first - 1}")
            parts.append(f"before={end}")
        reverse, count = rng.random() < 0.3, rng.random() < 0.3
        skip, limit = rng.choice(((0, 1), (0, 0), (rng.randrange(50), 1), (0, rng.randrange(1, 500))))
        if not count and not limit:
            limit = 1000
        found = range(first, end)
        for holds in tests:
            found = [o for o in found if holds(self.insns[o])]
        total = len(found)
        if reverse:
            parts.append("reverse")
            found = found[::-1]
        found = found[skip:skip + limit] if limit else found[skip:]
        parts += [f"skip={skip}"] * bool(skip) + [f"limit={limit}"] * bool(limit)
        parts.append("count" if count else "lines")
        if not count and len(found) <= 20 and rng.random() < 0.4:
            parts.append("stack")
            kinds = kinds + ["stack"]
        return kinds, parts, found, count, total

    def moment(self):
        """An instruction of which the state is asked."""
        return self.rng.randrange(len(self.insns))

    def text(self, found, kinds):
        behind = "trap" in kinds or "gap" in kinds
        out = []
        for o in found:
            i = self.insns[o]
            before = 0
            if behind and o == 0:
                # What is before the first instruction stands before it.
                before = self.lead
            lines = i.behind if behind else []
            out += lines[:before] + [i.line] + lines[before:]
            if "stack" in kinds:
                out += model.lines_of(i, "#")
        return "".join(line + "\n" for line in out)


def load(cat, rng):
    """An asker for each hart that has instructions."""
    info = cat("info.json")
    harts = [hart["id"] for hart in json.loads(info)["harts"]]
    arm = '"arch": "arm"' in info
    askers = []
    for hart in dict.fromkeys(harts):
        listing = cat(f"hart{hart}/listing.txt")
        insns, losses = read(listing, arm)
        if not insns:
            continue
        a64 = not any(len(f"{i.opcode:x}") <= 4 and i.opcode for i in insns[:2000]) if arm else True
        asker = Asker(rng, insns, hart, arm, not arm or a64)
        asker.losses, asker.a64 = losses, arm and a64
        asker.lead = next(n for n, line in enumerate(listing.splitlines()) if line[:1].isdigit())
        askers.append(asker)
    return askers


def judge_find(asker, kinds, parts, found, counted, total, answer):
    """What is wrong, or None; candidates and chunks that were decoded."""
    err, n, _, candidates, decoded, crc, *ordinals = [int(word) for word in answer.split()]
    wrong = None
    if err and (found or total):
        wrong = f"error {err}"
    elif n != len(found):
        wrong = f"{n} answers instead of {len(found)}"
    elif not counted and ordinals != found:
        wrong = f"ordinals {ordinals[:5]}... instead of {found[:5]}..."
    elif not counted and crc != zlib.crc32(asker.text(found, kinds).encode("latin-1")):
        wrong = "other lines"
    return wrong, candidates, decoded


def judge_state(asker, ordinal, answer):
    got = moments.plain(answer.replace("\t", "\n"))
    want = moments.expected(asker.insns, asker.hart, ordinal, asker.losses, asker.arm, asker.a64)
    if sorted(got) == sorted(want):
        return None
    return f"state: {sorted(set(got) - set(want))[:3]} instead of {sorted(set(want) - set(got))[:3]}"


def ask(batch, index, rng, count, chunk, capture, askers, tally):
    asked = []
    for k in range(count):
        asker = rng.choice(askers)
        if k % 8 == 7:
            ordinal = asker.moment()
            asked.append((asker, ["state"], [f"hart={asker.hart}", f"state={ordinal}"], ordinal))
        else:
            asked.append((asker,) + asker.question())
    lines = "".join("\t".join(a[2]) + "\n" for a in asked).encode("latin-1")
    bad = decoded = candidates = 0
    for mode in ([], ["no-summary"]):
        out = subprocess.run([batch, index, capture, str(chunk)] + mode, input=lines, stdout=subprocess.PIPE,
                             check=True).stdout.decode("latin-1").split("\n")[:-1]
        if len(out) != len(asked):
            sys.exit(f"{capture}: {len(out)} answers to {len(asked)} questions")
        for (asker, kinds, parts, *rest), answer in zip(asked, out):
            tally.update(kinds)
            if kinds == ["state"]:
                wrong = judge_state(asker, rest[0], answer)
            else:
                wrong, more, chunks = judge_find(asker, kinds, parts, *rest, answer)
                candidates += more if not mode else 0
                decoded += chunks if not mode else 0
            bad += wrong is not None
            if wrong and bad <= 10:
                print(f"{capture} {mode} chunk {chunk}: {wrong}: {parts}")
    print(f"{capture}: chunk {chunk}, {len(asked)} questions, {bad} wrong; with a summary {candidates} candidates, "
          f"{decoded} chunks decoded", flush=True)
    return bad


def run(hartfs, batch, index, seed, count, chunks, capture, tally):
    """The listing is read once: chunks do not show in it."""
    def cat(view):
        return subprocess.run([hartfs, "cat", "-q", "--index-dir", index, "--chunk", str(chunks[-1]), capture, view],
                              stdout=subprocess.PIPE, check=True).stdout.decode("latin-1")
    askers = load(cat, random.Random(f"{seed}/{os.path.basename(capture)}"))
    if not askers:
        return 0
    bad = 0
    for chunk in chunks:
        if chunk == 1 and sum(len(a.insns) for a in askers) > 5000:
            print(f"{capture}: not asked with chunks of 1")
            continue
        for name in os.listdir(index):
            shutil.rmtree(os.path.join(index, name)) if os.path.isdir(os.path.join(index, name)) else os.unlink(
                os.path.join(index, name))
        rng = random.Random(f"{seed}/{chunk}")
        for asker in askers:
            asker.rng = rng
        bad += ask(batch, index, rng, count, chunk, capture, askers, tally)
    return bad


def main():
    hartfs, batch, index, seed, count, chunks, *captures = sys.argv[1:]
    print(f"seed {seed}")
    tally = collections.Counter()
    chunks = [int(chunk) for chunk in chunks.split(",")]
    bad = sum(run(hartfs, batch, index, seed, int(count), chunks, c, tally) for c in captures)
    print("asked, with and without a summary:", dict(sorted(tally.items())))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
