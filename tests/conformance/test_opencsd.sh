#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenCSD's trc_pkt_lister reads ete/ in the mount, of AArch64 captures, and finds exactly our instructions. Where
# Debian's version is known to be wrong the hart is in opencsd_known.txt, with what it gets wrong.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
command -v trc_pkt_lister >/dev/null || skip "there is no trc_pkt_lister (libopencsd-bin)"
known=$(cd "$(dirname "$0")" && pwd)/opencsd_known.txt

# opencsd_pcs DIRECTORY: the pcs of the instruction ranges, of A64 code. Most ranges come many times.
opencsd_pcs() {
	(cd "$tmp" && trc_pkt_lister -ss_dir "$1" -decode_only -logstdout 2>&1) | # it may leave a log where it runs
		python3 -c '
import sys
texts = {}
for line in sys.stdin.buffer:
    at = line.find(b"INSTR_RANGE(exec range=")
    if at < 0:
        continue
    found = line[at + 23 : line.index(b"]", at)]
    text = texts.get(found)
    if text is None:
        first, end = (int(x, 16) for x in found.split(b":["))
        text = texts[found] = "".join("%x\n" % pc for pc in range(first, end, 4))
    sys.stdout.write(text)'
}

# compare HART-DIRECTORY NAME
compare() {
	opencsd_pcs "$1/ete" >"$tmp/theirs"
	"$listed" pc <"$1/listing.txt" >"$tmp/ours"
	cmp -s "$tmp/ours" "$tmp/theirs"
}

# check ARCHIVE: every ete/ in it.
check() {
	local hart name count=0
	archive=$1
	do_mount --wait
	while read -r hart; do
		hart=$(dirname "$hart")
		name=${hart#"$mnt"/}
		[ -s "$hart/listing.txt" ] || continue
		count=$((count + 1))
		if grep -qF "$name" "$known"; then
			compare "$hart" && fail "$name: OpenCSD is right; take it out of opencsd_known.txt"
			continue
		fi
		compare "$hart" || fail "$name: $(wc -l <"$tmp/ours") instructions, OpenCSD has $(wc -l <"$tmp/theirs"): $(
			diff "$tmp/ours" "$tmp/theirs" | head -n 3 | tr '\n' '|')"
	done < <(find "$mnt" -path "$mnt/.hartfs" -prune -o -name ete -print | sort)
	echo "$count views of $1 read by OpenCSD"
	do_umount
}

[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
mkdir "$tmp/qemu"
cp -r "$HARTFS_CORPUS"/qemu/a64* "$tmp/qemu" || exit 1
shorten_qemu "$tmp/qemu"
check "$tmp/qemu"
check "$HARTFS_CORPUS/ete"
finish
