#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""small_captures.py HARTFS SOURCE COUNT DIRECTORY [INSTRUCTIONS]: fills DIRECTORY with that many captures of 50
instructions: slices of SOURCE, 200 different ones, again and again with other times, which makes them other captures.
They lie in directories of 1,000, and these in directories of 10,000."""
import os
import subprocess
import sys
import tempfile

hartfs, source, count, directory = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
insns = int(sys.argv[5]) if len(sys.argv) > 5 else 50
slices = []
with tempfile.TemporaryDirectory() as index:
    for i in range(min(count, 200)):
        first = i * 911
        path = f"hart0/at/{first}-{first + insns - 1}/trace.stf"
        slices.append(subprocess.run([hartfs, "cat", "--index-dir", index, source, path], check=True,
                                     stdout=subprocess.PIPE).stdout)
for i in range(count):
    place = f"{directory}/{i // 10000}/{i // 1000 % 10}"
    if i % 1000 == 0:
        os.makedirs(place, exist_ok=True)
    with open(f"{place}/run{i}.stf", "wb") as out:
        out.write(slices[i % len(slices)])
    os.utime(f"{place}/run{i}.stf", (1600000000 + i, 1600000000 + i))
print(f"{count} captures of {sum(map(len, slices)) // len(slices)} bytes on average")
