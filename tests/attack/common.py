# SPDX-License-Identifier: Apache-2.0
"""What the attacks share: cases with seeds, mounts that are watched, children that may hang."""
import argparse
import ctypes
import errno
import hashlib
import io
import json
import os
import pickle
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback



class Wrong(Exception):
    """The program under attack did what it must not do."""


class Hung(Wrong):
    """Something did not end. The connection of the mount was aborted."""


class Attack:
    """One attack: its options, its cases, its score."""

    def __init__(self, name):
        parser = argparse.ArgumentParser(prog=name)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--count", type=int, default=10, help="cases")
        parser.add_argument("--only", type=int, help="this case alone")
        parser.add_argument("--binary", required=True, help="the hartfs to attack")
        parser.add_argument("--keep", help="directory for what reproduces a failure")
        parser.add_argument("--result", help="file for the line of the table")
        parser.add_argument("--patience", type=float, default=600, help="seconds without progress that are a hang")
        parser.add_argument("--data", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
        self.options = parser.parse_args()
        self.name = name
        self.binary = os.path.abspath(self.options.binary)
        self.data = os.path.abspath(self.options.data)
        self.patience = self.options.patience
        self.tried = self.wrong = 0
        self.case = None
        self.faults = 0
        self.mounts = []
        os.umask(0o022)
        os.environ["LC_ALL"] = "C"
        # Servers that lose their supervisor become ours, so that they are waited for.
        ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)
        self.work = tempfile.mkdtemp(prefix="hartfs-attack-%s." % name)
        os.chmod(self.work, 0o755)
        # Not where systems have it: the program has to do without.
        self.fusectl = os.path.join(self.work, "fusectl")
        os.mkdir(self.fusectl)
        subprocess.run(["mount", "-t", "fusectl", "none", self.fusectl], check=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(130))

    def path(self, *names):
        return os.path.join(self.work, *names)

    def log(self, text):
        print("%s: %s" % (self.name, text), flush=True)

    def rng(self, *more):
        return random.Random(":".join(map(str, (self.name, self.options.seed) + more)))

    def cases(self):
        """The numbers of the cases to run."""
        if self.options.only is not None:
            return [self.options.only]
        return range(self.options.count)

    def begin(self, case, weight=1):
        """Case is so many tries."""
        self.case, self.faults, self.counted = case, 0, set()
        self.tried += weight

    def fault(self, text, keep=(), what=None):
        """Tells a fault of the case, keeps what reproduces it, and counts it unless this what was counted before."""
        if what not in self.counted:
            self.counted.add(what)
            self.wrong += 1
        self.faults += 1
        if self.faults > 20:
            return
        print("WRONG: %s: --seed %d --only %s: %s" % (self.name, self.options.seed, self.case, text), flush=True)
        if not self.options.keep or self.faults > 1:
            return
        where = os.path.join(self.options.keep, "%s-%d-%s" % (self.name, self.options.seed, self.case))
        os.makedirs(where, exist_ok=True)
        with open(os.path.join(where, "what.txt"), "a") as out:
            out.write("python3 tests/attack/%s.py --binary %s --seed %d --only %s\n%s\n" %
                      (self.name, self.options.binary, self.options.seed, self.case, text))
        for path in keep:
            if not os.path.exists(path):
                continue
            size = sum(os.lstat(os.path.join(d, f)).st_size for d, _, fs in os.walk(path) for f in fs)
            if size < 64 << 20:
                subprocess.run(["cp", "-a", path, where + "/"], check=False, stderr=subprocess.DEVNULL)
        print("kept in %s" % where, flush=True)

    def progress(self, case):
        if case % 50 == 49:
            self.log("%d cases, %d wrong" % (case + 1, self.wrong))

    def end(self):
        """Cleans up, writes the line of the table and ends the program."""
        self.clean()
        line = "%-14s %8d %8d %8d" % (self.name, self.tried, self.tried - self.wrong, self.wrong)
        if self.options.result:
            with open(self.options.result, "a") as out:
                out.write(line + "\n")
        else:
            print("attack            tried survived    wrong\n" + line)
        sys.exit(1 if self.wrong else 0)

    def clean(self):
        for mount in self.mounts:
            mount.destroy()
        subprocess.run(["umount", "-l", self.fusectl], check=False, stderr=subprocess.DEVNULL)
        for point in mounted_below(self.work):
            subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)
        if not mounted_below(self.work):
            shutil.rmtree(self.work, ignore_errors=True)

    def run(self, main):
        """main(self) in a frame that always cleans up."""
        try:
            main(self)
        except SystemExit:
            self.clean()
            raise
        except BaseException:
            traceback.print_exc()
            self.wrong += 1
        self.end()


def mounted_below(path):
    with open("/proc/self/mountinfo") as f:
        points = [line.split()[4].encode().decode("unicode_escape") for line in f]
    return sorted((p for p in points if p.startswith(path + "/")), key=len, reverse=True)


# What children ended with that were collected here, and so by nobody who waits for them.
REAPED = {}


def reap():
    """Collects children that have ended; of servers we are the parent when their supervisor is gone."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            REAPED[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        pass


def proc_stat(pid):
    """(state, parent) of a process, or None."""
    try:
        with open("/proc/%s/stat" % pid) as f:
            fields = f.read().rpartition(")")[2].split()
        return fields[0], int(fields[1])
    except (OSError, IndexError):
        return None


def threads(pid):
    """States of the threads that have not ended. A process whose first thread has may have others, which hang."""
    try:
        tasks = os.listdir("/proc/%d/task" % pid)
    except OSError:
        return ""
    states = [proc_stat("%d/task/%s" % (pid, task)) for task in tasks]
    return "".join(state[0] for state in states if state and state[0] not in "ZX")


def alive(pid):
    return bool(threads(pid))


def wait_for(condition, seconds, step=0.02):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


class Command:
    """A program that runs under a limit, and whose end is not awaited if it cannot be killed."""

    def __init__(self, argv, seconds, env=None):
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)
            end = time.monotonic() + seconds
            self.status = None
            while self.status is None and time.monotonic() < end:
                self.status = process.poll()
                if self.status is None:
                    time.sleep(0.005)
            self.hung = self.status is None
            if self.hung:
                process.kill()
                wait_for(lambda: process.poll() is not None, 5)
            out.seek(0)
            self.text = out.read().decode(errors="replace").strip()


class Mount:
    """An archive on a mountpoint."""

    def __init__(self, attack, archive, index, point, options=(), log=None):
        self.attack, self.archive, self.index, self.point = attack, archive, index, point
        self.options = list(options)
        self.log = log or attack.path("log.txt")
        self.connections = {}
        attack.mounts.append(self)

    def command(self, name, *args, seconds=None):
        argv = [self.attack.binary, name, "--index-dir", self.index, *args]
        return Command(argv, seconds or self.attack.patience)

    def start(self, *options, status=(0,)):
        """Mounts. Raises Wrong if that fails, Hung if it does not end."""
        done = self.try_start(*options)
        if done.status not in status:
            raise Wrong("mount ended with %s: %s; its log: %s" % (done.status, done.text[-300:], self.log_tail()))
        if not self.connection():
            raise Wrong("mount ended with %s, but nothing is mounted: %s" % (done.status, done.text[-300:]))
        return done

    def try_start(self, *options):
        done = self.command("mount", "--log", self.log, *self.options, *options, self.archive, self.point)
        if done.hung:
            self.destroy()
            raise Hung("hartfs mount does not end")
        self.connection()
        return done

    def connection(self):
        """The number of the mount's connection to the kernel, 0 if nothing is mounted."""
        number = 0
        with open("/proc/self/mountinfo") as f:
            for line in f:
                fields = line.split()
                if fields[4] == self.point and " - fuse" in line:
                    number = int(fields[2].split(":")[1])
        if number:
            self.remember(number)
        return number

    def remember(self, number):
        """Keeps a handle with which this connection, and no later one of the same number, can be aborted."""
        try:
            fd = os.open("%s/%d/abort" % (self.attack.fusectl, number), os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            return
        if self.connections.setdefault(os.fstat(fd).st_ino, fd) != fd:
            os.close(fd)

    def forget(self):
        """There is nothing left to be aborted."""
        for fd in self.connections.values():
            os.close(fd)
        self.connections = {}

    def pids(self):
        """The processes of the mount, each behind its parent: hartfs mount while it waits, supervisor, server."""
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open("/proc/%s/cmdline" % name, "rb") as f:
                    args = f.read().split(b"\0")
            except OSError:
                continue
            if len(args) > 2 and args[1] == b"mount" and self.point.encode() in args and \
                    args[0] == self.attack.binary.encode():
                found.append(int(name))
        parents = {pid: (proc_stat(pid) or ("", 0))[1] for pid in found if alive(pid)}

        def depth(pid):
            return 1 + depth(parents[pid]) if pid in parents else 0
        return sorted(parents, key=depth)

    def supervisor(self):
        pids = self.pids()
        return pids[0] if pids else 0

    def server(self):
        pids = self.pids()
        return pids[-1] if pids else 0

    def abort(self):
        for fd in self.connections.values():
            try:
                os.write(fd, b"1")
            except OSError:
                pass
        self.forget()

    def umount(self):
        """Raises Hung if the program or its processes do not end, Wrong if it fails."""
        done = Command([self.attack.binary, "umount", self.point], self.attack.patience)
        if done.hung:
            self.destroy()
            raise Hung("hartfs umount does not end")
        if done.status != 0:
            raise Wrong("umount ended with %s: %s" % (done.status, done.text[-300:]))
        if self.connection():
            raise Wrong("umount ended well and it is still mounted")
        if not wait_for(lambda: reap() or not self.pids(), self.attack.patience):
            raise Wrong("umount returned before its processes were gone: %s" % self.pids())
        self.forget()

    def destroy(self):
        """Whatever it takes: no mount and no process is left."""
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.connection()
        self.abort()
        for _ in range(10):
            if subprocess.run(["umount", "-l", self.point], check=False, stderr=subprocess.DEVNULL).returncode:
                break
        wait_for(lambda: reap() or not self.pids(), 20)

    def log_tail(self):
        try:
            with open(self.log, errors="replace") as f:
                return " | ".join(line.strip() for line in f.readlines()[-5:])[-800:]
        except OSError:
            return "none"

    def complaints(self):
        """What the log says of crashes that nobody asked for."""
        try:
            with open(self.log, errors="replace") as f:
                return [line.strip() for line in f
                        if re.search(r"Sanitizer|runtime error|Assertion|died of signal (4|6|7|8|11)$", line)]
        except OSError:
            return []


USERS = {"root": (0, 0, []), "alice": (42001, 42001, [42100]), "bob": (42002, 42002, [42100]),
         "carol": (42003, 42003, [])}
SHARED = 42100


def become(user):
    uid, gid, groups = USERS[user]
    if uid:
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)


class Child:
    """A function in a process of its own, as a user. It is called with tell(message), which also shows that it lives."""

    def __init__(self, fn, *args, user="root"):
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(read)
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                out = os.fdopen(write, "wb")

                def tell(message):
                    pickle.dump(message, out)
                    out.flush()
                become(user)
                fn(tell, *args)
                status = 0
            except BrokenPipeError:
                pass
            except BaseException as error:
                try:
                    tell(("error", "".join(traceback.format_exception(error))))
                except BaseException:
                    pass
            finally:
                os._exit(status)
        os.close(write)
        self.pipe = os.fdopen(read, "rb")
        self.fd = read
        self.buffer = b""
        self.done = False

    def messages(self, seconds):
        """Messages until the child ends; raises Hung after so many seconds without one."""
        while True:
            ready, _, _ = select.select([self.fd], [], [], seconds)
            if not ready:
                raise Hung("a reader waits for ever (%s)" % self.where())
            data = os.read(self.fd, 1 << 16)
            if not data:
                break
            self.buffer += data
            yield from self.unpickle()
        self.pipe.close()
        if not wait_for(self.ended, seconds):
            raise Hung("a reader does not end")

    def unpickle(self):
        """The messages that have come whole."""
        while self.buffer:
            stream = io.BytesIO(self.buffer)
            try:
                message = pickle.load(stream)
            except (EOFError, pickle.UnpicklingError):
                return
            self.buffer = self.buffer[stream.tell():]
            if isinstance(message, tuple) and message and message[0] == "error":
                raise RuntimeError("in a child: " + message[1])
            yield message

    def ended(self):
        if not self.done:
            try:
                self.done = os.waitpid(self.pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self.done = True
        return self.done

    def where(self):
        """State and kernel stack of the child, for the report."""
        found = proc_stat(self.pid)
        try:
            with open("/proc/%d/stack" % self.pid) as f:
                stack = " ".join(line.split()[-1].split("+")[0] for line in f.readlines()[:4])
        except OSError:
            stack = "?"
        return "%s: %s" % (found[0] if found else "gone", stack)

    def kill(self, seconds=20):
        """True if it could be killed."""
        try:
            if not self.ended():
                os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass
        return wait_for(self.ended, seconds)


def call(attack, fn, *args, user="root", mount=None):
    """The last message of fn in a child. If it hangs, the mount is aborted and Hung raised."""
    child = Child(fn, *args, user=user)
    last = None
    try:
        for message in child.messages(attack.patience):
            last = message
    except Hung:
        if mount:
            mount.destroy()
        child.kill()
        raise
    return last


# ---- trees and what is true of them

def plain_info(data):
    """info.json without what says nothing of the capture."""
    try:
        info = json.loads(data)
    except ValueError:
        return None
    if info.get("state") not in ("ready", "failed"):
        return None
    info.pop("index_size", None)
    return json.dumps(info, sort_keys=True).encode()


def read_whole(path, block=1 << 17):
    """(bytes, size by fstat) of a file; OSError as it comes."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        parts = []
        while True:
            part = os.read(fd, block)
            if not part:
                break
            parts.append(part)
        return b"".join(parts), size
    finally:
        os.close(fd)


def digest_file(path):
    """("ok", size, digest), ("err", errno), ("size", told, read) or ("not yet",)."""
    try:
        data, size = read_whole(path)
    except OSError as error:
        return ("err", error.errno)
    if os.path.basename(path) == "info.json":
        plain = plain_info(data)
        if plain is None:
            return ("not yet",)
        if len(data) != size:
            return ("size", size, len(data))
        return ("ok", 0, hashlib.sha256(plain).hexdigest())
    if len(data) != size:
        return ("size", size, len(data))
    return ("ok", size, hashlib.sha256(data).hexdigest())


def walk_files(top):
    """The regular files below top, relative, without .hartfs and without profile/, which lists more when it was looked at."""
    for directory, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name not in (".hartfs", "profile"))
        for name in sorted(files):
            path = os.path.join(directory, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            yield os.path.relpath(path, top)


def digest_tree(tell, top, paths=None):
    found = {}
    for path in paths if paths is not None else walk_files(top):
        found[path] = digest_file(os.path.join(top, path))
        tell(len(found))
    tell(found)


def tree_of(attack, mount, paths=None):
    found = call(attack, digest_tree, mount.point, paths, mount=mount)
    return found


# What is said of a capture while its views cannot be made.
STATES = ("info.json", "errors.txt")


def differences(truth, found):
    """Paths that are not as they should be: (transient, wrong)."""
    waiting, wrong = [], []
    for path, want in truth.items():
        got = found.get(path, ("err", errno.ENOENT))
        if got == want:
            continue
        if got[0] in ("err", "not yet") or (os.path.basename(path) in STATES and got[0] == "ok"):
            waiting.append((path, got))
        else:
            wrong.append((path, got, want))
    return waiting, wrong


def settle(attack, mount, truth, wrong_is_final=True):
    """Waits until all of the mount is as it should be; raises Wrong when something is wrong or stays away."""
    left = dict(truth)
    end = time.monotonic() + attack.patience
    while True:
        found = tree_of(attack, mount, sorted(left))
        waiting, wrong = differences(left, found)
        if wrong and wrong_is_final:
            raise Wrong("wrong bytes: %s: %s instead of %s, and %d more" % (*wrong[0], len(wrong) - 1))
        now = {path for path, *_ in waiting + wrong}
        if len(now) < len(left):
            end = time.monotonic() + attack.patience
        left = {path: truth[path] for path in now}
        if not left:
            return
        if time.monotonic() > end:
            names = ["%s (%s)" % (path, os.strerror(got[1]) if got[0] == "err" else got[0])
                     for path, got, *_ in waiting + wrong]
            raise Wrong("never as it should be: %d files: %s" % (len(names), ", ".join(names[:4])))
        time.sleep(0.1)
