#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py HARTFS EXTENSION ARCHIVE CAPTURE COUNT SEED [OPTION...]

Asks generated queries of the extension, and of tables of plain SQLite that are made here from listing.txt, by a reader
that shares nothing with hartfs; all answers must be the same. OPTIONs are those of hartfs serve.
"""
import os
import random
import re
import sqlite3
import subprocess
import sys

INSN = re.compile(r"^(\d+) (\S+) ([0-9a-f]{16}) ([0-9a-f]{8}|[0-9a-f]{4}) *(.*)$")
ACCESS = re.compile(r" (RW|R|W|\?)(\d+) ([0-9a-f]{16}|\?)(?:\{[^}]*\})?(?:=([0-9a-f_]+))?(?= |$)")
REGISTER = re.compile(r" ([a-z][a-z0-9_.]*)([:=~])([0-9a-f_]+)(?= |$)")
TRAP = re.compile(r"^# trap (exception|interrupt) cause=(\d+|\?)(?: \(([^)]*)\))?( virtual)?(?: value=([0-9a-f]+))?"
                  r"(?: -> ([0-9a-f]{16}))?(?: mode=(\S+))?")
RETURN = re.compile(r"^# trap-return(?: -> ([0-9a-f]{16}))?(?: mode=(\S+))?")
TIME = re.compile(r"^# (time|cycles) (\d+|\?)(?: back=(\d+))?")

TABLES = {
    "instruction": ["ordinal", "mode", "pc", "opcode", "size", "mnemonic", "text", "symbol", "offset", "taken",
                    "target"],
    "access": ["ordinal", "kind", "address", "size", "data"],
    "register": ["ordinal", "name", "role", "value"],
    "trap": ["ordinal", "kind", "cause", "name", "value", "handler", "mode"],
    "time": ["ordinal", "kind", "value", "back"],
}


def signed(text):
    """A number as SQLite has it: 64 bits, signed."""
    if text is None or text == "?":
        return None
    value = int(text, 16)
    return value - (1 << 64) if value >> 63 else value


def datum(text):
    """What an access or a register holds: a number, or several words as they stand there."""
    return text if text and "_" in text else signed(text)


def attachments(rest, ordinal, rows):
    for kind, size, address, data in ACCESS.findall(rest):
        rows["access"].append((ordinal, kind, signed(address), int(size), datum(data or None)))
    rest = ACCESS.sub("", rest)
    for name, role, value in REGISTER.findall(rest):
        rows["register"].append((ordinal, name, {":": "read", "=": "written", "~": "known"}[role], datum(value)))


def instruction(match, rows):
    ordinal, mode, pc, opcode, rest = match.groups()
    head, symbol, offset, target, taken = rest, None, None, None, None
    place = re.search(r" <([^<>]*?)(?:\+0x([0-9a-f]+))?(?: [^ <>]+:\d+)?>", rest)
    if place:
        head = rest[:place.start()]
        symbol, offset = place.group(1), int(place.group(2) or "0", 16)
    jump = re.search(r" -> ([0-9a-f]{16})", rest)
    if jump:
        head = head[:jump.start()]
        target, taken = signed(jump.group(1)), 1
    elif " (not taken)" in rest:
        head = head.split(" (not taken)")[0]
        taken = 0
    first = min([m.start() for m in (ACCESS.search(head), REGISTER.search(head)) if m] + [len(head)])
    text = head[:first].rstrip()
    rows["instruction"].append((int(ordinal), mode, signed(pc), int(opcode, 16), len(opcode) // 2, text.split(" ")[0],
                                text, symbol, offset, taken, target))
    behind = rest[place.end():] if place else rest
    attachments(behind if place else rest[len(text):], int(ordinal), rows)
    return int(ordinal)


def note(line, ordinal, attempted, rows):
    trap = TRAP.match(line)
    back = RETURN.match(line)
    time = TIME.match(line)
    if trap:
        kind, cause, name, _, value, handler, mode = trap.groups()
        rows["trap"].append((ordinal, kind, None if cause == "?" else int(cause), name, signed(value), signed(handler),
                             mode))
    elif back:
        rows["trap"].append((ordinal, "return", None, None, None, signed(back.group(1)), back.group(2)))
    elif time:
        rows["time"].append((ordinal, time.group(1), None if time.group(2) == "?" else int(time.group(2)),
                             time.group(3) and int(time.group(3))))
    elif not attempted and re.match(r"^# (RW?|W|\?)\d+ |^# [a-z0-9]+[:=~][0-9a-f]", line):
        attachments(line[1:], ordinal, rows)


def read_listing(lines):
    rows = {name: [] for name in TABLES}
    ordinal, attempted = 0, False
    for line in lines:
        line = line.rstrip("\n")
        match = None if line.startswith("#") else INSN.match(line)
        if match:
            ordinal, attempted = instruction(match, rows), False
        elif line.startswith("# attempt"):
            attempted = True
        else:
            note(line, ordinal, attempted, rows)
    return rows


class Judge:
    def __init__(self, hartfs, extension, archive, capture, options):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        os.environ["HARTFS"] = hartfs
        self.db.load_extension(extension)
        self.db.execute("SELECT hartfs_open(%s)" % ",".join("?" * (1 + len(options))), [archive] + options).fetchall()
        self.capture = capture
        listing = subprocess.run([hartfs, "cat"] + options + [archive + "/" + capture, "hart0/listing.txt"], check=True,
                                 stdout=subprocess.PIPE, encoding="utf-8").stdout
        self.rows = read_listing(listing.splitlines())
        for name, columns in TABLES.items():
            self.db.execute("CREATE TABLE plain_%s(%s)" % (name, ",".join(
                c + (" TEXT" if c in ("mode", "mnemonic", "text", "symbol", "kind", "name", "role") else
                     "" if (name, c) in (("access", "data"), ("register", "value")) else " INTEGER") for c in columns)))
            self.db.executemany("INSERT INTO plain_%s VALUES(%s)" % (name, ",".join("?" * len(columns))),
                                self.rows[name])
            self.db.execute("CREATE INDEX ordinal_%s ON plain_%s(ordinal)" % (name, name))
        self.tables = [name for name in TABLES if self.rows[name]]

    def source(self, name):
        """How both sides name a table."""
        return "%s(%s, 0)" % (name, literal(self.capture)), "plain_" + name

    def ask(self, query, sources):
        return self.db.execute(named(query, sources)).fetchall()

    def compare(self, query, names, ordered):
        both = [self.source(name) for name in names]
        mine = self.ask(query, [b[0] for b in both])
        true = self.ask(query, [b[1] for b in both])
        if not ordered:
            key = lambda row: [(v is not None, isinstance(v, str), v) for v in row]
            mine.sort(key=key)
            true.sort(key=key)
        if mine == true:
            return True
        print("FAIL: %s" % named(query, [b[0] for b in both]))
        print("  hartfs: %d rows %s" % (len(mine), [r for r in mine if r not in true][:3]))
        print("  plain:  %d rows %s" % (len(true), [r for r in true if r not in mine][:3]))
        return False


def named(query, sources):
    """The tables @1 and @2 of a query."""
    for i, source in enumerate(sources):
        query = query.replace("@%d" % (i + 1), source)
    return query


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value) if value != -(1 << 63) else "(-9223372036854775807 - 1)"


class Asker:
    """Makes queries out of what there is."""

    def __init__(self, judge, rng):
        self.judge, self.rng = judge, rng

    def value(self, table, column):
        rows = self.judge.rows[table]
        value = self.rng.choice(rows)[TABLES[table].index(column)]
        if isinstance(value, int) and self.rng.random() < 0.2:
            value += self.rng.choice([-1, 1, 4, -8])
            value = max(-(1 << 63) + 1, min(value, (1 << 63) - 1))
        return value

    def condition(self, table, alias, column):
        rng, value = self.rng, self.value(table, column)
        name = alias + column
        kind = rng.random()
        if value is None:
            return "%s IS %sNULL" % (name, rng.choice(["", "NOT "]))
        if kind < 0.4:
            return "%s = %s" % (name, literal(value))
        if kind < 0.6 and not isinstance(value, str):
            other = self.value(table, column)
            low, high = sorted([value, value if not isinstance(other, int) else other])
            return "%s BETWEEN %s AND %s" % (name, literal(low), literal(high))
        if kind < 0.7:
            many = rng.choice([1, 2, 4, 4, 50])
            return "%s IN (%s)" % (name, ",".join(literal(self.value(table, column)) for _ in range(many)))
        if kind < 0.77 and isinstance(value, str):
            return "%s LIKE %s" % (name, literal(self.pattern(value)))
        if kind < 0.8:
            return "%s %s 1.5" % (name, rng.choice(["<", ">"]))
        return "%s %s %s" % (name, rng.choice(["<", "<=", ">", ">=", "<>"]), literal(value))

    def pattern(self, text):
        """What a text may be like: a piece of it, with characters that are any."""
        rng = self.rng
        low = rng.randint(0, len(text))
        piece = text[low:low + rng.randint(0, 6)]
        piece = "".join("_" if rng.random() < 0.15 else "%" if rng.random() < 0.1 else c for c in piece)
        piece = piece.upper() if rng.random() < 0.2 else piece
        return rng.choice(["%", ""]) + piece + rng.choice(["%", "%", ""])

    def window(self, alias, most):
        last = self.judge.rows["instruction"][-1][0]
        size = self.rng.choice([0, 3, 100, most])
        low = self.rng.randint(0, last)
        return "%sordinal >= %d AND %sordinal <= %d" % (alias, low, alias, low + size)

    def where(self, table, alias=""):
        rng = self.rng
        parts = [self.condition(table, alias, rng.choice(TABLES[table])) for _ in range(rng.randint(0, 3))]
        if len(parts) > 1 and rng.random() < 0.25:
            parts = ["(" + " OR ".join(parts) + ")"]
        if rng.random() < 0.7:
            parts.append(self.window(alias, 3000))
        if table == "access" and rng.random() < 0.15:
            parts.append("%saddress IS NOT NULL" % alias)
        return " WHERE " + " AND ".join(parts) if parts else ""

    def rows(self):
        table = self.rng.choice(self.judge.tables)
        columns = self.rng.sample(TABLES[table], self.rng.randint(1, len(TABLES[table])))
        distinct = self.rng.choice(["", "", "", "DISTINCT "])
        query = "SELECT %s%s FROM @1%s" % (distinct, ", ".join(columns), self.where(table))
        ordered = not distinct and table == "instruction" and self.rng.random() < 0.6
        if ordered:
            query += " ORDER BY ordinal" + self.rng.choice(["", " DESC"])
            if self.rng.random() < 0.6:
                query += " LIMIT %d" % self.rng.choice([1, 2, 20, 1000])
                if self.rng.random() < 0.3:
                    query += " OFFSET %d" % self.rng.choice([1, 10, 3000])
        return query, [table], ordered

    def counts(self):
        """Rows that nobody looks at, or only some of them."""
        rng, table = self.rng, self.rng.choice(self.judge.tables)
        kind, column = rng.random(), rng.choice(TABLES[table])
        one = "%s = %s" % (column, literal(self.value(table, column)))
        where = " WHERE " + " AND ".join(rng.sample([one, self.window("", 30000)], rng.randint(1, 2)))
        where = "" if kind < 0.1 else where
        if kind < 0.6:
            return "SELECT count(*) FROM @1" + where, [table], False
        if kind < 0.8:
            return "SELECT %d FROM @1%s LIMIT %d OFFSET %d" % (
                rng.randint(0, 9), where, rng.choice([1, 100, 5000]), rng.choice([0, 1, 1000, 20000])), [table], False
        if kind < 0.9:
            return "SELECT count(DISTINCT rowid), min(%s) FROM @1%s" % (column, where), [table], False
        return "SELECT count(*) FROM (SELECT %s FROM @1%s LIMIT %d)" % (
            column, where, rng.choice([1, 30, 20000])), [table], False

    def sums(self):
        table = self.rng.choice(self.judge.tables)
        by = self.rng.choice(TABLES[table])
        what = self.rng.choice(TABLES[table])
        many = self.rng.choice(["count(*)", "count(DISTINCT %s)" % what, "min(%s)" % what, "max(%s)" % what])
        if self.rng.random() < 0.5:
            return "SELECT %s FROM @1%s" % (many, self.where(table)), [table], False
        return "SELECT %s, %s FROM @1%s GROUP BY %s" % (by, many, self.where(table), by), [table], False

    def joins(self):
        left, right = self.rng.choice(self.judge.tables), self.rng.choice(self.judge.tables)
        kind = self.rng.choice(["JOIN", "LEFT JOIN"])
        query = "SELECT a.%s, b.%s FROM @1 AS a %s @2 AS b ON b.ordinal = a.ordinal WHERE %s AND %s" % (
            self.rng.choice(TABLES[left]), self.rng.choice(TABLES[right]), kind,
            self.window("a.", 300), self.condition(left, "a.", self.rng.choice(TABLES[left])))
        return query, [left, right], False

    def touching(self):
        """Overlap: what the hidden column is for, and how one says it without."""
        address, size = 0, 0
        while not size or address is None:
            _, _, address, size, _ = self.rng.choice(self.judge.rows["access"])
        address += self.rng.randint(0, size)
        return address, self.window("", 3000)

    def query(self):
        kind = self.rng.random()
        return (self.rows() if kind < 0.5 else self.counts() if kind < 0.65 else self.sums() if kind < 0.85 else
                self.joins())


def ask_touching(judge, asker):
    address, window = asker.touching()
    mine = judge.ask("SELECT ordinal, kind, address FROM @1 WHERE touches = %d AND %s" % (address, window),
                     [judge.source("access")[0]])
    true = judge.ask("SELECT ordinal, kind, address FROM @1 WHERE address <= %d AND address + size > %d AND %s" %
                     (address, address, window), ["plain_access"])
    if sorted(mine, key=str) == sorted(true, key=str):
        return True
    print("FAIL: touches = %d AND %s: %s, not %s" % (address, window, mine[:5], true[:5]))
    return False


def main():
    hartfs, extension, archive, capture, count, seed = sys.argv[1:7]
    judge = Judge(hartfs, extension, archive, capture, sys.argv[7:])
    rng = random.Random(int(seed))
    asker = Asker(judge, rng)
    bad = 0
    for _ in range(int(count)):
        if judge.rows["access"] and rng.random() < 0.1:
            bad += not ask_touching(judge, asker)
        else:
            bad += not judge.compare(*asker.query())
        if bad > 5:
            break
    print("%s: %s queries, seed %s, %d wrong; %s" % (capture, count, seed, bad, ", ".join(
        "%d of %s" % (len(judge.rows[name]), name) for name in judge.tables)))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
