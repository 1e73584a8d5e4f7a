#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""session.py HARTFS EXTENSION ARCHIVE [OPTION...]: what a session must bear: a child that is killed, a host that wants no
more, what cannot be asked, several tables read at once, and another archive. ARCHIVE has boot/rv-sys.stf.gz."""
import contextlib
import os
import pty
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time

CAPTURE = "'boot/rv-sys.stf.gz'"
bad = 0


def fail(words):
    global bad
    bad += 1
    print("FAIL: " + words)


def connect(extension, *arguments):
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.enable_load_extension(True)
    db.load_extension(extension)
    if arguments:
        db.execute("SELECT hartfs_open(%s)" % ",".join("?" * len(arguments)), arguments).fetchall()
    return db


def children(of=None):
    """The processes that serve this one, or another one."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(open("/proc/%s/stat" % pid).read().rpartition(")")[2].split()[1])
            if parent == (of or os.getpid()) and b"\0serve\0" in open("/proc/%s/cmdline" % pid, "rb").read():
                found.append(int(pid))
        except OSError:
            pass
    return found


def worked(pid):
    """How long a process has worked."""
    return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[11:13]


def refused(db, query, words):
    try:
        rows = db.execute(query).fetchall()
        fail("%s gives %s" % (query, rows[:3]))
    except sqlite3.Error as error:
        if words not in str(error):
            fail("%s says: %s" % (query, error))


@contextlib.contextmanager
def meanwhile(act, seconds):
    """Again and again until the query has ended: before it has begun there is nothing to be hit."""
    ended = threading.Event()

    def run():
        while not ended.wait(seconds):
            act()
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def kill_child():
    for pid in children()[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def check_kill(db):
    """Killed between two rows, while it works, and while nobody asks."""
    rows = db.execute("SELECT ordinal FROM instruction(%s, 0)" % CAPTURE)
    rows.fetchone()
    os.kill(children()[0], signal.SIGKILL)
    try:
        rows.fetchall()
        fail("rows come from a process that was killed")
    except sqlite3.OperationalError:
        pass
    if db.execute("SELECT count(*) FROM instruction(%s, 0) WHERE ordinal < 10" % CAPTURE).fetchone() != (10,):
        fail("after a killed process the next query does not work")
    try:
        with meanwhile(kill_child, 0.3):
            db.execute("SELECT count(*) FROM instruction(%s, 0) AS a, instruction(%s, 0) AS b WHERE a.text = b.text || 'x'" %
                       (CAPTURE, CAPTURE)).fetchall()
        fail("a query survives its process")
    except sqlite3.OperationalError:
        pass
    if db.execute("SELECT count(*) FROM trap(%s, 0) WHERE cause = 3" % CAPTURE).fetchone()[0] < 1:
        fail("after a process that was killed at work the next query does not work")


def check_interrupt(db):
    long = "SELECT count(*) FROM instruction(%s, 0) WHERE text LIKE '%%never%%'" % CAPTURE
    with meanwhile(db.interrupt, 0.05):
        refused(db, "%s UNION ALL %s UNION ALL %s" % (long, long, long), "interrupted")
    calls = []
    child = children()[0]

    def progress():
        calls.append(1)
        if len(calls) > 3:
            os.kill(child, signal.SIGCONT)
        return len(calls) > 3
    db.set_progress_handler(progress, 1000)
    # Its process answers nothing until the query is interrupted, however fast it is.
    os.kill(child, signal.SIGSTOP)
    refused(db, "SELECT count(*) FROM call(%s, 0) WHERE name = 'never'" % CAPTURE, "interrupted")
    refused(db, long, "interrupted")
    db.set_progress_handler(None, 0)
    if db.execute("SELECT count(*) FROM function(%s, 0)" % CAPTURE).fetchone()[0] < 10:
        fail("after an interrupt the next query does not work")
    if len(children()) != 1:
        fail("an interrupt took the process")


def check_terminal(hartfs, archive, options):
    """On a terminal it is the shell of SQLite, and Ctrl-C ends a query of it and no more."""
    pid, terminal = pty.fork()
    if not pid:
        os.execv(hartfs, [hartfs, "sql", *options, archive])
    text = b""

    def read_until(words):
        nonlocal text
        while words not in text:
            try:
                text += os.read(terminal, 65536)
            except OSError:
                return fail("the shell ended: %s" % text)
        text = text[text.index(words) + len(words):]

    read_until(b"sqlite> ")
    os.write(terminal, b"SELECT count(*) FROM instruction(%s, 0) AS a, instruction(%s, 0) AS b WHERE a.text = b.text || 'x';\n" %
             (CAPTURE.encode(), CAPTURE.encode()))
    # It is under way when its process works.
    before = worked(children(pid)[0])
    while worked(children(pid)[0]) == before:
        time.sleep(0.1)
    os.write(terminal, b"\x03")
    read_until(b"nterrupt")
    os.write(terminal, b"SELECT 'found ' || count(*) FROM instruction(%s, 0) WHERE ordinal < 7;\n" % CAPTURE.encode())
    read_until(b"found 7")
    os.write(terminal, b".quit\n")
    os.waitpid(pid, 0)
    os.close(terminal)


def check_stuck(db):
    """Its process answers nothing any more, and an interrupt ends the query all the same."""
    count = "SELECT count(*) FROM function(%s, 0)" % CAPTURE
    db.execute(count).fetchall()
    os.kill(children()[0], signal.SIGSTOP)
    with meanwhile(db.interrupt, 0.1):
        refused(db, count, "interrupted")
    if db.execute(count).fetchone()[0] < 10:
        fail("after a process that was stuck the next query does not work")


# A server that says which tables there are, as the true one does, and then goes wrong.
HOSTILE = '''#!/usr/bin/python3
import os, socket, struct, subprocess, sys, time
mine = socket.socket(fileno=0)
other, true = socket.socketpair()
subprocess.Popen([%r, *sys.argv[1:]], stdin=true)
true.close()
def take(sock):
    head = sock.recv(8, socket.MSG_WAITALL)
    if len(head) < 8:
        sys.exit(0)
    return head, sock.recv(struct.unpack("<I", head[:4])[0], socket.MSG_WAITALL)
mine.sendall(b"".join(take(other)))
while True:
    kind = struct.unpack("<I", take(mine)[0][4:])[0]
    if kind not in (16, 17):
        continue
    if %r == "empty":
        mine.sendall(struct.pack("<IIIII", 12, 2, 0, 0, 0))
    elif %r == "drip":
        mine.sendall(struct.pack("<IIIII", 1 << 20, 2, 0, 0, 1))
        while True:
            mine.sendall(b"x")
            time.sleep(0.01)
    elif %r == "rows":
        mine.sendall(struct.pack("<IIIII", 12, 2, 0, 1, 5))
    elif %r == "count":
        mine.sendall(struct.pack("<IIIII", 12, 2, 0, 1, 0xffffffff))
    else:
        mine.sendall(struct.pack("<II", 0xffffffff, 2))
'''


def check_hostile(hartfs, extension, archive, options):
    """Whatever the process says, the host gets an error, and an interrupt ends the query."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "hartfs-hostile.%d" % os.getpid())
    for way, words in (("empty", "interrupted"), ("drip", "interrupted"), ("rows", "no row"), ("count", "no answer"),
                       ("long", "no answer")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(HOSTILE % (hartfs, way, way, way, way))
        os.chmod(path, 0o700)
        os.environ["HARTFS"] = path
        db = connect(extension, archive, *options)
        os.environ["HARTFS"] = hartfs
        with meanwhile(db.interrupt, 0.3) if words == "interrupted" else contextlib.nullcontext():
            refused(db, "SELECT ordinal FROM instruction(%s, 0)" % CAPTURE, words)
        db.close()
    os.unlink(path)


def check_refusals(extension, archive, db):
    refused(connect(extension), "SELECT hartfs_open('/no/such/archive')", "there is no such file")
    refused(connect(extension), "SELECT * FROM instruction", "no such table")
    refused(connect(extension), "SELECT hartfs_open()", "a path is needed")
    refused(connect(extension), "SELECT hartfs_open('%s', 'x')" % archive, "an option begins with --")
    refused(connect(extension), "SELECT hartfs_open('%s'%s)" % (archive, ", '-q'" * 32), "more than 31 options")
    refused(connect(extension), "SELECT hartfs_open('%s', '--nonsense')" % archive, "unknown option")
    refused(db, "SELECT * FROM instruction", "of which capture?")
    refused(db, "SELECT * FROM instruction('no.stf', 0)", "there is no capture 'no.stf'")
    refused(db, "SELECT * FROM instruction('boot', 0)", "'boot' is no capture")
    refused(db, "SELECT * FROM instruction('../outside.stf', 0)", "there is no capture")
    refused(db, "SELECT * FROM instruction('%s/boot/rv-sys.stf.gz', 0)" % archive, "there is no capture")
    refused(db, "SELECT * FROM stack(%s, 0)" % CAPTURE, "at which instruction?")
    refused(db, "DELETE FROM instruction", "may not be modified")
    db.execute("CREATE VIEW sneaky AS SELECT * FROM instruction(%s, 0)" % CAPTURE)
    refused(db, "SELECT * FROM sneaky LIMIT 1", "unsafe use of virtual table")
    for query in ("instruction(%s, 7)", "instruction(%s, NULL)", "instruction(%s, 0) WHERE ordinal = NULL",
                  "instruction(%s, 0) WHERE ordinal > 9223372036854775807", "access(%s, 0) WHERE touches = 1",
                  "instruction(%s, 0) WHERE ordinal = 5 AND ordinal = 6"):
        rows = db.execute("SELECT * FROM " + query % CAPTURE).fetchall()
        if rows:
            fail("%s has rows: %s" % (query, rows[:2]))


def check_functions(db):
    for query, want in (("addr('ffffffff80001844')", -2147477436), ("addr('0x10')", 16), ("addr('')", None),
                        ("addr('xyz')", None), ("addr('11112222333344445')", None), ("hex64(-1)", "f" * 16),
                        ("hex64('x')", None), ("addr(hex64(-5))", -5), ("addr(NULL)", None)):
        got = db.execute("SELECT " + query).fetchone()[0]
        if got != want:
            fail("%s is %r" % (query, got))


def check_many(db):
    """Several cursors at once, and rows of others between them."""
    first = db.execute("SELECT ordinal FROM instruction(%s, 0) ORDER BY ordinal" % CAPTURE)
    last = db.execute("SELECT ordinal FROM instruction(%s, 0) ORDER BY ordinal DESC" % CAPTURE)
    for i in range(3000):
        if first.fetchone()[0] != i or last.fetchone()[0] != 873594 - i:
            return fail("two cursors at once, row %d" % i)
        if i % 1000 == 0 and db.execute("SELECT count(*) FROM capture").fetchone()[0] < 1:
            return fail("a third table between them")
    both = db.execute("SELECT count(*) FROM instruction(%s, 0) AS i JOIN access(%s, 0) AS a ON a.ordinal = i.ordinal "
                      "WHERE i.ordinal < 2000" % (CAPTURE, CAPTURE)).fetchone()[0]
    one = db.execute("SELECT count(*) FROM access(%s, 0) WHERE ordinal < 2000" % CAPTURE).fetchone()[0]
    if both != one or not one:
        fail("a join has %d rows, not %d" % (both, one))
    rows = db.execute("SELECT rowid FROM access(%s, 0) WHERE ordinal < 20000" % CAPTURE).fetchall()
    if len(set(rows)) != len(rows):
        fail("two rows of one number")


def check_wire(hartfs, archive, options):
    """What is no request ends the process, and no more than that."""
    for data in (b"\0" * 64, struct.pack("<II", 1 << 31, 16), struct.pack("<II", 4, 17) + b"\0" * 4,
                 struct.pack("<II", 28, 16) + struct.pack("<IIIIQI", 999, 1, 0, 1, 0, 0)):
        mine, other = socket.socketpair()
        child = subprocess.Popen([hartfs, "serve", "-q"] + options + [archive], stdin=other, stderr=subprocess.PIPE)
        other.close()
        mine.sendall(data)
        mine.shutdown(socket.SHUT_WR)
        try:
            while mine.recv(65536):
                pass
        except ConnectionResetError:
            pass
        said = child.communicate()[1]
        if child.returncode not in (0, 1) or said:
            fail("serve ends with %d: %s" % (child.returncode, said))
    status = subprocess.run([hartfs, "serve", archive], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if status != 2:
        fail("serve without a socket ends with %d" % status)


def check_pushed(db):
    """What SQLite leaves to hartfs: what is counted is looked at after all, many values at once, rows passed over."""
    one = "instruction(%s, 0)" % CAPTURE
    pc, = db.execute("SELECT pc FROM %s WHERE ordinal = 1000" % one).fetchone()
    all_of_it = [r[0] for r in db.execute("SELECT ordinal FROM %s WHERE +pc = %d" % (one, pc))]
    last, = db.execute("SELECT max(ordinal) FROM " + one).fetchone()
    asked = [
        ("SELECT count(*) FROM %s WHERE pc = %d" % (one, pc), [(len(all_of_it),)], "pc=? capture=? hart=?; chunks that a list names"),
        ("SELECT count(*) FROM %s" % one, [(last + 1,)], "capture=? hart=?; every chunk"),
        ("SELECT count(*) FROM %s WHERE ordinal > 7 AND mode = 'none'" % one, [(0,)], "the chunks of that range"),
        ("SELECT count(*) FROM stack(%s, 0, 7) WHERE level < 0" % CAPTURE, [(0,)], "one chunk"),
        ("SELECT min(ordinal), max(rowid) - min(rowid) FROM %s WHERE ordinal BETWEEN 40000 AND 40007" % one,
         [(40000, 7 << 12)], "the chunks of that range"),
        ("SELECT pc, sum(ordinal) FROM %s WHERE pc = %d" % (one, pc), [(pc, sum(all_of_it))], "pc=?"),
        ("SELECT ordinal FROM %s LIMIT 2 OFFSET 123456" % one, [(123456,), (123457,)], "limit:?"),
        ("SELECT ordinal FROM %s WHERE pc = %d ORDER BY ordinal DESC LIMIT 1 OFFSET 3" % (one, pc), [(all_of_it[-4],)],
         "desc limit:?"),
        ("SELECT ordinal FROM %s WHERE pc IN (%d, 1.5) ORDER BY ordinal LIMIT 1" % (one, pc), [(all_of_it[0],)], "pc=?,?"),
        ("SELECT count(*) FROM %s WHERE pc IN (NULL, %d)" % (one, pc), [(len(all_of_it),)], "pc=?,?"),
        ("SELECT count(*) FROM %s WHERE pc = %d AND text NOT LIKE '%%'" % (one, pc), [(0,)], "pc=?"),
        ("SELECT count(*) FROM %s WHERE pc = %d.0" % (one, pc), [(len(all_of_it),)], "pc=?"),
        ("SELECT count(*) FROM %s WHERE pc = 4.0 AND size > 1.0" % one, [(0,)], "pc=?"),
        ("SELECT count(*) FROM %s WHERE ordinal < 7e0 AND ordinal >= -0.0" % one, [(7,)], "ordinal<?"),
        ("SELECT min(ordinal) FROM %s WHERE ordinal > 6.5" % one, [(7,)], "ordinal>?"),
        ("SELECT count(*) FROM %s WHERE hart = 1" % one, [(0,)], "hart=?"),
        ("SELECT count(*) FROM %s WHERE ordinal < 5000 AND mnemonic LIKE 'ADD%%'" % one,
         db.execute("SELECT count(*) FROM %s WHERE ordinal < 5000 AND substr(mnemonic, 1, 3) = 'add'" % one).fetchall(),
         "the chunks of that range"),
        ("SELECT count(*) FROM access(%s, 0) WHERE ordinal < 30000 AND address < 2147500000" % CAPTURE,
         db.execute("SELECT count(*) FROM access(%s, 0) WHERE ordinal < 30000 AND +address < 2147500000" %
                    CAPTURE).fetchall(), "address<?"),
    ]
    registers = "SELECT count(*) FROM register(%s, 0) WHERE +ordinal < 0 AND name = 'a0'" % CAPTURE
    asked += [(registers, [(0,)], "every chunk"), (registers + " AND role = 'written'", [(0,)], "a list names")]
    for query, rows, words in asked:
        plan = str(db.execute("EXPLAIN QUERY PLAN " + query).fetchall())
        told = db.execute(query).fetchall()
        if told != rows:
            fail("%s: %s, not %s" % (query, told[:5], rows[:5]))
        if words not in plan and sqlite3.sqlite_version_info >= (3, 38):
            fail("%s: the plan is %s" % (query, plan))


def main():
    hartfs, extension, archive = sys.argv[1:4]
    options = sys.argv[4:]
    db = connect(extension, archive, *options)
    check_functions(db)
    check_refusals(extension, archive, db)
    check_many(db)
    check_pushed(db)
    check_kill(db)
    check_interrupt(db)
    check_stuck(db)
    check_hostile(hartfs, extension, archive, options)
    # Another one in its place; and one capture alone needs no name.
    db.execute("SELECT hartfs_open(%s)" % ",".join("?" * (1 + len(options))),
               [archive + "/boot/rv-sys.stf.gz"] + options).fetchall()
    if db.execute("SELECT count(*) FROM instruction WHERE ordinal < 7").fetchone() != (7,):
        fail("a capture alone needs a name")
    plan = str(db.execute("EXPLAIN QUERY PLAN SELECT * FROM instruction ORDER BY ordinal DESC LIMIT 1").fetchall())
    if "TEMP B-TREE" in plan or "one-hart desc" not in plan:
        fail("the last instruction of the only hart is found so: %s" % plan)
    db.close()
    if children():
        fail("a process outlives its connection")
    check_wire(hartfs, archive, options)
    check_terminal(hartfs, archive, options)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
