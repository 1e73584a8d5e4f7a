#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures as tables: hartfs sql and hartfs.so, in sqlite3's shell and in Python. The queries of hartfs-sql(5), which
# mount.examples asks in the shell, in Python; 300 generated ones against tables made of listings; sessions that are killed,
# interrupted and asked nonsense.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
command -v sqlite3 >/dev/null || skip "there is no sqlite3"
python=/usr/bin/python3
"$python" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' 2>/dev/null ||
	skip "Python cannot load extensions of SQLite"
here=$(cd "$(dirname "$0")/.." && pwd)
extension=$(dirname "$hartfs")/hartfs.so
[ -f "$extension" ] || skip "there is no $extension"
capture_archive
cp "$HARTFS_DATA/astf/a64-sys.astf" "$archive/"
export XDG_CACHE_HOME=$tmp/cache HARTFS=$hartfs
options=(--index-dir="$index")

# ---- the command ----
sql() { "$hartfs" sql "${options[@]}" "$@"; }
[ "$(sql "$archive" "SELECT count(*) AS n FROM capture")" = $'n\n3' ] || fail "hartfs sql does not count captures"
sql --json "$archive" "SELECT capture FROM capture WHERE format = 'astf'" >"$tmp/out"
[ "$(cat "$tmp/out")" = '[{"capture":"a64-sys.astf"}]' ] || fail "--json: $(cat "$tmp/out")"
sql --csv "$archive" "SELECT 1 AS a, 'x,y' AS b" | tr -d '\r' >"$tmp/out"
[ "$(cat "$tmp/out")" = $'a,b\n1,"x,y"' ] || fail "--csv: $(cat "$tmp/out")"
sql --line "$archive" "SELECT 1 AS a" | grep -q 'a = 1' || fail "--line"
sql --table "$archive" "SELECT 1 AS a" | grep -q '+---+' || fail "--table"
echo "SELECT count(*) FROM hart WHERE capture = 'a64-sys.astf';" | sql "$archive" | grep -qx 1 || fail "a query from a pipe"
[ "$(sql -- "$archive" $'-- one\nSELECT 1 AS a')" = $'a\n1' ] || fail "a query that begins with a comment"
[ "$(sql "$archive" .tables | tr -s ' ' '\n' | grep -cx 'capture\|hart\|instruction')" = 3 ] || fail ".tables: $(sql "$archive" .tables)"
sql "$archive" '.schema trap' | grep -q 'trap(.*cause' || fail ".schema trap: $(sql "$archive" '.schema trap')"
[ "$(sql "$archive" "SELECT count(*) AS n FROM instruction('a64-sys.astf', 0) WHERE ordinal < 5")" = $'n\n5' ] ||
	fail "a table with arguments in the shell"
sql "$archive" "SELECT nonsense" 2>/dev/null && fail "a wrong query ends well"
sql "$archive/nothing" "SELECT 1" >/dev/null 2>"$tmp/err" && fail "an archive that is not there is opened"
grep -q 'there is no such file' "$tmp/err" || fail "of an archive that is not there it says: $(cat "$tmp/err")"
PATH=/nowhere "$hartfs" sql "$archive" "SELECT 1" 2>"$tmp/err" && fail "it works without sqlite3"
grep -q 'package sqlite3' "$tmp/err" || fail "without sqlite3 it says: $(cat "$tmp/err")"
(cd "$tmp" && mkdir -p "it's" && cp "$archive/mini/rv32-mini.stf" "it's/a b.stf" &&
	sql "it's/a b.stf" "SELECT count(*) AS n FROM instruction WHERE ordinal < 5" | grep -qx 5) || fail "a name with a quote"
head -c 9000 "$archive/mini/rv32-mini.stf" >"$tmp/it's/small.stf"
sql --chunk=100 "$tmp/it's/small.stf" "SELECT count(*) FROM run" >/dev/null 2>"$tmp/err"
grep -q 'smaller than --pack-below' "$tmp/err" || fail "of the runs of a small capture it says: $(cat "$tmp/err")"

# ---- on a terminal: names with what it would act on ----
mkdir "$tmp/odd"
cp "$archive/mini/rv32-mini.stf" "$tmp/odd/"$'a\e[31mb\rc\x7f.stf'
# on_terminal ARGUMENT...: what hartfs sql writes to one, and its status behind that.
on_terminal() {
	"$python" - "$hartfs" sql "${options[@]}" "$@" <<-'END'
		import os, pty, sys
		wrote = []
		def read(fd):
		    wrote.append(os.read(fd, 4096))
		    return b""
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], sys.argv[1:])
		try:
		    while not wrote or wrote[-1]:
		        read(fd)
		except OSError:
		    pass
		print(repr(b"".join(wrote).replace(b"\r\n", b"\n").decode()), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}
[ "$(on_terminal --csv "$tmp/odd" "SELECT capture, 1 AS n FROM capture")" = "'capture,n\\n\"a?[31mb?c?.stf\",1\\n' 0" ] ||
	fail "on a terminal: $(on_terminal --csv "$tmp/odd" "SELECT capture, 1 AS n FROM capture")"
on_terminal --csv "$tmp/odd" "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n" |
	grep -q '?' && fail "the end of a line of CSV is changed"
on_terminal "$tmp/odd" "SELECT nonsense" | grep -q ' 1$' || fail "the status of a wrong query on a terminal"
[ "$(sql "$tmp/odd" "SELECT capture FROM capture")" = $'capture\na\e[31mb\rc\x7f.stf' ] || fail "a name is changed in a pipe"

# ---- confined as the others are ----
if "$hartfs" ls --sandbox=required "${options[@]}" "$archive" >/dev/null 2>&1; then
	sql --sandbox=required "$archive/boot/rv-sys.stf.gz" "SELECT count(*) FROM function" >"$tmp/out" 2>&1 ||
		fail "it does not work confined: $(cat "$tmp/out")"
fi

# ---- Python ----
"$python" "$here/sql/documented.py" "$here/../mountd/hartfs-sql.5.md" "$extension" "$archive" "${options[@]}" >"$tmp/out" 2>&1 ||
	fail "$(cat "$tmp/out")"
timeout "$patience" "$python" "$here/sql/session.py" "$hartfs" "$extension" "$archive" "${options[@]}" >"$tmp/out" 2>&1 ||
	fail "$(cat "$tmp/out")"

# ---- the judge: chunks of 1000 instructions, cut captures, several harts, packets with loss ----
mkdir "$tmp/small"
zcat "$archive/boot/rv-sys.stf.gz" 2>/dev/null | head -c 400000 >"$tmp/small/sys.stf"
cp "$archive/boot/rv-sys.elf" "$tmp/small/sys.elf"
head -c 150000 "$archive/mini/rv32-mini.stf" >"$tmp/small/mini.stf"
cp "$HARTFS_DATA/astf/tables.astf" "$tmp/small/"
"$python" "$here/sql/make_harts.py" "$tmp/small/harts.stf"
mkdir "$tmp/small/lost"
for file in trace.bin program.elf capture.ini; do
	"$hartfs" cat "${options[@]}" "$tmp/small/sys.stf" "hart0/ntrace/$file" >"$tmp/small/lost/$file"
done
size=$(stat -c %s "$tmp/small/lost/trace.bin")
head -c 40 /dev/zero | tr '\0' '\377' | dd of="$tmp/small/lost/trace.bin" bs=1 seek=$((size / 2)) conv=notrunc status=none
for capture in sys.stf:100 harts.stf:100 mini.stf:50 tables.astf:30 lost:30; do
	"$python" "$here/sql/judge.py" "$hartfs" "$extension" "$tmp/small" "${capture%:*}" "${capture#*:}" 17 "${options[@]}" \
		--chunk=1000 --pack-below=0 >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
done
finish
