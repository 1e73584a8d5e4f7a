#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Users share an index directory for so many minutes, as root: two of a group, one who may only look, and root's mount.
# They index, ask, are killed, and prune at random, among files that a hostile member left. Every answer must be the one
# of a directory that nobody shares.
#	contrib/team.sh [MINUTES]
set -u
minutes=${1:-60}
hartfs=${HARTFS_BIN:-$PWD/build/release/hartfs}
samples=$(cd "$(dirname "$0")/../tests/data/archive" && pwd)
tmp=$(mktemp -d) index=$tmp/index archive=$tmp/archive mnt=$tmp/mnt
chmod 755 "$tmp"
mkdir "$archive" "$mnt" "$index"
chgrp users "$index" && chmod 2775 "$index"
for i in 1 2 3 4 5 6; do
	cp "$samples"/mini/*.stf "$archive/t$i.stf"
	touch -d "2020-01-01 00:00:0$i" "$archive/t$i.stf"
done
chmod 640 "$archive"/*.stf && chown 20001:users "$archive"/*.stf
trap 'kill $(jobs -p) 2>/dev/null; "$hartfs" umount --lazy "$mnt" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
gid=$(getent group users | cut -d: -f3)
as() {
	case $1 in
	root) "${@:2}" ;;
	carl) setpriv --reuid 20003 --regid 20003 --groups "$gid" env HOME="$tmp" "${@:2}" ;;
	*) setpriv --reuid "$1" --regid "$1" --groups "$gid" env HOME="$tmp" "${@:2}" ;;
	esac
}
options="--index-dir $index --index-mode=group --trust=group:users"
"$hartfs" cat --index-dir "$tmp/own" "$archive/t1.stf" hart0/listing.txt >"$tmp/want" || exit 1
count=$("$hartfs" find --index-dir "$tmp/own" "$archive/t1.stf" --taken --count) || exit 1
wrong() { echo "WRONG: $*" | tee -a "$tmp/wrong"; }

# What a member of the group with bad intentions leaves.
hostile() {
	local name target
	name=$(find "$index" -name '*.hfi' -printf '%f\n' | shuf -n 1)
	[ -n "$name" ] || return
	target=$index/.$name.part
	case $((RANDOM % 6)) in
	0) as 20004 timeout 2 bash -c "umask 0; head -c 5000 /dev/urandom >'$target'" ;;
	1) as 20004 ln -s /etc/passwd "$target" ;;
	2) as 20004 mkfifo "$target" ;;
	3) as 20004 mkdir "$target" ;;
	4) as 20004 timeout 2 bash -c "umask 0; rm -f '$index/$name'; head -c 90000 /dev/urandom >'$index/$name'" ;;
	5) as 20004 timeout 2 bash -c "umask 027; rm -f '$index/$name'; head -c 90000 /dev/urandom >'$index/$name'" ;;
	esac 2>/dev/null
}
user() {
	local who=$1 trace got
	RANDOM=$2
	while [ "$SECONDS" -lt "$end" ]; do
		trace=$archive/t$((RANDOM % 6 + 1)).stf
		case $((RANDOM % 8)) in
		0 | 1) as "$who" timeout -s KILL "0.0$((RANDOM % 90 + 10))" "$hartfs" index -q $options "$archive" ;;
		2) as "$who" "$hartfs" index -q $options "$archive" ;;
		3) as "$who" "$hartfs" index -q --prune $options ;;
		4 | 5)
			as "$who" "$hartfs" cat $options "$trace" hart0/listing.txt 2>>"$tmp/messages" | cmp -s - "$tmp/want" ||
				wrong "$who: a listing of $trace" ;;
		6)
			got=$(as "$who" "$hartfs" find $options "$trace" --taken --count 2>>"$tmp/messages")
			[ "$got" = "$count" ] || wrong "$who: $got instead of $count branches in $trace" ;;
		7) [ "$who" != root ] || hostile ;;
		esac >/dev/null 2>>"$tmp/messages"
		echo "$who" >>"$tmp/done"
	done
}
end=$((SECONDS + minutes * 60))
"$hartfs" mount $options -o allow_other --log "$tmp/log" "$archive" "$mnt" || exit 1
user 20001 1 & user 20002 2 & user carl 3 & user root 4 &
while [ "$SECONDS" -lt "$end" ]; do
	cmp -s "$mnt/t$((RANDOM % 6 + 1))@stf/hart0/listing.txt" "$tmp/want" || [ ! -e "$mnt/t1@stf/hart0" ] || wrong "a listing of the mount"
	sleep 1
done
wait %2 %3 %4 %5 2>/dev/null
"$hartfs" umount "$mnt"
echo "$(sort "$tmp/done" | uniq -c | tr -s ' ' | tr '\n' ',') $(wc -l 2>/dev/null <"$tmp/wrong" || echo 0) wrong answers"
grep -v " Killed  " "$tmp/messages" | sed 's/[0-9a-f]\{32\}/ID/g; s/t[1-6].stf/T/; s/\.[0-9]*\.part/.part/' | sort | uniq -c | sort -rn | head -20
[ ! -e "$tmp/wrong" ]
