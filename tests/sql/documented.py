#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""documented.py PAGE EXTENSION TRACES [OPTION...]: the queries of hartfs-sql(5) give in Python what the page says, and the
tables have the columns that it lists."""
import re
import sqlite3
import sys


def examples(page):
    """Path, query and wanted lines of each example."""
    lines = [line[4:] if line.startswith("    ") else None for line in open(page, encoding="utf-8").read().split("\n")]
    i = 0
    while i < len(lines):
        match = lines[i] and re.match(r'\$ hartfs sql (\S+) "(.*)$', lines[i])
        i += 1
        if not match:
            continue
        path, query = match.groups()
        while query.endswith("\\"):
            query = query[:-1] + "\n" + lines[i]
            i += 1
        wanted = []
        while lines[i] and not lines[i].startswith("$"):
            wanted.append(lines[i])
            i += 1
        yield path, query.rstrip('"'), wanted


def shown(value):
    return "" if value is None else str(value)


class Connection:
    def __init__(self, extension, options):
        self.extension, self.options, self.path, self.db = extension, options, None, None

    def of(self, path):
        if path != self.path:
            self.db = sqlite3.connect(":memory:")
            self.db.enable_load_extension(True)
            self.db.load_extension(self.extension)
            marks = ",".join("?" * (1 + len(self.options)))
            self.db.execute("SELECT hartfs_open(%s)" % marks, [path] + self.options).fetchall()
            self.path = path
        return self.db


def check_schema(page, db):
    bad = 0
    rows = re.findall(r"^\| \*\*(\w+)\*\* \| (.*) \|$", open(page, encoding="utf-8").read(), re.M)
    for name, columns in rows:
        have = [(row[1], row[6]) for row in db.execute("PRAGMA table_xinfo(%s)" % name)]
        have = [c for c, hidden in have if not (hidden and c in ("capture", "hart"))]
        if columns.split(", ") != have:
            print("FAIL: the page has of %s: %s; it is %s" % (name, columns, have))
            bad += 1
    known = {row[0] for row in db.execute("SELECT name FROM pragma_module_list")}
    for name, _ in rows:
        bad += name not in known
    return bad, len(rows)


def main():
    page, extension, traces = sys.argv[1:4]
    connection = Connection(extension, sys.argv[4:])
    bad = count = 0
    for path, query, wanted in examples(page):
        if query.startswith("EXPLAIN"):
            continue
        count += 1
        got = connection.of(path.replace("~/traces", traces)).execute(query)
        lines = ["|".join(c[0] for c in got.description)] + ["|".join(map(shown, row)) for row in got]
        if lines != wanted or len(lines) < 2:
            print("FAIL: %s\nwanted: %s\ngot:    %s" % (query, wanted, lines))
            bad += 1
    wrong, tables = check_schema(page, connection.db)
    if count < 18 or tables < 10:
        print("FAIL: only %d queries and %d tables found in %s" % (count, tables, page))
        bad += 1
    return bad + wrong != 0


if __name__ == "__main__":
    sys.exit(main())
