#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures with a description in a mount and on the command line: a directory, an .ini file, one that is wrong; members
# that change; parameters of views that are wrong.
set -u
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"

stf=$(find "$HARTFS_DATA/archive" -name '*.stf*' -o -name '*.zstf' | sort | head -n 1)
name=trace.${stf##*/*.}
mkdir -p "$archive/run" "$archive/wrong" "$archive/plain"
cp "$stf" "$archive/run/$name"
cp "$stf" "$archive/plain/$name"
printf '[capture]\nformat = stf ; it says so itself\ntrace = %s\n' "$name" >"$archive/run/capture.ini"
printf '[capture]\nformat = stf\ntrace = ../run/%s\n' "$name" >"$archive/plain/other.ini"
printf '[capture]\nformat = stf\ntrace = %s\nframming = x\n' "../run/$name" >"$archive/wrong/capture.ini"
# What only the codec knows to be missing is named.
mkdir "$archive/value"
printf '[capture]\nformat = etrace\ntrace = %s\n' "../run/$name" >"$archive/value/capture.ini"

do_mount --wait
[ "$(ls "$mnt")" = $'plain\nrun\nrun@stf\nvalue\nvalue@etrace\nwrong\nwrong@stf' ] || fail "ls: $(ls "$mnt")"
[ "$(ls "$mnt/run")" = capture.ini$'\n'"$name" ] || fail "a member is a capture of its own: $(ls "$mnt/run")"
plain=$(cd "$mnt" && find plain -name listing.txt | grep -v ini | head -n 1)
for listing in run@stf/hart0/listing.txt plain/other.ini@stf/hart0/listing.txt; do
	cmp -s "$mnt/$listing" "$mnt/$plain" || fail "$listing is not that of the bare file"
done
grep -q '^wrong/capture.ini:4: unknown key .framming' "$mnt/wrong@stf/errors.txt" || fail "$(cat "$mnt/wrong@stf/errors.txt")"
grep -q "has no 'framing'" "$mnt/value@etrace/errors.txt" ||
	fail "$(cat "$mnt/value@etrace/errors.txt")"
grep -q 'wrong/capture.ini:4' "$mnt/.hartfs/status.json" || fail "status.json says nothing of it"
[ "$(stat -c %Y "$mnt/run@stf/info.json")" = "$(stat -c %Y "$archive/run/capture.ini")" ] || fail "the time of a view"

# A member vanishes and comes back.
mv "$archive/run/$name" "$tmp/aside"
gone() { grep -q "'$name' is no file within the archive" "$mnt/run@stf/errors.txt"; }
back() { cmp -s "$mnt/run@stf/hart0/listing.txt" "$mnt/$plain"; }
wait_until gone || fail "a member is gone and nobody says so: $(cat "$mnt/run@stf/errors.txt")"
mv "$tmp/aside" "$archive/run/$name"
wait_until back || fail "a member came back"
rm -r "$archive/wrong/capture.ini" "$archive/value"
wait_until [ ! -e "$mnt/wrong@stf/info.json" ] || fail "the description is gone and its views are not"
do_umount

# Without a mount.
"$hartfs" index -q --index-dir "$index" "$archive" || fail "index ended with $?"
cmp -s <("$hartfs" cat --index-dir "$index" "$archive/run" hart0/listing.txt) \
	<("$hartfs" cat --index-dir "$index" "$archive/$plain") || fail "hartfs cat of a directory"
"$hartfs" info --json --index-dir "$index" "$archive/run" | grep -q '"file": "run/capture.ini"' || fail "hartfs info"

# A capture given by itself whose description leads upwards: the archive begins where it must.
mkdir -p "$archive/deep/er"
printf '[capture]\nformat = stf\ntrace = ../../run/%s\n' "$name" >"$archive/deep/er/capture.ini"
cmp -s <("$hartfs" cat --index-dir "$index" "$archive/deep/er" hart0/listing.txt) \
	<("$hartfs" cat --index-dir "$index" "$archive/$plain") || fail "hartfs cat of a directory whose files lie above it"
cmp -s <("$hartfs" cat --index-dir "$index" "$archive/deep/er/capture.ini" hart0/listing.txt) \
	<("$hartfs" cat --index-dir "$index" "$archive/$plain") || fail "hartfs cat of the description of a directory"
"$hartfs" index --index-dir "$index" "$archive/deep/er/capture.ini" >/dev/null || fail "hartfs index of a description"
cmp -s <("$hartfs" cat --index-dir "$index" "$archive/deep/er/capture.ini") "$archive/deep/er/capture.ini" ||
	fail "hartfs cat of the description itself"
for directory in run deep/er deep/er@stf deep/er@stf/hart0; do
	"$hartfs" cat --index-dir "$index" "$archive/$directory" 2>"$tmp/err" && fail "hartfs cat prints $directory"
	grep -q 'this is a directory' "$tmp/err" || fail "hartfs cat of $directory: $(cat "$tmp/err")"
done

# Parameters: what no view has is an error, wherever it stands.
"$hartfs" mount --index-dir "$index" -o stf.nothing=1 "$archive" "$mnt" 2>"$tmp/err"
[ $? = 2 ] || fail "-o stf.nothing=1 is taken"
grep -q "no view stf with parameters" "$tmp/err" || fail "$(cat "$tmp/err")"
"$hartfs" index --index-dir "$index" --param none.x=1 "$archive" 2>"$tmp/err"
[ $? = 2 ] || fail "--param none.x=1 is taken"
printf '# parameters\nnone.x = 1\n' >"$archive/hartfs.conf"
do_mount 2>"$tmp/err"
for said in "$tmp/err" "$log" "$mnt/.hartfs/status.json"; do
	grep -q "hartfs.conf:2: none.x=1: there is no view none" "$said" || fail "a wrong hartfs.conf: $said: $(cat "$said")"
done
grep -q 'shown without hartfs.conf' "$tmp/err" || fail "$(cat "$tmp/err")"
do_umount
"$hartfs" info --index-dir "$index" "$archive" >/dev/null 2>&1 && fail "info takes a wrong hartfs.conf"
printf '# none\n' >"$archive/hartfs.conf"
do_mount
grep -q '# none' "$mnt/hartfs.conf" || fail "hartfs.conf is not shown"
do_umount
finish
