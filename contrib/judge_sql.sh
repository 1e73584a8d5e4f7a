#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge_sql.sh [COUNT [SEED]]: asks COUNT generated queries (10,000) of hartfs.so, and of tables of plain SQLite that are
# made of listings by a reader of its own; all answers must be the same. Half an hour. BUILD: the build directory
# (build/release).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build/release} count=${1:-10000} seed=${2:-$RANDOM}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
zcat "$root/tests/data/archive/boot/rv-sys.stf.gz" 2>/dev/null | head -c 900000 >"$tmp/sys.stf"
cp "$root/tests/data/archive/boot/rv-sys.elf" "$tmp/sys.elf"
head -c 400000 "$root/tests/data/archive/mini/rv32-mini.stf" >"$tmp/mini.stf"
cp "$root"/tests/data/astf/tables.astf "$root"/tests/data/astf/figure.astf "$tmp/"
bad=0
for chunk in 1000 16384; do
	for share in sys.stf:30 mini.stf:15 figure.astf:3 tables.astf:2; do
		/usr/bin/python3 "$root/tests/sql/judge.py" "$build/hartfs" "$build/hartfs.so" "$tmp" "${share%:*}" \
			$((count * ${share#*:} / 100)) $((seed + chunk)) --index-dir="$tmp/index" --chunk=$chunk || bad=1
	done
done
exit $bad
