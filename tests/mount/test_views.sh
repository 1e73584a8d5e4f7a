#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Views behave as files however they are read: whole, in parts, in any order, mapped, by several at once; and their
# sizes are right before anything was read.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
capture_archive
before=$(snapshot)
do_mount --wait --chunk 1000 --cache 4M

[ -n "$(view_dirs)" ] || fail "no directory of views"
[ -n "$(listings)" ] || fail "no listing"
find "$mnt" -name INDEXING | grep . && fail "not indexed after --wait"
for dir in $(view_dirs); do
	[ -s "$mnt/$dir/info.json" ] || fail "$dir has no info.json"
	if command -v python3 >/dev/null; then
		python3 -m json.tool "$mnt/$dir/info.json" >/dev/null || fail "$dir/info.json is not JSON"
	fi
done

# Sizes as stat gives them, before and after reading.
while read -r file; do
	size=$(stat -c %s "$mnt/$file")
	[ "$(cat "$mnt/$file" | wc -c)" = "$size" ] || fail "$file: not the size that was promised ($size)"
	[ "$(stat -c %s "$mnt/$file")" = "$size" ] || fail "$file: the size changed"
done < <(all_files "$mnt")

# check_reads VIEW: parts of it, in every way, against the whole as read once.
check_reads() {
	local whole=$tmp/whole size view=$mnt/$1 offset
	cp "$view" "$whole" || fail "cp $1"
	chmod u+w "$whole"
	size=$(stat -c %s "$whole")
	cmp "$whole" "$view" || fail "$1: differs when read again"
	for n in 1 4096 99999; do
		cmp <(tail -c $n "$whole") <(tail -c $n "$view") || fail "$1: tail -c $n"
	done
	for ((i = 0; i < 25 && size > 0; i++)); do
		offset=$(((RANDOM * 32768 + RANDOM) % size))
		cmp <(tail -c +$((offset + 1)) "$whole" | head -c 7777) \
			<(dd if="$view" bs=7777 count=1 skip=$offset iflag=skip_bytes,fullblock status=none) ||
			fail "$1: 7777 bytes at $offset"
	done
	for pass in 1 2 3; do
		(cmp "$whole" "$view" || : >"$tmp/differs") &
		(dd if="$view" bs=65536 status=none | cmp - "$whole" || : >"$tmp/differs") &
	done
	wait
	[ ! -e "$tmp/differs" ] || fail "$1: several readers at once get other bytes"
	rm -f "$tmp/differs"
	if command -v python3 >/dev/null; then
		python3 - "$view" "$whole" <<-'EOF' || fail "$1: mapped it differs"
			import mmap, os, sys
			if os.path.getsize(sys.argv[1]):
			    with open(sys.argv[1], "rb") as f, open(sys.argv[2], "rb") as g:
			        m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
			        whole = g.read()
			        step = 4096 * 3
			        for at in reversed(range(0, len(whole), step)):
			            if m[at:at + step] != whole[at:at + step]:
			                sys.exit(1)
		EOF
	fi
	cmp "$whole" <("$hartfs" cat --index-dir "$index" "$archive/${1#./}") || fail "$1: hartfs cat gives other bytes"
}

for dir in $(view_dirs); do
	while read -r view; do
		check_reads "$dir/$view"
	done < <(cd "$mnt/$dir" && find . -type f ! -name info.json -print | sort)
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
