# SPDX-License-Identifier: Apache-2.0
"""What a listing tells of a hart at one instruction, by a search backwards through its lines: for judge.py."""
import re

from calls import lines_of

TOLD = re.compile(r"(?<= )([a-z][a-z0-9_.]*)([=~])([0-9a-f_]+)(?= |$)")
ACCESS = re.compile(r" ((?:RW|R|W|\?)\d+ (?:[0-9a-f]{16}|\?)(?:\{[^}]*\})?(?:=[0-9a-f_]+)?)(?= |$)")
LOST = ("# gap", "# doubt", "# discontinuity")
# Of those that are not there are "x5=?" lines, if there is any register.
ACCESSES = 16


def common(insns, arm, a64):
    if arm:
        return [f"x{i}" for i in range(31)] + ["sp"] if a64 else []
    return [f"x{i}" for i in range(1, 32)]


TELLS = {}


def any_told(insns):
    """Whether registers are told at all: looked up once."""
    if id(insns) not in TELLS:
        TELLS[id(insns)] = (insns, any(i.told for i in insns))
    return TELLS[id(insns)][1]


def registers(insns, ordinal, lost):
    """Name: (value, ordinal), of what counts."""
    told, written = {}, False
    if not any_told(insns):
        return {}
    for o in range(ordinal, lost if lost is not None else -1, -1):
        for name, how, value in reversed(insns[o].told):
            written = written or how == "="
            told.setdefault(name, (value, o, how))
    return {name: (value, o) for name, (value, o, how) in told.items()
            if name != "pc" and (how == "=" or o == ordinal or written)}


def accesses(insns, ordinal):
    out = []
    while ordinal >= 0 and len(out) < ACCESSES:
        out += [f"access {ordinal} {text}" for text in reversed(insns[ordinal].spans)]
        ordinal -= 1
    return out[:ACCESSES] or ["access ?"]


def expected(insns, hart, ordinal, losses, arm, a64):
    """The lines of hartfs state but for comments, symbols and the disassembly, in no order."""
    insn = insns[ordinal]
    lost = max((o for o in losses if o < ordinal), default=None)
    told = registers(insns, ordinal, lost)
    out = [f"hart {hart}", f"ordinal {ordinal}", f"mode {insn.mode}", f"pc {insn.pc:016x}"]
    out.append("context " + " ".join(f"{k}={insn.context.get(k, '?')}" for k in ("hw", "pid", "tid", "asid", "vmid")))
    out += [f"lost {lost}"] * (lost is not None)
    out += lines_of(insn, "call ")
    out += [f"register {name}={value} {o}" for name, (value, o) in told.items()]
    if told:
        out += [f"register {name}=?" for name in common(insns, arm, a64) if name not in told]
    else:
        out.append("register ?")
    return out + accesses(insns, ordinal)


def plain(text):
    """The same of what hartfs printed."""
    lines = [re.sub(r" <[^>]*>", "", line) for line in text.split("\n") if line and not line.startswith(("#", "instruction "))]
    return lines
