# SPDX-License-Identifier: Apache-2.0
"""Captures that change while they are read: bytes are of one version or there is an error, never a mix.

Several readers, root's and another user's, read, seek and map the views of a few captures, while these are replaced, cut,
grown, overwritten in place, touched, removed, turned into directories, closed to others, and exchanged with secret ones.
What one open file gives must all be of one version that its reader may see. When it is quiet again all must be as the
archive says, with the same server.
"""
import errno
import hashlib
import mmap
import os
import random
import select
import shutil
import signal
import subprocess
import time

from captures import elf, stf_loop, stf_straight, unpack_views, write
from common import (Attack, Child, Hung, Mount, Wrong, USERS, become, call, reap, settle, tree_of, wait_for, walk_files,
                    digest_file)

ROUND = 100         # changes under one mount
SLOTS = 3           # captures that change in all ways
CONTENTS = 3        # whole contents of one length, and as many that are cut
CHUNK = "--chunk=256"
WORDS = 24
BASE = 0x10000
# Says what is the matter at the moment, not what the capture is.
STATES = ("info.json", "errors.txt", "INDEXING")
# The bytes of the capture's file, which are overwritten under the reader as in any file system.
RAW = ("source.stf", "trace.stf")


def first_difference(content, offset, data):
    """Where data stops to be that of content, counted from the start of the file."""
    part = content[offset:offset + len(data)]
    same = next((i for i in range(min(len(part), len(data))) if part[i] != data[i]), min(len(part), len(data)))
    return offset + same


def candidates(contents, offset, data, versions):
    """Those of versions that have data at offset."""
    return {v for v in versions if contents[v][offset:offset + len(data)] == data}


class Reader:
    """One reader's loop, in a process of its own. files: path → {version: bytes}, of the versions that it may see."""

    def __init__(self, point, files, seed, beats, number):
        self.point, self.files, self.rng = point, files, random.Random(seed)
        self.beats, self.number = beats, number
        self.paths = sorted(files)

    def loop(self, tell):
        while True:
            path = self.rng.choice(self.paths)
            how = self.rng.choice((self.read, self.read, self.seek, self.map))
            try:
                wrong = how(os.path.join(self.point, path), self.files[path])
            except OSError as error:
                if error.errno == errno.ENOTCONN:
                    return
                wrong = None
            else:
                self.beats[2 * self.number + 1] += not wrong
            if wrong:
                tell(("wrong", "%s %s: %s" % (how.__name__, path, wrong)))
            self.beats[2 * self.number] += 1

    def describe(self, contents, offset, data, before):
        parts = ["%d differs at %d, has %d" % (v, first_difference(contents[v], offset, data), len(contents[v]))
                 for v in sorted(before)]
        return "%d bytes at %d are of none of the versions that this open file had: %s; %r…" % (
            len(data), offset, ", ".join(parts), data[:24])

    def read(self, path, contents):
        versions, offset = set(contents), 0
        with open(path, "rb", buffering=0) as f:
            while True:
                data = f.read(self.rng.choice((4096, 1 << 16, 1 << 20)))
                if not data:
                    break
                left = candidates(contents, offset, data, versions)
                if not left:
                    return self.describe(contents, offset, data, versions)
                versions, offset = left, offset + len(data)
        if offset not in [len(contents[v]) for v in versions]:
            return "ends at %d, versions have %s" % (offset, [len(contents[v]) for v in versions])
        return None

    def seek(self, path, contents):
        versions = set(contents)
        with open(path, "rb", buffering=0) as f:
            size = os.fstat(f.fileno()).st_size
            for _ in range(10):
                offset = self.rng.randrange(size + 1)
                data = os.pread(f.fileno(), self.rng.choice((1, 100, 5000, 70000)), offset)
                left = candidates(contents, offset, data, versions)
                if not left:
                    return self.describe(contents, offset, data, versions)
                versions = left
        return None

    def map(self, path, contents):
        """In yet another process, since a page that cannot be had is a SIGBUS."""
        pid = os.fork()
        if pid == 0:
            os._exit(self.map_inside(path, contents))
        status = os.waitpid(pid, 0)[1]
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 9:
            return "what is mapped is of no single version"
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGBUS:
            return "killed by signal %d" % os.WTERMSIG(status)
        return None

    def map_inside(self, path, contents):
        try:
            versions = set(contents)
            with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
                for _ in range(30):
                    offset = self.rng.randrange(len(m))
                    versions = candidates(contents, offset, m[offset:offset + 200], versions)
                    if not versions:
                        return 9
                    time.sleep(0.002)
        except (OSError, ValueError):
            pass
        return 0


class Changes:
    def __init__(self, attack):
        self.attack = attack
        self.archive, self.index, self.point = (attack.path(name) for name in ("archive", "index", "mnt"))
        os.mkdir(self.point)
        os.mkdir(self.archive)
        rng = random.Random(11)
        self.contents = [self.slot_contents(rng) for _ in range(SLOTS)]
        self.make_secrets(rng)
        self.truths = self.learn()
        self.mount = None
        self.compared = 0

    # ---- contents

    def slot_contents(self, rng):
        """Whole ones of one length, then the same cut."""
        whole = [stf_loop(rng, 3000) for _ in range(CONTENTS)]
        size = min(map(len, whole)) // 2 * 2
        whole = [data[:size] for data in whole]
        return whole + [data[:size * 2 // 3] for data in whole]

    def slot(self, number):
        return "slot%d.stf" % number

    def make_secrets(self, rng):
        """Two captures of which one version is everybody's and the other alice's alone: a file, and a member."""
        words = [[rng.getrandbits(20) << 12 | 0x37 for _ in range(WORDS)] for _ in range(2)]
        self.secret_stf = [stf_straight(w, BASE) for w in words]
        self.secret_elf = [elf(w, BASE, [("symbol%d" % i, BASE)]) for i, w in enumerate(words)]
        staging = self.attack.path("staging")
        write(staging + "/r.stf", stf_straight([0x1037] * WORDS, BASE))
        unpack_views(self.attack, staging, "r@stf", ["etrace"], self.attack.path("template"))
        shutil.copytree(self.attack.path("template", "etrace"), self.archive + "/run")

    def put(self, path, data, owner="root", mode=0o644):
        full = os.path.join(self.archive, path)
        write(full + "~", data)
        os.chown(full + "~", *USERS[owner][:2])
        os.chmod(full + "~", mode)
        os.rename(full + "~", full)

    def put_secrets(self, version):
        owner, mode = (("root", 0o644), ("alice", 0o600))[version]
        self.put("secret.stf", self.secret_stf[version], owner, mode)
        self.put("run/program.elf", self.secret_elf[version], owner, mode)

    def learn(self):
        """Views of every version: path → {version: bytes}, from undisturbed mounts."""
        truths = {}
        index, point = self.attack.path("truth.index"), self.attack.path("truth.mnt")
        os.mkdir(point)
        for version in range(2 * CONTENTS):
            for slot in range(SLOTS):
                self.put(self.slot(slot), self.contents[slot][version])
            self.put_secrets(version % 2)
            mount = Mount(self.attack, self.archive, index, point, [CHUNK], log=self.attack.path("truth.log"))
            mount.start("--wait")
            for path in walk_files(point):
                with open(os.path.join(point, path), "rb") as f:
                    key = version % 2 if path.startswith(("run", "secret")) else version
                    truths.setdefault(path, {})[key] = f.read()
            mount.umount()
        shutil.rmtree(index)
        return truths

    # ---- changes: each takes (slot, rng) and leaves self.state right

    def rename(self, slot, rng):
        version = rng.randrange(2 * CONTENTS)
        self.put(self.slot(slot), self.contents[slot][version])
        self.state[slot] = version

    def in_place(self, slot):
        if self.state[slot] is None:
            return None
        return os.path.join(self.archive, self.slot(slot))

    def cut(self, slot, rng):
        path = self.in_place(slot)
        if path and self.state[slot] < CONTENTS:
            os.truncate(path, len(self.contents[slot][-1]))
            self.state[slot] += CONTENTS

    def grow(self, slot, rng):
        path = self.in_place(slot)
        if path and self.state[slot] >= CONTENTS:
            with open(path, "ab", buffering=0) as f:
                f.write(self.contents[slot][self.state[slot] - CONTENTS][len(self.contents[slot][-1]):])
            self.state[slot] -= CONTENTS

    def overwrite(self, slot, rng):
        path = self.in_place(slot)
        if path and self.state[slot] < CONTENTS:
            self.state[slot] = rng.randrange(CONTENTS)
            with open(path, "r+b", buffering=0) as f:
                f.write(self.contents[slot][self.state[slot]])

    def touch(self, slot, rng):
        path = self.in_place(slot)
        if path:
            os.utime(path)

    def remove(self, slot, rng):
        path = self.in_place(slot)
        if path:
            os.unlink(path)
            self.state[slot] = None

    def directory(self, slot, rng):
        """A directory of the capture's name, for a moment."""
        path = os.path.join(self.archive, self.slot(slot))
        if os.path.exists(path):
            os.unlink(path)
        os.mkdir(path)
        write(path + "/capture.ini", b"[capture]\nformat = stf\ntrace = ../%s\n" % self.slot((slot + 1) % SLOTS).encode())
        time.sleep(rng.uniform(0, 0.1))
        shutil.rmtree(path)
        self.rename(slot, rng)

    def close(self, slot, rng):
        path = self.in_place(slot)
        if path:
            os.chmod(path, 0o600)
            time.sleep(rng.uniform(0, 0.05))
            os.chmod(path, 0o644)

    def exchange(self, slot, rng):
        """Secret and public versions, one for the other."""
        for version in (1, 0, 1, 0):
            self.put_secrets(version)
            time.sleep(rng.choice((0, 0.01, rng.uniform(0, 0.3))))

    OPERATIONS = (rename, rename, rename, cut, grow, cut, grow, overwrite, touch, remove, directory, close, exchange)

    # ---- one round

    def files_for(self, user):
        """What this user's readers read and which versions they may meet."""
        files = {}
        for path, contents in self.truths.items():
            name = os.path.basename(path)
            if name in STATES:
                continue
            if path.startswith(("run@", "secret")):
                files[path] = contents if user == "root" else {0: contents[0]}
            elif path.startswith("slot") and "@" in path and name not in RAW:
                # A directory in its place is a description of the next one, and a name may be older than that.
                other = "slot%d" % ((int(path[4]) + 1) % SLOTS) + path[5:]
                files[path] = {**contents, **{100 + v: data for v, data in self.truths.get(other, {}).items()}}
        return files

    def start_readers(self, rng):
        # Of each reader: files tried, files read without an error.
        self.beats = memoryview(mmap.mmap(-1, 4096)).cast("Q")
        users = ("root", "root", "root", "bob", "bob", "bob")
        self.readers = []
        for number, user in enumerate(users):
            reader = Reader(self.point, self.files_for(user), rng.getrandbits(32), self.beats, number)
            self.readers.append(Child(reader.loop, user=user))
        self.seen = [(0, time.monotonic())] * len(users)

    def drain(self):
        """What readers tell; raises Wrong for that, and Hung for one that does not go on."""
        ready, _, _ = select.select([child.fd for child in self.readers], [], [], 0)
        for child in self.readers:
            if child.fd in ready:
                data = os.read(child.fd, 1 << 16)
                if not data:
                    raise Wrong("a reader ended: the mount is gone")
                child.buffer += data
                for message in child.unpickle():
                    raise Wrong("as %s: %s" % ("root" if self.readers.index(child) < 3 else "bob", message[1]))
        now = time.monotonic()
        for number, child in enumerate(self.readers):
            beat, since = self.seen[number]
            if self.beats[2 * number] != beat:
                self.seen[number] = (self.beats[2 * number], now)
            elif now - since > self.attack.patience:
                raise Hung("a reader waits for ever: " + child.where())

    def stop_readers(self):
        hung = [child.where() for child in self.readers if not child.kill()]
        self.compared += sum(self.beats[2 * number + 1] for number in range(len(self.readers)))
        self.readers = []
        if hung:
            raise Hung("a reader cannot be killed: " + hung[0])

    def final(self):
        """Digests of what the archive shows in the end, and names that must be gone."""
        want, away = {}, []
        for path, contents in self.truths.items():
            name = os.path.basename(path)
            if name in STATES:
                continue
            if path.startswith("slot"):
                version = self.state[int(path[4])]
                if version is None:
                    away.append(path)
                    continue
            else:
                version = 0
            if version in contents:
                want[path] = ("ok", len(contents[version]), hashlib.sha256(contents[version]).hexdigest())
        return want, away

    def check_quiet(self):
        want, away = self.final()
        settle(self.attack, self.mount, want, wrong_is_final=False)
        end = time.monotonic() + self.attack.patience
        while away:
            found = tree_of(self.attack, self.mount, away)
            away = [path for path in away if found[path] != ("err", errno.ENOENT)]
            if away and time.monotonic() > end:
                raise Wrong("is gone and still shown: %s" % away[:2])
            time.sleep(0.1)

    def check_permissions(self, rng):
        """A file that is closed is closed to others in the mount, within the time that attributes are believed."""
        slot = next((n for n in range(SLOTS) if self.state[n] is not None), None)
        if slot is None:
            return
        path = os.path.join(self.archive, self.slot(slot))
        views = [self.slot(slot)] + [view for view, contents in self.truths.items()
                                     if view.startswith("slot%d@" % slot) and self.state[slot] in contents]
        for mode, want in ((0o600, False), (0o644, True), (0o640, False), (0o604, True)):
            os.chmod(path, mode)
            end = time.monotonic() + self.attack.patience
            while True:
                found = call(self.attack, try_open, self.point, views, user="bob", mount=self.mount)
                bad = [view for view in views if found[view] != want]
                if not bad:
                    break
                if time.monotonic() > end:
                    raise Wrong("mode %o of the capture and bob can%s open %s" % (mode, "not" if want else "", bad[:2]))
                time.sleep(0.2)

    def run(self, number, count):
        attack = self.attack
        rng = attack.rng(number)
        attack.begin(number, weight=count)
        self.state = [None] * SLOTS
        self.readers = []
        for slot in range(SLOTS):
            self.rename(slot, rng)
        self.put_secrets(0)
        mount = self.mount = Mount(attack, self.archive, self.index, self.point,
                                   [CHUNK, "--cache=%s" % rng.choice(("1M", "256M")), "-o", "allow_other"])
        what = ""
        try:
            mount.start("--wait")
            server = mount.server()
            self.start_readers(rng)
            # A leak ends a round, and would hide mixed versions behind it.
            operations = [op for op in self.OPERATIONS if op is not Changes.exchange or number % 2]
            for _ in range(count):
                operation, slot = rng.choice(operations), rng.randrange(SLOTS)
                what = " (last change: %s)" % operation.__name__
                operation(self, slot, rng)
                time.sleep(rng.choice((0, 0.005, rng.uniform(0, 0.2))))
                self.drain()
            self.stop_readers()
            what = " (when all is quiet)"
            self.check_quiet()
            self.check_permissions(rng)
            for line in mount.complaints():
                raise Wrong(line)
            if mount.server() != server:
                raise Wrong("the server ended")
            mount.umount()
        except Wrong as error:
            attack.fault("%s%s" % (error, what), keep=[mount.log, self.archive])
        finally:
            mount.destroy()
            for child in self.readers:
                child.kill()
            attack.mounts.remove(mount)
            subprocess.run(["rm", "-rf", mount.log, self.index if rng.random() < 0.5 else ""], check=False)


def try_open(tell, point, paths):
    """Which of them can be opened."""
    found = {}
    for path in paths:
        try:
            os.close(os.open(os.path.join(point, path), os.O_RDONLY))
            found[path] = True
        except OSError:
            found[path] = False
        tell(len(found))
    tell(found)


def main(attack):
    changes = Changes(attack)
    left, number = attack.options.count, 0
    while left > 0:
        count = min(left, ROUND)
        if attack.options.only in (None, number):
            changes.run(number, count)
            attack.log("%d changes, %d files compared, %d rounds wrong" %
                       (attack.tried, changes.compared, attack.wrong))
        left -= count
        number += 1


Attack("changes").run(main)
