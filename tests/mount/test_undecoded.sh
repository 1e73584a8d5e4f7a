#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A capture of which nothing can be decoded fails wherever that is told: by commands, in the mount, and remembered. The
# key that is wrong comes with it.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
mini=${HARTFS_DATA:-}/archive/mini/rv32-mini.stf
[ -f "$mini" ] || skip "there is no test data (HARTFS_DATA)"

cp "$mini" "$archive/"
do_mount --wait
mkdir "$tmp/copy"
good=$mnt/rv32-mini@stf/hart0/at/0-20000/etrace
wait_until measured "$good" && cp -r "$good" "$tmp/copy/good" || fail "no view"
do_umount
rm "$archive/rv32-mini.stf"
cp -r "$tmp/copy/good" "$archive/bad"
sed -i 's/^privilege_width = 3$/privilege_width = 6/' "$archive/bad/capture.ini"
grep -q 'privilege_width = 6' "$archive/bad/capture.ini" || fail "$(cat "$archive/bad/capture.ini")"
cause='likely cause: privilege_width = 3 fits (6 is written)'

# By commands: also when the index is there already, and beside a good one.
for again in 1 2; do
	"$hartfs" index --index-dir "$index" "$archive" >"$tmp/out" 2>&1
	[ $? = 1 ] || fail "index $again: $(cat "$tmp/out")"
	grep -qF "$cause" "$tmp/out" || fail "index $again: $(cat "$tmp/out")"
done
"$hartfs" verify --index-dir "$index" "$archive" >"$tmp/out" 2>&1
[ $? = 1 ] || fail "verify: $(cat "$tmp/out")"
"$hartfs" info --json --index-dir "$index" "$archive/bad/capture.ini" >"$tmp/out" 2>&1
[ $? = 1 ] || fail "info: a status of $?"
grep -q '"state": "failed"' "$tmp/out" || fail "info: $(grep state "$tmp/out")"
grep -qF "$cause" "$tmp/out" || fail "info: $(grep error "$tmp/out")"
grep -q '"instructions": 0,' "$tmp/out" || fail "info: something was decoded: $(cat "$tmp/out")"
"$hartfs" info --index-dir "$index" "$archive/bad/capture.ini" >"$tmp/out" 2>&1
[ $? = 1 ] || fail "info for people: a status of $?"
grep -F "  failed  " "$tmp/out" | grep -qF "$cause" || fail "info for people: $(cat "$tmp/out")"
cp -r "$tmp/copy/good" "$archive/good"
"$hartfs" index --index-dir "$index" "$archive" >"$tmp/out" 2>&1
[ $? = 3 ] || fail "beside a good one: $(cat "$tmp/out")"
grep -q '2 captures: 1 indexed, 1 failed' "$tmp/out" || fail "$(cat "$tmp/out")"
"$hartfs" info --json --index-dir "$index" "$archive" >"$tmp/out" 2>&1
[ $? = 3 ] || fail "info of both: a status of $?"

# In the mount, a first time and a second time, when it is known from the catalogue.
for again in 1 2; do
	timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" 2>"$tmp/err"
	[ $? = 3 ] || fail "mount --wait: $(cat "$tmp/err")"
	grep -q '^hartfs mount: bad: ' "$tmp/err" || fail "mount --wait: $(cat "$tmp/err")"
	[ "$(head -n 1 "$mnt/bad@etrace/errors.txt")" = "bad: $cause" ] || fail "$(head -n 2 "$mnt/bad@etrace/errors.txt")"
	grep -q '"state": "failed"' "$mnt/bad@etrace/info.json" || fail "mounted: $(cat "$mnt/bad@etrace/info.json")"
	[ -s "$mnt/bad@etrace/records.txt" ] || fail "no records.txt"
	grep -q '"failed": 1' "$mnt/.hartfs/status.json" || fail "$(cat "$mnt/.hartfs/status.json")"
	grep -q '"ready": 1' "$mnt/.hartfs/status.json" || fail "$(cat "$mnt/.hartfs/status.json")"
	grep -q '"capture": "bad"' "$mnt/.hartfs/status.json" || fail "$(cat "$mnt/.hartfs/status.json")"
	[ ! -s "$mnt/good@etrace/errors.txt" ] || fail "good: $(cat "$mnt/good@etrace/errors.txt")"
	python3 - "$mnt" <<-'END' || fail "attributes"
		import os, sys
		for name, state in ("bad", b"failed"), ("good", b"ready"):
		    assert os.getxattr(sys.argv[1] + "/" + name + "@etrace", "user.hartfs.state") == state, name
	END
	do_umount
done

# A capture without anything in it is none that failed.
rm -r "$archive/bad" "$archive/good"
cp -r "$tmp/copy/good" "$archive/empty"
: >"$archive/empty/trace.bin"
"$hartfs" index --index-dir "$index" "$archive" >"$tmp/out" 2>&1 || fail "empty: $(cat "$tmp/out")"
finish
