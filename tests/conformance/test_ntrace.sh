#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# N-Trace captures of other encoders through the mount: the pcs of every listing are those of the simulation, and the
# view ntrace/ of each, mounted as a capture of its own, gives them again.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
corpus=${HARTFS_CORPUS:-}/ntrace
[ -d "$corpus" ] || skip "HARTFS_CORPUS names no corpus with N-Trace"
command -v python3 >/dev/null || skip "no python3 to read the manifests"

# A capture directory for each stream, and a file WANT: its listing, source id, file of pcs and how many of them count.
python3 - "$corpus" "$archive" >"$tmp/want" <<'PY'
import json, os, sys
corpus, archive = sys.argv[1:]

def capture(name, elf, trace, hart, pcs, count, values):
    d = f"{archive}/{name}"
    os.makedirs(d, exist_ok=True)
    for src, dst in ((elf, "prog.elf"), (trace, "trace.bin")):
        open(f"{d}/{dst}", "wb").write(open(src, "rb").read())
    with open(f"{d}/capture.ini", "w") as f:
        f.write("[capture]\nformat = ntrace\ntrace = trace.bin\n[program]\nelf = prog.elf\n[parameters]\n")
        f.write("".join(f"{k} = {v}\n" for k, v in values.items()))
    print(name, hart, pcs, count)

small = "t1 dhrystone towers vvadd traps traps-hi".split()
for test in small:
    m = json.load(open(f"{corpus}/{test}/manifest.json"))
    for name, level in m["levels"].items():
        capture(f"{test}-{name}", f"{corpus}/{test}/prog.elf", f"{corpus}/{test}/{level['file']}",
                level.get("src") or 0, f"{corpus}/{test}/{m['pcs']}", m["instructions"],
                dict(xlen=m["xlen"], srcbits=level["srcbits"], addr_msb_ext=int(level["addr_msb_ext"]),
                     implicit_return_depth=level["implicit_return_depth"]))
m = json.load(open(f"{corpus}/multihart4/manifest.json"))
ring = dict(m["files"]["nex-wrap4096.bin"], ring=True)
for name, f in list(m["files"].items()) + [(m["ring"]["file"], ring)]:
    values = dict(srcbits=m["srcbits"], addr_msb_ext=1, implicit_return=1)
    if f.get("ring"):
        values["wrap_offset"] = m["ring"]["write_offset"]
    for hart in f["harts"]:
        capture("multi-" + name.replace(".", "-"), f"{corpus}/multihart4/prog.elf", f"{corpus}/multihart4/{name}",
                hart["src"], f"{corpus}/multihart4/{hart['pcs']}", hart["instructions"], values)
PY
[ -s "$tmp/want" ] || { fail "no captures"; finish; }

# pcs LISTING: of what retired.
pcs() { grep -v '^#' "$1" | cut -d' ' -f3; }

# expected FILE COUNT: pcs as a listing has them.
expected() { xzcat -f "$1" | head -n "$2" | sed 's/^0x//' | tr 'A-F' 'a-f' | awk '{printf "%16s\n", $1}' | tr ' ' 0; }

do_mount --wait
again=$tmp/again mnt2=$tmp/mnt2
mkdir "$again" "$mnt2"
count=0
while read -r name hart file n; do
	count=$((count + 1))
	cmp -s <(expected "$file" "$n") <(pcs "$mnt/$name@ntrace/hart$hart/listing.txt") ||
		fail "$name, hart $hart: other pcs ($(pcs "$mnt/$name@ntrace/hart$hart/listing.txt" | wc -l) of $n)"
	[ -s "$mnt/$name@ntrace/records.txt" ] || fail "$name: no records.txt"
	cp -r "$mnt/$name@ntrace/hart$hart/ntrace" "$again/$name-$hart" || fail "$name: no view ntrace/"
done <"$tmp/want"
[ "$count" -gt 80 ] || fail "only $count listings"
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$again" "$mnt2"
is_mounted "$mnt2" || fail "the views are not mounted again"
while read -r name hart file n; do
	cmp -s <(expected "$file" "$n") <(pcs "$mnt2/$name-$hart@ntrace/hart0/listing.txt") ||
		fail "$name, hart $hart: other pcs the second time"
done <"$tmp/want"
timeout "$patience" "$hartfs" umount "$mnt2" || fail "umount of the second mount"
do_umount
finish
