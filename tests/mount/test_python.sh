#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# contrib/python: what the module says is what the commands say; its example runs; a server that is killed is an error.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
python=/usr/bin/python3
[ -x "$python" ] || skip "there is no $python"
module=$(cd "$(dirname "$0")/../../contrib/python" && pwd)
library=$(dirname "$hartfs")/libhartfs.so.0
[ -e "$library" ] || skip "there is no $library"
capture_archive
short_boot
export XDG_CACHE_HOME=$tmp/cache HARTFS=$hartfs PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1
capture=boot/rv-sys.stf.gz
h() { "$hartfs" "$@"; }

"$python" "$module/example.py" "$archive" >"$tmp/out" || fail "the example ends with $?"
grep -q 'hart0 kwork: 15006 instructions' "$tmp/out" && grep -q 'first trap at instruction 24, pc 000000008000014c, mode M' "$tmp/out" ||
	fail "the example says: $(cat "$tmp/out")"

h ls "$archive" | grep -c . >"$tmp/captures"
h cat "$archive/$capture" hart0/listing.txt >"$tmp/listing"
h find --json "$archive/$capture" --trap=8 --limit=10 >"$tmp/find"
h state --json "$archive/$capture" 92089 >"$tmp/state"
"$python" - "$archive" "$tmp" "$library" >"$tmp/out" 2>&1 <<'END' || fail "$(cat "$tmp/out")"
import itertools, json, os, signal, sys
import hartfs

archive, tmp, library = sys.argv[1:]
capture, view = "boot/rv-sys.stf.gz", "boot/rv-sys@stf@gz/hart0/listing.txt"
listing = open(tmp + "/listing", "rb").read()
lines = [line.split() for line in listing.decode().splitlines() if not line.startswith("#")]

def same(got, want, what):
    if got != want:
        sys.exit("%s: %r instead of %r" % (what, got, want))

def refused(act, words, what):
    try:
        act()
    except hartfs.HartfsError as error:
        if words not in str(error):
            sys.exit("%s says: %s" % (what, error))
    else:
        sys.exit("%s is no error" % what)

with hartfs.Archive(archive) as opened:
    same(sorted(row.capture for row in opened.captures()), [capture, "mini/rv32-mini.stf"], "captures")
    of = dict(capture=capture, hart=0)
    rows = list(opened.rows("instruction", ["ordinal", "pc"], ordinal=range(1000, 4000), **of))
    same([(row.ordinal, "%016x" % (row.pc % 2 ** 64)) for row in rows], [(int(line[0]), line[2]) for line in lines[1000:4000]],
         "rows of a range")
    among = [row.ordinal for row in opened.rows("trap", ["ordinal"], cause=[8, 9], **of)]
    same(among, sorted(o for cause in (8, 9) for o in [row.ordinal for row in opened.rows("trap", ["ordinal"], cause=cause, **of)]),
         "rows with one of several numbers")
    # Two cursors at once, one of them given up.
    first, last = (opened.rows("instruction", ["ordinal"], **of) for _ in range(2))
    pairs = list(itertools.islice(zip(first, last), 3000))
    same(pairs[-1], ((2999,), (2999,)), "two cursors at once")
    first.close()
    same(len(list(opened.rows("capture", ["bytes"]))), 2, "after a cursor that was given up")
    same(opened.find(capture, "--trap=8", "--limit=10"), [json.loads(line) for line in open(tmp + "/find")], "find")
    same(opened.find(capture, "--trap=77"), [], "find without an answer")
    same(opened.state(capture, 92089), json.load(open(tmp + "/state")), "state")
    same(opened.cat(view, 5000, 300), listing[5000:5300], "cat")
    refused(lambda: list(opened.rows("trap", capture="no.stf", hart=0)), "there is no capture 'no.stf'", "a capture that is not there")
    refused(lambda: list(opened.rows("trap", colour=1)), "no column 'colour'", "a column that is not there")
    refused(lambda: list(opened.rows("traps")), "no table 'traps'", "a table that is not there")
    refused(lambda: opened.find(capture, "--nonsense"), "nonsense", "a wrong question")
    same(len(list(opened.rows("trap", ["ordinal"], cause=8, **of))), 15, "after an error")
    try:
        frame = opened.frame("function", ["name", "own"], **of)
        same(list(frame.columns), ["name", "own"], "columns of a frame")
        same(int(frame.own.max()), 24731, "a frame")
    except ImportError:
        print("no pandas")
    rows = opened.rows("instruction", ["ordinal"], **of)
    next(rows)
    os.kill(opened._server.process.pid, signal.SIGKILL)
    refused(lambda: list(rows), "ended with -9", "a server that was killed")
refused(lambda: list(opened.rows("capture")), "closed", "an archive that is closed")
refused(lambda: hartfs.Archive(archive + "/nothing"), "there is no such file", "an archive that is not there")
with hartfs.Archive(os.path.join(archive, capture)) as opened:
    same([row.ordinal for row in opened.rows("trap", ["ordinal"], cause=5)][0], 24, "a capture alone")
    same(opened.cat("hart0/listing.txt", length=100), listing[:100], "cat of a capture alone")

with hartfs.Library(archive, index=os.environ["XDG_CACHE_HOME"] + "/hartfs", library=library) as opened:
    same([path for path, _ in opened.captures()], [capture, "mini/rv32-mini.stf"], "captures of the library")
    files = {file.path: file for file in opened.files(capture)}
    same((files[view].size, files[view].hart), (len(listing), 0), "files")
    with opened.open(view) as file:
        file.seek(-1000, 2)
        same(file.read(), listing[-1000:], "the end of a view")
        file.seek(0)
        same(file.read() == listing, True, "a view")
        same(file.seek(-7, 2), len(listing) - 7, "seek")
    events = list(itertools.islice(opened.instructions(view, 5000), 3000))
    same([(e.ordinal, e.mode, "%016x" % e.pc) for e in events], [(int(l[0]), l[1], l[2]) for l in lines[5000:8000]], "instructions")
    same(sum(1 for _ in opened.instructions(view, len(lines) - 10)), 10, "the last instructions")
    refused(lambda: opened.open("boot/nothing.txt"), "no such file", "a view that is not there")
refused(lambda: hartfs.Library(archive + "/nothing", library=library), "", "an archive that the library does not find")
END
cat "$tmp/out"
finish
