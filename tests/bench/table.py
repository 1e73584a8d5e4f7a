# SPDX-License-Identifier: Apache-2.0
"""Prints the bench table: contrib/bench.sh says how it is called, tests/bench/README.md how to read it."""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import curves
import rows
from inputs import Inputs
from measure import instructions, open_sandbox, pin


def options():
    parser = argparse.ArgumentParser(prog="bench.sh")
    parser.add_argument("--build", required=True, help="the hartfs to measure")
    parser.add_argument("--tools", required=True, help="where make_trace and null_fs are")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--against", help="another hartfs, measured in turn with it")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rows", default="", help="only rows whose names have this regular expression")
    parser.add_argument("--instructions", type=int, default=10, help="millions of instructions of the captures")
    parser.add_argument("--long", action="store_true", help="rows that take minutes a pair, too")
    parser.add_argument("--no-count", action="store_true", help="without callgrind")
    parser.add_argument("--curves", metavar="DIR", help="instead of the table: curves as SVG, in that directory")
    parser.add_argument("--work", help="directory that keeps the captures for the next run")
    return parser.parse_args()


def number(value, unit):
    text = "%.0f" % value if value >= 1000 else "%.3g" % value
    return (text + " " + unit).strip()


def ratio(ours, theirs):
    """Median of the ratios of pairs."""
    pairs = [a / b for a, b in zip(ours, theirs) if b]
    return "%.2f" % statistics.median(pairs) if pairs else "-"


def show(name, cells):
    print("%-58s %12s %12s %8s  %-26s %8s  %s" % ((name,) + tuple(cells)), flush=True)


def measure(row, bench, pairs):
    """Interleaved: this build, the other, the peer, and again."""
    ours, others, peers = [], [], []
    pin(row.cores)
    for _ in range(pairs):
        ours.append(row.measure(bench.build))
        if bench.other:
            others.append(row.measure(bench.other))
        if row.peer:
            peers.append(row.peer())
    cells = [number(statistics.median(ours), row.unit)]
    cells += [number(statistics.median(others), row.unit), ratio(ours, others)] if others else ["-", "-"]
    if peers:
        cells += ["%s: %s" % (row.peer_name, number(statistics.median(peers), row.unit)), ratio(ours, peers)]
    else:
        cells += ["-", "-"]
    return cells + [row.goal]


def count(bench):
    print("\n%-48s %18s %18s %8s" % ("instructions of hartfs index (callgrind)", "this", "other", "ratio"))
    for name, archive in rows.counted(bench):
        got = []
        for build in filter(None, (bench.build, bench.other)):
            got.append(instructions([build, "index", "-q", "-j", "1", "--index-dir", bench.fresh(), archive] +
                                    open_sandbox(build)))
        other = ["%d" % got[1], "%.4f" % (got[0] / got[1])] if len(got) > 1 else ["-", "-"]
        print("%-48s %18d %18s %8s" % (name, got[0], other[0], other[1]), flush=True)


def main():
    given = options()
    work = tempfile.mkdtemp(prefix="hartfs-bench.")
    try:
        bench = rows.Bench(Inputs(given.corpus, given.work or work, given.tools), work)
        bench.build, bench.other = given.build, given.against
        if given.curves:
            curves.draw(bench, given.pairs, given.instructions * rows.MILLION, given.curves)
            return
        show("CPU time unless it says otherwise; %d pairs [cores]" % given.pairs,
             ("this", "other", "/ other", "peer", "/ peer", "to reach"))
        for row in rows.rows(bench, given.tools, given.instructions * rows.MILLION):
            if not re.search(given.rows, row.name) or row.long and not given.long:
                continue
            if row.missing():
                show(row.name, ("not measured: %s is not installed" % ", ".join(row.missing()), "", "", "", "", row.goal))
                continue
            try:
                show("%s [%s]" % (row.name, row.cores), measure(row, bench, given.pairs))
            except (RuntimeError, subprocess.CalledProcessError) as error:
                show(row.name, ("failed: %s" % error, "", "", "", "", row.goal))
        if not given.no_count and shutil.which("valgrind"):
            count(bench)
    finally:
        shutil.rmtree(work, ignore_errors=True)


sys.exit(main())
