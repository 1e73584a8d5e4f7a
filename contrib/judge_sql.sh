#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge_sql.sh [COUNT [SEED]]: asks COUNT generated queries (10,000) of hartfs.so, and of tables of plain SQLite that are
# made of listings by a reader of its own; all answers must be the same. Half an hour. BUILD: the build directory
# (build/release).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build/release} count=${1:-10000} seed=${2:-$RANDOM}
[[ $count =~ ^[0-9]+$ && $seed =~ ^[0-9]+$ ]] || { echo "usage: judge_sql.sh [COUNT [SEED]]" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat_of() { "$build/hartfs" cat --index-dir="$tmp/index" "$@"; }
# copy CAPTURE FORMAT NAME [OPTION...]: a directory of packets.
copy() {
	local file
	mkdir "$tmp/$3"
	for file in $("$build/hartfs" ls --index-dir="$tmp/index" "$tmp/$1" | sed -n "s,.*/hart0/$2/,,p"); do
		cat_of "$tmp/$1" "hart0/$2/$file" "${@:4}" >"$tmp/$3/$file"
	done
}
zcat "$root/tests/data/archive/boot/rv-sys.stf.gz" 2>/dev/null | head -c 900000 >"$tmp/sys.stf"
cp "$root/tests/data/archive/boot/rv-sys.elf" "$tmp/sys.elf"
head -c 400000 "$root/tests/data/archive/mini/rv32-mini.stf" >"$tmp/mini.stf"
head -c 120000 "$root/tests/data/astf/a64-sys.astf" >"$tmp/a64.astf"
cp "$root"/tests/data/astf/tables.astf "$root"/tests/data/astf/figure.astf "$tmp/"
/usr/bin/python3 "$root/tests/sql/make_harts.py" "$tmp/harts.stf" "$seed"
# Packets: with accesses and without, complete and with loss.
copy sys.stf etrace etrace
copy sys.stf ntrace ntrace
copy a64.astf ete ete
copy mini.stf etrace data --param etrace.data=1
cp -r "$tmp/ntrace" "$tmp/lost"
size=$(stat -c %s "$tmp/lost/trace.bin")
for part in 1 2 3; do
	head -c 40 /dev/zero | tr '\0' '\377' |
		dd of="$tmp/lost/trace.bin" bs=1 seek=$((size * part / 4)) conv=notrunc status=none
done
bad=0
for options in --chunk=1000 --pack-below=0\ --chunk=300 --chunk=16384; do
	for share in sys.stf:8 harts.stf:8 mini.stf:3 a64.astf:4 etrace:2 ntrace:2 ete:2 data:2 lost:2 figure.astf:1 tables.astf:1; do
		# shellcheck disable=SC2086 # several options
		/usr/bin/python3 "$root/tests/sql/judge.py" "$build/hartfs" "$build/hartfs.so" "$tmp" "${share%:*}" \
			$((count * ${share#*:} / 104)) $((seed + ${#options})) --index-dir="$tmp/index" $options || bad=1
	done
done
exit $bad
