#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartN/at/FIRST-LAST: the listing of a slice is a part of the whole, and its trace.stf is a capture again with the same
# instructions, memory accesses and traps.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
short_archive
do_mount --wait --chunk 1000 --cache 1M
mkdir "$tmp/again" "$tmp/mnt2"

cat >"$tmp/slices.py" <<'END'
"""slices.py cut AGAIN HART...: slices against the whole; puts the trace.stf of each into AGAIN, beside the listing that is wanted.
slices.py records|pcs MOUNT AGAIN: the captures there, once mounted, have what these listings have."""
import glob, os, re, sys, time

def same(what, got, want):
    if not want or got != want:
        odd = next((pair for pair in zip(got, want) if pair[0] != pair[1]), (len(got), len(want)))
        print("%s: %r instead of %r" % (what, *odd))
        sys.exit(1)

def read(path):
    size = os.stat(path).st_size
    data = open(path, "rb").read()
    same(path + ": size", [len(data)], [size])
    return data

def names_in(directory):
    while True:
        try:
            names = os.listdir(directory)
            if names and "INDEXING" not in names:
                return sorted(names)
        except BlockingIOError:
            pass
        time.sleep(0.05)

def cut(again, *harts):
    count = 0
    for hart in harts:
        lines = read(hart + "/listing.txt").splitlines(True)
        # Where each instruction is. What stands before the first one is its own.
        at = [i for i, line in enumerate(lines) if line[:1] != b"#"]
        n = len(at)
        at[0] = 0
        if os.listdir(hart + "/at"):
            sys.exit(hart + "/at lists something")
        for first, last in ((0, 0), (0, n - 1), (n // 3, n // 2), (n // 2, n // 2), (n - 5, n - 1), (999, 1000), (1000, 1999), (17, "")):
            part = "%s/at/%d-%s" % (hart, first, last)
            last = n - 1 if last == "" else last
            if last >= n:
                same(part + " exists", [os.path.exists(part)], [False])
                continue
            want = sorted(set(os.listdir(hart)) - {"at", "where"} | ({"state.txt"} if first == last else set())) # of one instruction
            same(part, names_in(part), want)
            want = lines[at[first]:at[last + 1] if last + 1 < n else None]
            same(part, read(part + "/listing.txt").splitlines(True), want)
            same(part, [line.split()[0] for line in want if line[:1] != b"#"], [b"%d" % i for i in range(first, last + 1)])
            open("%s/%d.stf" % (again, count), "wb").write(read(part + "/trace.stf"))
            open("%s/%d.want" % (again, count), "wb").writelines(want)
            count += 1
        for bad in "0-%d" % n, "%d-" % n:
            same(hart + "/at/" + bad + " exists", [os.path.exists(hart + "/at/" + bad)], [False])
    if count <= 8:
        sys.exit("only %d slices" % count)

def records(text):
    """Instructions with their modes and accesses, attempts and traps. Numbers count from the start, and names are not there."""
    text = re.sub(r"(?m)^[0-9]+ | <[^<>]*>| record=[0-9]+", "", text)
    return [line for line in re.sub(r"(?m) +(?= |$)", "", text).splitlines()
            if not line.startswith("#") or line.startswith(("# attempt ", "# trap "))]

def pcs(text):
    return re.findall(r"(?m)^[0-9]+ \S+ (\S+ \S+)", text)

def judge(take, mount, again):
    for name in sorted(os.listdir(again)):
        if not name.endswith(".want"):
            views, = glob.glob("%s/%s@*" % (mount, name.split(".")[0]))
            same(name + ": errors", [read(views + "/errors.txt")], [b""])
            want = open(again + "/" + name.split(".")[0] + ".want").read()
            same(name, take(read(views + "/hart0/listing.txt").decode()), take(want))

if sys.argv[1] == "cut":
    cut(*sys.argv[2:])
else:
    judge(globals()[sys.argv[1]], *sys.argv[2:])
END

mapfile -t harts < <(listings)
harts=("${harts[@]/#./$mnt}")
harts=("${harts[@]%/listing.txt}")
python3 "$tmp/slices.py" cut "$tmp/again" "${harts[@]}" || fail "slices"
for hart in "${harts[@]}"; do
	for bad in 99999999999999999999-1 5-3 - 01-2 -5 5 0-0x; do
		[ ! -e "$hart/at/$bad" ] || fail "$hart/at/$bad exists"
	done
done
# What sed finds, as the manual says.
sed -n '/^1000 /,/^2000 /p' "${harts[0]}/listing.txt" | sed '$d' | cmp - "${harts[0]}/at/1000-1999/listing.txt" || fail "not what sed finds"

# judge TAKE DIRECTORY: its captures are what slices.py expects.
judge() {
	timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$2" "$tmp/mnt2" || fail "second mount"
	python3 "$tmp/slices.py" "$1" "$tmp/mnt2" "$2" || fail "$2"
	"$hartfs" umount "$tmp/mnt2" || fail "umount of the second mount"
}
# The slices are captures.
judge records "$tmp/again"

# Without a mount.
part=${harts[0]}/at/3-40
wait_until measured "$part"
cmp <("$hartfs" cat --index-dir "$index" "${part/#$mnt/$archive}/trace.stf") "$part/trace.stf" || fail "hartfs cat gives another slice"
do_umount

# Packets are made with the parameters that their description names.
mkdir "$tmp/packets"
rm -r "${archive:?}/boot"
do_mount --wait --chunk 1000 -o etrace.framing=encap,etrace.options=full_address,ntrace.srcbits=4,ntrace.all_jumps=1
one=$(listings)
for range in 0-700 999-2500 1500-; do
	part=$mnt/${one%/listing.txt}/at/$range
	for view in etrace ntrace; do
		wait_until measured "$part" "$part/$view" || fail "$part/$view is not there"
		cp -r "$part/$view" "$tmp/packets/$view$range" || fail "cp $part/$view"
		cp "$part/listing.txt" "$tmp/packets/$view$range.want" || fail "cp $part/listing.txt"
	done
done
judge pcs "$tmp/packets"
do_umount
finish
