# SPDX-License-Identifier: Apache-2.0
"""How the cost of hartfs grows: curves over length, archive size, threads, chunk and cache, measured and drawn as SVG."""
import os
import statistics
import subprocess

from chart import svg
from measure import random_reads, run

MILLION = 1000000


def rounds(measure, values, count):
    """{value: median}, with the values measured in turn."""
    got = {value: [] for value in values}
    for _ in range(count):
        for value in values:
            got[value].append(measure(value))
    return [(value, statistics.median(times)) for value, times in got.items()]


class Curves:
    """Each method measures one chart: (title, name of x, name of y, curves)."""

    def __init__(self, bench, count, longest):
        self.bench, self.count = bench, count
        self.lengths = [10**power for power in range(4, len(str(longest)))]

    def archive(self, length):
        return self.bench.inputs.alone(self.bench.inputs.stf(length))

    def index(self, archive, *options, wall=False, jobs=1):
        cores = "0" if jobs == 1 else None
        cpu, clock, _ = self.bench.index(self.bench.build, archive, *options, cores=cores, jobs=jobs)
        return clock if wall else cpu

    def length(self):
        def measure(length):
            return self.index(self.archive(length)) / length * 1e9
        return ("Indexing by the length of the capture", "instructions", "ns of CPU an instruction",
                [(".zstf", rounds(measure, self.lengths, self.count))])

    def threads(self):
        cores = len(os.sched_getaffinity(0))
        counts = sorted({1, 2, cores} | {n for n in (4, 8, 16, 32) if n < cores})
        curves = []
        for length in self.lengths[-2:]:
            def measure(jobs, length=length):
                return length / self.index(self.archive(length), wall=True, jobs=jobs) / MILLION
            curves.append(("%d instructions" % length, rounds(measure, counts, self.count)))
        return "Indexing one capture by threads (%d cores)" % cores, "threads", "million instructions a second", curves

    def archive_size(self):
        source = self.bench.inputs.path("qemu", "rv32-mini", "trace.stf")
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_captures.py")
        indexed, mounted = [], []
        for count in (10, 100, 1000, 10000):
            archive, kept = self.bench.fresh("small"), self.bench.fresh()
            subprocess.run([maker, self.bench.build, source, str(count), archive], check=True, stdout=subprocess.DEVNULL)
            cpu, _ = run([self.bench.build, "index", "-q", "-j", "1", "--index-dir", kept, archive])
            indexed.append((count, cpu / count * 1e3))
            point = self.bench.fresh("mnt")
            _, clock = run([self.bench.build, "mount", "--index-dir", kept, archive, point])
            run([self.bench.build, "umount", point])
            mounted.append((count, clock * 1e3))
        return ("Captures of 50 instructions by their number", "captures", "ms",
                [("indexing, CPU a capture", indexed), ("mount, on the clock", mounted)])

    def read(self, archive, *options, kept=None):
        """Median ms of random 4 KiB of the listing, through a mount with those options."""
        with self.bench.mounted(self.bench.build, archive, *options, kept=kept) as server:
            view = os.path.join(server.point, next(n for n in os.listdir(server.point) if "@" in n), "hart0/listing.txt")
            return random_reads(view, 300, 1) * 1e3

    def chunk(self):
        archive, length = self.archive(self.lengths[-1]), self.lengths[-1]
        chunks = (1000, 4000, 16384, 65536, 262144)

        def indexing(chunk):
            return self.index(archive, "--chunk=%d" % chunk) / length * 1e9
        reading = []
        for chunk in chunks:
            option, kept = "--chunk=%d" % chunk, self.bench.fresh()
            run([self.bench.build, "index", "-q", "--index-dir", kept, option, archive])
            reading.append((chunk, self.read(archive, option, "--cache=4M", kept=kept)))
        return ("The size of a chunk (--chunk)", "instructions a chunk", "ns or ms",
                [("indexing, ns an insn", rounds(indexing, chunks, self.count)), ("random 4 KiB, cold, ms", reading)])

    def cache(self):
        archive = self.archive(self.lengths[-1])
        sizes = (4, 16, 64, 256, 1024)
        points = [(size, self.read(archive, "--cache=%dM" % size)) for size in sizes]
        return ("Random reads by the size of the cache (--cache)", "MiB of cache", "ms", [("random 4 KiB, ms", points)])


def draw(bench, count, longest, directory):
    """Writes NAME.svg for each chart, and prints what it shows."""
    os.makedirs(directory, exist_ok=True)
    curves = Curves(bench, count, longest)
    for measure in (curves.length, curves.archive_size, curves.threads, curves.chunk, curves.cache):
        title, x_name, y_name, lines = measure()
        path = os.path.join(directory, measure.__name__ + ".svg")
        with open(path, "w", encoding="utf-8") as out:
            out.write(svg(title, x_name, y_name, lines))
        print("%s\n  %s" % (path, title))
        for name, points in lines:
            print("    %-24s %s" % (name, ", ".join("%g: %.3g" % point for point in points)), flush=True)
