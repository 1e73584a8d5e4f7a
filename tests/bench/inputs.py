# SPDX-License-Identifier: Apache-2.0
"""The captures that the bench table is measured on: made once, of a corpus, and kept in the work directory."""
import os
import shutil
import subprocess


class Inputs:
    def __init__(self, corpus, work, tools):
        self.corpus, self.tools = corpus, tools
        self.made = os.path.join(work, "inputs")
        os.makedirs(self.made, exist_ok=True)

    def path(self, *parts):
        """A capture of the corpus."""
        return os.path.join(self.corpus, *parts)

    def make(self, name, command):
        """A file that a command writes, whose last argument is its path."""
        path = os.path.join(self.made, name)
        if not os.path.exists(path):
            part = os.path.join(self.made, "part." + name)
            subprocess.run(command + [part], check=True, stdout=subprocess.DEVNULL)
            os.rename(part, path)
        return path

    def stf(self, count, chunk=100000):
        """So many instructions of rv-small, in a .zstf with chunks of so many or, for 0, plain."""
        name = "rv-%d%s" % (count, ".zstf" if chunk else ".stf")
        return self.make(name, [os.path.join(self.tools, "make_trace"), str(count), str(chunk),
                                self.path("qemu", "rv-small", "trace.stf.xz")])

    def real(self, count):
        """So many instructions of a program no block of which repeats bit for bit, as .zstf: make_run."""
        return self.make("run-%d.zstf" % count, [os.path.join(self.tools, "make_run"), "1", str(count), "stf"])

    def packed(self, plain, suffix, command):
        """A plain file, packed by a command that writes to its standard output."""
        path = plain + suffix
        if not os.path.exists(path):
            with open(path + ".part", "wb") as out:
                subprocess.run(command + [plain], stdout=out, check=True)
            os.rename(path + ".part", path)
        return path

    def alone(self, path, stem="capture"):
        """An archive with that capture alone."""
        directory = os.path.join(self.made, "alone-" + os.path.basename(path))
        os.makedirs(directory, exist_ok=True)
        target = os.path.join(directory, stem + os.path.basename(path)[os.path.basename(path).index("."):])
        if not os.path.exists(target):
            os.link(path, target)
        return directory

    def tiny(self):
        """A capture of 50 instructions."""
        return self.make("tiny.stf", [os.path.join(self.tools, "make_trace"), "50", "0",
                                      self.path("qemu", "rv-small", "trace.stf.xz")])

    def views(self, build, capture, view):
        """A view that is a directory, copied out of a capture."""
        path = os.path.join(self.made, "%s-%s" % (os.path.basename(os.path.dirname(capture)), view))
        if not os.path.exists(path):
            shutil.rmtree(path + ".part", ignore_errors=True)
            os.makedirs(path + ".part/mnt")
            mount = [build, "mount", "--wait", "--index-dir", path + ".part/index", os.path.dirname(capture),
                     path + ".part/mnt"]
            subprocess.run(mount, check=True)
            name = os.path.basename(capture)
            shutil.copytree("%s/mnt/%s@%s/hart0/%s" % (path + ".part", name.partition(".")[0],
                                                       name.split(".")[1], view), path + ".part/out")
            subprocess.run([build, "umount", path + ".part/mnt"], check=True)
            os.rename(path + ".part/out", path)
            shutil.rmtree(path + ".part")
        return path
