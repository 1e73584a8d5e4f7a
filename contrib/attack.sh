#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Attacks hartfs from outside, as root, and prints a table of what was tried, what survived and what went wrong:
#   contrib/attack.sh [--seed N] [--descriptions N] [--kills N] [--index N] [--disks N] [--changes N] [--binary PATH]
# descriptions  archives of three users with every kind of description and link: who can see what
# kills         kill -9 of server and supervisor, aimed at the moments when something is under way
# index         damaged and forged files in the index directory
# disks         index directories that are full, read-only or fail
# changes       captures that change while they are read
# A count of 0 leaves an attack out. Without --binary the release build is made and taken. Each failure says how to have
# it again, and keeps files for that in --keep DIR (default: attack.failed in the current directory). Ends with 1 if
# anything was wrong, with 77 where the attacks cannot be run. tests/attack/README.md says how they judge.
set -u
export PYTHONDONTWRITEBYTECODE=1
here=$(cd "$(dirname "$0")/.." && pwd)
attacks=(descriptions kills index disks changes)
declare -A count=([descriptions]=1000 [kills]=500 [index]=2000 [disks]=20 [changes]=2000)
seed=1 binary='' keep=$PWD/attack.failed patience=600

usage() {
	sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0"
	exit "$1"
}
while [ $# -gt 0 ]; do
	[[ $1 == --*=* ]] && set -- "${1%%=*}" "${1#*=}" "${@:2}"
	case $1 in
	-h | --help) usage 0 ;;
	--*) [ $# -ge 2 ] || usage 2 ;;&
	--seed) seed=$2 ;;
	--binary) binary=$(readlink -f "$2") ;;
	--keep) keep=$(readlink -m "$2") ;;
	--patience) patience=$2 ;;
	--descriptions | --kills | --index | --disks | --changes) count[${1#--}]=$2 ;;
	*) usage 2 ;;
	esac
	shift 2
done

skip() {
	echo "SKIP: $*"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "only root can do this: the attacks have several users, and mounts of their own"
(exec 3<>/dev/fuse) 2>/dev/null || skip "/dev/fuse cannot be opened"
for program in python3 zstd unshare; do
	command -v $program >/dev/null || skip "$program is missing"
done
if [ -z "${ATTACK_INSIDE:-}" ]; then
	unshare -m --propagation private true 2>/dev/null || skip "no mount namespace to be had"
	[ -n "$binary" ] || {
		(cd "$here" && cmake --preset release >/dev/null && cmake --build --preset release --target hartfs) || exit 1
		binary=$here/build/release/hartfs
	}
	arguments=(--seed "$seed" --binary "$binary" --keep "$keep" --patience "$patience")
	for attack in "${attacks[@]}"; do
		arguments+=("--$attack" "${count[$attack]}")
	done
	# What is mounted is seen by nobody else.
	ATTACK_INSIDE=1 exec unshare -m --propagation private bash "$0" "${arguments[@]}"
fi

. "$here/tests/lib/namespace.sh"
forget_other_mounts
[ -x "$binary" ] || skip "$binary cannot be run"
table=$(mktemp) status=0 child=
trap 'rm -f "$table"' EXIT
trap '[ -z "$child" ] || { kill -TERM "$child"; wait "$child"; }; exit 130' INT TERM HUP
for attack in "${attacks[@]}"; do
	[ "${count[$attack]}" -gt 0 ] || continue
	python3 "$here/tests/attack/$attack.py" --seed "$seed" --count "${count[$attack]}" --binary "$binary" --keep "$keep" \
		--patience "$patience" --result "$table" &
	child=$!
	wait "$child" || status=1
	child=
done
echo
echo "seed $seed, $("$binary" --version 2>/dev/null | head -n 1)"
echo "attack            tried survived    wrong"
cat "$table"
exit $status
