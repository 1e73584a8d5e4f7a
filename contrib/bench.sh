#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the bench table: HARTFS_CORPUS=DIR contrib/bench.sh [--against HARTFS] [--pairs N] [--rows REGEX] [--long] ...
# --against HARTFS  another hartfs program, measured in turn with this one
# --pairs N         how often each row is measured; the medians are printed (9)
# --rows REGEX      only these rows
# --instructions N  millions of instructions of the captures that most rows are measured on (10)
# --long            also the rows that take minutes a pair
# --no-count        without the instruction counts of callgrind
# --curves DIR      instead of the table: curves over length, archive size, threads, chunk and cache, as SVG in DIR
# --work DIR        keeps the captures it makes there for the next run
# --build HARTFS    measures that program instead of building this tree
# What is not installed (squashfuse, mksquashfs, trc_pkt_lister, valgrind, strace) is said in its row.
# tests/bench/README.md says how to read the table.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
corpus=${HARTFS_CORPUS:?is the directory of captures}
(cd "$here" && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null)
build=$here/build/release
exec python3 "$here/tests/bench/table.py" --build "$build/hartfs" --tools "$build/tests" --corpus "$corpus" "$@"
