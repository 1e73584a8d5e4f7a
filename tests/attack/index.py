# SPDX-License-Identifier: Apache-2.0
"""Damaged and forged index files: whatever lies in the index directory, every view is right in the end.

Each round takes a copy of a good index directory, damages some files of it, and mounts. What can be read must be right
at once; what cannot must come back without anybody's help; files that were not damaged must not be touched. Forged rows
are a harder case: their page checksums are right. There text and traces must be right or fail, and after hartfs verify,
which makes all rows again, everything must be right.
"""
import ctypes
import hashlib
import os
import shutil
import socket
import sqlite3
import stat
import struct
import subprocess

from captures import small_archive, truth_of
from common import Attack, Mount, Wrong, differences, settle, tree_of

PAGE = 8192
CHUNK = "--chunk=256"
# How small captures are kept: in files of their own, or in a pack.
KEPT = ("--pack-below=0", "--pack-below=1M")
INTEGERS = (0, 1, -1, 2, 255, 4096, 1 << 31, -(1 << 31), 1 << 40, (1 << 40) - 1, 1 << 62, (1 << 63) - 1, -(1 << 63))

try:
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits_withSeed.restype = ctypes.c_uint64
    xxhash.XXH3_64bits_withSeed.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
except OSError:
    xxhash = None


def seal(path):
    """Gives every page the checksum that hartfs expects (hartfs-index(5))."""
    data = bytearray(open(path, "rb").read())
    for at in range(0, len(data) - PAGE + 1, PAGE):
        page = bytes(data[at:at + PAGE - 8])
        data[at + PAGE - 8:at + PAGE] = struct.pack("<Q", xxhash.XXH3_64bits_withSeed(page, len(page), at))
    open(path, "wb").write(data)


# ---- damage: each takes (round, path, rng) and says what it did

def flip(path, at, bit):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 1 << bit]))


def flip_any(_, path, rng):
    at = rng.randrange(os.path.getsize(path))
    flip(path, at, rng.randrange(8))
    return "bit flipped at %d" % at


def flip_head(_, path, rng):
    at = rng.randrange(100)
    flip(path, at, rng.randrange(8))
    return "bit flipped at %d" % at


def flip_sum(_, path, rng):
    page = rng.randrange(os.path.getsize(path) // PAGE)
    flip(path, page * PAGE + PAGE - 1 - rng.randrange(8), rng.randrange(8))
    return "checksum of page %d" % page


def byte_head(_, path, rng):
    at, value = rng.randrange(100), rng.randrange(256)
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(bytes([value]))
    return "byte %d is %d" % (at, value)


def blank_page(_, path, rng):
    page = rng.randrange(os.path.getsize(path) // PAGE)
    with open(path, "r+b") as f:
        f.seek(page * PAGE)
        f.write(rng.choice((bytes(PAGE), rng.randbytes(PAGE))))
    return "page %d overwritten" % page


def cut(_, path, rng):
    size = os.path.getsize(path)
    to = rng.choice((0, 1, 99, 100, 512, PAGE - 1, PAGE, size - 1, size - PAGE, rng.randrange(size)))
    os.truncate(path, to)
    return "cut to %d" % to


def grow(_, path, rng):
    with open(path, "ab") as f:
        f.write(rng.randbytes(rng.choice((1, 100, PAGE))))
    return "garbage appended"


def sparse(_, path, rng):
    os.truncate(path, 1 << rng.choice((30, 36, 42)))
    return "grown to %d bytes of nothing" % os.path.getsize(path)


def garbage(_, path, rng):
    with open(path, "r+b") as f:
        f.truncate()
        f.write(rng.choice((rng.randbytes(PAGE * 3), b"not an index\n", bytes(PAGE * 4), b"SQLite format 3\0")))
    return "garbage"


def swap(round_, path, rng):
    """Another capture's file of this kind, or a file of another kind."""
    names = [name for name in sorted(os.listdir(round_.pristine))
             if os.path.join(round_.index, name) != path]
    kind = os.path.basename(path)[32:]
    same = [name for name in names if name[32:] == kind]
    name = rng.choice(same if same and rng.random() < 0.7 else names)
    shutil.copy(os.path.join(round_.pristine, name), path)
    return "is a copy of " + name


def directory(_, path, rng):
    os.unlink(path)
    os.mkdir(path, rng.choice((0o755, 0o700, 0o000)))
    return "an empty directory"


def link(round_, path, rng):
    os.unlink(path)
    target = rng.choice((os.path.join(round_.pristine, os.path.basename(path)), round_.victim, "/dev/zero", "nothing",
                         os.path.basename(path), round_.index, "/proc/self/mem"))
    os.symlink(target, path)
    return "a link to " + os.path.basename(target)


def fifo(_, path, rng):
    os.unlink(path)
    os.mkfifo(path)
    return "a FIFO"


def sock(_, path, rng):
    os.unlink(path)
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.basename(path))
    os.chdir(here)
    return "a socket"


def device(_, path, rng):
    os.unlink(path)
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, rng.choice((3, 5, 7))))
    return "a device"


def hard(round_, path, rng):
    other = os.path.join(round_.index, rng.choice([name for name in os.listdir(round_.index) if name.endswith((".hfv", ".hfp"))]))
    if other == path or not os.path.isfile(other) or os.path.islink(other):
        return cut(round_, path, rng)
    os.unlink(path)
    os.link(other, path)
    round_.touched.add(os.path.basename(other)[:32])
    return "a hard link to " + os.path.basename(other)


def foreign(_, path, rng):
    os.chown(path, 42001, 42001)
    os.chmod(path, 0o666)
    flip(path, rng.randrange(os.path.getsize(path)), rng.randrange(8))
    return "somebody else's, with a bit flipped"


def version(_, path, rng):
    """Another schema version or application id, properly sealed."""
    if not xxhash:
        return flip_any(_, path, rng)
    at, value = rng.choice(((60, 1), (60, 2), (60, 4), (60, 99), (60, 1 << 31), (68, 0), (68, 0x48415254),
                            (68, 0x48415256), (68, 0x48415243), (68, 1)))
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(struct.pack(">I", value))
    seal(path)
    return "header word %d is %d" % (at, value)


def part(round_, path, rng):
    """What an interrupted build left, damaged, and not the file itself."""
    where = os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".part")
    os.rename(path, where)
    if rng.random() < 0.5:
        journal = where + "-journal"
        how = rng.choice(("garbage", "fifo", "directory"))
        if how == "garbage":
            open(journal, "wb").write(rng.choice((rng.randbytes(2000), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))))
        elif how == "fifo":
            os.mkfifo(journal)
        else:
            os.mkdir(journal)
    told = rng.choice((flip_any, flip_head, cut, garbage, directory, fifo, link, blank_page, swap))(round_, where, rng)
    return "gone, its .part is " + told


def gone(_, path, rng):
    os.unlink(path)
    return "removed"


DAMAGE = (flip_any, flip_any, flip_any, flip_head, flip_head, flip_head, flip_sum, byte_head, byte_head, blank_page, cut,
          cut, grow, sparse, garbage, swap, swap, directory, link, fifo, sock, device, hard, foreign, version, version,
          part, part, part, gone)
# What can be done to a file that somebody has open.
IN_PLACE = (flip_any, flip_head, flip_sum, byte_head, blank_page, cut, grow, garbage)


# ---- forging

def new_value(value, rng):
    if isinstance(value, bytes):
        data = bytearray(value or b"\0")
        how = rng.randrange(4)
        if how == 0:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif how == 1:
            data = data[:rng.randrange(len(data) + 1)]
        elif how == 2:
            data = bytearray(rng.randbytes(rng.choice((0, 1, len(data), 5000))))
        else:
            data += rng.randbytes(9)
        return bytes(data)
    if isinstance(value, str):
        return rng.choice(("", "x", value * 2, value[:-1], "../../etc/passwd", "a\nb", "\x1b[31m", "x" * 100000,
                           value.replace("0", "9")))
    if value is None:
        return rng.choice((0, "gzip", "x"))
    return rng.choice((rng.choice(INTEGERS), value + 1, value - 1, value * 2, -value, value ^ 1 << rng.randrange(40)))


def fitting(value):
    if isinstance(value, int):
        return max(-(1 << 63), min((1 << 63) - 1, value))
    return value


def forge_once(db, rng):
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = rng.choice(tables)
    rows = [row[0] for row in db.execute("SELECT rowid FROM %s" % table)]
    how = rng.random()
    if how < 0.05:
        statement = rng.choice(("DROP TABLE %s", "DELETE FROM %s", "ALTER TABLE %s ADD COLUMN more INTEGER",
                                "CREATE INDEX forged ON %s (rowid)", "ALTER TABLE %s RENAME TO other",
                                "CREATE TRIGGER t AFTER DELETE ON %s BEGIN SELECT 1; END"))
        if "rowid" in statement:
            statement = "CREATE VIEW forged AS SELECT * FROM %s"
        db.execute(statement % table)
        return statement % table
    if not rows:
        return "nothing"
    row = rng.choice(rows)
    if how < 0.15:
        db.execute("DELETE FROM %s WHERE rowid = ?" % table, (row,))
        return "row %d of %s deleted" % (row, table)
    columns = [column[1] for column in db.execute("PRAGMA table_info(%s)" % table)]
    column = rng.choice(columns)
    old = db.execute("SELECT %s FROM %s WHERE rowid = ?" % (column, table), (row,)).fetchone()[0]
    new = fitting(new_value(old, rng))
    db.execute("UPDATE OR IGNORE %s SET %s = ? WHERE rowid = ?" % (table, column), (new, row))
    return "%s.%s of row %d: %.40r instead of %.40r" % (table, column, row, new, old)


def forge(_, path, rng):
    """Rows that lie, in pages whose checksums are right."""
    db = sqlite3.connect(path, isolation_level=None)
    told = []
    try:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA ignore_check_constraints = ON")
        for _ in range(rng.choice((1, 1, 1, 3))):
            try:
                told.append(forge_once(db, rng))
            except (sqlite3.Error, OverflowError) as error:
                told.append("not done: %s" % error)
    finally:
        db.close()
    seal(path)
    return "forged: " + "; ".join(told)


# Made of the decode index alone, and so as true as its rows, until hartfs verify has seen them.
RETOLD = ("info.json", "errors.txt", "program.elf", "capture.ini", "snapshot.ini", "trace.ini", "cpu_0.ini",
          "ETE_0.ini")


class Round:
    def __init__(self, attack, kept):
        self.attack = attack
        self.options = (CHUNK, kept)
        self.archive, self.pristine, self.index, self.point, self.victim = (
            attack.path(name + kept) for name in ("archive", "pristine", "index", "mnt", "victim"))
        os.mkdir(self.point)
        os.mkdir(self.archive)
        small_archive(attack, self.archive, insns=2000)
        self.truth = truth_of(attack, self.archive, self.options, index=self.pristine)
        self.mount = Mount(attack, self.archive, self.index, self.point, [*self.options, "--cache=1M"])
        self.verified = self.mount.command("verify", "--index-dir", self.pristine, *self.options, self.archive).status

    def prepare(self, rng, number):
        """A copy of the good directory; which files are to be damaged."""
        subprocess.run(["cp", "-a", self.pristine, self.index], check=True)
        open(self.victim, "w").write("not ours\n")
        self.touched = set()
        names = sorted(os.listdir(self.pristine))
        return rng.sample(names, min(number, len(names)))

    def damage(self, names, kinds, rng):
        told = []
        for name in names:
            path = os.path.join(self.index, name)
            # Others of this name may be made anew with it, other captures' may not.
            self.touched.add(name[:32])
            told.append("%s: %s" % (name, rng.choice(kinds)(self, path, rng)))
        return told

    def states(self):
        out = {}
        for name in os.listdir(self.index):
            path = os.path.join(self.index, name)
            if name[0] != "." and name[:32] not in self.touched and name.endswith((".hfi", ".hfv")) and \
                    os.path.isfile(path):
                out[name] = (os.stat(path).st_ino, hashlib.sha256(open(path, "rb").read()).hexdigest())
        return out

    def use_tools(self, rng):
        """The commands on a damaged directory: no crash, no hang."""
        for name, *args in rng.sample((("verify",), ("index",), ("index", "--prune"), ("info",)), rng.randint(1, 3)):
            done = self.mount.command(name, *self.options, *args, self.archive)
            if done.hung:
                raise Wrong("hartfs %s does not end" % name)
            if done.status not in (0, 1, 3) or "Sanitizer" in done.text:
                raise Wrong("hartfs %s ended with %s: %s" % (name, done.status, done.text[-500:]))


    def check_others(self, before):
        after = self.states()
        for name, state in before.items():
            if after.get(name) != state:
                raise Wrong("%s was not damaged, and is %s now" % (name, "another" if name in after else "gone"))
        if os.path.exists(self.victim) and open(self.victim).read() != "not ours\n" or not os.path.exists(self.victim):
            raise Wrong("what a link points to was changed")

    def verify(self):
        mount = self.mount
        mount.umount()
        # What nobody needed may be damaged still. It is found once.
        for last in (False, True):
            done = mount.command("verify", *self.options, self.archive)
            if done.hung or done.status not in (0, 3) or (last and done.status != self.verified):
                raise Wrong("verify ends with %s after everything was made again: %s" % (done.status, done.text[-500:]))
        mount.start()
        settle(self.attack, mount, self.truth)

    def remount(self):
        self.mount.umount()
        self.mount.start()
        settle(self.attack, self.mount, self.truth)
        self.verify()

    def run_damage(self, names, rng):
        mount = self.mount
        how = rng.choice(("mount", "mount", "mount", "tools", "live"))
        if how == "live":
            mount.start("--wait", status=(0, 3))
            settle(self.attack, mount, self.truth)
        told = self.damage(names, IN_PLACE if how == "live" else DAMAGE, rng)
        self.told = [how] + told
        before = self.states()
        if how == "tools":
            self.use_tools(rng)
        if how != "live":
            mount.start()
        settle(self.attack, mount, self.truth)
        self.check_others(before)
        self.remount()
        self.check_others(before)

    def run_forged(self, names, rng):
        mount = self.mount
        self.told = ["forged"] + self.damage(names, (forge,), rng)
        before = self.states()
        mount.start()
        _, wrong = differences(self.truth, tree_of(self.attack, mount))
        wrong = [entry for entry in wrong if os.path.basename(entry[0]) not in RETOLD]
        if wrong:
            raise Wrong("wrong bytes: %s: %s instead of %s" % wrong[0])
        self.check_others(before)
        if not mount.connection():
            raise Wrong("the server ended")
        self.verify()

    def run(self, number, files):
        attack = self.attack
        rng = attack.rng(number)
        attack.begin(number, weight=files)
        self.told = []
        names = self.prepare(rng, files)
        try:
            if xxhash and self.options[1] == KEPT[0] and rng.random() < 0.3:
                self.run_forged(names, rng)
            else:
                self.run_damage(names, rng)
            for line in self.mount.complaints():
                raise Wrong(line)
            if not self.mount.connection():
                raise Wrong("the server ended")
            self.mount.umount()
        except Wrong as error:
            attack.fault("%s\n    %s" % (error, "\n    ".join(self.told)), keep=[self.index, self.mount.log])
        finally:
            self.mount.destroy()
            self.mount.forget()
            subprocess.run(["rm", "-rf", self.index, self.mount.log], check=False)


def main(attack):
    rounds = [Round(attack, kept) for kept in KEPT]
    left, number = attack.options.count, 0
    while left > 0:
        files = min(left, attack.rng("files", number).choice((1, 1, 2, 4, 8, 12)))
        if attack.options.only in (None, number):
            rounds[number % 4 == 3].run(number, files)
        left -= files
        number += 1
        if number % 20 == 0:
            attack.log("%d files in %d rounds, %d rounds wrong" % (attack.tried, number, attack.wrong))


Attack("index").run(main)
