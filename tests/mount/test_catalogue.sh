#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An archive that was mounted before: listed without opening a capture or an index, whatever happened to the daemon that
# wrote the catalogue.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive
mkdir "$archive/plain"
for i in 1 2 3 4 5 6 7 8 9; do echo "$i" >"$archive/plain/$i.txt"; done
files=$(find "$archive" -type f | wc -l)
captures=$(find "$archive" -name '*.stf*' | wc -l)

metric() { awk -v m="hartfs_$1" '$1 == m {print $2}' "$mnt/.hartfs/metrics.prom"; }
# expect NAME VALUE: what the daemon counted.
expect() { [ "$(metric "$1")" = "$2" ] || fail "$1 is $(metric "$1"), not $2"; }
catalogues() { find "$index" -name '*.hfc' | wc -l; }
# Everything but what changes by itself; numbers too, which stay the same.
listing() { (cd "$mnt" && find . "${steady[@]}" -printf '%p %y %i %s %T@ %m\n' | sort); }
no_searching() { [ "$(metric searching)" = 0 ]; }

do_mount --wait
listing >"$tmp/first"
expect files_probed_total "$files"
do_umount
[ "$(catalogues)" = 1 ] || fail "there are $(catalogues) catalogues"

# Again: nothing is opened, and nothing is written.
sum=$(cat "$index"/*.hfc | cksum)
for pass in 1 2; do
	do_mount --wait
	listing | cmp - "$tmp/first" || fail "mount $pass of a known archive shows something else"
	ls -lR --ignore=profile "$mnt" >/dev/null || fail "ls -lR ended with $?"
	wait_until no_searching || fail "searching does not end"
	expect files_probed_total 0
	expect indexes_opened_total 0
	expect files_recalled_total "$files"
	do_umount
done
[ "$(cat "$index"/*.hfc | cksum)" = "$sum" ] || fail "the catalogue was written though nothing was new"

# The same as the kernel sees it.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	strace -f -qq -e trace=openat,openat2 -o "$tmp/trace" "$hartfs" mount -f --index-dir "$index" "$archive" "$mnt" \
		2>/dev/null &
	wait_until is_mounted "$mnt" || fail "no mount under strace"
	listing | cmp - "$tmp/first" || fail "under strace something else is shown"
	wait_until no_searching
	do_umount
	wait
	# Files of the archive are only looked at (O_PATH), of the index only the catalogue is opened.
	grep -vE 'O_PATH|O_DIRECTORY' "$tmp/trace" | grep -E '\.(stf|txt|md|elf|hfi|hfv)' && fail "files were opened"
	grep -q '\.hfc' "$tmp/trace" || fail "the catalogue was not opened"
fi

# A view that is read opens its index, and only that.
do_mount --wait
cmp "$mnt/mini/rv32-mini@stf/hart0/trace.stf" "$archive/mini/rv32-mini.stf" || fail "trace.stf differs"
expect indexes_opened_total 1
do_umount

# One file changes: it alone is looked at again.
cat "$archive/mini/rv32-mini.stf" >"$tmp/stf" && touch "$archive/mini/rv32-mini.stf"
echo new >>"$archive/plain/3.txt"
do_mount --wait
listing >/dev/null
expect files_probed_total 2
expect files_recalled_total $((files - 2))
cmp "$mnt/mini/rv32-mini@stf/hart0/trace.stf" "$tmp/stf" || fail "trace.stf differs after the change"
listing >"$tmp/first"
do_umount
do_mount --wait
listing | cmp - "$tmp/first" || fail "the change is not remembered"
expect files_probed_total 0
do_umount

# Two daemons on one archive and one catalogue.
mkdir "$tmp/mnt2"
do_mount --wait
second() { timeout "$patience" "$hartfs" mount --index-dir "$index" --log "$log" --wait "$archive" "$tmp/mnt2"; }
second || fail "the second mount ended with $?"
touch "$archive/notes.md" "$archive/mini/rv32-mini.stf"
for m in "$mnt" "$tmp/mnt2"; do
	wait_until cmp -s "$m/mini/rv32-mini@stf/source.stf" "$tmp/stf" || fail "$m: source.stf differs"
	ls -lR --ignore=profile "$m" >/dev/null
done
timeout "$patience" "$hartfs" umount "$tmp/mnt2" || fail "umount of the second ended with $?"
do_umount
do_mount --wait
expect files_probed_total 0
listing >"$tmp/first"
do_umount

# Killed while it writes: the next one goes on with what was written before, or anew.
for delay in 0.1 0.5 2.0 2.3; do
	touch "$archive/mini/rv32-mini.stf" "$archive"/plain/*
	do_mount
	ls -lR --ignore=profile "$mnt" >/dev/null
	sleep "$delay"
	for pid in $(servers); do kill -9 "$pid" 2>/dev/null; done
	umount -l "$mnt" 2>/dev/null || fusermount3 -u -z "$mnt"
	wait_until no_servers
	do_mount --wait
	listing >/dev/null
	do_umount
	do_mount --wait
	expect files_probed_total 0
	do_umount
done

# Indexed ahead of time, the first mount knows all.
rm -rf "${index:?}"/*
timeout "$patience" "$hartfs" index --index-dir "$index" "$archive" >/dev/null || fail "index ended with $?"
do_mount --wait
[ "$(listings | wc -l)" -ge "$((captures > 0))" ] || fail "no listing"
expect files_probed_total 0
expect indexes_opened_total 0
do_umount

# cat and info leave none behind.
rm -rf "${index:?}"/*
timeout "$patience" "$hartfs" cat --index-dir "$index" "$archive/mini/rv32-mini.stf" hart0/listing.txt >/dev/null ||
	fail "cat ended with $?"
[ "$(catalogues)" = 0 ] || fail "cat made a catalogue"

# A catalogue that is damaged, or none, is no catalogue; the index directory may be read-only.
do_mount --wait && listing >/dev/null
do_umount
name=$(echo "$index"/*.hfc)
for damage in 'head -c 9000 /dev/urandom' 'echo of someone else'; do
	$damage >"$name"
	do_mount --wait
	listing >/dev/null
	expect files_probed_total "$files"
	do_umount
done
finish
