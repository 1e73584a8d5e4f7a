# SPDX-License-Identifier: Apache-2.0
"""Small captures of every format, made here, and the truth about them."""
import gzip
import lzma
import os
import random
import shutil
import struct
import subprocess

from common import Mount, Wrong, tree_of

STF_RISCV, STF_ARM = 1, 2


def stf_header(base, isa=STF_RISCV, comment=b"attack"):
    return b"".join([
        b"\x01STF", b"\x02" + struct.pack("<II", 1, 6), b"\x03" + struct.pack("<I", len(comment)) + comment,
        b"\x04" + struct.pack("<H", isa), b"\x05" + struct.pack("<H", 2),
        b"\x06" + struct.pack("<BBBBH", 1, 1, 0, 0, 6) + b"attack", b"\x07" + struct.pack("<Q", 0x80008),
        b"\x09" + struct.pack("<Q", base), b"\x13"])


def jal(offset):
    """jal x0, offset."""
    o = offset & 0x1fffff
    return (o >> 20) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12 | 0x6f


def stf_straight(words, base, isa=STF_RISCV):
    """A capture that executes these words once, in order."""
    return stf_header(base, isa) + b"".join(b"\xf0" + struct.pack("<I", word) for word in words)


def stf_loop(rng, insns, base=0x10000):
    """A capture of about so many instructions: a loop with loads of random data."""
    body = []
    for _ in range(rng.randint(5, 40)):
        body.append(rng.choice(["lui", "lui", "load", "nop"]))
    words = {"lui": lambda: rng.getrandbits(20) << 12 | 0x37, "load": lambda: 0x0000b083, "nop": lambda: 0x0001}
    code = [(kind, words[kind]()) for kind in body]
    length = sum(2 if kind == "nop" else 4 for kind, _ in code)
    out = [stf_header(base, comment=b"%016x" % rng.getrandbits(64))]
    done = 0
    while done < insns:
        for kind, word in code:
            if kind == "nop":
                out.append(b"\xf1" + struct.pack("<H", word))
            elif kind == "load":
                out.append(b"\x3c" + struct.pack("<QHHB", rng.getrandbits(30) << 3, 8, 0, 1))
                out.append(b"\x3d" + struct.pack("<Q", rng.getrandbits(64)))
                out.append(b"\xf0" + struct.pack("<I", word))
            else:
                out.append(b"\xf0" + struct.pack("<I", word))
        out.append(b"\x1f" + struct.pack("<Q", base) + b"\xf0" + struct.pack("<I", jal(-length)))
        done += len(code) + 1
    return b"".join(out)


def elf(words, base, symbols=(), machine=243):
    """An executable for RISC-V (243) or AArch64 (183) with these words at base and symbols (name, address)."""
    text = b"".join(struct.pack("<I", word) for word in words)
    strings, table = b"\0", bytes(24)
    for name, address in symbols:
        table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, address, len(text))
        strings += name.encode() + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    at = 64 + 56
    places = []
    for part in (text, table, strings, names):
        places.append((at, len(part)))
        at += len(part) + -len(part) % 8
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, base, 64, at, 0, 64, 56, 1, 64, 5, 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, places[0][0], base, base, len(text), len(text), 8)
    sections = bytes(64)
    for name, kind, flags, address, (offset, size), link, info, entry in (
            (1, 1, 6, base, places[0], 0, 0, 0), (7, 2, 0, 0, places[1], 3, 1, 24),
            (15, 3, 0, 0, places[2], 0, 0, 0), (23, 3, 0, 0, places[3], 0, 0, 0)):
        sections += struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, info, 8, entry)
    out = header + segment
    for part in (text, table, strings, names):
        out += part + bytes(-len(part) % 8)
    return out + sections


def zst(data):
    done = subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout


def write(path, data, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, mode)
    return path


def unpack_views(attack, archive, capture, views, target):
    """Copies view directories of a capture (a path of its view directory) out of an undisturbed mount of archive."""
    point, index = attack.path("template.mnt"), attack.path("template.index")
    os.makedirs(point, exist_ok=True)
    mount = Mount(attack, archive, index, point, log=attack.path("template.log"))
    mount.start("--wait")
    for view in views:
        shutil.copytree(os.path.join(point, capture, "hart0", view), os.path.join(target, view))
        for name in os.listdir(os.path.join(target, view)):
            os.chmod(os.path.join(target, view, name), 0o644)
        os.chmod(os.path.join(target, view), 0o755)
    mount.umount()
    shutil.rmtree(index)


def small_archive(attack, archive, insns=3000, seed=0):
    """Writes captures of every format and container into archive, all small."""
    rng = random.Random(seed)
    write(archive + "/plain/a.stf", stf_loop(rng, insns))
    write(archive + "/plain/a.elf", elf([0x13] * 8, 0x10000, [("start_of_a", 0x10000)]))
    write(archive + "/plain/cut.stf", stf_loop(rng, insns // 2)[:-7])
    write(archive + "/boxes/g.stf.gz", gzip.compress(stf_loop(rng, insns), mtime=0))
    write(archive + "/boxes/x.stf.xz", lzma.compress(stf_loop(rng, insns)))
    write(archive + "/boxes/z.stf.zst", zst(stf_loop(rng, insns)))
    torn = gzip.compress(stf_loop(rng, insns), mtime=0)
    write(archive + "/boxes/torn.stf.gz", torn[:len(torn) * 2 // 3])
    for name in ("figure.astf", "tables.astf"):
        write(archive + "/astf/" + name, open(os.path.join(attack.data, "astf", name), "rb").read())
    write(archive + "/notes.txt", b"no capture\n" * 100)
    staging = attack.path("staging")
    write(staging + "/r.stf", stf_loop(rng, insns))
    write(staging + "/figure.astf", open(os.path.join(attack.data, "astf", "figure.astf"), "rb").read())
    unpack_views(attack, staging, "r@stf", ["etrace", "ntrace"], archive + "/packets")
    unpack_views(attack, staging, "figure@astf", ["ete"], archive + "/packets")
    shutil.rmtree(staging)
    corpus = os.environ.get("HARTFS_CORPUS")
    if corpus:
        corpus_captures(corpus, archive, rng)
    # The names of their indexes are hashes that have these times in them: a seed is to mean the same again.
    for directory, _, names in os.walk(archive):
        for name in names:
            os.utime(os.path.join(directory, name), (1e9, 1e9))


def corpus_captures(corpus, archive, rng):
    """A few small captures of the corpus."""
    for source, kind in (("ete/snapshots", "snapshot.ini"), ("stf/edge", ".stf"), ("stf/harts", ".stf")):
        found = []
        for directory, _, names in os.walk(os.path.join(corpus, source)):
            size = sum(os.path.getsize(os.path.join(directory, name)) for name in names)
            if kind == "snapshot.ini" and kind in names and size < 100000:
                found.append(directory)
            elif kind != "snapshot.ini":
                found += [os.path.join(directory, name) for name in names
                          if name.endswith(kind) and os.path.getsize(os.path.join(directory, name)) < 30000]
        for path in rng.sample(sorted(found), min(2, len(found))):
            target = os.path.join(archive, "corpus", os.path.basename(path))
            if os.path.isdir(path):
                shutil.copytree(path, target, copy_function=shutil.copyfile)
            else:
                write(target, open(path, "rb").read())


def truth_of(attack, archive, options=(), index=None):
    """Digests of every file of an undisturbed mount of archive, checked by hartfs verify and by a second mount."""
    point = attack.path("truth.mnt")
    keep = index is not None
    index = index or attack.path("truth.index")
    os.makedirs(point, exist_ok=True)
    mount = Mount(attack, archive, index, point, options, log=attack.path("truth.log"))
    mount.start("--wait", status=(0, 3))
    truth = tree_of(attack, mount)
    mount.umount()
    checks = [option for option in options if option.startswith(("--chunk", "--views", "--cache"))]
    done = mount.command("verify", *checks, archive)
    if done.status not in (0, 3):
        raise Wrong("verify of an undisturbed index ends with %s: %s" % (done.status, done.text[-300:]))
    mount.start("--wait", status=(0, 3))
    again = tree_of(attack, mount)
    mount.umount()
    if not keep:
        shutil.rmtree(index)
    bad = {path: got for path, got in truth.items() if got[0] != "ok"}
    # A decompression that fails is an error of reading, always.
    if any(got[0] == "size" for got in bad.values()):
        raise Wrong("sizes of an undisturbed mount are not those of the files: %s" % bad)
    if again != truth:
        raise Wrong("two undisturbed mounts differ: %s" % [p for p in truth if truth[p] != again.get(p)][:3])
    return {path: got for path, got in truth.items() if got[0] == "ok"}
