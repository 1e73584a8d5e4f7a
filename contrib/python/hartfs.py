# SPDX-License-Identifier: Apache-2.0
"""Processor traces in Python, with the standard library alone: hartfs must be installed, or be named by $HARTFS.

    import hartfs
    with hartfs.Archive("~/traces") as archive:
        for capture in archive.captures():
            print(capture.capture, capture.format)
        for trap in archive.rows("trap", capture="boot/rv-sys.stf.gz", hart=0, cause=8):
            print(trap.ordinal, trap.name)
    with hartfs.Library("~/traces") as library:
        with library.open("boot/rv-sys@stf@gz/hart0/listing.txt") as listing:
            listing.seek(-1000, 2)
            print(listing.read().decode())

Archive asks the program, which confines itself before it decodes a capture: use it for captures of strangers. Library is
libhartfs in this process, which is not confined: views as files, and instructions as they are decoded.
"""
import collections
import ctypes
import io
import json
import os
import socket
import struct
import subprocess
import tempfile
import warnings

__all__ = ["Archive", "HartfsError", "Library"]

_MAGIC, _VERSION = 0x51534648, 3
_HELLO, _ROWS, _FAILED, _OPEN, _NEXT, _CLOSE = 1, 2, 3, 16, 17, 18
_RANGE, _EQUAL, _AMONG = 1, 2, 3
_END, _REPLY_MOST, _BATCH, _AMONG_MOST = 1, 1 << 20, 1024, 4096
_HIDDEN = 2


class HartfsError(Exception):
    """What hartfs says if something cannot be done."""


class _Bytes:
    """Reads the numbers and texts of a message (mountd/sql/PROTOCOL.md)."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        size = struct.calcsize("<" + form)
        if self.at + size > len(self.data):
            raise HartfsError("hartfs serve: a message ends before its time")
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return values if len(values) > 1 else values[0]

    def text(self):
        size = self.take("I")
        if self.at + size >= len(self.data):
            raise HartfsError("hartfs serve: a text ends before its time")
        self.at += size + 1
        return self.data[self.at - size - 1:self.at - 1].decode(errors="surrogateescape")

    def value(self):
        kind = self.take("B")
        return None if kind == 0 else self.take("q") if kind == 1 else self.text()


class _Server:
    """A running hartfs serve: sends requests, receives answers."""

    def __init__(self, words):
        self.errors = tempfile.TemporaryFile()
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(words, stdin=theirs, stdout=subprocess.DEVNULL, stderr=self.errors)
        try:
            self.tables = self._tables()
        except BaseException:
            self.close()
            raise

    def _tables(self):
        kind, message = self.answer()
        if kind != _HELLO or message.take("II") != (_MAGIC, _VERSION):
            raise HartfsError("hartfs serve has another version of the protocol than this module")
        tables = {}
        for number in range(message.take("I")):
            name, _, columns = message.text(), message.take("I"), message.take("I")
            tables[name] = number, [(message.text(), message.take("I")) for _ in range(columns)]
        return tables

    def send(self, kind, body):
        try:
            self.socket.sendall(struct.pack("<II", len(body), kind) + body)
        except OSError:
            self.died()

    def answer(self):
        size, kind = struct.unpack("<II", self.receive(8))
        if size > _REPLY_MOST:
            raise HartfsError("hartfs serve: a message is too long")
        message = _Bytes(self.receive(size))
        if kind == _FAILED:
            message.take("I")
            raise HartfsError(message.text())
        return kind, message

    def receive(self, size):
        data = bytearray()
        try:
            while len(data) < size:
                part = self.socket.recv(size - len(data))
                if not part:
                    self.died()
                data += part
        except BaseException as error:
            # What is left of an answer that was not read whole is the answer to nothing.
            self.socket.close()
            if isinstance(error, OSError):
                self.died()
            raise
        return bytes(data)

    def died(self):
        self.socket.close()
        self.process.wait()
        if self.errors.closed:
            raise HartfsError("the archive is closed")
        self.errors.seek(0)
        words = self.errors.read(4096).decode(errors="replace").strip()
        raise HartfsError(words or "hartfs serve ended with %d" % self.process.returncode)

    def close(self):
        self.socket.close()
        self.process.wait()
        self.errors.close()


class Archive:
    """An archive, or one capture, as the program hartfs shows it; a context manager. options are those of "hartfs serve", as
    words: Archive(path, "--index-dir=/srv/index", "--trust=group:team")."""

    def __init__(self, path, *options):
        self.path, self.options = os.path.expanduser(path), options
        self.program = os.environ.get("HARTFS") or "hartfs"
        self._server = _Server([self.program, "serve", "-q", *options, "--", self.path])
        #: {table: [column, ...]}, those that need a condition included; hartfs-sql(5) says what they mean
        self.tables = {name: [column for column, _ in columns] for name, (_, columns) in self._server.tables.items()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._server.close()

    def rows(self, table, columns=None, **conditions):
        """The rows of a table as named tuples, of these columns (all that are not hidden). A condition is a number, a text,
        a range(first, end), or a list of numbers: rows("access", capture="a.stf", hart=0, ordinal=range(0, 1000)).
        Addresses of 2^63 and more are negative numbers, as in SQL."""
        if table not in self._server.tables:
            raise HartfsError("there is no table '%s'" % table)
        number, known = self._server.tables[table]
        names = [name for name, _ in known]
        wanted = [name for name, flags in known if (name in columns if columns else not flags & _HIDDEN)]
        for name in [*(columns or ()), *conditions]:
            if name not in names:
                raise HartfsError("the table '%s' has no column '%s'" % (table, name))
        asked = b"".join(_condition(names.index(name), value) for name, value in conditions.items())
        bits = sum(1 << names.index(name) for name in wanted)
        return self._fetch(struct.pack("<IIIII", number, bits, 0, _BATCH, len(conditions)) + asked,
                           collections.namedtuple("Row", wanted, rename=True))

    def _fetch(self, request, row):
        self._server.send(_OPEN, request)
        cursor = None
        try:
            while True:
                _, message = self._server.answer()
                number, flags, count = message.take("III")
                cursor = None if flags & _END else number
                for _ in range(count):
                    message.take("q")
                    yield row._make([message.value() for _ in row._fields])
                if cursor is None:
                    return
                cursor = None
                self._server.send(_NEXT, struct.pack("<II", number, _BATCH))
        finally:
            if cursor is not None and self._server.socket.fileno() >= 0:
                self._server.send(_CLOSE, struct.pack("<I", cursor))

    def frame(self, table, columns=None, **conditions):
        """The same as a DataFrame of pandas, which must be installed."""
        import pandas
        rows = list(self.rows(table, columns, **conditions))
        return pandas.DataFrame(rows, columns=rows[0]._fields if rows else columns or self.tables[table])

    def captures(self):
        """The captures, with their format, size and state: rows of the table capture."""
        return self.rows("capture")

    def _run(self, *words, ends=(0,)):
        words = [self.program, words[0], *self.options, *words[1:]]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode not in ends:
            raise HartfsError(said or "hartfs %s ended with %d" % (words[1], done.returncode))
        if said:
            warnings.warn(said, stacklevel=3)
        return done.stdout

    def _place(self, capture):
        return os.path.join(self.path, capture) if capture else self.path

    def find(self, capture, *question):
        """The answers of "hartfs find", each a dict: find("boot/rv-sys.stf.gz", "--write", "80005360/8", "--last").
        capture "" is the one that the archive was opened as. What it says of a capture with problems is a warning."""
        answers = self._run("find", "--json", *question, "--", self._place(capture), ends=(0, 1))
        return [json.loads(line) for line in answers.splitlines()]

    def state(self, capture, ordinal, hart=None):
        """Registers, calls and accesses at an instruction, as far as the trace tells: a dict, see hartfs-state(1)."""
        of_hart = [] if hart is None else ["--hart=%d" % hart]
        return json.loads(self._run("state", "--json", *of_hart, "--", self._place(capture), str(ordinal)))

    def cat(self, view, offset=0, length=None):
        """Bytes of a view, or of a file of the archive: cat("boot/rv-sys@stf@gz/hart0/listing.txt", length=4096)."""
        only = [] if length is None else ["--length=%d" % length]
        return self._run("cat", "--offset=%d" % offset, *only, "--", self._place(view))


def _condition(column, value):
    head = struct.pack("<I", column)
    if isinstance(value, str):
        text = value.encode(errors="surrogateescape")
        return head + struct.pack("<II", _EQUAL, len(text)) + text + b"\0"
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise HartfsError("a range of a condition has numbers without gaps")
        return head + struct.pack("<Iqq", _RANGE, value[0], value[-1])
    if isinstance(value, int):
        return head + struct.pack("<Iqq", _RANGE, value, value)
    numbers = list(value)
    if not 1 <= len(numbers) <= _AMONG_MOST:
        raise HartfsError("a condition has 1 to %d numbers" % _AMONG_MOST)
    return head + struct.pack("<II%dq" % len(numbers), _AMONG, len(numbers), *numbers)


# ---- libhartfs: the structs of hartfs.h, which grow at their ends only ----


class _Diag(ctypes.Structure):
    _fields_ = [("error", ctypes.c_int), ("in_file", ctypes.c_bool), ("offset", ctypes.c_uint64),
                ("capture", ctypes.c_char * 4096), ("text", ctypes.c_char * 1024)]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("event_size", ctypes.c_size_t), ("archive", ctypes.c_char_p),
                ("archive_fd", ctypes.c_int), ("capture", ctypes.c_char_p), ("index", ctypes.c_char_p),
                ("index_fd", ctypes.c_int), ("index_error", ctypes.c_int), ("index_on_disk", ctypes.c_bool),
                ("cache_bytes", ctypes.c_uint64), ("stream_memory", ctypes.c_uint64), ("expansion", ctypes.c_uint64),
                ("chunk", ctypes.c_uint64), ("threads", ctypes.c_uint32), ("index_threads", ctypes.c_uint32),
                ("views", ctypes.c_char_p), ("params", ctypes.c_char_p), ("log", ctypes.c_void_p),
                ("log_ctx", ctypes.c_void_p), ("stop", ctypes.c_void_p), ("stop_ctx", ctypes.c_void_p),
                ("pack_below", ctypes.c_uint64), ("debug_dir", ctypes.c_char_p), ("debug_fd", ctypes.c_int),
                ("summary", ctypes.c_bool)]


class _File(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("size", ctypes.c_uint64), ("instructions", ctypes.c_uint64),
                ("hart", ctypes.c_uint32)]


class _Event(ctypes.Structure):
    _fields_ = [("ordinal", ctypes.c_uint64), ("pc", ctypes.c_uint64), ("target", ctypes.c_uint64),
                ("address", ctypes.c_uint64), ("data", ctypes.c_uint64), ("cause", ctypes.c_uint64),
                ("symbol", ctypes.c_char_p), ("symbol_offset", ctypes.c_uint64), ("mode", ctypes.c_char_p),
                ("opcode", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("accesses", ctypes.c_uint32),
                ("access_size", ctypes.c_uint32), ("size", ctypes.c_uint8), ("isa", ctypes.c_uint8),
                ("flow", ctypes.c_uint8)]


_Instruction = collections.namedtuple("Instruction", [name for name, _ in _Event._fields_])
_File_of = collections.namedtuple("File", "path size instructions hart")
_PER_FILE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(_File))
_PER_CAPTURE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


def _text(data):
    return None if data is None else data.decode(errors="surrogateescape")


class _View(io.RawIOBase):
    """A view as a file: its bytes are made when they are read."""

    def __init__(self, library, handle):
        self.library, self.handle, self.at = library, handle, 0
        self.size = library.lib.hartfs_view_size(handle)

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        at = offset + (0, self.at, self.size)[whence]
        if at < 0:
            raise ValueError("before the beginning of the view")
        self.at = at
        return at

    def tell(self):
        return self.at

    def readinto(self, buffer):
        size = min(len(buffer), max(self.size - self.at, 0))
        done = ctypes.c_size_t()
        if size:
            into = (ctypes.c_char * size).from_buffer(buffer)
            self.library.call("hartfs_view_read", self.handle, ctypes.c_uint64(self.at), into, ctypes.c_size_t(size),
                              ctypes.byref(done))
        self.at += done.value
        return done.value

    def instructions(self, first=0, batch=1024):
        """The instructions of the view's hart from an ordinal on, as struct hartfs_event has them."""
        events = (_Event * batch)()
        while True:
            done = ctypes.c_size_t()
            self.library.call("hartfs_view_events", self.handle, ctypes.c_uint64(first), events, ctypes.c_size_t(batch),
                              ctypes.byref(done))
            for event in events[:done.value]:
                yield _Instruction(*[_text(value) if isinstance(value, bytes) else value
                                     for value in (getattr(event, name) for name in _Instruction._fields)])
                first = event.ordinal + 1
            if not done.value:
                return

    def close(self):
        if not self.closed:
            self.library.lib.hartfs_view_close(self.handle)
        super().close()


class Library:
    """libhartfs with an archive, or one capture, opened: a context manager, whose views must be closed before it.
    index: a directory for indexes, which "hartfs --index-dir" may share; without it they are kept in memory."""

    def __init__(self, path, index=None, cache_bytes=0, library="libhartfs.so.0"):
        self.lib = ctypes.CDLL(library)
        for name in ("hartfs_view_size", "hartfs_view_close", "hartfs_close"):
            getattr(self.lib, name).argtypes = [ctypes.c_void_p]
        self.lib.hartfs_view_size.restype = ctypes.c_uint64
        path = os.fsencode(os.path.expanduser(path))
        what = {"archive" if os.path.isdir(path) else "capture": path}
        options = _Options(size=ctypes.sizeof(_Options), event_size=ctypes.sizeof(_Event), archive_fd=-1, index_fd=-1,
                           debug_fd=-1, summary=True, cache_bytes=cache_bytes, index=index and os.fsencode(index), **what)
        self.handle = ctypes.c_void_p()
        self.call("hartfs_open", ctypes.byref(options), ctypes.byref(self.handle))

    def call(self, name, *arguments):
        diag = _Diag()
        if getattr(self.lib, name)(*arguments, ctypes.byref(diag)):
            raise HartfsError(": ".join(_text(words) for words in (diag.capture, diag.text) if words))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.lib.hartfs_close(self.handle)
        self.handle = None

    def captures(self, under=""):
        """(path, view directory) of each capture at or below a path, in the order of the tree."""
        found = []
        each = _PER_CAPTURE(lambda _, path, view_dir: found.append((_text(path), _text(view_dir))) or True)
        self.call("hartfs_each_capture", self.handle, os.fsencode(under), each, None)
        return found

    def files(self, capture=""):
        """The files in a capture's view directory, which is indexed first; hart is None for a file of no hart."""
        found = []

        def add(_, file):
            file = file.contents
            found.append(_File_of(_text(file.path), file.size, file.instructions, None if file.hart == 2 ** 32 - 1 else file.hart))
            return True
        self.call("hartfs_each_file", self.handle, os.fsencode(capture), _PER_FILE(add), None)
        return found

    def _view(self, path):
        handle = ctypes.c_void_p()
        self.call("hartfs_view_open", self.handle, os.fsencode(path), ctypes.byref(handle))
        return _View(self, handle)

    def open(self, path):
        """A view, or a file of the archive, as a binary file with seek; its bytes are made when they are read."""
        return io.BufferedReader(self._view(path), 1 << 18)

    def instructions(self, path, first=0):
        """The instructions of a view's hart from an ordinal on: instructions("boot/rv-sys@stf@gz/hart0/listing.txt")."""
        with self._view(path) as view:
            yield from view.instructions(first)
