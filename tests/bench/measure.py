# SPDX-License-Identifier: Apache-2.0
"""What the rows of the bench table are measured with: CPU time of whole processes and of servers, mounts, wall time."""
import os
import random
import resource
import statistics
import subprocess
import tempfile
import time

HZ = os.sysconf("SC_CLK_TCK")


def run(command, cwd=None, cores=None, stdout=subprocess.DEVNULL):
    """Runs a command to its end: (seconds of CPU of it and its children, seconds on the clock)."""
    if cores is not None:
        command = ["taskset", "-c", cores] + command
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=cwd, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError("%s ended with %d: %s" % (" ".join(command), done.returncode,
                                                     done.stderr.decode(errors="replace")[-400:]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begun


def open_sandbox(build):
    """The option that lets tools that watch a build write their files; nothing where it does not confine itself."""
    told = subprocess.run([build, "index", "--help"], stdout=subprocess.PIPE, check=True).stdout
    return ["--sandbox=off"] if b"--sandbox" in told else []


def instructions(command):
    """Instructions that callgrind counts for a command, its children included; they do not depend on the machine's load."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + work + "/out.%p"] + command,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise RuntimeError("callgrind: " + done.stderr.decode(errors="replace")[-400:])
        total = 0
        for name in os.listdir(work):
            with open(os.path.join(work, name)) as lines:
                total += sum(int(line.split()[1]) for line in lines if line.startswith("totals:"))
        return total


def process_cpu(pid):
    """Seconds of CPU that a process has used."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / HZ


class Server:
    """A file system of FUSE that is mounted while the object is entered."""

    def __init__(self, command, point, stop):
        self.command, self.point, self.stop = command, point, stop

    def __enter__(self):
        os.makedirs(self.point, exist_ok=True)
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        end = time.monotonic() + 120
        while not os.path.ismount(self.point):
            if time.monotonic() > end or self.process.poll() not in (None, 0):
                raise RuntimeError("%s mounts nothing: %s" % (" ".join(self.command), self.process.stderr.read(400)))
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        subprocess.run(self.stop + [self.point], check=False, stderr=subprocess.DEVNULL)
        self.process.wait(120)

    def pids(self):
        """The process and its children: the server may be one of them."""
        found = [self.process.pid]
        for pid in found:
            try:
                with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                    found += [int(child) for child in f.read().split()]
            except OSError:
                pass
        return found

    def cpu(self):
        return sum(process_cpu(pid) for pid in self.pids())


def pin(cores):
    """This process and those it starts from now on run on these cores ("0", "0,1")."""
    os.sched_setaffinity(0, {int(core) for core in cores.split(",")})


def cost_of_reading(server, path):
    """Seconds of CPU of reader and server for one pass over a file, from a cold page cache."""
    before = server.cpu()
    mine = time.process_time()
    buffer = bytearray(1 << 20)
    fd = os.open(path, os.O_RDONLY)
    while os.readv(fd, [buffer]):
        pass
    os.close(fd)
    return time.process_time() - mine + server.cpu() - before


def random_reads(path, count, seed, pick=statistics.median, size=4096):
    """Seconds on the clock of reads at random offsets, each of which has to be made: pick of all, the median."""
    rng = random.Random(seed)
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    total = os.fstat(fd).st_size
    times = []
    for _ in range(count):
        offset = rng.randrange(max(1, total - size))
        begun = time.perf_counter()
        os.pread(fd, size, offset)
        times.append(time.perf_counter() - begun)
    os.close(fd)
    return pick(times)


def first(times):
    return times[0]


def p99(times):
    return sorted(times)[len(times) * 99 // 100]
