#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench_long.sh measures with: long_capture.py run COMMAND... (CPU and wall seconds, and the most memory of one
process), long_capture.py reads FILE COUNT (the last 4 KiB and so many random ones)."""
import os
import random
import statistics
import subprocess
import sys
import time


def run(command):
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("%s ended with %d" % (command[0], os.waitstatus_to_exitcode(status)))
    print("%.1f s of CPU, %.1f s wall, at most %.0f MiB" % (usage.ru_utime + usage.ru_stime, time.monotonic() - begun,
                                                          usage.ru_maxrss / 1024))


def timed(fd, offset, want=4096):
    begun = time.perf_counter()
    got = os.pread(fd, want, offset)
    if len(got) != want:
        sys.exit("%d bytes at %d" % (len(got), offset))
    return (time.perf_counter() - begun) * 1e3


def reads(path, count):
    rng = random.Random(1)
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    size = os.fstat(fd).st_size
    last = timed(fd, size - 4096)
    times = sorted(timed(fd, rng.randrange(size - 4096)) for _ in range(count))
    print("%d bytes, last 4 KiB %.1f ms, %d random ones: median %.1f ms, p99 %.1f ms, most %.1f ms" % (
        size, last, count, statistics.median(times), times[int(count * 0.99) - 1], times[-1]))


if len(sys.argv) > 2 and sys.argv[1] == "run":
    run(sys.argv[2:])
elif len(sys.argv) == 4 and sys.argv[1] == "reads":
    reads(sys.argv[2], int(sys.argv[3]))
else:
    sys.exit(__doc__)
