# SPDX-License-Identifier: Apache-2.0
"""Bytes and bits an instruction of each part of a summary: summary_parts.py FILE.hfq INSTRUCTIONS."""
import sqlite3
import sys

SECTIONS = ("runs of groups", "counts of runs", "writes", "reads", "writes of attempts", "reads of attempts", "rare events",
            "registers", "filters", "keys")
TABLES = (("page", "runs"), ("node", "calls"), ("stack", "stacks of chunks"))


def parts(db):
    for table, name in TABLES:
        yield name, db.execute(f"SELECT ifnull(sum(length(data)), 0) FROM {table}").fetchone()[0]
    for section, name in enumerate(SECTIONS):
        yield name, db.execute("SELECT ifnull(sum(length(data)), 0) FROM section WHERE id >> 8 & 15 = ?",
                               (section,)).fetchone()[0]


def main(path, instructions):
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    total = 0
    for name, size in parts(db):
        total += size
        print(f"  {name}: {size} bytes, {8 * size / instructions:.4f} bits an instruction")
    print(f"  together: {8 * total / instructions:.4f} bits an instruction")


main(sys.argv[1], int(sys.argv[2]))
