#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_run, which makes the captures that are too long to be kept: the same seed gives the same bytes, both formats hold
# the same instructions, every pc is reached as the opcode before it says, and nothing in them is wrong.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
make_run=$(dirname "$HARTFS_BIN")/tests/make_run
[ -x "$make_run" ] || { echo "SKIPPED: $make_run is not built" >&2; exit 77; }
count=450000
for run in "1 one" "1 again" "2 other"; do
	ASAN_OPTIONS=detect_leaks=0 "$make_run" "${run% *}" "$count" stf "$archive/${run#* }.zstf" >/dev/null || fail "make_run stf"
done
ASAN_OPTIONS=detect_leaks=0 "$make_run" 1 "$count" etrace "$archive/packets" >/dev/null || fail "make_run etrace"
cmp "$archive/one.zstf" "$archive/again.zstf" || fail "the same seed gives other bytes"
! cmp -s "$archive/one.zstf" "$archive/other.zstf" || fail "another seed gives the same bytes"
rm "$archive/again.zstf"

listing() { "$hartfs" cat --index-dir "$index" "$archive/$1" hart0/listing.txt; }
for capture in one.zstf other.zstf packets; do
	[ "$("$hartfs" cat --index-dir "$index" "$archive/$capture" errors.txt | grep -c .)" = 0 ] || fail "$capture has errors"
	listing "$capture" >"$tmp/$capture"
	listed_pcs <"$tmp/$capture" >"$tmp/$capture.pcs"
	[ "$(wc -l <"$tmp/$capture.pcs")" = "$count" ] || fail "$capture has not $count instructions"
done
same "packets" "$tmp/packets.pcs" "$tmp/one.zstf.pcs"
# A copy with another opcode, and nothing else.
ASAN_OPTIONS=detect_leaks=0 "$make_run" 1 "$count" stf "$archive/changed.zstf" 400000 >/dev/null || fail "make_run with an ordinal"
"$hartfs" diff --index-dir "$index" "$archive/one.zstf" "$archive/changed.zstf" --all | grep '^@@' >"$tmp/changed"
[ "$(cat "$tmp/changed")" = '@@ -400000,1 +400000,1 @@' ] || fail "another opcode: $(cat "$tmp/changed")"

# What it is to hold.
for what in "# trap exception cause=8" "# trap exception cause=5" "# trap interrupt cause=7" "# trap-return" " ret " " jalr t1 " \
	" jal " " R8 " " W8 " " R1 " " W1 " " ld t1, 0(zero) "; do
	grep -q -e "$what" "$tmp/one.zstf" || fail "there is no '$what'"
done
# A pc that neither follows nor is said to be a target is where a trap or a return from one leads.
python3 - "$tmp/one.zstf" <<'END' || fail "a pc is not where the flow leads"
import sys
want, led = None, True
for line in open(sys.argv[1]):
    word = line.split()
    if word[0] == "#":
        led = True
        continue
    pc = int(word[2], 16)
    if not led and pc != want:
        sys.exit(line)
    want, led = int(word[word.index("->") + 1], 16) if "->" in word else pc + len(word[3]) // 2, False
END
finish
