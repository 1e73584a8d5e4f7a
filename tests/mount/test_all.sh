#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# all/listing.txt: the harts' listings merged by time, as lib/merged.py sorts them, for several sizes of chunks; read in
# order, from anywhere, and by several at a time; where there is none, the reason; known without an index being opened. And
# all/overview.svg, as lib/tracks.py judges it by the listings.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "there is no python3"
judge=$(cd "$(dirname "$0")/../lib" && pwd)/merged.py
tracks=${judge%merged.py}tracks.py

python3 "$judge" make "$archive" || { fail "the captures are not made"; finish; }

check_judged() { # CHUNK
	local sizes
	sizes=$(python3 "$judge" check "$mnt"/{many,same,large,plain,half,one}@ntrace) || fail "--chunk=$1: $sizes"
	[[ ${sizes//$'\n'/ } =~ ^([0-9]+ ){3}none\ none\ none$ ]] || fail "--chunk=$1: merged listings: $sizes"
}

# Pieces from anywhere, in any order and at the same time.
check_reads() {
	local file=$mnt/many@ntrace/all/listing.txt i
	cp "$file" "$tmp/whole"
	cmp -i 4321 -n 1234 "$file" "$tmp/whole" || fail "1234 bytes at 4321 are others"
	python3 - "$file" "$tmp/whole" <<-'END' || fail "pieces are others"
		import os, random, sys
		file, whole = os.open(sys.argv[1], os.O_RDONLY), open(sys.argv[2], "rb").read()
		for _ in range(60):
		    at, size = random.randrange(len(whole)), random.randrange(1, 5001)
		    assert os.pread(file, size, at) == whole[at:at + size], (at, size)
	END
	for ((i = 0; i < 4; i++)); do
		cmp "$file" "$tmp/whole" &
	done
	for ((i = 0; i < 4; i++)); do
		wait -n || fail "a reader beside others gets other bytes"
	done
	cmp <(tac "$file") <(tac "$tmp/whole") || fail "from its end it is another file"
}

# Of each capture; listed and as long as it was said to be once it was made. A hart that waits for 4,000 ticks leaves a gap.
check_tracks() {
	local name dir
	for name in waits crowd many same large; do
		dir=$mnt/$name@ntrace/all
		python3 "$tracks" "${dir%/all}" >"$tmp/tracks" || fail "$name: all/overview.svg"
		if command -v xmllint >/dev/null; then
			xmllint --noout "$dir/overview.svg" || fail "$name: all/overview.svg is not well formed"
		fi
		ls "$dir" | grep -qx overview.svg || fail "$name: it is not listed: $(ls "$dir")"
		cp "$dir/overview.svg" "$tmp/overview.$name"
		[ "$(stat -c %s "$dir/overview.svg")" = "$(stat -c %s "$tmp/overview.$name")" ] || fail "$name: it has another size"
		cmp <(tac "$dir/overview.svg") <(tac "$tmp/overview.$name") || fail "$name: from its end it is another file"
		[ "$name" != waits ] || awk '$1 == 1 && $2 > 300 && $3 > 500 { ok = 1 } END { exit !ok }' "$tmp/tracks" ||
			fail "one that waits has no gap: $(cat "$tmp/tracks")"
	done
}

for chunk in $(some 16384 7 1); do
	index=$tmp/index.$chunk
	do_mount --wait "--chunk=$chunk" --views=listing.txt
	check_judged "$chunk"
	cp "$mnt/many@ntrace/all/listing.txt" "$tmp/many.$chunk"
	cmp "$tmp/many.$chunk" "$tmp/many.16384" || fail "--chunk=$chunk makes another file"
	cp "$mnt/waits@ntrace/all/overview.svg" "$tmp/waits.$chunk"
	cmp "$tmp/waits.$chunk" "$tmp/waits.16384" || fail "--chunk=$chunk makes another picture"
	do_umount
done
index=$tmp/index.all
do_mount --wait --chunk=1000 --cache=16M
check_judged 1000
check_reads
cmp "$tmp/whole" "$tmp/many.16384" || fail "--chunk=1000 makes another file"
ls "$mnt/many@ntrace" | grep -qx all || fail "all is not listed"
[ "$(ls "$mnt/many@ntrace/all")" = listing.txt ] || fail "listing.txt is not listed in all"
ls "$mnt/many@ntrace/hart0/at/5-9" | grep -qx all && fail "a slice has all"
stat "$mnt/many@ntrace/all/trace.stf" 2>/dev/null && fail "all has a trace"
check_tracks
[ -e "$mnt/plain@ntrace/all" ] && fail "there is a picture of harts without times"
do_umount

# Whoever looks again needs no index: it is in the catalogue.
do_mount --chunk=1000
size=$(stat -c %s "$mnt/many@ntrace/all/listing.txt") || fail "it is not found at once"
[ "$size" = "$(stat -c %s "$tmp/whole")" ] || fail "it is of another size at the next mount: $size"
cmp -i $((size / 2)) -n 5000 "$mnt/many@ntrace/all/listing.txt" "$tmp/whole" || fail "its middle is another one when it is read first"
cat "$mnt"/many@ntrace/hart*/listing.txt >"$tmp/harts" || fail "the harts' own listings"
cmp "$mnt/many@ntrace/all/listing.txt" "$tmp/whole" || fail "it is another file where the harts' pieces are known already"
do_umount

# info.json has the size or the reason, and so has an error.
info() { "$hartfs" info --json --chunk=1000 --index-dir "$index" "$archive/$1/capture.ini" >"$tmp/info" || fail "info of $1 ended with $?"; }
views() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["views"].get("all/listing.txt"))' "$tmp/info"; }
info many
[ "$(views)" = "{'size': $size}" ] || fail "info of many says $(views)"
for name in plain half; do
	info $name
	[ "$(views)" = "{'reason': 'fewer than two harts have times'}" ] || fail "info of $name says $(views)"
done
info one
[ "$(views)" = None ] || fail "info of a capture with one hart says $(views)"
"$hartfs" cat --chunk=1000 --index-dir "$index" "$archive/plain/capture.ini" all/listing.txt 2>"$tmp/err" >"$tmp/out" && fail "cat of none succeeds"
grep -q 'fewer than two harts have times' "$tmp/err" || fail "cat does not say why: $(cat "$tmp/err")"
"$hartfs" cat --chunk=1000 --index-dir "$index" "$archive/many/capture.ini" all/listing.txt | cmp - "$tmp/whole" || fail "cat gives another file"
"$hartfs" verify -q --chunk=1000 --index-dir "$index" "$archive" || fail "verify ended with $?"
# Its title is the path in the archive, and cat takes another one for the archive.
"$hartfs" cat --chunk=1000 --index-dir "$index" "$archive/waits/capture.ini" all/overview.svg | grep '<image\|<a' |
	cmp - <(grep '<image\|<a' "$tmp/overview.waits") || fail "cat gives another picture"
"$hartfs" cat --chunk=1000 --index-dir "$index" "$archive/waits/capture.ini" overview.svg 2>"$tmp/err" && fail "overview.svg is one of three"
grep -q 'several: all/overview.svg, hart0/profile/overview.svg, hart1/profile/overview.svg' "$tmp/err" || fail "$(cat "$tmp/err")"

# Without a summary it is the same; and a listing that is not offered is not merged.
index=$tmp/index2
do_mount --wait --summary=off
cmp "$mnt/many@ntrace/all/listing.txt" "$tmp/whole" || fail "without a summary it is another file"
do_umount
index=$tmp/index3
do_mount --wait --views=trace.stf
[ -e "$mnt/many@ntrace/all" ] && fail "there is a merged listing, but no listing"
grep -A1 '"all/listing.txt"' "$mnt/many@ntrace/info.json" | grep -q 'not among the views' || fail "info.json does not say why"
do_umount

# A build that was killed goes on, and makes the same.
"$hartfs" index -q --index-dir "$tmp/index4" -j 1 --chunk=4 --pack-below=1 --views=listing.txt "$archive/many/capture.ini" &
begun() { [ -n "$(find "$tmp/index4" -name '*.part' 2>/dev/null)" ] || ! [ -e "/proc/$!/exe" ]; }
wait_until begun
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
"$hartfs" cat --index-dir "$tmp/index4" --chunk=4 --pack-below=1 --views=listing.txt "$archive/many/capture.ini" all/listing.txt |
	cmp - "$tmp/whole" || fail "after a kill it is another file"
"$hartfs" verify -q --index-dir "$tmp/index4" --chunk=4 --pack-below=1 --views=listing.txt "$archive/many/capture.ini" 2>"$tmp/err" ||
	fail "after a kill the index is another one: $(cat "$tmp/err")"

if [ -d "${HARTFS_CORPUS:-}/ete" ]; then
	rm -rf "${archive:?}"/*
	cp -r "$HARTFS_CORPUS/ete/snapshots" "$archive"
	index=$tmp/index5
	do_mount --wait --views=listing.txt
	view_dirs >"$tmp/dirs"
	(cd "$mnt" && xargs python3 "$judge" check) <"$tmp/dirs" >"$tmp/sizes" || fail "$(sed -n "$(($(wc -l <"$tmp/sizes") + 1))p" "$tmp/dirs")"
	echo "corpus: $(wc -l <"$tmp/dirs") captures, $(grep -vc none "$tmp/sizes") of them have all/listing.txt"
	do_umount
else
	echo "SKIPPED the part with the corpus: HARTFS_CORPUS names none"
fi
finish
