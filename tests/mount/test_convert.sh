#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs convert writes what hartfs cat does, whole or not at all, and never over anything; a .zstf has the table that says
# where each chunk begins. hartfs slice names the slice of a call, or of a span of time.
. "$(dirname "$0")/../lib/mount.sh"
command -v python3 >/dev/null || skip "python3 is needed"
capture_archive
short_boot
export XDG_CACHE_HOME=$tmp/cache
x=$archive/boot/rv-sys.stf.gz out=$tmp/out
mkdir "$out"
"$hartfs" cat "$x" hart0/trace.stf >"$tmp/trace.stf" && "$hartfs" cat "$x" hart0/listing.txt >"$tmp/listing.txt" || fail "cat"

# ---- one file ----
"$hartfs" convert "$x" listing.txt -o "$out/listing.txt" || fail "listing.txt"
cmp "$out/listing.txt" "$tmp/listing.txt" || fail "listing.txt"
for packing in zstd xz gz; do
	command -v "${packing/gz/gzip}" >/dev/null || continue
	"$hartfs" convert "$x" hart0/trace.stf --compress "$packing" -o "$out/stf.$packing" || fail "$packing"
	"${packing/gz/gzip}" -dc <"$out/stf.$packing" | cmp - "$tmp/trace.stf" || fail "$packing: other bytes"
	# It is a capture again.
	"$hartfs" cat "$out/stf.$packing" source.stf | cmp - "$tmp/trace.stf" || fail "$packing: other bytes for hartfs"
done
"$hartfs" convert "$x" listing.txt --from 100 --to 110 -o "$out/part" || fail "a part"
cmp "$out/part" <("$hartfs" cat "$x" hart0/at/100-110/listing.txt) || fail "a part"
"$hartfs" convert "$x" listing.txt --hart 0 --from 141908 -o "$out/end" || fail "the end"
cmp "$out/end" <("$hartfs" cat "$x" hart0/at/141908-/listing.txt) || fail "the end"
[ "$(stat -c %a "$out/part")" = "$(printf %o $((0666 & ~$(umask))))" ] || fail "mode $(stat -c %a "$out/part")"

# ---- .zstf ----
"$hartfs" convert "$x" trace.stf -o "$out/x.zstf" || fail ".zstf"
"$hartfs" cat "$out/x.zstf" source.stf | cmp - "$tmp/trace.stf" || fail ".zstf: other bytes"
"$hartfs" info "$out/x.zstf" | grep -q 'problems *none' || fail ".zstf: $("$hartfs" info "$out/x.zstf")"
# Each instruction is a record, retired or not; the table has where the first of each chunk is.
python3 - "$out/x.zstf" "$tmp/listing.txt" <<'END' || fail "the table of the .zstf"
import re, struct, sys
data, pcs = open(sys.argv[1], "rb").read(), re.findall(r"^(?:[0-9]+|# attempt) \S+ (\S+)", open(sys.argv[2]).read(), re.M)
insns, table = struct.unpack_from("<QQ", data, 4)
count, = struct.unpack_from("<Q", data, table)
assert data[:4] == b"ZSTF" and insns == 100000 and count == -(-len(pcs) // insns) and len(data) == table + 8 + 24 * count, (insns, count)
rows = [struct.unpack_from("<QQQ", data, table + 8 + 24 * i) for i in range(count)]
assert rows[0][:2] == (20, 0)
for i, (at, pc, size) in enumerate(rows):
    assert data[at:at + 4] == b"\x28\xb5\x2f\xfd", i
    assert i == 0 or pc == int(pcs[i * insns], 16), (i, hex(pc), pcs[i * insns])
END

# ---- never over anything ----
# refuses STATUS PATTERN ARGUMENT...
refuses() {
	local status=$1 pattern=$2 line
	shift 2
	"$hartfs" "$@" >"$tmp/got" 2>"$tmp/err"
	[ $? = "$status" ] || fail "$*: not status $status"
	read -r line <"$tmp/err" && [[ $line == *"$pattern"* ]] || fail "$*: $(cat "$tmp/err")"
}
echo mine >"$out/mine"
refuses 1 'mine: File exists' convert "$x" listing.txt -o "$out/mine"
ln -s nowhere "$out/link"
refuses 1 'link: File exists' convert "$x" listing.txt -o "$out/link"
[ "$(cat "$out/mine")" = mine ] && [ ! -e "$out/nowhere" ] || fail "something was written over"
refuses 1 'is no STF' convert "$x" listing.txt -o "$out/no.zstf"
refuses 1 'there are several' convert "$x" trace -o "$out/no"
refuses 2 'trace.stf -o FILE' convert "$x" "$out/no"
refuses 2 'not a valid value' convert "$x" listing.txt --compress rar -o "$out/no"
refuses 1 'nothing/no: No such file' convert "$x" listing.txt -o "$out/nothing/no"
[ -z "$(ls "$out" | grep '^no')" ] || fail "left behind: $(ls "$out")"

# ---- an archive ----
"$hartfs" convert "$archive" hart0/profile/mix.txt --compress gz -o "$out/all" || fail "an archive"
gzip -dc <"$out/all/boot/rv-sys@stf@gz/hart0/profile/mix.txt.gz" | cmp - <("$hartfs" cat "$x" mix.txt) || fail "of an archive"
[ "$(find "$out/all" -type f | wc -l)" = "$("$hartfs" ls --json "$archive" | wc -l)" ] || fail "$(find "$out/all" -type f)"
"$hartfs" convert "$archive" hart0/profile/mix.txt --compress gz -o "$out/all" 2>"$tmp/err" || fail "again"
grep -q 'left as it is' "$tmp/err" || fail "again: $(cat "$tmp/err")"
refuses 1 'ASTF is AArch64 only' convert "$archive" hart0/trace.astf -o "$out/astf"
if (exec 3<>/dev/fuse) 2>/dev/null; then
	do_mount
	refuses 1 'nothing can be written there' convert "$x" listing.txt -o "$mnt/no"
	do_umount
fi

# ---- slices ----
path=$("$hartfs" slice "$x" --call fib --nth 100) || fail "slice"
"$hartfs" cat "$path/listing.txt" >"$tmp/slice" || fail "cat $path"
head -n 1 "$tmp/slice" | cmp - <("$hartfs" find "$x" --call fib --nth 100) || fail "$path begins with $(head -n 1 "$tmp/slice")"
! command -v sqlite3 >/dev/null || [ "$("$hartfs" sql "$x" "SELECT entry || '-' || exit FROM call WHERE name = 'fib' ORDER BY entry LIMIT 1 OFFSET 99" | tail -n 1)" = "${path##*/}" ] ||
	fail "$path is not what SQL says"
"$hartfs" slice "$x" --call kwork | grep -q '/hart0/at/[0-9]*-$' || fail "a call that does not end: $("$hartfs" slice "$x" --call kwork)"
refuses 1 "no symbol 'nobody'" slice "$x" --call nobody
refuses 1 'no call 1000000 of fib' slice "$x" --call fib --nth 1000000
refuses 1 'no time' slice "$x" --time 1-2
refuses 2 'hart0/at/100-200/listing.txt' slice "$x" 100-200
refuses 2 'one of --call, --marker and --time' slice "$x"
# By time, of a capture that tells it.
head -c 100000 "$HARTFS_DATA/astf/a64-sys.astf" >"$tmp/a64.astf"
read -r first from <<<"$("$hartfs" sql "$tmp/a64.astf" "SELECT ordinal, value FROM time WHERE kind = 'time' ORDER BY ordinal LIMIT 1" 2>/dev/null | tail -n 1 | tr '|' ' ')"
if [[ ${from:-} =~ ^[0-9]+$ ]]; then
	"$hartfs" slice "$tmp/a64.astf" --time "$from-$from" | grep -q "/at/$first-" || fail "--time $from-$from"
fi
finish
