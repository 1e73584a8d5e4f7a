# SPDX-License-Identifier: Apache-2.0
"""Who may see what: archives of several users with every kind of description and link, in a root mount with allow_other.

Each round makes an archive in which every byte that matters is a marker: unique words of programs, unique names of
symbols and files, unique lines of text. What a user may know is asked of the kernel, by a walk of the archive itself as
that user. Then the same user walks the mount. A marker that is in no file, name or link that the kernel lets this user
read is a leak. So is a view that opens although a member of the capture does not. And what everybody may read must be
there, with the right instructions: otherwise it is lost.
"""
import errno
import json
import os
import re
import shutil
import stat
import struct
import time

from captures import STF_ARM, elf, stf_straight, unpack_views, write
from common import SHARED, USERS, Attack, Hung, Mount, Wrong, call

ROUND = 50      # descriptions in one archive
WORDS = 24      # instructions of a program
BASE = 0x10000
READERS = ("bob", "alice", "carol")
FILE_MODES = (0o644, 0o644, 0o644, 0o640, 0o600, 0o600, 0o444, 0o400, 0o604, 0o660, 0o040, 0o004, 0o000)
DIR_MODES = (0o755, 0o755, 0o755, 0o711, 0o750, 0o700, 0o701, 0o710, 0o744, 0o555, 0o2750, 0o1777, 0o770, 0o000)


def acl(rng, directory):
    """A POSIX ACL as the kernel has it: (bytes, readable text)."""
    perm = lambda: rng.choice((0, 0, 4, 5, 7) if directory else (0, 0, 4, 6))
    entries = [(1, 7 if directory else 6, 0xffffffff)]
    for user in sorted(rng.sample(READERS, rng.randint(0, 2)), key=lambda user: USERS[user][0]):
        entries.append((2, perm(), USERS[user][0]))
    entries.append((4, perm(), 0xffffffff))
    if rng.random() < 0.5:
        entries.append((8, perm(), rng.choice((SHARED, USERS["bob"][1]))))
    if any(tag in (2, 8) for tag, *_ in entries) or rng.random() < 0.3:
        entries.append((16, perm(), 0xffffffff))
    entries.append((32, perm(), 0xffffffff))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


TEXT = re.compile(rb"SECRET[0-9a-f]{16}")


def secret(text):
    """The part of a text that is a marker."""
    return TEXT.search(text.encode())[0].decode()


class Item:
    """One description: where its views are and what they are made of."""

    def __init__(self, view, kind):
        self.view, self.kind = view, kind
        self.members = []       # all of them, paths in the archive
        self.traces = []        # those of source.bin, with the description
        self.beside = []        # the ELF that may give symbols, or be left out
        self.words = None       # instructions of the listing, if they are known
        self.valid = False


class Maker:
    """Fills one archive."""

    def __init__(self, attack, rng, top, outside, templates, words, conf):
        self.attack, self.rng, self.top, self.outside = attack, rng, top, outside
        self.templates, self.words = templates, words
        self.items, self.holders, self.text_holders, self.numbers = [], {}, {}, 0
        self.modes = []         # (path, mode, uid, gid, acl) to be set when all is written
        self.conf = conf
        self.directories = ["."]
        for i in range(10):
            parent = rng.choice(self.directories[:5])
            name = "d%d" % i if rng.random() < 0.6 else self.text("dir-")
            path = os.path.normpath(os.path.join(parent, name))
            os.mkdir(os.path.join(top, path))
            self.named(name, parent)
            self.directories.append(path)
            self.own(path, DIR_MODES, directory=True)

    def text(self, prefix=""):
        """A new marker."""
        return "%sSECRET%016x" % (prefix, self.rng.getrandbits(64))

    def named(self, name, parent):
        """A name that is a marker is known to those who may list the directory that it is in."""
        if "SECRET" in name:
            self.text_holders.setdefault(secret(name), []).append(("list", parent))

    def number(self):
        self.numbers += 1
        return self.numbers

    def program(self, arm=False):
        """Unique words: nothing else in the archive has them."""
        out = []
        for _ in range(WORDS):
            unique = self.words.pop()
            out.append(0xd2800000 | (unique & 0xffff) << 5 | unique >> 16 if arm else unique << 12 | 0x37)
        return out

    def own(self, path, modes, directory=False):
        rng = self.rng
        owner = rng.choice(("alice", "alice", "bob", "root"))
        group = rng.choice((USERS[owner][1], USERS[owner][1], SHARED, 0))
        entry = acl(rng, directory) if rng.random() < 0.2 else None
        self.modes.append((path, rng.choice(modes), USERS[owner][0], group, entry))

    def public(self, path, directory=False):
        self.modes.append((path, 0o755 if directory else 0o644, 0, 0, None))

    def put(self, path, data, public=False):
        """A file with an owner and a mode; path in the archive. It holds the markers that are in it as text."""
        write(os.path.join(self.top, path), data)
        self.holds(path, texts=[text.decode() for text in set(TEXT.findall(data))])
        if public:
            self.public(path)
        else:
            self.own(path, FILE_MODES)
        return path

    def place(self, home, name):
        """Where a member goes: (path in the archive, as the description in home says it)."""
        where = home if self.rng.random() < 0.5 else self.rng.choice(self.directories)
        path = os.path.normpath(os.path.join(where, name))
        said = os.path.relpath(path, home)
        if self.rng.random() < 0.2:
            said = os.path.join(os.path.relpath(".", home), path)
        return path, said

    def holds(self, path, words=(), texts=()):
        """This file holds these markers."""
        for word in words:
            self.holders.setdefault(word, []).append(("read", path))
        for text in texts:
            self.text_holders.setdefault(secret(text), []).append(("read", path))

    def home(self):
        """A new directory for a description; open to all half of the time."""
        path = os.path.normpath(os.path.join(self.rng.choice(self.directories), "c%d" % self.number()))
        os.mkdir(os.path.join(self.top, path))
        if self.rng.random() < 0.5:
            self.public(path, directory=True)
        else:
            self.own(path, DIR_MODES, directory=True)
        return path

    def description(self, item, home, name, text, mark=True):
        """Writes it; the views are named after it."""
        if mark:
            marker = self.text()
            text = "; %s\n%s" % (marker, text)
        path = self.put(os.path.join(home, name), text.encode(), public=self.rng.random() < 0.6)
        item.members.append(path)
        item.traces.append(path)
        self.items.append(item)

    def member(self, item, home, name, data, words=(), texts=(), trace=False):
        path, said = self.place(home, name)
        self.put(path, data, public=self.rng.random() < 0.3)
        self.holds(path, words, texts)
        item.members.append(path)
        if trace:
            item.traces.append(path)
        return said

    def link(self, target, path):
        """A symbolic link, whose text is known to those who reach it."""
        os.symlink(target, os.path.join(self.top, path))
        for text in set(TEXT.findall(target.encode())):
            self.text_holders.setdefault(text.decode(), []).append(("link", path))

    # ---- kinds of descriptions

    def packets(self, kind):
        """A valid capture.ini of packets with a program."""
        number, home = self.number(), self.home()
        name = self.rng.choice(("capture.ini", "capture.ini", "n%d.ini" % number))
        view = (home if name == "capture.ini" else os.path.join(home, name)) + "@" + kind
        item = Item(view, kind)
        template = self.templates[kind]
        item.words = self.program()
        symbol = self.text("sym_")
        trace = self.member(item, home, "t%d.bin" % number, template["trace.bin"], trace=True)
        lines = template["capture.ini"].split("[program]")
        text = re.sub("trace = .*", "trace = " + trace, lines[0])
        program = "[program 0]" if self.rng.random() < 0.3 else "[program]"
        if self.rng.random() < 0.5:
            said = self.member(item, home, "p%d.elf" % number,
                               elf(item.words, BASE, [(symbol, BASE), (symbol + "_2", BASE + 8)]),
                               words=item.words, texts=[symbol])
            text += "%s\nelf = %s\n" % (program, said)
        else:
            half = WORDS // 2
            text += program + "\n"
            for part, at in ((item.words[:half], BASE), (item.words[half:], BASE + 4 * half)):
                said = self.member(item, home, "r%d-%x.bin" % (number, at),
                                   b"".join(struct.pack("<I", word) for word in part), words=part)
                text += "raw = %s, address = 0x%x\n" % (said, at)
        text += "[parameters]" + template["capture.ini"].partition("[parameters]")[2]
        item.valid = True
        self.description(item, home, name, text)

    def snapshot(self):
        """A valid CoreSight snapshot whose files lie anywhere."""
        number, home = self.number(), self.home()
        item = Item(home + "@ete", "ete")
        template = self.templates["ete"]
        item.words = self.program(arm=True)
        trace = self.member(item, home, "t%d.bin" % number, template["trace.bin"], trace=True)
        dump = self.member(item, home, "m%d.bin" % number, b"".join(struct.pack("<I", word) for word in item.words),
                           words=item.words)
        marker = self.text()
        core = self.member(item, home, "cpu%d.ini" % number, (
            "; %s\n[device]\nname=cpu_0\nclass=core\ntype=ARM-AA64\n\n[regs]\nPC(size:64)=0x%x\n\n"
            "[dump0]\nfile=%s\naddress=0x%x\nlength=0x%x\n" % (marker, BASE, dump, BASE, 4 * WORDS)).encode(),
            texts=[marker])
        marker = self.text()
        source = self.member(item, home, "ete%d.ini" % number,
                             ("; %s\n" % marker).encode() + template["ETE_0.ini"].encode(), texts=[marker])
        buffers = self.member(item, home, "trace%d.ini" % number,
                              template["trace.ini"].replace("trace.bin", trace).encode())
        item.traces += [path for path in item.members if path.endswith(".ini")]
        item.valid = True
        self.description(item, home, "snapshot.ini", (
            "[snapshot]\nversion=1.0\n[device_list]\ndevice0=%s\ndevice1=%s\n[trace]\nmetadata=%s\n" %
            (core, source, buffers)))

    def stf(self):
        """A bare capture with an ELF beside it, whose symbols the listing has."""
        number, home = self.number(), self.home()
        item = Item(os.path.join(home, "s%d@stf" % number), "stf")
        item.words = self.program()
        trace = self.put(os.path.join(home, "s%d.stf" % number), stf_straight(item.words, BASE),
                         public=self.rng.random() < 0.6)
        self.holds(trace, words=item.words)
        item.members.append(trace)
        item.traces.append(trace)
        if self.rng.random() < 0.8:
            symbol = self.text("sym_")
            beside = self.put(os.path.join(home, "s%d.elf" % number), elf(item.words, BASE, [(symbol, BASE)]))
            self.holds(beside, words=item.words, texts=[symbol])
            item.beside.append(beside)
        item.valid = True
        self.items.append(item)

    def several(self):
        """Several traces end to end, of several owners."""
        number, home = self.number(), self.home()
        item = Item(home + "@ntrace", "ntrace")
        text = "[capture]\nformat = ntrace\n"
        for i in range(self.rng.randint(2, 5)):
            marker = self.text()
            said = self.member(item, home, "t%d-%d.bin" % (number, i), (marker + "\n").encode() * 3, texts=[marker],
                               trace=True)
            text += "trace = %s\n" % said
        text += "[parameters]" + self.templates["ntrace"]["capture.ini"].partition("[parameters]")[2]
        item.valid = True
        self.description(item, home, "capture.ini", text)

    def theft(self):
        """A description that names what it should not: another's file, a link, something outside, no file at all."""
        number, home = self.number(), self.home()
        kind = self.rng.choice(("etrace", "ntrace", "stf", "snapshot"))
        item = Item(home + "@" + (kind if kind != "snapshot" else "ete"), "theft")
        marker = self.text()
        secret = (marker + "\n").encode() * 4
        target, said = self.place(home, "victim%d.txt" % number)
        how = self.rng.choice(("file", "file", "link", "dirlink", "hard", "outside", "absolute", "fifo", "device",
                               "directory", "proc", "mount", "many", "loop", "newline", "self", "dangling"))
        if how in ("file", "link", "dirlink", "hard", "many"):
            self.put(target, secret)
            self.holds(target, texts=[marker])
            if how in ("file", "many"):
                item.members.append(target)
                item.valid = kind == "ntrace"
        full = os.path.join(self.top, home)
        if how == "link":
            self.link(said, os.path.join(home, "link%d" % number))
            said = "link%d" % number
        elif how == "dirlink":
            self.link(os.path.dirname(said) or ".", os.path.join(home, "links%d" % number))
            said = "links%d/%s" % (number, os.path.basename(target))
        elif how == "hard":
            os.link(os.path.join(self.top, target), os.path.join(full, "hard%d.bin" % number))
            self.holds(os.path.join(home, "hard%d.bin" % number), texts=[marker])
            said = "hard%d.bin" % number
            item.members.append(os.path.join(home, said))
            item.valid = kind == "ntrace"
        elif how in ("outside", "absolute"):
            write(os.path.join(self.outside, "secret%d.txt" % number), secret, 0o644)
            self.holds("/nowhere", texts=[marker])
            said = os.path.join(self.outside, "secret%d.txt" % number)
            if how == "outside":
                said = os.path.relpath(said, full)
        elif how == "fifo":
            os.mkfifo(os.path.join(full, "fifo%d" % number), 0o666)
            said = "fifo%d" % number
        elif how == "device":
            os.mknod(os.path.join(full, "zero%d" % number), stat.S_IFCHR | 0o666, os.makedev(1, 5))
            said = "zero%d" % number
        elif how == "directory":
            said = "."
        elif how == "proc":
            self.link("/proc/self/environ", os.path.join(home, "proc%d" % number))
            said = "proc%d" % number
        elif how == "mount":
            said = os.path.relpath("mnt/notes.txt", home)
        elif how == "loop":
            self.link("loop%d" % number, os.path.join(home, "loop%d" % number))
            said = "loop%d" % number
        elif how == "newline":
            said = "a\\nb%d" % number
            write(os.path.join(full, "a\nb%d.stf" % number), stf_straight(self.program(), BASE))
        elif how == "self":
            said = "capture.ini" if kind != "snapshot" else "snapshot.ini"
        elif how == "dangling":
            self.link("nothing", os.path.join(home, "gone%d" % number))
            said = "gone%d" % number
        count = 300 if how == "many" else 1
        if kind == "snapshot":
            template = self.templates["ete"]
            write(os.path.join(full, "ETE_0.ini"), template["ETE_0.ini"].encode())
            write(os.path.join(full, "cpu_0.ini"), (
                "[device]\nname=cpu_0\nclass=core\ntype=ARM-AA64\n[regs]\nPC(size:64)=0x%x\n"
                "[dump0]\nfile=%s\naddress=0x%x\n" % (BASE, said, BASE)).encode())
            write(os.path.join(full, "trace.ini"), template["trace.ini"].replace("trace.bin", said).encode())
            device = said if self.rng.random() < 0.3 else "cpu_0.ini"
            self.description(item, home, "snapshot.ini", (
                "[snapshot]\nversion=1.0\n[device_list]\ndevice0=%s\ndevice1=ETE_0.ini\n[trace]\nmetadata=%s\n" %
                (device, self.rng.choice(("trace.ini", said)))))
            item.valid = False
            return
        text = "[capture]\nformat = %s\n" % kind
        where = self.rng.choice(("trace", "elf", "raw"))
        if where == "trace" or kind == "stf":
            text += ("trace = %s\n" % said) * count
            item.traces += [path for path in item.members]
            if how == "many":
                item.valid = kind == "ntrace"
        else:
            item.valid = False
            write(os.path.join(full, "trace.bin"), self.templates[kind]["trace.bin"])
            text += "trace = trace.bin\n"
        if kind == "etrace":
            text += "framing = te_inst_raw\n"
        if where == "elf" and kind != "stf":
            text += "[program]\n" + "elf = %s\n" % said
        elif where == "raw" and kind != "stf":
            text += "[program]\n" + "raw = %s, address = 0x%x\n" % (said, BASE)
        if kind != "stf":
            text += "[parameters]" + self.templates[kind]["capture.ini"].partition("[parameters]")[2]
        self.description(item, home, "capture.ini", text)

    def linked(self):
        """A description that is itself a link to a closed one, or a hard link."""
        number, home = self.number(), self.home()
        marker = self.text()
        item = Item(home + "@capture", "linked")
        target, said = self.place(home, "hidden%d.ini" % number)
        self.put(target, ("[capture]\nformat = etrace ; %s\n%s = 1\n" % (marker, marker)).encode())
        self.holds(target, texts=[marker])
        path = os.path.join(home, "capture.ini")
        if self.rng.random() < 0.5:
            self.link(said, path)
        else:
            os.link(os.path.join(self.top, target), os.path.join(self.top, path))
            self.holds(path, texts=[marker])
        self.items.append(item)

    def loose(self):
        """Files and links that are no captures."""
        for _ in range(10):
            number = self.number()
            marker = self.text()
            where = self.rng.choice(self.directories)
            path = os.path.normpath(os.path.join(where, "f%d.txt" % number))
            self.put(path, (marker + "\n").encode())
            self.holds(path, texts=[marker])
            name = self.text("name-")
            path = os.path.normpath(os.path.join(where, name))
            self.put(path, b"x\n")
            self.named(name, where)
            marker = self.text("/to-")
            link = os.path.normpath(os.path.join(where, "l%d" % number))
            self.link(marker, link)

    def fill(self, count):
        for _ in range(count):
            kind = self.rng.choice(("etrace", "ntrace", "snapshot", "stf", "several", "theft", "theft", "theft",
                                    "linked"))
            if kind in ("etrace", "ntrace"):
                self.packets(kind)
            else:
                getattr(self, kind)()
        self.loose()
        write(os.path.join(self.top, "notes.txt"), b"notes\n")
        if self.conf:
            self.conf_number = self.rng.randint(70000, 99999)
            self.put("hartfs.conf", b"etrace.sync_instructions = %d\n" % self.conf_number)

    def set_modes(self):
        for path, mode, uid, gid, entry in reversed(self.modes):
            full = os.path.join(self.top, path)
            os.chown(full, uid, gid)
            os.chmod(full, mode)
            if entry:
                os.setxattr(full, "system.posix_acl_access", entry)

    def change_modes(self):
        """Other modes for a third of all, for what is mounted already."""
        for path, _, _, _, entry in self.rng.sample(self.modes, len(self.modes) // 3):
            full = os.path.join(self.top, path)
            directory = os.path.isdir(full)
            if entry:
                os.removexattr(full, "system.posix_acl_access")
            os.chmod(full, self.rng.choice(DIR_MODES if directory else FILE_MODES))


# ---- what a user may know, and what a user sees

def walk_archive(tell, top):
    """As a user: what the kernel lets this user read, list and resolve of the archive itself."""
    known = {"read": {}, "list": {}, "link": set(), "stat": {}}
    queue = ["."]
    while queue:
        where = queue.pop()
        try:
            entries = sorted(os.listdir(os.path.join(top, where)))
            known["list"][where] = set(entries)
        except OSError:
            entries = []
        for name in entries:
            path = os.path.normpath(os.path.join(where, name))
            full = os.path.join(top, path)
            if path == "mnt":
                continue
            try:
                mode = os.lstat(full).st_mode
            except OSError:
                continue
            known["stat"][path] = mode
            if stat.S_ISDIR(mode):
                queue.append(path)
            elif stat.S_ISLNK(mode):
                known["link"].add(path)
            elif stat.S_ISREG(mode):
                try:
                    with open(full, "rb") as f:
                        known["read"][path] = f.read()
                except OSError:
                    pass
        tell(len(known["stat"]))
    tell(known)


def known_paths(tell, top, paths):
    """As a user: which of these paths, which may lie where nobody can list, can be opened, listed, resolved."""
    known = {"read": set(), "list": set(), "link": set()}
    for path in paths:
        full = os.path.join(top, path)
        for kind, ask in (("read", lambda: os.close(os.open(full, os.O_RDONLY | os.O_NONBLOCK))),
                          ("list", lambda: os.listdir(full)), ("link", lambda: os.readlink(full))):
            try:
                ask()
                known[kind].add(path)
            except OSError:
                pass
    tell(known)


def look(path, seen, mode):
    """Everything that one name of the mount gives."""
    for name in ("user.hartfs.instructions", "user.hartfs.capture", "user.hartfs.error"):
        try:
            seen["xattr"][(path, name)] = os.getxattr(path, name, follow_symlinks=False)
        except OSError:
            pass
    if stat.S_ISLNK(mode):
        seen["link"][path] = os.readlink(path)
    elif stat.S_ISREG(mode):
        try:
            with open(path, "rb") as f:
                size = os.fstat(f.fileno()).st_size
                data = f.read()
            seen["file"][path] = data
            if len(data) != size and "/.hartfs/" not in "/" + path:
                seen["size"][path] = (size, len(data))
        except OSError as error:
            seen["error"][path] = error.errno


def walk_mount(tell, top, more):
    """As a user: everything that the mount shows, and what lies at the paths more that may not be listed."""
    os.chdir(top)
    seen = {"xattr": {}, "link": {}, "file": {}, "list": {}, "size": {}, "error": {}, "stat": set()}
    queue = ["."] + more
    while queue:
        path = queue.pop()
        if path in seen["stat"]:
            continue
        try:
            mode = os.lstat(path).st_mode
        except OSError as error:
            seen["error"][path] = error.errno
            continue
        seen["stat"].add(path)
        if stat.S_ISDIR(mode):
            try:
                names = os.listdir(path)
                seen["list"][path] = names
                queue += [os.path.normpath(os.path.join(path, name)) for name in names]
            except OSError as error:
                seen["error"][path] = error.errno
            if re.fullmatch(r".*@\w+/hart\d+", path):
                queue += [path + "/at/0-10", path + "/at/5-"]
        look(path, seen, mode)
        tell(len(seen["stat"]))
    os.chdir("/")
    tell(seen)


WORD = re.compile(rb"(?<![0-9a-f])[0-9a-f]{8}(?![0-9a-f])")


class Judge:
    """What one user saw of one archive, against what the kernel says this user may know."""

    def __init__(self, maker, user, archive, paths, seen):
        self.maker, self.user, self.archive, self.paths, self.seen = maker, user, archive, paths, seen
        self.faults = []

    def may(self, holders):
        for kind, path in holders:
            if path in self.paths[kind] or path in self.archive[kind]:
                return True
        return False

    def tell(self, path, text):
        view = next((item for item in self.maker.items if path == item.view or path.startswith(item.view + "/")), None)
        self.faults.append((view, "%s %s: %s" % (self.user, path, text)))

    def markers(self, path, data):
        for text in set(TEXT.findall(data)):
            holders = self.maker.text_holders.get(text.decode())
            if holders and text.decode() not in path and not self.may(holders):
                self.tell(path, "leaks %s of %s" % (text.decode(), holders))
                return
        if "@" not in path:
            return
        for token in set(WORD.findall(data)):
            holders = self.maker.holders.get(int(token, 16))
            if holders and not self.may(holders):
                self.tell(path, "leaks the opcode %s of %s" % (token.decode(), holders))
                return
        if path.endswith((".elf", ".stf", ".bin")):
            self.binary(path, data)

    def binary(self, path, data):
        for shift in range(4):
            for (word,) in struct.iter_unpack("<I", data[shift:len(data) - (len(data) - shift) % 4]):
                holders = self.maker.holders.get(word)
                if holders and not self.may(holders):
                    self.tell(path, "leaks the word %08x of %s" % (word, holders))
                    return

    def leaks(self):
        for path, data in self.seen["file"].items():
            self.markers(path, data)
            if "@" not in path and not path.startswith(".hartfs") and path not in self.archive["read"] and \
                    path not in self.paths["read"]:
                self.tell(path, "can be read, and in the archive it cannot")
            if path.startswith(".hartfs/"):
                self.tell(path, "is the mounter's alone")
        for (path, name), value in self.seen["xattr"].items():
            self.markers(path, value)
        for path, value in self.seen["link"].items():
            self.markers(path, value.encode())
        for path, names in self.seen["list"].items():
            self.markers(path, "\n".join(names).encode(errors="surrogateescape"))

    def closed(self):
        """Views of which a member cannot be read."""
        for item in self.maker.items:
            if not item.valid:
                continue
            hidden = [path for path in item.members if not self.may([("read", path)])]
            traces = [path for path in item.traces if not self.may([("read", path)])]
            for path in self.seen["file"]:
                if path.startswith(item.view + "/"):
                    bad = traces if os.path.basename(path) in ("source.bin", "records.txt", "source.stf") else hidden
                    if bad:
                        self.tell(path, "can be read, and its member %s cannot" % bad[0])
                        break
            for path, name in self.seen["xattr"]:
                if hidden and name == "user.hartfs.instructions" and (path + "/").startswith(item.view + "/"):
                    self.tell(path, "%s can be read, and the member %s cannot" % (name, hidden[0]))
                    break

    def conf_leak(self):
        maker = self.maker
        if maker.conf and not self.may([("read", "hartfs.conf")]):
            for path, data in self.seen["file"].items():
                if path.endswith("etrace/capture.ini") and b"%d" % maker.conf_number in data:
                    self.tell(path, "has what hartfs.conf says, which cannot be read")
                    break

    def conf_closes(self):
        """All views: hartfs.conf was closed to others when the archive was mounted, or is closed now."""
        return self.maker.conf and self.user != "root" and not (self.maker.conf_was_open and self.simple("hartfs.conf"))

    def lost(self):
        """What everybody may read must be readable, and right."""
        for path, data in self.archive["read"].items():
            got = self.seen["file"].get(path)
            if got == data or (got is None and not self.simple(path)):
                continue
            self.tell(path, "is not as in the archive: %s" % self.seen["error"].get(path, "other bytes or not shown"))
        if self.conf_closes():
            return
        for item in self.maker.items:
            if item.valid and item.words and all(self.simple(path) for path in item.members + item.beside):
                self.listing(item)

    def simple(self, path):
        """Everybody may read it, without any ACL, and reach it."""
        if self.user == "root":
            return True
        parts = path.split("/")
        return all(self.maker.open_to_all("/".join(parts[:i + 1]), i + 1 < len(parts)) for i in range(len(parts)))

    def listing(self, item):
        harts = [path for path in self.seen["file"] if path.startswith(item.view + "/hart") and
                 path.count("/") == item.view.count("/") + 2 and path.endswith("/listing.txt")]
        if len(harts) != 1:
            self.tell(item.view, "has no listing: %s %s" % (
                self.seen["list"].get(item.view),
                self.seen["file"].get(item.view + "/errors.txt", b"?").decode(errors="replace")[:200]))
            return
        got = [int(line.split()[3], 16) for line in self.seen["file"][harts[0]].decode().splitlines()
               if not line.startswith("#")]
        if got != item.words:
            self.tell(item.view, "listing has %d instructions that are not those of the program" % len(got))

    def all(self):
        if self.user != "root":
            self.leaks()
            self.closed()
            self.conf_leak()
        self.lost()
        for path, (told, read) in self.seen["size"].items():
            self.tell(path, "says %d bytes and has %d" % (told, read))
        return self.faults


def open_to_all(top):
    def ask(path, directory):
        full = os.path.join(top, path)
        try:
            mode = os.lstat(full).st_mode
            if any(name.startswith("system.posix_acl") for name in os.listxattr(full, follow_symlinks=False)):
                return False
        except OSError:
            return False
        if stat.S_ISLNK(mode):
            return False
        want = 0o555 if directory else 0o444
        return mode & want == want
    return ask


def make_templates(attack):
    """Packets of a straight run of WORDS instructions; any program of that length will do for them."""
    staging, out = attack.path("staging"), attack.path("templates")
    write(staging + "/r.stf", stf_straight([0x1037 + (i << 12) for i in range(WORDS)], BASE))
    write(staging + "/a.stf", stf_straight([0xd2800000 + (i << 5) for i in range(WORDS)], BASE, STF_ARM))
    unpack_views(attack, staging, "r@stf", ["etrace", "ntrace"], out)
    unpack_views(attack, staging, "a@stf", ["ete"], out)
    templates = {}
    for view in os.listdir(out):
        templates[view] = {}
        for name in os.listdir(os.path.join(out, view)):
            data = open(os.path.join(out, view, name), "rb").read()
            templates[view][name] = data.decode() if name.endswith(".ini") else data
    return templates


def judge_all(attack, maker, mount, top):
    """What all users see, judged: a list of (item, text)."""
    faults = []
    more = [item.view for item in maker.items]
    # Every path there is, since a user may know what cannot be listed.
    paths = sorted(call(attack, walk_archive, top)["stat"])
    for user in READERS + ("root",):
        archive = call(attack, walk_archive, top, user=user)
        known = call(attack, known_paths, top, paths, user=user)
        seen = call(attack, walk_mount, mount.point, [] if user == "root" else more + paths, user=user, mount=mount)
        faults += Judge(maker, user, archive, known, seen).all()
    return faults


def tell_faults(attack, number, faults, keep):
    """Each description that is wrong counts once."""
    by_item = {}
    for item, text in faults:
        by_item.setdefault(item, []).append(text)
    for item, texts in by_item.items():
        attack.fault("%s: %s%s" % (item.kind if item else "archive", texts[0],
                                   " (and %d more)" % (len(texts) - 1) if len(texts) > 1 else ""),
                     keep=keep if attack.faults == 0 else (), what=item)


def run_round(attack, number, count, templates):
    rng = attack.rng(number)
    attack.begin(number, weight=count)
    base = attack.path("round")
    top, outside, index, point = (os.path.join(base, name) for name in ("archive", "outside", "index", "mnt"))
    for path in (base, top, outside):
        os.mkdir(path)
    inside = rng.random() < 0.3
    if inside:
        point = os.path.join(top, "mnt")
    os.mkdir(point)
    words = rng.sample(range(0x1000, 1 << 20), count * WORDS * 2 + 100)
    maker = Maker(attack, rng, top, outside, templates, words, conf=rng.random() < 0.5)
    maker.open_to_all = open_to_all(top)
    maker.fill(count)
    maker.set_modes()
    maker.conf_was_open = maker.conf and maker.open_to_all("hartfs.conf", False)
    mount = Mount(attack, top, index, point, ["-o", "allow_other"], log=os.path.join(base, "log.txt"))
    try:
        mount.start("--wait", status=(0, 3))
        tell_faults(attack, number, judge_all(attack, maker, mount, top), [top, mount.log])
        if rng.random() < 0.5:
            changed_modes(attack, maker, mount, top, number)
        for line in mount.complaints():
            attack.fault(line, keep=[top, mount.log])
        if not mount.connection():
            attack.fault("the server ended", keep=[top, mount.log])
        else:
            mount.umount()
    except Wrong as error:
        attack.fault(str(error), keep=[top, mount.log])
    finally:
        mount.destroy()
        attack.mounts.remove(mount)
        shutil.rmtree(base, ignore_errors=True)


def changed_modes(attack, maker, mount, top, number):
    """Modes change under the mount: it follows, within the seconds that the kernel may believe attributes."""
    maker.change_modes()
    end = time.monotonic() + attack.patience
    while True:
        time.sleep(6)
        faults = judge_all(attack, maker, mount, top)
        if not faults or time.monotonic() > end:
            break
    tell_faults(attack, number, [(item, "after chmod: " + text) for item, text in faults], [top, mount.log])


def main(attack):
    templates = make_templates(attack)
    rounds = (attack.options.count + ROUND - 1) // ROUND
    left = attack.options.count
    for number in range(rounds):
        count = min(ROUND, left)
        left -= count
        if attack.options.only is not None and attack.options.only != number:
            continue
        run_round(attack, number, count, templates)
        attack.log("%d descriptions, %d wrong" % (attack.tried, attack.wrong))


Attack("descriptions").run(main)
