#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One stream in any container gives the same views: the corpus's own variants, and real executions that are packed anew.
# That the views are right is what the tests beside this one say; here the containers are compared with each other.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/stf/variants" ] && [ -d "$HARTFS_CORPUS/qemu" ] || skip "HARTFS_CORPUS names no corpus"
for tool in gzip xz zstd python3; do command -v $tool >/dev/null || skip "$tool is needed"; done

# pack PLAIN STEM: the same stream as STEM.stf and in every container that holds it.
pack() {
	local stem=$2
	cp "$1" "$stem.plain.stf"
	gzip -9 -c "$1" >"$stem.one.stf.gz"
	{ head -c 300001 "$1" | gzip -c; tail -c +300002 "$1" | gzip -1 -c; } >"$stem.two.stf.gz"
	xz -0 -T1 -c "$1" >"$stem.one.stf.xz"
	xz -0 -T1 --block-size=500000 -c "$1" >"$stem.blocks.stf.xz"
	xz -0 --format=lzma -c "$1" >"$stem.one.stf.lzma"
	zstd -q -c "$1" >"$stem.one.stf.zst"
	{ head -c 700001 "$1" | zstd -q -c; tail -c +700002 "$1" | zstd -q -c; } >"$stem.two.stf.zst"
	# One chunk: magic, instructions a chunk, place of the table; the frame; a table of one entry.
	python3 - "$1" "$stem.chunk.zstf" "$3" "$4" <<'END'
import struct, subprocess, sys
stream = open(sys.argv[1], "rb").read()
frame = subprocess.run(["zstd", "-q", "-c"], input=stream, stdout=subprocess.PIPE, check=True).stdout
with open(sys.argv[2], "wb") as out:
    out.write(b"ZSTF" + struct.pack("<QQ", int(sys.argv[3]), 20 + len(frame)) + frame)
    out.write(struct.pack("<QQQQ", 1, 20, int(sys.argv[4], 16), len(stream)))
END
}

# all_views DIR: a line for each file of views with its CRC and size, without what tells of the container.
all_views() {
	(cd "$1" && find . -type f ! -name info.json | sort | xargs -d '\n' cksum)
}

mkdir "$tmp/packed" "$tmp/first"
mkdir "$archive/qemu" "$archive/stf"
cp -r "$HARTFS_CORPUS"/qemu/{rv-sys,rv32-mini} "$archive/qemu" && cp -r "$HARTFS_CORPUS"/stf/{dhrystone_opt1,variants} "$archive/stf" || exit 1
do_mount --wait

# ---- the corpus's own
all_views "$mnt/stf/dhrystone_opt1/dhrystone_opt1@zstf" >"$tmp/want"
for file in ./source.stf ./records.txt ./errors.txt ./hart0/listing.txt ./hart0/trace.stf ./hart0/program.elf; do
	grep -qF " $file" "$tmp/want" || fail "dhrystone_opt1 has no $file"
done
count=0
for views in "$mnt"/stf/variants/*@*; do
	all_views "$views" >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/want" || fail "${views##*/} differs: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
	count=$((count + 1))
done
[ "$count" = "$(find "$HARTFS_CORPUS/stf/variants" -type f | wc -l)" ] || fail "$count variants were compared"

# ---- real executions: a stream longer than the longest block, and one that is shorter
for capture in rv-sys/trace rv32-mini/trace; do
	views=$(echo "$mnt/qemu/$capture"@stf*)
	name=${capture//\//-}
	insns=$(listed_insts <"$views/hart0/listing.txt" | wc -l)
	pc=$(awk '/^# attempt/ {print $4; exit} !/^#/ {print $3; exit}' "$views/hart0/listing.txt")
	# No ELF lies beside it under its name: no symbols here nor there.
	all_views "$views" >"$tmp/first/$name"
	pack "$views/source.stf" "$tmp/packed/$name" "$insns" "$pc"
done
do_umount
archive=$tmp/packed
do_mount --wait
count=0
for name in rv-sys-trace rv32-mini-trace; do
	for views in "$mnt/$name".*@*; do
		all_views "$views" >"$tmp/got"
		cmp -s "$tmp/got" "$tmp/first/$name" ||
			fail "${views##*/} differs: $(diff "$tmp/got" "$tmp/first/$name" | head -n 4; head -n 3 "$views/errors.txt")"
		count=$((count + 1))
	done
done
[ "$count" = 18 ] || fail "$count packed captures were compared"
do_umount
finish
