#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs index --profiles makes the files of profile/ ahead: every mount lists them from the first look on, with the sizes
# that they have, and makes none for that. What was made for another capture, program, parameter or build does not count.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
here=$(cd "$(dirname "$0")/../.." && pwd)
capture_archive
short_boot
mkdir "$archive/small"
"$hartfs" cat --index-dir "$tmp/cut" "$archive/mini/rv32-mini.stf" hart0/at/0-49/trace.stf >"$archive/small/part.stf" || fail "a piece of rv32-mini"
boot=$mnt/boot/rv-sys@stf@gz/hart0/profile part=$mnt/small/part@stf/hart0/profile
made() { awk '$1 == "hartfs_profiles_made_ahead_total" {print $2}' "$mnt/.hartfs/metrics.prom"; }
# Those that are made although nobody asks for one; of lines and samples there are none.
mapfile -t names < <({ echo README.txt; sed -nE 's/^HF_PROFILE\(\w+, "([^"*]*)", \w+, (SMALL|LARGE),.*/\1/p' "$here/fs/profile/profiles.def" | grep -vxE 'lcov.info|samples\.(txt|svg)'; } | sort)
[ "${#names[@]}" -gt 12 ] || fail "profiles.def has ${names[*]}"
all=$(printf '%s\n' "${names[@]}")
is_complete() { [ "$(ls "$1")" = "$all" ]; }
# first_look COUNT [OPTION...]: in how many of both directories the first look of a mount finds all; else it finds README.txt.
first_look() {
	local want=$1 have=0 directory list
	shift
	do_mount "$@"
	for directory in "$boot" "$part"; do
		list=$(ls "$directory")
		if [ "$list" = "$all" ]; then
			have=$((have + 1))
		elif [ "$list" != README.txt ]; then
			fail "$directory lists $list"
		fi
	done
	[ "$have" = "$want" ] || fail "$have of the directories are complete, not $want"
}
ahead() { "$hartfs" index -q --profiles --index-dir "$index" "$@" "$archive" || fail "index --profiles ended with $?"; }

# ---- a list that is complete at once, in every mount ----
ahead
for _ in 1 2; do
	first_look 2
	ls -lR "$mnt" >"$tmp/list" || fail "ls -lR ended with $?"
	for directory in "$boot" "$part"; do
		ls -l "$directory" >"$tmp/list"
		for name in "${names[@]}"; do
			size=$(cat "$directory/$name" | wc -c)
			[ "$(awk -v n="$name" '$NF == n {print $5}' "$tmp/list")" = "$size" ] || fail "listed size of $name"
			[ "$(stat -c %s "$directory/$name")" = "$size" ] || fail "size of $name"
		done
	done
	[ "$(made)" = 0 ] || fail "$(made) were made"
	do_umount
done
# To index again makes none again: a catalogue that nothing was put into is not written.
before=$(cat "$index"/*.hfc | sha256sum)
ahead
[ "$(cat "$index"/*.hfc | sha256sum)" = "$before" ] || fail "the second index --profiles changed the catalogue"

# ---- what they were not made for ----
# Another build: the same program with another build id.
python3 - "$hartfs" "$tmp/other" <<'END' || fail "the program has no build id"
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.find(b"GNU\0", 0)
while at >= 0 and data[at - 4:at] != b"\3\0\0\0":
    at = data.find(b"GNU\0", at + 1)
if at < 0:
    sys.exit(1)
data[at + 4] ^= 1
open(sys.argv[2], "wb").write(data)
END
chmod +x "$tmp/other"
own=$hartfs
hartfs=$tmp/other first_look 0
hartfs=$tmp/other do_umount
[ "$own" = "$hartfs" ] || fail "the program is $hartfs"
# Its own looks were remembered, if it had the time; this build makes its own again.
ahead
# Another parameter.
first_look 0 --param bbv.modes=U
do_umount
ahead
# Another program beside the capture: of the small one nothing changed.
echo >>"$archive/boot/rv-sys.elf"
first_look 1 --wait
do_umount
ahead
first_look 2
do_umount
# Another capture.
touch -d @1600000000 "$archive/small/part.stf"
first_look 1 --wait
do_umount
ahead
# A summary that is gone: what it says may be more.
rm "$index"/*.hfq
first_look 1
do_umount
# An index that is gone.
rm "$index"/*.hf?
first_look 0 --wait
do_umount

# ---- several harts: each, and the flame graph of all ----
python3 "$here/tests/lib/merged.py" make "$tmp/harts" && cp -r "$tmp/harts/many" "$archive/" || fail "the capture with harts"
ahead
do_mount
for directory in "$mnt"/many@ntrace/hart*/profile "$mnt/many@ntrace/all"; do
	ls "$directory" | grep -qx flame.svg || fail "$directory lists $(ls "$directory")"
	[ "$(stat -c %s "$directory/flame.svg")" = "$(cat "$directory/flame.svg" | wc -c)" ] || fail "size of $directory/flame.svg"
done
[ "$(made)" = 0 ] || fail "$(made) were made"
do_umount

# ---- what a look made ----
ahead
touch -d @1600000001 "$archive/small/part.stf"
first_look 1 --wait
wait_until is_complete "$part" || fail "the list stays $(ls "$part")"
do_umount
first_look 2
[ "$(made)" = 0 ] || fail "$(made) were made"
do_umount
finish
