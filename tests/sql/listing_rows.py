# SPDX-License-Identifier: Apache-2.0
"""The rows of tables as a listing tells them: a reader of listing.txt that shares nothing with hartfs. See judge.py."""
import re

INSN = re.compile(r"^(\d+) (\S+) ([0-9a-f]{16}) ([0-9a-f]{8}|[0-9a-f]{4}) *(.*)$")
ACCESS = re.compile(r" (RW|R|W|\?)(\d+) ([0-9a-f]{16}|\?)(?:\{([^}]*)\})?(?:=([0-9a-f_]+))?(?= |$)")
REGISTER = re.compile(r" ([a-z][a-z0-9_.]*)([:=~])([0-9a-f_]+)(?= |$)")
PLACE = re.compile(r" <([^<>]*?)(?:\+0x([0-9a-f]+))?(?: ([^ <>]+):(\d+))?>")
TRAP = re.compile(r"^# trap (exception|interrupt) cause=(\d+|\?)(?: \(([^)]*)\))?( virtual)?(?: value=([0-9a-f]+))?"
                  r"(?: -> ([0-9a-f]{16}))?(?: mode=(\S+))?")
RETURN = re.compile(r"^# trap-return(?: -> ([0-9a-f]{16}))?(?: mode=(\S+))?")
TIME = re.compile(r"^# (time|cycles) (\d+|\?)(?: back=(\d+))?")
MARKER = re.compile(r"^# marker type=(\d+) number=(\d+) value=([0-9a-f]+)")
JUMP = re.compile(r"^# discontinuity ([0-9a-f]{16}|\?) -> ([0-9a-f]{16}|\?)( untraced)?")
LOSS = re.compile(r"^# (gap|doubt|note)(?: (?:file_)?offset=(\d+))?(?: bytes=(\d+))?(?: back=\d+)? (.*)$")

TABLES = {
    "instruction": ["hart", "ordinal", "mode", "pc", "opcode", "size", "mnemonic", "text", "symbol", "offset", "file",
                    "line", "taken", "target"],
    "access": ["hart", "ordinal", "kind", "address", "size", "data", "tag"],
    "register": ["hart", "ordinal", "name", "role", "value"],
    "trap": ["hart", "ordinal", "kind", "cause", "name", "value", "handler", "mode", "virtual"],
    "context": ["hart", "ordinal", "hw", "pid", "tid", "asid", "vmid", "mode", "isa", "secure"],
    "time": ["hart", "ordinal", "kind", "value", "back"],
    "gap": ["hart", "ordinal", "kind", "place", "bytes", "reason", "source", "target"],
    "marker": ["hart", "ordinal", "type", "number", "value"],
    "code": ["hart", "pc", "opcode", "size", "mnemonic", "text", "symbol", "offset", "count", "taken"],
    "function": ["hart", "address", "name", "own", "executed"],
    "mix": ["hart", "address", "function", "mnemonic", "count"],
}
TEXTS = {"mode", "mnemonic", "text", "symbol", "file", "kind", "name", "role", "isa", "reason", "function"}
# A listing says on a line of its own where they went.
TRAP_RETURNS = {"mret", "sret", "eret"}
# Numbers, or texts where there are too many bits.
ANY = {("access", "data"), ("register", "value")}


def signed(text):
    """A number as SQLite has it: 64 bits, signed."""
    if text is None or text == "?":
        return None
    value = int(text, 16)
    return value - (1 << 64) if value >> 63 else value


def known(text):
    return None if text == "?" else text


def number(text):
    return None if text is None or text == "?" else int(text)


def datum(text):
    """What an access or a register holds: a number, or several words as they stand there."""
    return text if text and "_" in text else signed(text)


def attachments(rest, ordinal, rows):
    for kind, size, address, braces, data in ACCESS.findall(rest):
        tag = re.search(r"\btag=([0-9a-f]+)", braces)
        rows["access"].append((ordinal, kind, signed(address), int(size), datum(data or None), tag and signed(tag[1])))
    rest = ACCESS.sub("", rest)
    for name, role, value in REGISTER.findall(rest):
        rows["register"].append((ordinal, name, {":": "read", "=": "written", "~": "known"}[role], datum(value)))


def instruction(match, rows):
    ordinal, mode, pc, opcode, rest = match.groups()
    head, symbol, offset, file, line, target, taken = rest, None, None, None, None, None, None
    place = PLACE.search(rest)
    if place:
        head = rest[:place.start()]
        symbol, offset = place[1], int(place[2] or "0", 16)
        file, line = place[3], number(place[4])
    jump = re.search(r" -> ([0-9a-f]{16})", rest)
    if jump:
        head = head[:jump.start()]
        target, taken = signed(jump[1]), 1
    elif " (not taken)" in rest:
        head = head.split(" (not taken)")[0]
        taken = 0
    first = min([m.start() for m in (ACCESS.search(head), REGISTER.search(head)) if m] + [len(head)])
    text = head[:first].rstrip()
    rows["instruction"].append((int(ordinal), known(mode), signed(pc), int(opcode, 16), len(opcode) // 2,
                                text.split(" ")[0], text, symbol, offset, file, line, taken, target))
    attachments(rest[place.end():] if place else rest[len(text):], int(ordinal), rows)
    return int(ordinal)


def context(line, ordinal, rows):
    fields = dict(word.split("=") for word in line.split() if "=" in word)
    secure = 0 if " non-secure" in line else 1 if " secure" in line else None
    rows["context"].append((ordinal, *[number(fields.get(name)) for name in ("hw", "pid", "tid", "asid", "vmid")],
                            known(fields.get("mode")), known(fields.get("isa")), secure))


def note(line, ordinal, attempted, rows):
    trap, back, time, marker, jump, loss = [m.match(line) for m in (TRAP, RETURN, TIME, MARKER, JUMP, LOSS)]
    if trap:
        kind, cause, name, virtual, value, handler, mode = trap.groups()
        rows["trap"].append((ordinal, kind, number(cause), name, signed(value), signed(handler), known(mode),
                             1 if virtual else 0))
    elif back:
        rows["trap"].append((ordinal, "return", None, None, None, signed(back[1]), known(back[2]), None))
    elif time:
        rows["time"].append((ordinal, time[1], number(time[2]), number(time[3])))
    elif marker:
        rows["marker"].append((ordinal, int(marker[1]), int(marker[2]), signed(marker[3])))
    elif jump:
        rows["gap"].append((ordinal, "untraced" if jump[3] else "discontinuity", None, None, None, signed(jump[1]),
                            signed(jump[2])))
    elif loss:
        rows["gap"].append((ordinal, loss[1], number(loss[2]), number(loss[3] or "0"), loss[4], None, None))
    elif line.startswith("# context"):
        context(line, ordinal, rows)
    elif not attempted and re.match(r"^# (RW?|W|\?)\d+ |^# [a-z0-9]+[:=~][0-9a-f]", line):
        attachments(line[1:], ordinal, rows)


def read_listing(lines):
    """{table: rows without the hart}, of those that have ordinals."""
    rows = {name: [] for name, columns in TABLES.items() if "ordinal" in columns}
    ordinal, attempted = 0, False
    for line in lines:
        match = None if line.startswith("#") else INSN.match(line)
        if match:
            ordinal, attempted = instruction(match, rows), False
        elif line.startswith("# attempt"):
            attempted = True
        else:
            note(line, ordinal, attempted, rows)
    return rows


def summed(rows):
    """Adds the rows of the tables that sum up instructions, of all harts."""
    codes, functions, mix = {}, {}, {}
    for row in rows["instruction"]:
        hart, _, _, pc, opcode, size, mnemonic, text, symbol, offset, _, _, taken, _ = row
        code = codes.setdefault((hart, pc, opcode, size, mnemonic, text, symbol, offset), [0, 0])
        code[0] += 1
        code[1] = None if mnemonic in TRAP_RETURNS else code[1] + (taken == 1)
        if symbol is None:
            continue
        function = functions.setdefault((hart, pc - offset, symbol), [0, set()])
        function[0] += 1
        function[1].add((pc, opcode))
        key = hart, pc - offset, symbol, mnemonic
        mix[key] = mix.get(key, 0) + 1
    rows["code"] = [key + tuple(counts) for key, counts in codes.items()]
    rows["function"] = [key + (own, len(executed)) for key, (own, executed) in functions.items()]
    rows["mix"] = [key + (count,) for key, count in mix.items()]
