#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A packet with a wrong bit that fits the program: the gap where it shows says how far back the flow may be wrong, in the
# listing and errors.txt, and find, state and SQL say it of each instruction there. They say nothing of a sound capture.
. "$(dirname "$0")/../lib/mount.sh"
mini=${HARTFS_DATA:-}/archive/mini/rv32-mini.stf
[ -f "$mini" ] || skip "there is no test data (HARTFS_DATA)"
mkdir "$archive/sound"
h() { "$hartfs" "$@" --index-dir "$index" 2>"$tmp/said" || fail "$*: $(cat "$tmp/said")"; }
for file in trace.bin program.elf capture.ini; do
	h cat "$mini" "hart0/at/0-9999/etrace/$file" >"$archive/sound/$file"
done
cp -r "$archive/sound" "$archive/packets"
byte=$(od -An -tu1 -j 25 -N 1 "$archive/sound/trace.bin")
printf '%b' "\\$(printf '%03o' $((byte ^ 1)))" | dd of="$archive/packets/trace.bin" bs=1 seek=25 conv=notrunc status=none

for name in sound packets; do
	h cat "$archive/$name" hart0/listing.txt >"$tmp/$name"
	grep -v '^#' "$tmp/$name" | awk '{ print $3 }' >"$tmp/$name.pcs"
done
at=$(($(cmp "$tmp/packets.pcs" "$tmp/sound.pcs" | sed 's/.*line //') - 1))
back=$(sed -n 's/^# gap .* back=\([0-9]*\) .*/\1/p' "$tmp/packets" | head -n 1)
h cat "$archive/packets" errors.txt >"$tmp/errors"
end=$(sed -n 's/.* after \([0-9]*\) instructions.*/\1/p' "$tmp/errors" | head -n 1)
[ "$at" -gt 0 ] && [ "${back:-0}" -gt 0 ] && [ $((end - back)) -le "$at" ] && [ "$at" -lt "$end" ] ||
	fail "instruction $at is the first wrong one, and of $end the last '$back' are said to be"
grep -q "the last $back instructions before it may be wrong$" "$tmp/errors" || fail "errors.txt: $(cat "$tmp/errors")"

behind=$((end - 1))
pc=$(sed -n "$((at + 1))p" "$tmp/packets.pcs")
h find "$archive/packets" --pc "$pc" --after $((at - 1)) --first >"$tmp/out"
grep -q "^# instruction $at may be wrong: .* after instruction $behind$" "$tmp/out" || fail "find: $(cat "$tmp/out")"
h find "$archive/packets" --pc "$pc" --after $((at - 1)) --first --json | grep -q "\"doubt\":$behind[,}]" || fail "find --json"
h state "$archive/packets" "$at" | grep -qx "doubt $behind" || fail "state does not mark instruction $at"
h state "$archive/packets" "$at" --json | grep -q "\"doubt\":$behind," || fail "state --json"
grep -q 'back=' "$tmp/sound" && fail "the listing doubts what is sound"
h find "$archive/sound" --pc 0-ffffffff --limit 100 | grep -q '^#' && fail "find doubts what is sound"
h state "$archive/sound" "$at" | grep -q '^doubt' && fail "state doubts what is sound"
command -v sqlite3 >/dev/null || finish
# doubts CAPTURE: how many of its instructions SQL doubts.
doubts() { h sql "$archive/$1" "SELECT 'doubted ' || count(*) FROM instruction WHERE doubt IS NOT NULL"; }
doubts packets | grep -q "doubted $back\$" || fail "SQL doubts others than $back: $(doubts packets)"
doubts sound | grep -q 'doubted 0$' || fail "SQL doubts what is sound"
finish
