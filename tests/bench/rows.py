# SPDX-License-Identifier: Apache-2.0
"""The rows of the bench table. Each has a way to measure a build, perhaps a peer that is measured beside it, and what is
to be reached: of the peer's figure, or of the other build's."""
import glob
import json
import os
import shutil
import statistics
import subprocess

from measure import Server, cost_of_reading, first, open_sandbox, p99, random_reads, run

MILLION = 1000000


def one_of(point, view):
    """The path of a view of the only capture of a mounted archive."""
    found = glob.glob(os.path.join(glob.escape(point), "*@*", view))
    if len(found) != 1:
        raise RuntimeError("%d files %s in %s" % (len(found), view, point))
    return found[0]


class Row:
    def __init__(self, name, measure, unit="s", peer=None, peer_name="", goal="", needs=(), long=False, cores="0"):
        self.name, self.measure, self.unit = name, measure, unit
        self.cores = cores      # on which both sides run, with the reader of a mount; the table says so
        self.peer, self.peer_name, self.goal = peer, peer_name, goal
        self.needs = needs      # programs without which the row cannot be measured
        self.long = long        # minutes a pair: only if asked for

    def missing(self):
        return [program for program in self.needs if not shutil.which(program)]


class Bench:
    """What the rows share: inputs, a work directory, indexes that are made once a build."""

    def __init__(self, inputs, work):
        self.inputs, self.work, self.number = inputs, work, 0

    def fresh(self, name="index"):
        self.number += 1
        path = os.path.join(self.work, "%s-%d" % (name, self.number))
        os.makedirs(path)
        return path

    def index(self, build, archive, *options, cores="0", jobs=1, views=None):
        """CPU and wall seconds of indexing an archive from nothing, and the index directory's bytes."""
        directory = self.fresh()
        command = [build, "index", "-q", "-j", str(jobs), "--index-dir", directory]
        if views:
            command.append("--views=" + views)
        try:
            cost = run(command + list(options) + [archive], cores=cores)
            size = sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))
        finally:
            shutil.rmtree(directory)
        return cost + (size,)

    def indexed(self, build, archive, *options):
        """An index directory of this build for the archive, made once."""
        path = os.path.join(self.work, "kept", build.replace("/", "_"), os.path.basename(archive))
        if not os.path.exists(path):
            os.makedirs(path)
            run([build, "index", "-q", "--index-dir", path] + list(options) + [archive])
        return path

    def cat(self, build, archive, capture, view, *options):
        """CPU seconds of writing a view nowhere."""
        return run([build, "cat", "--threads=1", "--index-dir", self.indexed(build, archive)] + list(options) +
                   [os.path.join(archive, capture), view])[0]

    def mounted(self, build, archive, *options, kept=None):
        """A mount of the archive with that index directory, or one that is made once."""
        point = os.path.join(self.work, "mnt")
        command = [build, "mount", "-f", "--index-dir", kept or self.indexed(build, archive)] + list(options)
        return Server(command + [archive, point], point, [build, "umount"])

    def read_mounted(self, build, archive, view, *options):
        with self.mounted(build, archive, *options) as server:
            return cost_of_reading(server, one_of(server.point, view))

    def random(self, build, archive, view, seed, count=100, pick=statistics.median):
        """Milliseconds, from a cache that has nothing."""
        with self.mounted(build, archive) as server:
            return random_reads(one_of(server.point, view), count, seed, pick) * 1e3

    def spooled(self, build, archive, view):
        """The spool of the archive's only capture, which random reads of a view have made; once."""
        spools = os.path.join(glob.escape(self.indexed(build, archive)), "*.hfs")
        with self.mounted(build, archive) as server:
            for seed in range(1000):
                if glob.glob(spools):
                    break
                random_reads(one_of(server.point, view), 20, seed)
        return glob.glob(spools)[0]

    def squashed(self, archive, source, block):
        """A squashfs image with zstd of one file."""
        image = os.path.join(self.inputs.made, "squash-%s-%d" % (os.path.basename(source), block))
        if not os.path.exists(image):
            run(["mksquashfs", source, image, "-comp", "zstd", "-b", str(block), "-noappend", "-quiet", "-no-progress"])
        point = os.path.join(self.work, "squash")
        return Server(["squashfuse", "-f", image, point], point, ["umount"])


def fsyncs(bench, build, archive):
    """Calls of fsync and fdatasync while an archive is indexed."""
    directory, log = bench.fresh(), os.path.join(bench.work, "strace")
    subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", "trace=fsync,fdatasync", build, "index", "-q",
                    "--index-dir", directory, archive] + open_sandbox(build), check=True, stdout=subprocess.DEVNULL)
    with open(log) as lines:
        return float(sum("sync(" in line for line in lines))


def rows(bench, tools, count):
    inputs = bench.inputs
    zstf, plain = inputs.stf(count), inputs.stf(count, 0)
    zst = inputs.packed(plain, ".zst", ["zstd", "-q", "-c"])
    gz = inputs.packed(plain, ".gz", ["gzip", "-c"])
    xz = inputs.packed(plain, ".xz", ["xz", "-c", "-1", "--block-size=4MiB"])
    real = inputs.real(count)
    archive = {path: inputs.alone(path) for path in (zstf, plain, zst, gz, xz, real)}
    listing = "hart0/listing.txt"
    astf = inputs.path("qemu", "a64-sys")

    def unpack(path):
        program = {".zst": "zstd", ".gz": "gzip", ".xz": "xz"}[path[path.rindex("."):]]
        return lambda: run([program, "-dc", path], cores="0")[0]

    def zstd_of(path):
        """The same stream in zstd frames."""
        def measure():
            plain_copy = path + ".stf"
            if not os.path.exists(plain_copy + ".zst"):
                with open(plain_copy, "wb") as out:
                    run([bench.build, "cat", "--index-dir", bench.indexed(bench.build, archive[path]), path,
                         "source.stf"], stdout=out)
            return run(["zstd", "-q", "-dc", inputs.packed(plain_copy, ".zst", ["zstd", "-q", "-c"])], cores="0")[0]
        return measure

    def md5_of_listing():
        path = os.path.join(inputs.made, "listing-%d.txt" % count)
        if not os.path.exists(path):
            with open(path, "wb") as out:
                run([bench.build, "cat", "--index-dir", bench.indexed(bench.build, archive[zst]),
                     archive[zst] + "/capture.stf.zst", "hart0/listing.txt"], stdout=out)
        return run(["md5sum", path], cores="0")[0]

    def index_of(path, *options):
        return lambda build: bench.index(build, archive[path], *options)[0]

    def start_of_sqlite():
        return run(["sqlite3", "--version"], cores="0")[0] * 1e3

    def command(name, *rest):
        """Milliseconds of CPU of a short command on an indexed capture."""
        def measure(build):
            capture = os.path.join(archive[zstf], "capture.zstf")
            return run([build, name, "--index-dir", bench.indexed(build, archive[zstf]), capture] + list(rest),
                       cores="0")[0] * 1e3
        return measure

    def speed_up(size):
        def measure(build):
            directory = inputs.alone(inputs.stf(size))
            one = bench.index(build, directory, cores="0", jobs=1)[1]
            return one / bench.index(build, directory, cores="0,1", jobs=2)[1]
        return measure

    def ns(size):
        return lambda build: bench.index(build, inputs.alone(inputs.stf(size)))[0] / size * 1e9

    def astf_ratio(build):
        small = inputs.alone(inputs.stf(2 * MILLION))
        astf_ns = bench.index(build, astf)[0] / instructions_of(build, astf)
        return astf_ns / (bench.index(build, small)[0] / (2 * MILLION))

    def instructions_of(build, directory):
        index = bench.indexed(build, directory)
        text = subprocess.run([build, "cat", "--index-dir", index, os.path.join(directory, "trace.astf"), "info.json"],
                              check=True, stdout=subprocess.PIPE).stdout.decode()
        return json.loads(text)["harts"][0]["instructions"]

    def packets(view, source):
        return lambda: inputs.views(bench.build, source, view)

    def packet_listing(view):
        directory = packets(view, os.path.join(inputs.alone(inputs.stf(2 * MILLION)), "capture.zstf"))

        def ratio(build):
            path = directory()
            return run([build, "cat", "--threads=1", "--index-dir", bench.indexed(build, path), path,
                        "hart0/listing.txt"])[0]

        def own_index(build):
            return bench.index(build, directory())[0]
        return ratio, own_index

    ete = packets("ete", os.path.join(inputs.path("qemu", "a64-sys"), "trace.astf"))

    def ete_listing(build):
        path = ete()
        return run([build, "cat", "--threads=1", "--index-dir", bench.indexed(build, path), path,
                    "hart1/listing.txt"])[0]

    def opencsd():
        return run(["trc_pkt_lister", "-ss_dir", ete(), "-decode_only", "-no_time_print", "-logfilename", "/dev/null"],
                   cwd=bench.work)[0]

    def null_fs():
        point = os.path.join(bench.work, "null")
        size = os.path.getsize(os.path.join(inputs.made, "listing-%d.txt" % count))
        with Server([os.path.join(tools, "null_fs"), str(size), point], point, ["umount"]) as server:
            return cost_of_reading(server, os.path.join(point, "zeros"))

    def squash_read():
        with bench.squashed(archive[plain], plain, 1 << 20) as server:
            return cost_of_reading(server, os.path.join(server.point, os.path.basename(plain)))

    def squash_random():
        with bench.squashed(archive[plain], plain, 1 << 20) as server:
            return random_reads(os.path.join(server.point, os.path.basename(plain)), 100, bench.number) * 1e3

    def cold(path, view=listing, **options):
        return lambda build: bench.random(build, archive[path], view, bench.number, **options)

    def cold_spooled(build):
        bench.spooled(build, archive[zst], listing)
        return bench.random(build, archive[zst], listing, bench.number)

    def bare(path):
        """Milliseconds of decompressing the block that a random place lies in."""
        return lambda: float(subprocess.run([os.path.join(tools, "bench_block"), path(), "100", str(bench.number)],
                                            check=True, stdout=subprocess.PIPE).stdout.split(b" ms")[0].split()[-1])

    etrace, etrace_index = packet_listing("etrace")
    ntrace, ntrace_index = packet_listing("ntrace")
    tiny = inputs.alone(inputs.tiny())
    floor = {"peer_name": "its block, bare", "goal": "peer 1.3 + 0.3 ms", "cores": "0,1"}
    millions = "%d M" % (count // MILLION)
    md5_of_listing()
    return [
        Row("index of %s in .zstf, all views and summary" % millions, index_of(zstf), peer=zstd_of(zstf),
            peer_name="zstd -dc", goal="peer 5", needs=("zstd",)),
        Row("the same without summary", index_of(zstf, "--summary=off"), peer=zstd_of(zstf), peer_name="zstd -dc",
            goal="peer 3.5", needs=("zstd",)),
        Row("index of %s of make_run, all views and summary" % millions, index_of(real), peer=zstd_of(real),
            peer_name="zstd -dc", goal="peer 5.5", needs=("zstd",)),
        Row("the same without summary, make_run", index_of(real, "--summary=off"), peer=zstd_of(real),
            peer_name="zstd -dc", goal="peer 3.5", needs=("zstd",)),
        Row("cat info.json", command("cat", "info.json"), unit="ms", peer=start_of_sqlite,
            peer_name="sqlite3 --version", goal="peer 2.5", needs=("sqlite3",)),
        Row("find --count --write", command("find", "--count", "--write", "0x4000800de8"), unit="ms", peer=start_of_sqlite,
            peer_name="sqlite3 --version", goal="peer 4.5", needs=("sqlite3",)),
        Row("index of the same in .zst", index_of(zst), peer=md5_of_listing, peer_name="md5sum of the listing",
            goal="peer 0.45"),
        Row("two threads, 10 M, .zstf: wall of one / of two", speed_up(10 * MILLION), unit="x", goal=">= 1.8", cores="0,1"),
        Row("two threads, 100 M, .zstf", speed_up(100 * MILLION), unit="x", goal=">= 1.8", long=True, cores="0,1"),
        Row("two threads, 1000 M, .zstf", speed_up(1000 * MILLION), unit="x", goal=">= 1.8", long=True, cores="0,1"),
        Row("index of 10 M, an instruction", ns(10 * MILLION), unit="ns", goal="flat"),
        Row("index of 100 M, an instruction", ns(100 * MILLION), unit="ns", goal="flat", long=True),
        Row("index of 1000 M, an instruction", ns(1000 * MILLION), unit="ns", goal="flat", long=True),
        Row("ASTF index an instruction / STF's", astf_ratio, unit="x", goal="<= 1.2"),
        Row("index of %s in .gz" % millions, index_of(gz), peer=unpack(gz), peer_name="gzip -dc", goal="peer 1.6"),
        Row("index of %s in .xz" % millions, index_of(xz), peer=unpack(xz), peer_name="xz -dc", goal="peer 2"),
        Row("cat of the listing of %s" % millions,
            lambda build: bench.cat(build, archive[zstf], "capture.zstf", "hart0/listing.txt"), peer=md5_of_listing,
            peer_name="md5sum of it", goal="peer 0.4"),
        Row("ETE listing by cat", ete_listing, peer=opencsd, peer_name="OpenCSD, text to null", goal="peer 0.7",
            needs=("trc_pkt_lister",)),
        Row("E-Trace listing by cat", etrace, peer=lambda: etrace_index(bench.other or bench.build),
            peer_name="index pass of the other", goal="peer 1.0"),
        Row("N-Trace listing by cat", ntrace, peer=lambda: ntrace_index(bench.other or bench.build),
            peer_name="index pass of the other", goal="peer 1.0"),
        *[Row("listing through the mount",
              lambda build: bench.read_mounted(build, archive[zstf], listing), peer=null_fs,
              peer_name="null file system", goal=goal, cores=cores)
          for cores, goal in (("0", "peer 2.2"), ("0,1", "peer 1.25"))],
        Row("the same with --direct", lambda build: bench.read_mounted(build, archive[zstf], listing, "--direct"),
            peer=null_fs, peer_name="null file system"),
        *[Row("source.stf through the mount",
              lambda build: bench.read_mounted(build, archive[zst], "source.stf"), peer=squash_read,
              peer_name="squashfuse, zstd", goal=goal, needs=("squashfuse", "mksquashfs"), cores=cores)
          for cores, goal in (("0", "peer 1.4"), ("0,1", "peer 1"))],
        Row("cold random 4 KiB of the listing, .zstf", cold(zstf), unit="ms", peer=bare(lambda: zstf), **floor),
        Row("99th of 100 of these", cold(zstf, pick=p99), unit="ms", peer=bare(lambda: zstf),
            **(floor | {"goal": "peer 10"})),
        Row("the first after a mount", cold(zstf, pick=first, count=1), unit="ms", peer=bare(lambda: zstf),
            **(floor | {"goal": "peer 20"})),
        Row("cold random 4 KiB of the listing, .gz", cold(gz), unit="ms", peer=bare(lambda: gz), **floor),
        Row("cold random 4 KiB of the listing, .zst", cold(zst), unit="ms", cores="0,1"),
        Row("cold random 4 KiB of the listing, .zst, spool", cold_spooled, unit="ms",
            peer=bare(lambda: bench.spooled(bench.build, archive[zst], listing)), **floor),
        Row("cold random 4 KiB of the listing, .xz of 4 MiB", cold(xz), unit="ms", peer=bare(lambda: xz), **floor),
        Row("cold random 4 KiB of the source, .zst", cold(zst, "source.stf"), unit="ms",
            peer=squash_random, peer_name="squashfuse, 1 MiB", goal="peer 1", needs=("squashfuse", "mksquashfs"),
            cores="0,1"),
        Row("50 instructions: bytes of index", lambda build: float(bench.index(build, tiny)[2]), unit="bytes",
            goal="<= 2048"),
        Row("50 instructions: fsyncs", lambda build: fsyncs(bench, build, tiny), unit="", needs=("strace",)),
        Row("50 instructions: CPU of hartfs index", lambda build: bench.index(build, tiny)[0] * 1e3, unit="ms",
            goal="<= 0.7 each"),
    ]


def counted(bench):
    """The captures whose indexing callgrind counts: (name, archive)."""
    inputs = bench.inputs
    return [("rv-sys, STF", inputs.path("qemu", "rv-sys")), ("a64-sys, ASTF", inputs.path("qemu", "a64-sys")),
            ("dhrystone, E-Trace", inputs.path("etrace", "dhrystone", "c111_delta_rs4096"))]
