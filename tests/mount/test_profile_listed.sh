#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is there can be seen: profile/ and where/ are listed, README.txt names every file, and who looks into profile/ finds
# its files there soon, with their sizes. Who goes through an archive has none made.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
here=$(cd "$(dirname "$0")/../.." && pwd)
short_archive
"$hartfs" cat --index-dir "$tmp/cut" "$archive/boot/rv-sys.stf.gz" hart0/at/0-19999/trace.stf >"$tmp/part.stf" || fail "a piece of rv-sys"
rm -r "$archive" && mkdir "$archive"
for i in {1..20}; do
	cp "$tmp/part.stf" "$archive/run$i.stf"
	touch -d "@$((1600000000 + i))" "$archive/run$i.stf"
done
made() { awk '$1 == "hartfs_profiles_made_ahead_total" {print $2}' "$mnt/.hartfs/metrics.prom"; }

do_mount --wait
ls -lR "$mnt" >"$tmp/list" || fail "ls -lR ended with $?"
[ "$(grep -c '^dr.* profile$' "$tmp/list")" = 20 ] || fail "not every hart lists profile/"
[ "$(grep -c '^dr.* where$' "$tmp/list")" = 20 ] || fail "not every hart lists where/"
[ "$(grep -c ' README.txt$' "$tmp/list")" = 40 ] || fail "not every directory has its README.txt"
grep -q 'functions.txt' "$tmp/list" && fail "the first list has functions.txt"
do_umount

# ---- a walk makes none ----
# That is what sees three captures within 300 ms, and all within 2 s; a slow machine tries again.
walk() {
	do_mount --wait
	python3 - "$mnt" <<-'END' && return
		import os, sys, time
		times = [time.monotonic()]
		for i in range(1, 21):
		    os.listdir(f"{sys.argv[1]}/run{i}@stf/hart0/profile")
		    times.append(time.monotonic())
		sys.exit(times[3] - times[0] > 0.3 or times[20] - times[0] > 2)
	END
	do_umount
	return 1
}
wait_until walk || fail "no walk is quick enough"
# Those at its end would be made a moment after it.
sleep 1
[ "$(made)" = 0 ] || fail "a walk made $(made) files"

# ---- a look makes them all ----
# There are no lines and no samples, so no lcov.info and no samples.txt.
profile=$mnt/run7@stf/hart0/profile
mapfile -t names < <(sed -nE 's/^HF_PROFILE\(\w+, "([^"*]*)", \w+, (SMALL|LARGE),.*/\1/p' "$here/fs/profile/profiles.def" | grep -vxE 'lcov.info|samples\.(txt|svg)' | sort)
[ "${#names[@]}" -gt 12 ] || fail "profiles.def has ${names[*]}"
[ "$(ls "$profile")" = README.txt ] || fail "the first look: $(ls "$profile")"
is_complete() { ls -l "$profile" >"$tmp/list" && [ "$(grep -vc 'README.txt$' "$tmp/list")" = $((${#names[@]} + 1)) ]; }
wait_until is_complete || fail "the list stays $(cat "$tmp/list")"
[ "$(ls "$profile" | grep -vx README.txt)" = "$(printf '%s\n' "${names[@]}")" ] || fail "ls: $(ls "$profile")"
[ "$(made)" -ge "${#names[@]}" ] || fail "$(made) were made"
for name in "${names[@]}"; do
	[ "$(stat -c %s "$profile/$name")" = "$(cat "$profile/$name" | wc -c)" ] || fail "size of $name"
	[ "$(awk -v n="$name" '$NF == n {print $5}' "$tmp/list")" = "$(cat "$profile/$name" | wc -c)" ] || fail "listed size of $name"
done
[ "$(ls "$mnt/run8@stf/hart0/profile")" = README.txt ] || fail "those of another capture were made"
# A slice has its own.
slice=$mnt/run7@stf/hart0/at/100-199/profile
slice_is_listed() { ls "$slice" | grep -qx flame.svg; }
wait_until slice_is_listed || fail "the slice lists $(ls "$slice")"
head -n 1 "$slice/functions.txt" | grep -q '100 instructions' || fail "of the slice: $(head -n 1 "$slice/functions.txt")"

# ---- what it says of them ----
readme=$mnt/run7@stf/hart0/profile/README.txt
sed -nE 's/^HF_PROFILE\(\w+, "([^"]*)".*/\1/p' "$here/fs/profile/profiles.def" | while read -r name; do
	grep -qxF "$name" "$readme" || echo "$name"
done >"$tmp/lacking"
[ ! -s "$tmp/lacking" ] || fail "README.txt does not name $(cat "$tmp/lacking")"
grep -qx '    flame graph: open it in a browser' "$readme" || fail "README.txt: $(cat "$readme")"
[ "$(stat -c %s "$readme")" = "$(cat "$readme" | wc -c)" ] || fail "size of README.txt"
cmp "$readme" "$mnt/run8@stf/hart0/profile/README.txt" || fail "README.txt is not the same everywhere"
do_umount
finish
