#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files that the user may not read: nobody can say that they are no captures, so they are named, and the status tells of
# them. A path that is not there is looked for where it would be, and nowhere else.
. "$(dirname "$0")/../lib/mount.sh"
need_root
short_archive
command -v setpriv >/dev/null || skip "setpriv is needed"
chmod 755 "$tmp"
mv "$archive/mini/rv32-mini.stf" "$archive/secret.stf"
chmod 000 "$archive/secret.stf"
mkdir -m 700 "$archive/closed"
# A part of a capture is not looked for one by itself.
mkdir "$archive/run"
printf '%s\n' '[capture]' 'format = ntrace' 'trace = t' >"$archive/run/capture.ini"
printf '\x24\x05' >"$archive/run/t"
chmod 000 "$archive/run/t"
index=$tmp/own
install -d -o 12345 "$index"
# try STATUS COMMAND [ARGUMENT...]
try() {
	local want=$1 command=$2 status
	shift 2
	timeout "$patience" setpriv --reuid=12345 --regid=12345 --clear-groups \
		"$hartfs" "$command" --index-dir "$index" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" = "$want" ] || fail "$command $*: status $status instead of $want: $(cat "$tmp/err")"
}
tells() { grep -qE -- "$1" "$tmp/err" || fail "nothing of '$1': $(cat "$tmp/err")"; }

for command in index verify info; do
	try 3 "$command" "$archive"
	tells 'secret.stf: not searched for captures: permission denied'
	tells 'closed: not searched for captures: permission denied'
	grep -q 'run/t: not searched' "$tmp/err" && fail "$command: the member of a capture is told twice: $(cat "$tmp/err")"
done
try 3 index "$archive"
grep -qE 'captures: [1-9][0-9]* indexed, [0-9]+ failed, 2 not readable$' "$tmp/out" || fail "index: $(cat "$tmp/out")"
for command in index info cat; do
	try 1 "$command" "$archive/secret.stf" $([ $command = cat ] && echo hart0/listing.txt)
	tells 'secret.stf.*: permission denied'
done

# Whoever searched the archive would meet what is closed.
for arguments in "$archive/nope x" "$archive/nope" "$archive/nope@stf/hart0/listing.txt" "$archive/mini x" \
	"$archive/boot/nope@stf@gz/info.json" "$archive/boot/rv-sys@stf@gz/hart0/nope"; do
	# shellcheck disable=SC2086
	try 1 cat $arguments
	grep -q 'not searched' "$tmp/err" && fail "cat $arguments searches the archive: $(cat "$tmp/err")"
done
try 1 cat "$archive/nope" x
tells 'nope/x: there is no such file'
try 1 cat "$archive/notes.md" x
tells 'notes.md/x: this is not a capture'
try 0 cat "$archive/boot/rv-sys@stf@gz/hart0/listing.txt" --length=10
try 1 info "$archive/nope"
tells 'nope/info.json: there is no such file'

# Whoever waits for a mount hears of it, too: here root, who may read no more than others.
if (exec 3<>/dev/fuse) 2>/dev/null; then
	index=$tmp/index
	timeout "$patience" setpriv --bounding-set=-dac_override,-dac_read_search \
		"$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" 2>"$tmp/err"
	status=$?
	[ "$status" = 3 ] || fail "mount --wait: status $status"
	tells 'secret.stf: not searched for captures: permission denied'
	grep -q '"path": "secret.stf"' "$mnt/.hartfs/status.json" || fail "status.json does not have it"
	do_umount
fi
finish
