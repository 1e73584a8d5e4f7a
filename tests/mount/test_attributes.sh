#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the mount says of captures and of itself: extended attributes, status.json, metrics.prom, log.txt, and the exit
# status of mount --wait.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
python3 -c "import ctypes, json" 2>/dev/null || skip "python3 is needed"
short_archive
: >"$archive/nothing.stf"
printf 'no trace' >"$archive/$(printf 'odd\033[31m.stf')"

timeout "$patience" "$hartfs" mount --wait --index-dir "$index" "$archive" "$mnt" 2>"$tmp/err"
[ $? = 3 ] || fail "mount --wait of an archive with failed captures does not end with 3"
is_mounted "$mnt" || fail "mount --wait with failed captures does not mount"
grep -q '^hartfs mount: nothing.stf: ' "$tmp/err" || fail "no line of nothing.stf: $(cat "$tmp/err")"
[ "$(wc -l <"$tmp/err")" = 2 ] || fail "not a line each: $(cat "$tmp/err")"

python3 - "$mnt" <<'PY' || fail "extended attributes"
import errno, json, os, sys
top = sys.argv[1] + "/"
bad = 0

def expect(what, ok):
    global bad
    if not ok:
        print("FAIL:", what)
        bad = 1

def fails(number, fn, *args):
    try:
        fn(*args)
    except OSError as e:
        return e.errno == number
    return False

views = top + "boot/rv-sys@stf@gz"
info = json.load(open(views + "/info.json"))
for path in (views, views + "/info.json", views + "/hart0", views + "/hart0/listing.txt", views + "/source.stf"):
    attributes = {n[12:]: os.getxattr(path, n).decode() for n in os.listxattr(path) if n.startswith("user.hartfs.")}
    for name in ("format", "container", "isa", "version", "state"):
        expect(path + " " + name, attributes.get(name) == info[name])
    expect(path + " xlen", attributes.get("xlen") == str(info["xlen"]))
    expect(path + " instructions", attributes.get("instructions") == str(info["harts"][0]["instructions"]))
    expect(path + " problems", attributes.get("problems") == str(info["problems"]))
    expect(path + " hart", ("hart" in attributes) == ("hart0" in path))
for path in (top, top + "boot", top + "boot/rv-sys.stf.gz", top + ".hartfs/status.json"):
    expect(path + " has none", not os.listxattr(path) and fails(errno.ENODATA, os.getxattr, path, "user.hartfs.state"))
expect("an unknown name", fails(errno.ENODATA, os.getxattr, views, "user.hartfs.frobnicate"))
expect("no access lists", fails(errno.ENOTSUP, os.getxattr, views, "system.posix_acl_access"))
expect("no labels", fails(errno.ENOTSUP, os.getxattr, views, "security.selinux"))
expect("set", fails(errno.EROFS, os.setxattr, views, "user.hartfs.state", b"x"))
expect("remove", fails(errno.EROFS, os.removexattr, views, "user.hartfs.state"))

# A buffer that is too small, and the question how large it must be: Python never asks like that.
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
small = ctypes.create_string_buffer(2)
args = (views.encode(), b"user.hartfs.state")
expect("ERANGE of a value", libc.getxattr(*args, small, 2) == -1 and ctypes.get_errno() == errno.ERANGE)
expect("size of a value", libc.getxattr(*args, None, 0) == len("ready"))
expect("ERANGE of the list", libc.listxattr(args[0], small, 2) == -1 and ctypes.get_errno() == errno.ERANGE)
expect("size of the list", libc.listxattr(args[0], None, 0) == sum(len(n) + 1 for n in os.listxattr(views)))

status = json.load(open(top + ".hartfs/status.json"))
expect("failed captures", [c["capture"] for c in status["failed_captures"]].count("nothing.stf") == 1
       and len(status["failed_captures"]) == 2 and all(c["error"] for c in status["failed_captures"]))
expect("captures", status["captures"]["ready"] == 2 and status["captures"]["failed"] == 2 and not status["searching"])
metrics = open(top + ".hartfs/metrics.prom").read()
expect("metrics", 'hartfs_captures{state="ready"} 2\n' in metrics and metrics.endswith("\n"))
log = open(top + ".hartfs/log.txt").read()
expect("log.txt: " + log, "is mounted on" in log and "boot/rv-sys.stf.gz: indexed" in log and "\033" not in log
       and len(log) == os.stat(top + ".hartfs/log.txt").st_size)
sys.exit(bad)
PY
[ -z "$(cat "$mnt/.hartfs/progress.txt")" ] || fail "progress.txt when nothing is left: $(cat "$mnt/.hartfs/progress.txt")"
# Tools that copy attributes along take these too.
cp --preserve=all -r "$mnt/mini/rv32-mini@stf" "$tmp/copy" || fail "cp --preserve=all"
do_umount

"$hartfs" index --index-dir "$index" "$archive" >/dev/null 2>"$tmp/err"
[ $? = 3 ] || fail "index of an archive with failed captures does not end with 3"
"$hartfs" verify --index-dir "$index" "$archive" >/dev/null 2>&1
[ $? = 3 ] || fail "verify of an archive with failed captures does not end with 3"
"$hartfs" verify --index-dir "$index" "$archive/nothing.stf" >/dev/null 2>&1
[ $? = 1 ] || fail "verify of a failed capture does not end with 1"
finish
