# SPDX-License-Identifier: Apache-2.0
"""Index directories that are full, read-only or failing: it costs time, never a capture, and it is said.

Each case mounts an archive with its index directory on a tmpfs that is too small in its own way. Every view must be
right all the same. The log must name the directory and what is wrong with it. When room has been made, the indexes must
be published without anybody's help, and the next mount must find them good. A read-only directory may also have damaged
files, which nobody can remove.
"""
import os
import shutil
import subprocess
import time

from captures import small_archive, truth_of
from common import Attack, Mount, Wrong, settle, wait_for

# Each capture has files of its own.
OPTIONS = ("--chunk=256", "--pack-below=0")
# What is tried besides sizes, one after the other.
ODD = ("inodes", "read-only", "read-only in the middle", "removed", "full in the middle", "read-only before",
       "full and a bit freed", "read-only and damaged", "damaged while read-only")
DAMAGED = ODD[-2:]


def tmpfs(path, options):
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options + ",mode=0700", "hartfs-attack", path], check=True)


def remount(path, options):
    subprocess.run(["mount", "-o", "remount," + options, path], check=True)


class Disks:
    def __init__(self, attack):
        self.attack = attack
        self.archive, self.pristine, self.disk, self.point = (
            attack.path(name) for name in ("archive", "pristine", "disk", "mnt"))
        self.index = self.disk + "/index"
        os.mkdir(self.point)
        os.mkdir(self.archive)
        small_archive(attack, self.archive, insns=2000)
        self.truth = truth_of(attack, self.archive, OPTIONS, index=self.pristine)
        self.files = {name for name in os.listdir(self.pristine) if name.endswith((".hfi", ".hfv"))}
        self.size = sum(os.path.getsize(os.path.join(self.pristine, name)) for name in self.files)
        self.log = attack.path("log.txt")

    def copy_damaged(self, rng):
        """All files; every other one with a bit flipped, a page without content, or cut."""
        subprocess.run(["cp", "-a", self.pristine + "/.", self.index], check=True)
        for name in sorted(self.files)[rng.randrange(2)::2]:
            with open(os.path.join(self.index, name), "r+b") as f:
                data = bytearray(f.read())
                at, how = rng.randrange(len(data)), rng.randrange(3)
                if how == 0:
                    data[at] ^= 1 << rng.randrange(8)
                elif how == 1:
                    data[at & -8192:(at & -8192) + 8192] = bytes(8192)
                f.seek(0)
                f.write(data)
                f.truncate(at if how == 2 else len(data))

    def said(self, words):
        """Whether a line of the log names the directory and the error."""
        try:
            with open(self.log, errors="replace") as f:
                return any(self.index in line and any(word in line for word in words) for line in f)
        except OSError:
            return False

    def published(self):
        try:
            names = set(os.listdir(self.index))
        except OSError:
            return False
        return self.files <= names and not any(name.startswith(".") and ".part" in name for name in names)

    def missing(self):
        try:
            names = set(os.listdir(self.index))
        except OSError as error:
            return str(error)
        return "%d of %d files are missing, left over: %s" % (
            len(self.files - names), len(self.files), [name for name in names if ".part" in name][:3])

    def run(self, case, kind, size):
        attack = self.attack
        attack.begin(case)
        mount = Mount(attack, self.archive, self.index, self.point, OPTIONS, log=self.log)
        told = "%d KiB" % (size >> 10) if kind == "size" else kind
        try:
            self.attack_once(mount, kind, size)
        except Wrong as error:
            attack.fault("%s: %s" % (told, error), keep=[self.log])
        finally:
            mount.destroy()
            attack.mounts.remove(mount)
            subprocess.run(["umount", "-l", self.disk], check=False)
            subprocess.run(["rm", "-f", self.log], check=False)

    def attack_once(self, mount, kind, size):
        attack = self.attack
        full, room = "size=%dk" % (size >> 10), "size=64m,nr_inodes=100000"
        tmpfs(self.disk, {"size": full, "inodes": "size=64m,nr_inodes=%d" % (3 + size % 20),
                          "full and a bit freed": full}.get(kind, room))
        words = ("No space left on device",)
        if kind in ("read-only", "read-only before"):
            os.mkdir(self.index, 0o700)
            if kind == "read-only":
                subprocess.run(["cp", "-a", *self.some_files(), self.index], check=True)
            remount(self.disk, "ro")
            words = ("Read-only file system",)
        elif kind in DAMAGED:
            os.mkdir(self.index, 0o700)
            words = ()
            if kind == "read-only and damaged":
                self.copy_damaged(attack.rng(attack.case, "damage"))
                words = ("Read-only file system",)
            else:
                subprocess.run(["cp", "-a", self.pristine + "/.", self.index], check=True)
            remount(self.disk, "ro")
        mount.start("--wait" if kind == "size" and size % 3 == 0 else "-q", status=(0, 3))
        if kind == "read-only in the middle":
            wait_for(lambda: os.path.isdir(self.index) and len(os.listdir(self.index)) > 3, 20, 0.001)
            # Refused while somebody writes: at some moment nobody does.
            in_time = wait_for(lambda: subprocess.run(["mount", "-o", "remount,ro", self.disk], check=False,
                                                      stderr=subprocess.DEVNULL).returncode == 0, 20, 0.001)
            words = ("Read-only file system",) if in_time and not self.published() else ()
        elif kind == "full in the middle":
            wait_for(lambda: os.path.isdir(self.index) and len(os.listdir(self.index)) > 3, 20, 0.001)
            wait_for(self.fill, 20, 0.001)
            words = ()
        elif kind == "removed":
            wait_for(lambda: os.path.isdir(self.index) and len(os.listdir(self.index)) > 3, 20, 0.001)
            shutil.rmtree(self.index, ignore_errors=True)
            words = ()
        elif kind == "damaged while read-only":
            settle(attack, mount, self.truth)
            remount(self.disk, "rw")
            self.copy_damaged(attack.rng(attack.case, "damage"))
            wait_for(lambda: subprocess.run(["mount", "-o", "remount,ro", self.disk], check=False,
                                            stderr=subprocess.DEVNULL).returncode == 0, 20, 0.001)
        settle(attack, mount, self.truth)
        if words and (kind in DAMAGED or not self.published()) and not wait_for(lambda: self.said(words), attack.patience):
            raise Wrong("the log does not name %s and '%s'; it says: %s" % (self.index, words[0], mount.log_tail()))
        if kind == "full and a bit freed":
            time.sleep(1)
            remount(self.disk, "size=%dk" % ((size >> 10) + 100))
            settle(attack, mount, self.truth)
        if kind == "removed":
            os.makedirs(self.index, mode=0o700, exist_ok=True)
        else:
            remount(self.disk, "rw," + room)
            if not wait_for(self.published, attack.patience, 0.1):
                raise Wrong("room was made, and %s" % self.missing())
        settle(attack, mount, self.truth)
        for line in mount.complaints():
            raise Wrong(line)
        if not mount.connection():
            raise Wrong("the server ended")
        mount.umount()
        mount.start("--wait", status=(0, 3))
        settle(attack, mount, self.truth)
        if not wait_for(self.published, attack.patience, 0.1):
            raise Wrong("at the next mount %s" % self.missing())
        mount.umount()
        if kind in DAMAGED:
            # What nobody needed may be damaged still. It is found once.
            mount.command("verify", *OPTIONS, self.archive)
        done = mount.command("verify", *OPTIONS, self.archive)
        if done.hung or done.status not in (0, 3) or "wrong" in done.text:
            raise Wrong("verify ended with %s: %s" % (done.status, done.text[-300:]))
        if kind in DAMAGED and "index file" in done.text:
            raise Wrong("verify finds damaged files twice: %s" % done.text[-300:])

    def fill(self):
        """The disk gets no larger than it is; fails if somebody wrote meanwhile."""
        used = os.statvfs(self.disk)
        # A size of 0 would be no limit, which cannot be taken back.
        size = max(64, (used.f_blocks - used.f_bfree) * used.f_bsize >> 10)
        return subprocess.run(["mount", "-o", "remount,size=%dk" % size, self.disk], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0

    def some_files(self):
        names = sorted(self.files)
        return [os.path.join(self.pristine, name) for name in names[::3]]


def main(attack):
    disks = Disks(attack)
    count = attack.options.count
    for case in attack.cases():
        rng = attack.rng(case)
        if case < count:
            # From next to nothing to just too little.
            size = int(disks.size * (case + 0.5) / count) + rng.randrange(4096)
            disks.run(case, "size", max(size, 8192))
        attack.progress(case)
    # Each odd case once for every three sizes, and all of them from twenty on.
    for number, kind in enumerate(ODD[:len(ODD) if count >= 20 else max(1, count // 2)]):
        case = count + number
        if attack.options.only in (None, case):
            disks.run(case, kind, attack.rng(case).randrange(disks.size // 4, disks.size // 2))


Attack("disks").run(main)
