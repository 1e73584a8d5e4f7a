# SPDX-License-Identifier: Apache-2.0
"""The calls that a hart is in, from the lines of its listing: a model of its own, for judge.py. Stacks are chains of tuples
(below, kind, function, back), so each instruction keeps its own at no cost."""
import re

DEPTH = 1024
LINKS = ("ra", "t0")
REGISTER = re.compile(r"\b(?:zero|ra|sp|gp|tp|fp|t[0-6]|s[0-9]+|a[0-7])\b")
HANDLER = re.compile(r" -> ([0-9a-f]{16})(?= |$)")
WORDS = {"function": "in", "trap": "in trap handler", "interrupt": "in interrupt handler", "root": "from"}


def flow_of(name, text, arm):
    """What a taken instruction does: call, return, swap, trap, trap-return or nothing of it."""
    if arm:
        if re.fullmatch(r"bl(r|raa|rab|raaz|rabz)?|blx", name):
            return "call"
        if re.fullmatch(r"ret(aa|ab)?", name):
            return "return"
        if re.fullmatch(r"eret(aa|ab)?", name):
            return "trap-return"
        return "trap" if name in ("svc", "hvc", "smc", "brk") else None
    if name in ("mret", "sret", "uret", "dret", "mnret"):
        return "trap-return"
    if name in ("ecall", "ebreak", "c.ebreak"):
        return "trap"
    if name == "ret":
        return "return"
    operands = REGISTER.findall(re.split("  | <| ->", text, maxsplit=1)[0][len(name):])
    if name in ("jal", "c.jal"):
        return "call" if not operands or operands[0] in LINKS else None
    if name in ("jr", "c.jr"):
        return "return" if operands[-1] in LINKS else None
    if name not in ("jalr", "c.jalr"):
        return None
    # "jalr a5", "jalr 16(a5)", "jalr t0, a5", "jalr t0, 16(a5)": the register it goes to is the last one.
    to, link = operands[-1], operands[0] if len(operands) > 1 else "ra"
    if link not in LINKS:
        return "return" if to in LINKS else None
    return "swap" if to in LINKS and to != link else "call"


STUBS = {"jalr t1, t3": (8, 12), "jalr t1, t2": (12,), "jr t3": (28, 32), "br x17": (12, 16, 20)}


def is_stub(text, distance):
    """Whether a jump, so many bytes behind where a call went to, is that of a stub of a procedure linkage table."""
    words = re.split(" <| ->", " ".join(text.split()), maxsplit=1)[0]
    return distance in STUBS.get(words, ())


def is_found(text, distance):
    """The same of what a dynamic linker jumps with to a function that it has found."""
    words = re.split(" <| ->", " ".join(text.split()), maxsplit=1)[0]
    return words in ("br x16", "br x17", "jr t1") and 0x40 <= distance < 0x200


class Stack:
    __slots__ = ("top", "depth", "base", "roots", "calls", "traps", "classes")

    def __init__(self):
        self.top, self.depth, self.base, self.calls, self.traps, self.classes = None, 0, None, 0, 0, set()
        self.roots = {}  # of each mode: the first instruction that was executed below all calls

    def beyond(self):
        return self.calls or self.traps

    def forget(self):
        self.calls, self.classes = 0, set()


class Calls:
    def __init__(self, arm):
        self.arm, self.stacks, self.context, self.now = arm, {}, None, None
        self.pending, self.from_insn, self.returned, self.early = None, False, False, Stack()

    def stack(self):
        return self.now or self.early

    def take_trap(self, pc):
        s, (kind, function), self.pending = self.stack(), self.pending, None
        if s.beyond() or s.depth == DEPTH:
            s.traps += 1
        else:
            s.top, s.depth = (s.top, kind, pc if function is None else function, None), s.depth + 1

    def leave_trap(self):
        s = self.stack()
        if self.pending:
            self.take_trap(None)
        if s.traps:
            s.traps -= 1
            return
        s.forget()
        while s.top and s.top[1] == "function":
            s.top, s.depth = s.top[0], s.depth - 1
        if s.top:
            s.top, s.depth = s.top[0], s.depth - 1
        else:
            s.base = None

    def call(self, function, back):
        s = self.stack()
        if s.beyond() or s.depth == DEPTH:
            if not s.traps:
                s.calls += 1
                s.classes.add(back // 2 % 64)
            return
        s.top, s.depth = (s.top, "function", function, back), s.depth + 1

    def go_back(self, target):
        s = self.stack()
        if s.traps:
            return
        if s.calls and target // 2 % 64 in s.classes:
            s.calls -= 1
            if not s.calls:
                s.forget()
            return
        frame, depth = s.top, s.depth
        while frame and frame[1] == "function":
            if frame[3] == target:
                s.top, s.depth = frame[0], depth - 1
                s.forget()
                return
            frame, depth = frame[0], depth - 1

    def insn(self, insn, key, target, text):
        """The stack in which it is executed, of the context with that key; and what it does to it."""
        if self.now is None:
            self.stacks[key] = self.early
        self.now = self.stacks.get(key)
        if self.now is None:
            self.now = self.stacks[key] = Stack()
        if self.pending:
            self.take_trap(insn.pc)
        self.from_insn = self.returned = False
        s = self.now
        if not s.depth and s.base is None and not s.beyond():
            s.base = s.roots.setdefault(insn.mode, insn.pc)
        insn.stack = (s.top, s.base, s.calls, s.traps)
        if target is None:
            return
        flow, size = flow_of(insn.name, text, self.arm), insn.size
        if flow is None and s.top and s.top[1] == "function" and not s.beyond() and (
                is_stub(text, insn.pc - s.top[2]) or is_found(text, insn.pc - s.top[2])):
            s.top = (s.top[0], "function", target, s.top[3])
        if flow in ("return", "swap"):
            self.go_back(target)
        if flow in ("call", "swap"):
            self.call(target, insn.pc + size)
        if flow == "trap-return":
            self.leave_trap()
            self.returned = True
        if flow == "trap":
            self.pending, self.from_insn = ("trap", target), True

    def other(self, line):
        if line.startswith("# trap-return"):
            if not self.returned:
                self.leave_trap()
            self.returned = False
        elif line.startswith("# trap "):
            handler = HANDLER.search(line)
            handler = int(handler[1], 16) if handler else None
            interrupt = line.startswith("# trap interrupt")
            if self.pending and self.from_insn and not interrupt:
                if handler is not None:
                    self.pending, self.from_insn = ("trap", handler), False
                return
            if self.pending:
                self.take_trap(None)
            self.pending, self.from_insn = ("interrupt" if interrupt else "trap", handler), False


def hex16(value):
    return "?" if value is None else f"{value:016x}"


def lines_of(insn, prefix):
    """As hartfs prints it, without symbols."""
    (frame, base, calls, traps), pc, out = insn.stack, insn.pc, []
    if calls or traps:
        out.append(f"{prefix}0 {hex16(pc)} in ?")
        if calls + traps > 1:
            out.append(f"{prefix}- {calls + traps - 1} more, beyond the limit of {DEPTH}")
        pc = None
    n = len(out) > 0
    while frame:
        out.append(f"{prefix}{int(n)} {hex16(pc)} {WORDS[frame[1]]} {hex16(frame[2])}")
        pc, frame, n = frame[3], frame[0], n + 1
    if base is not None:
        out.append(f"{prefix}{int(n)} {hex16(pc)} from {hex16(base)}")
    return out
