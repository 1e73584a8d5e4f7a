#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Views behave as files however they are read: whole, in parts, in any order, mapped, by several at once; and their
# sizes are right before anything was read.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
capture_archive
short_boot
before=$(snapshot)
do_mount --wait --chunk 1000 --cache 4M

[ -n "$(view_dirs)" ] || fail "no directory of views"
[ -n "$(listings)" ] || fail "no listing"
find "$mnt" -name INDEXING | grep . && fail "not indexed after --wait"
for dir in $(view_dirs); do
	[ -s "$mnt/$dir/info.json" ] || fail "$dir has no info.json"
	python3 -m json.tool "$mnt/$dir/info.json" >/dev/null || fail "$dir/info.json is not JSON"
done

cat >"$tmp/check.py" <<'END'
"""check.py MOUNT FILE...: sizes as stat gives them, before and after reading; and of views (without info.json) parts, in
every way, against the whole as read once."""
import mmap, os, random, sys, threading

def check(name):
    path = os.path.join(sys.argv[1], name)
    size = os.stat(path).st_size
    whole = open(path, "rb").read()
    if (len(whole), os.stat(path).st_size) != (size, size):
        return "%d bytes, and not the size that was promised (%d)" % (len(whole), size)
    if "@" not in name or name.endswith("/info.json"):
        return None
    f = open(path, "rb", buffering=0)
    ranges = [(max(size - n, 0), n) for n in (1, 4096, 99999)]
    ranges += [(random.randrange(size), 7777) for _ in range(25) if size]
    for at, n in ranges:
        got = b""
        while piece := os.pread(f.fileno(), n - len(got), at + len(got)):
            got += piece
        if got != whole[at:at + n]:
            return "%d bytes at %d differ" % (n, at)
    odd = []
    def reader(n):
        with open(path, "rb", buffering=0) as mine:
            got = b"".join(iter(lambda: mine.read(n), b""))
        if got != whole:
            odd.append(n)
    readers = [threading.Thread(target=reader, args=(n,)) for n in (65536, 131072) * 3]
    for thread in readers: thread.start()
    for thread in readers: thread.join()
    if odd:
        return "several readers at once get other bytes"
    if size:
        mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        for at in reversed(range(0, size, 12288)):
            if mapped[at:at + 12288] != whole[at:at + 12288]:
                return "mapped it differs"
    return None

bad = [(name, error) for name in sys.argv[2:] if (error := check(name))]
for name, error in bad:
    print("%s: %s" % (name, error))
sys.exit(len(bad) > 0)
END
mapfile -t files < <(all_files "$mnt")
python3 "$tmp/check.py" "$mnt" "${files[@]}" || fail "not every file can be read in every way"
for view in "${files[@]}"; do
	[[ $view == *@* && $view != */info.json ]] || continue
	cmp "$mnt/$view" <("$hartfs" cat --index-dir "$index" "$archive/${view#./}") || fail "$view: hartfs cat gives other bytes"
done

# The promise of the manual: awk on a listing finds the retired instructions.
for listing in $(listings); do
	awk '!/^#/ && ($1 != n++ || length($3) != 16 || length($4) % 4 || ($3 $4) ~ /[^0-9a-f]/) {bad++}
		END {exit !(n > 0 && !bad)}' "$mnt/$listing" || fail "$listing is not as hartfs-listing(5) says"
	grep -c . "$mnt/$listing" >/dev/null || fail "$listing: grep"
done

# Metadata answers while others read.
(while [ ! -e "$tmp/stop" ]; do cat $(all_files "$mnt" | sed "s|^|$mnt/|") >/dev/null; done) &
reader=$!
for ((i = 0; i < 50; i++)); do
	timeout "$patience" ls -lR "$mnt" >/dev/null || { fail "ls -lR waits for readers"; break; }
done
: >"$tmp/stop"
wait $reader

timeout "$patience" "$hartfs" verify --index-dir "$index" --chunk 1000 "$archive" >"$tmp/out" || fail "verify ended with $?: $(cat "$tmp/out")"
do_umount
[ "$(snapshot)" = "$before" ] || fail "the archive was written"
finish
