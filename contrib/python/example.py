#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""example.py ARCHIVE: of each capture the hottest functions, the first trap, and what was known at it."""
import sys

import hartfs

with hartfs.Archive(sys.argv[1]) as archive:
    for capture in list(archive.captures()):
        print("%s: %s, %d bytes" % (capture.capture, capture.format, capture.bytes))
        functions = archive.rows("function", ["hart", "name", "own"], capture=capture.capture)
        for row in sorted(functions, key=lambda row: -row.own)[:3]:
            print("  hart%d %s: %d instructions" % (row.hart, row.name, row.own))
        for trap in archive.find(capture.capture, "--trap", "--first"):
            state = archive.state(capture.capture, trap["ordinal"], hart=trap["hart"])
            print("  first trap at instruction %d, pc %s, mode %s" % (trap["ordinal"], state["pc"], state["mode"]))
