# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the server, its supervisor or both, aimed at the moments when they are in the middle of something.

Around every kill readers read, map and list. Afterwards all of them must end, no process may be left that cannot be
killed, the mountpoint must be usable with hartfs umount or hartfs mount alone, and the next mount must show every byte
as it should be. What hangs is set free by aborting the connection, and counts as wrong.

When a mount starts, hartfs mount itself may be killed instead of the supervisor: the mount then comes to be without it.
Otherwise its exit status must be true: 0 and the mount answers, or not 0 and nothing of the mount is left.
"""
import mmap
import os
import random
import shutil
import signal
import subprocess
import time

from captures import elf, stf_loop, truth_of, write
from common import REAPED, Attack, Child, Command, Hung, Mount, Wrong, alive, call, reap, settle, threads, wait_for, walk_files

SLOTS = 4           # captures that are replaced
VERSIONS = 3
INSNS = (80000, 40000, 10000, 500)
# One chunk, and no room to keep it: every read takes long, so that what happens meanwhile meets a page that is being read.
CHUNK = "--chunk=1000000"
SLOW = "--cache=1M"
MOMENTS = ("ready", "ready", "replaced", "invalidated", "invalidated", "invalidated", "reading", "starting", "ending")
TARGETS = ("server", "server", "server", "supervisor", "both", "both")


# ---- readers: each ends when the mount is gone

def gone(point):
    try:
        os.stat(os.path.join(point, "notes.txt"))
        return False
    except OSError:
        return True


def answers(tell, point):
    tell(not gone(point))


def reader(tell, point, kind, seed):
    rng = random.Random(seed)
    work = {"page": read_page, "read": read_some, "stream": stream_some, "map": map_some, "list": list_some, "state": read_states}[kind]
    while not gone(point):
        try:
            work(point, rng)
        except (OSError, ValueError):
            pass


def some_view(point, rng):
    directory = os.path.join(point, rng.choice([name for name in os.listdir(point) if "@" in name]))
    return rng.choice([os.path.join(directory, path) for path in walk_files(directory)])


def read_some(point, rng):
    with open(some_view(point, rng), "rb", buffering=0) as f:
        size = os.fstat(f.fileno()).st_size
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(20):
            os.pread(f.fileno(), rng.choice((1, 4096, 1 << 17)), rng.randrange(size + 1))


def stream_some(point, rng):
    """A whole listing, none of it from the kernel's cache."""
    with open(os.path.join(point, "slot%d@stf" % rng.choice((0, 0, 0, 1, 2, 3)), "hart0/listing.txt"), "rb", buffering=0) as f:
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while f.read(1 << 17):
            pass


def read_page(point, rng):
    """Pages of one file from all over, none of which the kernel has: somebody always waits for one."""
    with open(os.path.join(point, "slot0@stf/hart0/listing.txt"), "rb", buffering=0) as f:
        size = os.fstat(f.fileno()).st_size
        for _ in range(20):
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            os.pread(f.fileno(), 4096, rng.randrange(size))


def look_up(tell, point):
    """Makes the server see that something has changed."""
    for name in ("slot0.stf", "slot0@stf/info.json", "slot0@stf/hart0/listing.txt"):
        try:
            os.close(os.open(os.path.join(point, name), os.O_RDONLY))
        except OSError:
            pass


def map_some(point, rng):
    with open(some_view(point, rng), "rb") as f:
        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
            for _ in range(50):
                m[rng.randrange(len(m))]


def list_some(point, rng):
    for directory, names, files in os.walk(point):
        for name in names + files:
            os.lstat(os.path.join(directory, name))


def read_states(point, rng):
    """What changes when a capture becomes ready, read by several at once."""
    for name in os.listdir(point):
        if "@" in name:
            for view in ("info.json", "INDEXING", "errors.txt", "hart0/listing.txt"):
                try:
                    with open(os.path.join(point, name, view), "rb") as f:
                        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                        f.read(1 << 16)
                except OSError:
                    pass
    for name in ("status.json", "progress.txt"):
        with open(os.path.join(point, ".hartfs", name), "rb") as f:
            f.read()


class Kills:
    def __init__(self, attack):
        self.attack = attack
        self.archive, self.index, self.point = (attack.path(name) for name in ("archive", "index", "mnt"))
        os.mkdir(self.point)
        os.mkdir(self.archive)
        rng = random.Random(7)
        self.bytes, truths = [], []
        write(self.archive + "/notes.txt", b"notes\n")
        write(self.archive + "/slot0.elf", elf([0x13] * 8, 0x10000, [("start", 0x10000)]))
        for version in range(VERSIONS):
            self.bytes.append([stf_loop(rng, INSNS[slot] - 100 * version) for slot in range(SLOTS)])
            for slot in range(SLOTS):
                self.put(slot, version)
            truths.append(truth_of(attack, self.archive, [CHUNK]))
        self.truths, self.versions = truths, [VERSIONS - 1] * SLOTS
        self.mount = Mount(attack, self.archive, self.index, self.point, [CHUNK])
        self.readers = []

    def put(self, slot, version):
        """By rename, with a time of its own: a version is what it was before."""
        path = os.path.join(self.archive, "slot%d.stf" % slot)
        write(path + ".new", self.bytes[version][slot])
        os.utime(path + ".new", (1e9 + version, 1e9 + version))
        os.rename(path + ".new", path)

    def truth(self):
        out = {}
        for slot, version in enumerate(self.versions):
            name = "slot%d" % slot
            out.update((path, want) for path, want in self.truths[version].items()
                       if path.startswith((name + ".", name + "@")))
        return out

    # ---- one case

    def start_readers(self, rng, moment):
        kinds = ["read", "stream", "stream", "map", "list", "state"]
        if moment == "invalidated":
            kinds = ["page", "page", "page", "map", "list"]
        self.readers = [Child(reader, self.point, kind, rng.getrandbits(32)) for kind in kinds]

    def index_files(self):
        try:
            return {name for name in os.listdir(self.index) if name.endswith(".hfi")}
        except OSError:
            return set()

    def await_index(self, before, seconds=3):
        """Until the index of one more capture is published."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.index_files() - before:
            time.sleep(0.0005)

    def replace_some(self, rng):
        for slot in {0, rng.randrange(SLOTS)}:
            self.versions[slot] = rng.randrange(VERSIONS)
            self.put(slot, self.versions[slot])

    def kill(self, target, rng):
        pids = self.mount.pids()
        keepers = pids[:-1] or pids
        victims = {"server": pids[-1:], "supervisor": [rng.choice(keepers)] if pids else [], "both": pids}[target]
        if rng.random() < 0.5:
            victims = victims[::-1]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        return victims

    def pile_up(self, rng):
        """The server stands still for a moment, as on a busy machine: requests wait, and it finds them all at once."""
        server = self.mount.server()
        if not server:
            return
        os.kill(server, signal.SIGSTOP)
        time.sleep(rng.uniform(0.01, 0.05))
        os.kill(server, signal.SIGCONT)
        time.sleep(rng.uniform(0, rng.choice((0.002, 0.01, 0.03))))

    def prepare(self, moment, rng):
        """Brings the mount to the moment."""
        mount = self.mount
        if mount.connection():
            mount.umount()
        if moment in ("ready", "starting"):
            shutil.rmtree(self.index, ignore_errors=True)
        else:
            mount.start("--wait", SLOW)
        if moment == "starting":
            wait = rng.random() < 0.5
            REAPED.clear()
            self.process = subprocess.Popen([self.attack.binary, "mount", "--index-dir", self.index, "--log", mount.log,
                                             CHUNK, SLOW, *["--wait"][:wait], self.archive, self.point],
                                            stderr=open(self.attack.path("err.txt"), "w"))
            if wait or rng.random() < 0.5:
                wait_for(mount.connection, 1, 0.0005)
            time.sleep(rng.choice((0, rng.uniform(0, 0.05), rng.uniform(0, 0.15))))
            mount.connection()
            return
        if moment == "ready":
            mount.start(SLOW)
        self.start_readers(rng, moment)
        if moment == "ready":
            for _ in range(rng.randint(1, SLOTS)):
                self.await_index(self.index_files(), 0.2)
            time.sleep(rng.choice((0, rng.uniform(0, 0.01), rng.uniform(0, 0.05), rng.uniform(0, 0.2))))
            if rng.random() < 0.5:
                self.pile_up(rng)
        elif moment == "replaced":
            time.sleep(rng.uniform(0, 0.1))
            before = self.index_files()
            self.replace_some(rng)
            if rng.random() < 0.5:
                self.await_index(before, 1)
            time.sleep(rng.choice((rng.uniform(0, 0.01), rng.uniform(0, 0.05), rng.uniform(0, 0.3))))
        elif moment == "invalidated":
            time.sleep(rng.uniform(0.02, 0.15))
            self.replace_some(rng)
            self.readers.append(Child(look_up, self.point))
            time.sleep(rng.uniform(0, 0.08))
            if rng.random() < 0.5:
                self.pile_up(rng)
        elif moment == "reading":
            time.sleep(rng.uniform(0, 0.2))
        elif moment == "ending":
            self.process = subprocess.Popen([self.attack.binary, "umount", *rng.choice(([], ["--lazy"])), self.point],
                                            stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 0.03))

    def came_or_went(self):
        """Whether the mount that nobody waits for answers, or none of its processes is left."""
        reap()
        # Who was forked while the first look went on is seen by the second.
        if not self.mount.pids() and not self.mount.pids():
            return True
        return self.mount.connection() and call(self.attack, answers, self.point, mount=self.mount)

    def check_start(self, victims, target):
        """hartfs mount has ended, or was killed."""
        mount, status = self.mount, REAPED.get(self.process.pid, self.process.returncode)
        if self.process.pid in victims:
            if not wait_for(self.came_or_went, self.attack.patience):
                raise Hung("hartfs mount was killed, and its mount neither comes nor goes")
        elif status != 0 and (left := [mount.connection(), mount.pids()]) != [0, []]:
            raise Wrong("hartfs mount ended with %s, and left connection %d, processes %s; it said: %s" % (
                status, *left, open(self.attack.path("err.txt")).read()))
        elif status == 0 and target == "supervisor" and not call(self.attack, answers, self.point, mount=mount):
            raise Wrong("hartfs mount ended well, and the mount does not answer")

    def check_ends(self, victims, target, moment):
        """What was killed is gone, and so are readers."""
        attack = self.attack
        if not wait_for(lambda: reap() or not any(alive(pid) for pid in victims), attack.patience):
            states = [threads(pid) for pid in victims if alive(pid)]
            self.free()
            raise Hung("killed with -9, and does not end: threads %s" % ", ".join(states))
        if moment in ("starting", "ending") and not wait_for(lambda: self.process.poll() is not None, attack.patience):
            self.free()
            raise Hung("hartfs %s does not end" % moment)
        if moment == "starting":
            self.check_start(victims, target)
        if target == "supervisor":
            for child in self.readers:
                if not child.kill():
                    self.free()
                    raise Hung("a reader cannot be killed: " + child.where())
            return
        if moment in ("ready", "replaced", "invalidated", "reading") and target == "server":
            if not wait_for(lambda: not self.mount.connection(), attack.patience):
                raise Wrong("the server was killed, and its supervisor leaves it mounted")
        for child in self.readers:
            if not wait_for(child.ended, attack.patience):
                where = child.where()
                killable = child.kill()
                self.free()
                raise Hung("a reader waits for ever (%s), and %s be killed" % (where, "can" if killable else "cannot"))

    def free(self):
        self.mount.destroy()
        for child in self.readers:
            child.kill()

    def umount_dying(self):
        """A supervisor that is left may be faster."""
        try:
            self.mount.umount()
        except Hung:
            raise
        except Wrong:
            if self.mount.connection():
                raise

    def check_usable(self, rng):
        mount = self.mount
        if mount.connection() and rng.random() < 0.5:
            self.umount_dying()
        if mount.connection() and mount.pids() and call(self.attack, answers, self.point, mount=mount):
            mount.umount()
        mount.start()
        mount.forget()
        mount.connection()
        settle(self.attack, mount, self.truth())

    def run(self, case):
        attack = self.attack
        rng = attack.rng(case)
        attack.begin(case)
        moment, target = rng.choice(MOMENTS), rng.choice(TARGETS)
        self.readers = []
        stage = "before"
        try:
            self.prepare(moment, rng)
            stage = "kill"
            victims = self.kill(target, rng)
            self.check_ends(victims, target, moment)
            stage = "next mount"
            self.check_usable(rng)
            for line in self.mount.complaints():
                raise Wrong(line)
        except Wrong as error:
            attack.fault("%s killed when %s: %s: %s" % (target, moment, stage, error), keep=[self.mount.log, self.index])
            self.free()
            self.mount.forget()
        finally:
            for child in self.readers:
                if not child.kill():
                    attack.fault("a reader cannot be killed: " + child.where())
                    self.free()
            open(self.mount.log, "a").close()
            os.truncate(self.mount.log, 0)


def main(attack):
    kills = Kills(attack)
    for case in attack.cases():
        kills.run(case)
        attack.progress(case)
    if kills.mount.connection():
        kills.mount.umount()


Attack("kills").run(main)
