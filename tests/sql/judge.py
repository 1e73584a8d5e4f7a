#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py HARTFS EXTENSION ARCHIVE CAPTURE COUNT SEED [OPTION...]

Asks generated queries of the extension, and of tables of plain SQLite that are made here of the listings of all harts, by
listing_rows.py, which shares nothing with hartfs; all answers must be the same. OPTIONs are those of hartfs serve.
"""
import os
import random
import sqlite3
import subprocess
import sys

from listing_rows import TABLES, TEXTS, ANY, read_listing, summed

# What is compared of tables that the summary makes: columns that a listing can tell.
SUMMED = {
    "code": "(SELECT hart, pc, opcode, size, mnemonic, text, symbol, offset, count, taken FROM code(%s))",
    "function": "(SELECT hart, address, name, own, executed FROM function(%s) WHERE name NOT LIKE '%%0x%%')",
    "mix": "(SELECT hart, address, function, mnemonic, CAST(sum(count) AS INTEGER) AS count FROM mix(%s) "
           "WHERE function NOT LIKE '%%0x%%' GROUP BY hart, address, function, mnemonic)",
}
# Of these a copy is made, with all of their rows: what conditions and order do to them is judged, not the rows.
COPIED = ("run", "callnode", "call", "view", "problem")


class Judge:
    def __init__(self, hartfs, extension, archive, capture, options):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        os.environ["HARTFS"] = hartfs
        self.db.load_extension(extension)
        self.db.execute("SELECT hartfs_open(%s)" % ",".join("?" * (1 + len(options))), [archive] + options).fetchall()
        self.capture = capture
        self.harts = [row[0] for row in self.db.execute("SELECT hart FROM hart WHERE capture = ?", [capture])]
        self.rows = {name: [] for name in TABLES}
        for hart in self.harts:
            command = [hartfs, "cat"] + options + [archive + "/" + capture, "hart%d/listing.txt" % hart]
            listing = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
            for name, rows in read_listing(listing.splitlines()).items():
                self.rows[name] += [(hart,) + row for row in rows]
        summed(self.rows)
        for name in list(TABLES):
            self.make_plain(name, ["" if (name, c) in ANY else "TEXT" if c in TEXTS else "INTEGER" for c in TABLES[name]])
        for name in COPIED:
            self.copy(name)
        self.tables = [name for name in TABLES if self.rows[name]]
        self.events = [name for name in self.tables if name not in SUMMED]

    def make_plain(self, name, types):
        columns = TABLES[name]
        self.db.execute("CREATE TABLE plain_%s(%s)" % (name, ",".join('"%s" %s' % c for c in zip(columns, types))))
        self.db.executemany("INSERT INTO plain_%s VALUES(%s)" % (name, ",".join("?" * len(columns))), self.rows[name])
        if "ordinal" in columns:
            self.db.execute("CREATE INDEX ordinal_%s ON plain_%s(ordinal, hart)" % (name, name))

    def copy(self, name):
        info = [(row[1], row[2]) for row in self.db.execute("PRAGMA table_xinfo(%s)" % name) if row[1] != "capture"]
        TABLES[name] = [column for column, _ in info]
        SUMMED[name] = "(SELECT %s FROM %s WHERE capture = %%s)" % (", ".join(TABLES[name]), name)
        try:
            self.rows[name] = self.db.execute("SELECT * FROM " + SUMMED[name] % literal(self.capture)).fetchall()
        except sqlite3.OperationalError as error:
            if "has no summary" not in str(error):
                raise
            self.rows[name] = []
        self.make_plain(name, [kind for _, kind in info])

    def source(self, name, hart):
        """How both sides name a table, of all harts or of one."""
        if name in SUMMED:
            mine, plain = SUMMED[name] % literal(self.capture), "plain_" + name
            return (mine, plain) if hart is None else tuple("(SELECT * FROM %s WHERE hart = %d)" % (t, hart)
                                                             for t in (mine, plain))
        if hart is None:
            return "%s(%s)" % (name, literal(self.capture)), "plain_" + name
        return "%s(%s, %d)" % (name, literal(self.capture), hart), "(SELECT rowid, * FROM plain_%s WHERE hart = %d)" % (
            name, hart)

    def ask(self, query, sources, values):
        try:
            return self.db.execute(named(query, sources), values).fetchall()
        except sqlite3.Error as error:
            return [(str(error),)]

    def compare(self, query, names, ordered, asker):
        both = [self.source(name, asker.hart) for name in names]
        mine = self.ask(query, [b[0] for b in both], asker.values)
        true = self.ask(query, [b[1] for b in both], asker.values)
        if not ordered:
            mine.sort(key=order)
            true.sort(key=order)
        if mine == true:
            return True
        print("FAIL: %s %s" % (named(query, [b[0] for b in both]), asker.values or ""))
        print("  hartfs: %d rows %s" % (len(mine), [r for r in mine if r not in true][:3]))
        print("  plain:  %d rows %s" % (len(true), [r for r in true if r not in mine][:3]))
        return False


def order(row):
    return [(v is not None, isinstance(v, str), v) for v in row]


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
    """Makes queries out of what there is. hart: all tables of the query are of that one; values: those it is given apart."""

    def __init__(self, judge, rng):
        self.judge, self.rng = judge, rng
        self.hart, self.values, self.bound = None, {}, False

    def begin(self):
        self.hart = self.rng.choice([None, self.rng.choice(self.judge.harts)])
        self.values = {}
        self.bound = self.rng.random() < 0.25

    def given(self, value):
        """How a value is written: as it is, or as a parameter, which the planner does not know."""
        if not self.bound:
            return literal(value)
        name = "v%d" % len(self.values)
        self.values[name] = value
        return ":" + name

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
        if kind < 0.35:
            return "%s %s %s" % (name, rng.choice(["=", "=", "=", "IS"]), self.given(value))
        if kind < 0.55 and not isinstance(value, str):
            other = self.value(table, column)
            low, high = sorted([value, value if not isinstance(other, int) else other])
            return "%s BETWEEN %s AND %s" % (name, self.given(low), self.given(high))
        if kind < 0.65:
            many = rng.choice([1, 2, 4, 4, 50])
            return "%s %sIN (%s)" % (name, rng.choice(["", "", "NOT "]), ",".join(
                self.given(self.value(table, column)) for _ in range(many)))
        if kind < 0.68:
            return "%s IN (SELECT %s FROM plain_%s ORDER BY 1 LIMIT %d)" % (name, column, table, rng.choice([1, 30, 5000]))
        if kind < 0.77 and isinstance(value, str):
            return "%s %sLIKE %s" % (name, rng.choice(["", "", "NOT "]), self.given(self.pattern(value)))
        if kind < 0.80 and isinstance(value, int) and abs(value) < 1 << 53:
            return "%s %s %s" % (name, rng.choice(["=", "<", ">=", "IS"]), self.given(float(value)))
        if kind < 0.82:
            return rng.choice(["%s < 1.5", "%s > 1.5", "%s = NULL", "%s = 9223372036854775808", "%s <> ''", "%s = '7'",
                               "%s >= -0.5", "%s = 4.0", "%s < 'm'"]) % name
        return "%s %s %s" % (name, rng.choice(["<", "<=", ">", ">=", "<>"]), self.given(value))

    def pattern(self, text):
        """What a text may be like: a piece of it, with characters that are any."""
        rng = self.rng
        low = rng.randint(0, len(text))
        piece = text[low:low + rng.randint(0, 6)]
        piece = "".join("_" if rng.random() < 0.15 else "%" if rng.random() < 0.1 else c for c in piece)
        piece = piece.upper() if rng.random() < 0.2 else piece
        return rng.choice(["%", ""]) + piece + rng.choice(["%", "%", ""])

    def window(self, alias, most):
        last = self.judge.rows["instruction"][-1][1]
        size = self.rng.choice([0, 3, 100, most])
        low = self.rng.randint(0, last)
        return "%sordinal >= %s AND %sordinal <= %s" % (alias, self.given(low), alias, self.given(low + size))

    def where(self, table, alias=""):
        rng = self.rng
        parts = [self.condition(table, alias, rng.choice(TABLES[table])) for _ in range(rng.randint(0, 3))]
        if len(parts) > 1 and rng.random() < 0.25:
            parts = ["(" + " OR ".join(parts) + ")"]
        if "ordinal" in TABLES[table] and rng.random() < 0.7:
            parts.append(self.window(alias, 3000))
        if table == "access" and rng.random() < 0.15:
            parts.append("%saddress IS NOT NULL" % alias)
        return " WHERE " + " AND ".join(parts) if parts else ""

    def limit(self):
        rng = self.rng
        words = " LIMIT %s" % self.given(rng.choice([0, 1, 1, 2, 20, 1000, -1]))
        return words + (" OFFSET %s" % self.given(rng.choice([0, 1, 10, 3000])) if rng.random() < 0.3 else "")

    def rows(self):
        table = self.rng.choice(self.judge.tables)
        columns = self.rng.sample(TABLES[table], self.rng.randint(1, len(TABLES[table])))
        distinct = self.rng.choice(["", "", "", "DISTINCT "])
        return "SELECT %s%s FROM @1%s" % (distinct, ", ".join(columns), self.where(table)), [table], False

    def ordered(self):
        """By hart and ordinal, both ways; of equal ones no order is known, so only what is equal is shown."""
        rng = self.rng
        table = rng.choice(self.judge.events)
        one = self.hart is not None
        by = ["ordinal"] if one else ["hart", "ordinal"]
        ways = [rng.choice(["", " DESC"]) for _ in by]
        if rng.random() < 0.7:
            ways = ways[:1] * len(by)
        shown = rng.sample(TABLES[table], rng.randint(1, 4)) if table == "instruction" else by
        if rng.random() < 0.1:
            column = rng.choice(TABLES[table])
            shown, by, ways = ["DISTINCT " + column], [column], ways[:1]
        where = self.where(table)
        return "SELECT %s FROM @1%s ORDER BY %s%s" % (", ".join(shown), where, ", ".join(map("".join, zip(by, ways))),
                                                      self.limit() if rng.random() < 0.7 else ""), [table], True

    def listed(self):
        """What a list of the summary is for: the last, the first, all, or how many."""
        rng = self.rng
        asked = {"access": ["kind", "address"], "register": ["name", "role"], "trap": ["kind", "cause"], "gap": ["kind"],
                 "instruction": rng.choice([["pc"], ["opcode"], ["mnemonic"], ["pc", "taken"]])}
        table = rng.choice([t for t in asked if t in self.judge.tables])
        row = rng.choice(self.judge.rows[table])
        parts = []
        for column in asked[table]:
            value = row[TABLES[table].index(column)]
            parts.append("%s IS NULL" % column if value is None else "%s = %s" % (column, self.given(value)))
        if rng.random() < 0.2:
            parts.append(self.condition(table, "", rng.choice(TABLES[table])))
        where = " WHERE " + " AND ".join(rng.sample(parts, rng.randint(1, len(parts))))
        kind = rng.random()
        if kind < 0.3:
            return "SELECT count(*) FROM @1" + where, [table], False
        if kind < 0.5:
            return "SELECT min(ordinal), max(ordinal) FROM @1" + where, [table], False
        return "SELECT ordinal, hart FROM @1%s ORDER BY hart %s, ordinal %s%s" % (
            where, *[rng.choice(["", "DESC"])] * 2, self.limit()), [table], True

    def counts(self):
        """Rows that nobody looks at, or only some of them."""
        rng, table = self.rng, self.rng.choice(self.judge.events)
        kind, column = rng.random(), rng.choice(TABLES[table])
        value = self.value(table, column)
        one = "%s IS NULL" % column if value is None else "%s = %s" % (column, self.given(value))
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
        rng, table = self.rng, self.rng.choice(self.judge.tables)
        by, what = rng.choice(TABLES[table]), rng.choice(TABLES[table])
        many = rng.choice(["count(*)", "count(DISTINCT %s)" % what, "min(%s)" % what, "max(%s)" % what])
        kind = rng.random()
        if kind < 0.45:
            return "SELECT %s FROM @1%s" % (many, self.where(table)), [table], False
        if kind < 0.9 or table not in self.judge.events:
            return "SELECT %s, %s FROM @1%s GROUP BY %s" % (by, many, self.where(table), by), [table], False
        if kind < 0.95:
            return "SELECT %s FROM @1%s UNION SELECT %s FROM @1%s" % (
                what, self.where(table), what, self.where(table)), [table], False
        return "SELECT hart, ordinal, count(*) OVER (PARTITION BY hart ORDER BY ordinal) FROM @1%s" % (
            self.where(table)), [table], False

    def joins(self):
        rng = self.rng
        left, right = rng.choice(self.judge.events), rng.choice(self.judge.events)
        a, b = rng.choice(TABLES[left]), rng.choice(TABLES[right])
        where = "%s AND %s" % (self.window("a.", 300), self.condition(left, "a.", rng.choice(TABLES[left])))
        kind = rng.random()
        if kind < 0.2:
            return "SELECT a.%s FROM @1 AS a WHERE %s AND %sEXISTS (SELECT 1 FROM @2 AS b WHERE b.hart = a.hart AND " \
                "b.ordinal = a.ordinal)" % (a, where, rng.choice(["", "NOT "])), [left, right], False
        if kind < 0.3:
            return "SELECT a.%s, (SELECT count(*) FROM @2 AS b WHERE b.hart = a.hart AND b.ordinal BETWEEN a.ordinal - 3 " \
                "AND a.ordinal) FROM @1 AS a WHERE %s" % (a, where), [left, right], False
        if kind < 0.4 and sqlite3.sqlite_version_info >= (3, 39):
            # SQLite does not tell the table on the right which capture is meant, but in a query of its own.
            part = ["(SELECT %s FROM @%d WHERE %s)" % (", ".join(TABLES[name]), i + 1, self.window("", 300))
                    for i, name in enumerate((left, right))]
            return "SELECT a.%s, b.%s FROM %s AS a %s JOIN %s AS b ON b.ordinal = a.ordinal AND b.hart = a.hart" % (
                a, b, part[0], rng.choice(["RIGHT", "FULL"]), part[1]), [left, right], False
        if rng.random() < 0.3:
            where += " AND " + self.condition(right, "b.", rng.choice(TABLES[right]))
        return "SELECT a.%s, b.%s FROM @1 AS a %s @2 AS b ON b.ordinal = a.ordinal AND b.hart = a.hart WHERE %s" % (
            a, b, rng.choice(["JOIN", "JOIN", "LEFT JOIN"]), where), [left, right], False

    def touching(self):
        """Overlap: what the hidden column is for, and how one says it without. Both, what is shown and what comes behind."""
        rng = self.rng
        _, _, kind, address, size = rng.choice(self.judge.rows["access"])[:5]
        if address is None or not size:
            return None
        address += rng.randint(0, size)
        last = address + rng.choice([0, 0, 1, 7, 64, 5000])
        if not -(1 << 63) < address <= last < (1 << 63) - 1:
            return None
        words = "touches = %s" % self.given(address)
        if last > address or rng.random() < 0.1:
            words = rng.choice(["touches BETWEEN %s AND %s", "touches >= %s AND touches <= %s"]) % (
                self.given(address), self.given(last))
        # Addresses around the middle and the end of all are left to tests of their own.
        plain = "address <= %d AND address > %d - 100000 AND address + size > %d" % (last, address, address)
        rest = " AND kind = %s" % self.given(kind) if rng.random() < 0.5 else ""
        rest += " AND " + self.window("", 3000) if rng.random() < 0.5 else ""
        if rng.random() < 0.5:
            rest += " ORDER BY hart%s, ordinal%s LIMIT %d" % (*[rng.choice(["", " DESC"])] * 2, rng.choice([1, 3]))
        return words + rest, plain + rest

    def query(self):
        kind = self.rng.random()
        return (self.rows() if kind < 0.25 else self.ordered() if kind < 0.4 else self.listed() if kind < 0.55 else
                self.counts() if kind < 0.65 else self.sums() if kind < 0.83 else self.joins())


def ask_touching(judge, asker):
    both = asker.touching()
    if not both:
        return True
    source = judge.source("access", asker.hart)
    query = "SELECT hart, ordinal FROM %s WHERE %s"
    mine = judge.db.execute(query % (source[0], both[0]), asker.values).fetchall()
    true = judge.db.execute(query % (source[1], both[1]), asker.values).fetchall()
    if sorted(mine) == sorted(true):
        return True
    print("FAIL: %s %s: %s, not %s" % (query % (source[0], both[0]), asker.values, mine[:5], true[:5]))
    return False


def ask_runs(judge, rng):
    """The pieces of code in which an instruction lies ran as often as the instruction."""
    hart, ordinal, _, pc = rng.choice(judge.rows["instruction"])[:4]
    runs, = judge.db.execute("SELECT sum(count) FROM run(?, ?) WHERE first <= ? AND last >= ?",
                             (judge.capture, hart, pc, pc)).fetchone()
    own, = judge.db.execute("SELECT count(*) FROM plain_instruction WHERE hart = ? AND pc = ?", (hart, pc)).fetchone()
    if runs == own:
        return True
    print("FAIL: hart %d, pc %d: %s in runs, and %d" % (hart, pc, runs, own))
    return False


def ask_stack(judge, rng):
    """Each call of a stack is one of the table of calls, and that instruction lies in it."""
    hart, ordinal = rng.choice(judge.rows["instruction"])[:2]
    stack = judge.db.execute("SELECT kind, address FROM stack(?, ?, ?)", (judge.capture, hart, ordinal)).fetchall()
    calls = judge.db.execute("SELECT depth, kind, address FROM call(?, ?) WHERE entry <= ? AND (exit >= ? OR exit IS NULL)",
                             (judge.capture, hart, ordinal, ordinal)).fetchall()
    frames = [frame for frame in reversed(stack) if frame[0] != "root"]
    missing = [(depth, *frame) for depth, frame in enumerate(frames) if (depth, *frame) not in calls]
    if stack and not missing:
        return True
    print("FAIL: hart %d, instruction %d: %d calls, and these are none: %s" % (hart, ordinal, len(stack), missing[:3]))
    return False


def check_sums(judge):
    """What all rows have together, and numbers of rows."""
    asked = ["SELECT sum(count * instructions) FROM run(:c, :h)", "SELECT sum(own) FROM callnode(:c, :h)",
             "SELECT sum(own) FROM function(:c, :h)", "SELECT sum(count) FROM mix(:c, :h)",
             "SELECT instructions FROM hart WHERE capture = :c AND hart = :h", "SELECT sum(count) FROM code(:c, :h)",
             "SELECT count(*) FROM hart AS t JOIN instruction AS i ON i.capture = t.capture AND i.hart = t.hart "
             "WHERE t.capture = :c AND t.hart = :h"]
    bad = 0
    for hart in judge.harts:
        insns = sum(row[0] == hart for row in judge.rows["instruction"])
        for query in asked:
            got, = judge.db.execute(query, {"c": judge.capture, "h": hart}).fetchone()
            if got != insns:
                print("FAIL: hart %d: %s is %s, not %d" % (hart, query, got, insns))
                bad += 1
        for query in ("SELECT count(*), count(DISTINCT rowid) FROM call(:c, :h)",
                      "SELECT sum(calls), (SELECT count(*) FROM call(:c, :h) WHERE kind = 'function') FROM function(:c, :h)"):
            one, other = judge.db.execute(query, {"c": judge.capture, "h": hart}).fetchone()
            if one != other:
                print("FAIL: hart %d: %s gives %d and %d" % (hart, query, one, other))
                bad += 1
    return bad


def ask(judge, asker, rng):
    asker.begin()
    kind = rng.random()
    if kind < 0.1 and judge.rows["access"]:
        return ask_touching(judge, asker)
    if kind < 0.11 and judge.has_runs:
        return ask_runs(judge, rng)
    if kind < 0.115:
        return ask_stack(judge, rng)
    return judge.compare(*asker.query(), asker)


def main():
    hartfs, extension, archive, capture, count, seed = sys.argv[1:7]
    judge = Judge(hartfs, extension, archive, capture, sys.argv[7:])
    rng = random.Random(int(seed))
    asker = Asker(judge, rng)
    try:
        judge.has_runs = bool(judge.db.execute("SELECT 1 FROM run(?) LIMIT 1", (capture,)).fetchone())
    except sqlite3.OperationalError as error:
        judge.has_runs = "has no summary" not in str(error)
    bad = check_sums(judge) if judge.has_runs else 0
    for _ in range(int(count)):
        bad += not ask(judge, asker, rng)
        if bad > 5:
            break
    print("%s: %s queries, seed %s, %d wrong; %d harts, %s" % (capture, count, seed, bad, len(judge.harts), ", ".join(
        "%d of %s" % (len(judge.rows[name]), name) for name in judge.tables)))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
