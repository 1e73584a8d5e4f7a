#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs index --shard: the parts together are the archive, none of it twice. A part opens only files that fall to it: a
# file that cannot be read is told by one part, and only a directory that cannot be searched by all of them.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
umask 022
chmod 755 "$tmp"
capture() {
	head -c 4000 "$HARTFS_DATA/archive/mini/rv32-mini.stf" >"$archive/$1"
	touch -d "@$((1500000000 + made++))" "$archive/$1"
}
# described DIRECTORY: a capture that is a directory, with a member in a directory of its own.
described() {
	mkdir -p "$archive/$1/in"
	printf '%s\n' '[capture]' 'format = ntrace' 'trace = in/t' >"$archive/$1/capture.ini"
	printf '\x24\x05' >"$archive/$1/in/t"
	touch -d "@$((1500000000 + made++))" "$archive/$1/in/t"
}
made=0
mkdir -p "$archive/a/b/c"
for i in 1 2 3 4 5 6 7 8; do
	capture "t$i.stf"
	capture "a/b/t$i.stf"
	described "run$i"
	described "a/run$i/below"
	capture "run$i/other.stf"
	echo "no capture" >"$archive/a/b/c/$i.txt"
	printf '%s\n' '[capture]' 'format = ntrace' "trace = run$i/in/t" >"$archive/own$i.ini"
done

h() { timeout "$patience" "$hartfs" index --index-dir "$index" "$@"; }
indexed() { grep -h ': indexed$' "$@" | sort; }
h "$archive" >"$tmp/whole" || fail "index ended with $?: $(cat "$tmp/whole")"
count=$(indexed "$tmp/whole" | wc -l)
[ "$count" = 48 ] || fail "$count captures: $(cat "$tmp/whole")"
for of in 2 5; do
	rm -rf "${index:?}"/* "$tmp"/part.*
	for ((part = 0; part < of; part++)); do
		h --shard "$part/$of" "$archive" >"$tmp/part.$part" || fail "part $part of $of ended with $?"
		of_part=$(indexed "$tmp/part.$part" | wc -l)
		[ "$of_part" -lt "$count" ] || fail "part $part of $of is everything"
		[ "$of_part" = 1 ] || grep -q "^$of_part captures: $of_part indexed, 0 failed$" "$tmp/part.$part" ||
			fail "part $part of $of: $(cat "$tmp/part.$part")"
	done
	indexed "$tmp"/part.* | cmp - <(indexed "$tmp/whole") || fail "$of parts are not the whole"
	# A capture that is given by its path falls to a part, too.
	[ "$(for ((part = 0; part < of; part++)); do h --shard "$part/$of" "$archive/t1.stf"; done | grep -c ': indexed$')" = 1 ] ||
		fail "a path does not fall to one of $of parts"
done

# As the kernel sees it: files that are opened to be read.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	strace -f -qq -s 4096 -e trace=openat,openat2 -o "$tmp/trace" "$hartfs" index --index-dir "$tmp/new" --shard 0/5 "$archive" \
		>"$tmp/out" || fail "under strace index ended with $?"
	grep -v O_PATH "$tmp/trace" | grep -oE '"[^"]*\.stf"' | tr -d '"' | sort -u >"$tmp/opened"
	indexed "$tmp/out" | sed -n "s,^$archive/\(.*\.stf\): .*,\1,p" | cmp - "$tmp/opened" || fail "opened: $(cat "$tmp/opened")"
else
	echo "SKIPPED: which files are opened, for strace is not there or may not trace"
fi

# What cannot be read. Root can read all, and so is another user here.
as=()
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || finish
	as=(setpriv --reuid=12345 --regid=12345 --clear-groups)
	chown 12345 "$index"
fi
chmod 000 "$archive/t3.stf"
mkdir -m 000 "$archive/closed"
rm -rf "${index:?}"/*
for part in 0 1 2 3 4; do
	timeout "$patience" "${as[@]}" "$hartfs" index --index-dir "$index" --shard "$part/5" "$archive" >"$tmp/out" 2>"$tmp/err.$part"
	[ $? = 3 ] || fail "part $part ended with $?: $(cat "$tmp/err.$part")"
	grep -q 'closed: not searched for captures: permission denied' "$tmp/err.$part" ||
		fail "part $part does not tell of a directory: $(cat "$tmp/err.$part")"
done
[ "$(cat "$tmp"/err.* | grep -c 't3.stf: not searched for captures: permission denied')" = 1 ] ||
	fail "not one part tells of a file: $(cat "$tmp"/err.*)"
chmod 700 "$archive/closed"
finish
