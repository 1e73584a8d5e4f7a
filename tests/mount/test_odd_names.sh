#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names that a line or a path has no room for: line breaks in a name, directories deeper than a path can say, directories
# that nobody may read. Each is told, and the rest of the archive is there.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

# A capture whose name has a line break, and of which nothing can be decoded: one line in the log.
odd=$'two\nlines\e[31m.stf'
printf 'not a trace' >"$archive/$odd"
cp "$HARTFS_DATA/archive/boot/rv-sys.stf.gz" "$archive/good.stf.gz"

# 150 directories of 40 bytes each make a path of 6,150 bytes; 100 of them can be reached by a path.
python3 - "$archive" "$HARTFS_DATA/archive/boot/rv-sys.stf.gz" <<'PY'
import os, sys
os.chdir(sys.argv[1])
name = "d" * 40
for depth in range(150):
    os.mkdir(name)
    os.chdir(name)
    if depth == 60:
        with open(sys.argv[2], "rb") as f, open("deep.stf.gz", "wb") as to:
            to.write(f.read())
PY

do_mount --wait 2>"$tmp/err"
[ "$(grep -c 'two?lines?\[31m.stf: .*no codec' "$log")" = 1 ] || fail "the odd name is not one line: $(cut -c1-200 "$log")"
grep -qx 'lines.*' "$log" && fail "a name ended a line of the log"

# What is too deep is listed at the last place that has a path, says why it cannot be entered, and is told once.
python3 - "$mnt" <<'PY' || fail "the deep directories are not as they should be"
import errno, os, sys
os.chdir(sys.argv[1])
name = "d" * 40
depth = 0
while True:
    try:
        os.chdir(name)
    except OSError as e:
        assert e.errno == errno.ENAMETOOLONG, e
        break
    depth += 1
    if depth == 61:
        listing = open("deep@stf@gz/hart0/listing.txt").read()
        assert listing.count("\n") > 10
assert depth == 4095 // 41, depth
assert os.listdir(".").count(name) == 1, os.listdir(".")
for entry in os.scandir("."):
    assert entry.name == name and entry.is_dir(follow_symlinks=False)
PY
[ "$(grep -c 'not searched for captures: its path is longer than 4095 bytes' "$log")" = 1 ] ||
	fail "the log does not tell of the deep directories: $(cut -c1-200 "$log")"
python3 - "$mnt/.hartfs/status.json" <<'PY' || fail "status.json does not tell of the deep directories"
import json, sys
status = json.load(open(sys.argv[1]))
assert status["not_searched_complete"] and len(status["not_searched"]) == 1, status["not_searched"]
assert len(status["not_searched"][0]["path"]) > 4095 and "4095" in status["not_searched"][0]["error"]
PY
cmp -s "$mnt/good.stf.gz" "$archive/good.stf.gz" || fail "the rest of the archive is not there"
[ -s "$mnt/good@stf@gz/hart0/listing.txt" ] || fail "the good capture has no listing"
do_umount

# The other commands tell of it too, and go on.
timeout "$patience" "$hartfs" index --index-dir "$index" "$archive" >"$tmp/out" 2>"$tmp/err"
grep -q 'not searched for captures: its path is longer' "$tmp/err" || fail "index says nothing: $(cat "$tmp/err")"
grep -q 'two?lines?\[31m.stf: ' "$tmp/err" || fail "index says the odd name as it is: $(cat -v "$tmp/err")"
grep -q 'good.stf.gz: indexed' "$tmp/out" || fail "index did not go on: $(cat "$tmp/out")"

# So is a directory that the user may not read.
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$tmp"
	mkdir -m 700 "$archive/closed"
	install -d -o 12345 "$tmp/own"
	timeout "$patience" setpriv --reuid=12345 --regid=12345 --clear-groups \
		"$hartfs" index --index-dir "$tmp/own" "$archive" >"$tmp/out" 2>"$tmp/err"
	grep -q 'closed: not searched for captures: permission denied' "$tmp/err" ||
		fail "index says nothing of a closed directory: $(cut -c1-200 "$tmp/err")"
	grep -q 'good.stf.gz: indexed' "$tmp/out" || fail "index did not go on: $(cat "$tmp/out")"
fi
finish
