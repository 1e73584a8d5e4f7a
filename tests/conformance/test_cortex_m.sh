#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Cortex-M corpus: the pcs of OpenCSD's snapshots, exception returns at their places, sizes of the instructions, and
# an instruction that an NMI interrupted inside, which is an attempt before it and retires after it.
. "$(dirname "$0")/../lib/mount.sh"
corpus=${HARTFS_CORPUS:-}/m
[ -d "$corpus" ] || skip "HARTFS_CORPUS names no corpus of Cortex-M"
export XDG_CACHE_HOME=$tmp/cache

# listing NAME HART
listing() { "$hartfs" cat -q --index-dir "$index" "$corpus/$1/snapshot.ini" "hart$2/listing.txt" || fail "$1: hartfs cat"; }
# steps NAME: pcs and exception returns in their order.
steps() { listing "$1" 16 | awk '/^# trap-return/ {print "exception return"} !/^#/ {sub(/^0+/, "", $3); print $3}'; }

for name in opencsd-v7m-svc opencsd-v8m-svc; do
	steps $name | cmp - "$corpus/$name/expected.txt" || fail "$name: $(steps $name | tr '\n' ' ')"
done
steps opencsd-nmi-inside-insn | cmp - <(tail -n +2 "$corpus/opencsd-nmi-inside-insn/expected.txt") ||
	fail "an NMI inside an instruction: $(steps opencsd-nmi-inside-insn | tr '\n' ' ')"
listing opencsd-nmi-inside-insn 16 | head -n 2 | grep -q '^# attempt thread 0000000010000140 ' ||
	fail "the instruction that the NMI interrupted is no attempt"
listing opencsd-v8_1m-branches 0 | awk '!/^#/ {sub(/^0+/, "", $3); print $3, length($4) / 2}' >"$tmp/got"
cmp "$tmp/got" "$corpus/opencsd-v8_1m-branches/expected.pcs" ||
	fail "Armv8.1-M: $(diff "$tmp/got" "$corpus/opencsd-v8_1m-branches/expected.pcs" | head -n 4)"

# ITM and DWT: OpenCSD's packets raw and in frames; ctrace's values and times of every write; counts of a splitter.
listing opencsd-itm-raw 0 >"$tmp/raw"
cmp <(sed 's/offset=[0-9]*//' "$tmp/raw") <(listing opencsd-itm-frames 20 | sed 's/offset=[0-9]*//') || fail "ITM raw and in frames"
grep -c '^# ' "$tmp/raw" >/dev/null
python3 - "$tmp/raw" "$corpus/opencsd-itm-raw/expected.opencsd-1.8.0.ppl" <<'END' || fail "global times"
import re, sys
times = [int(t) for t in re.findall(r'^# time (\d+)$', open(sys.argv[1]).read(), re.M)]
want = [int(t, 16) for t in re.findall(r'ITM_TS_GLOBAL \( TS: (0x\w+)\)', open(sys.argv[2]).read())]
assert times == want, (times, want)
END
mkdir -p "$archive/m"
itm() { mkdir "$archive/m/$1"; cp "$corpus/$2" "$archive/m/$1/swo.bin"; printf '[capture]\nformat = itm\ntrace = swo.bin\n' >"$archive/m/$1/capture.ini"; }
itm blinky ctrace-blinky/swo.itm.bin
itm reset ctrace-reset/swo.itm.bin
itm only aimonen-tpiu-itm/itm_only.bin
of() { "$hartfs" cat -q --index-dir "$index" "$archive/m/$1" hart0/listing.txt || fail "$1: hartfs cat"; }
of blinky | awk '/^# watchpoint 0 write=/ {sub(/.*=/, ""); v[n++] = $0} /^# cycles/ {t += $3; for (i = 0; i < n; i++) printf "%d,%s\n", t, v[i]; n = 0}' >"$tmp/got"
awk -F, '$3 == "dwt" && $5 != "" {sub(/^0x0*/, "", $5); print $1 "," $5}' "$corpus/ctrace-blinky/expected.csv" | cmp - "$tmp/got" || fail "ctrace-blinky"
# A cycle counter event every 3FFF cycles, but for the 118 bytes that are damaged.
want=$(python3 -c 'import sys; b = open(sys.argv[1], "rb").read(); print((b[:10] + b[128:]).count(b"\x05\x20"))' "$corpus/ctrace-reset/swo.itm.bin")
[ "$(of reset | grep -c '^# counter 5 wrapped')" = "$want" ] || fail "ctrace-reset: $(of reset | grep -c '^# counter 5 wrapped'), not $want"
[ "$(of only | grep -c '^# sample pc=')" = 5529 ] || fail "itm_only: samples"
# Frames without an FSYNC. A byte too many lies behind the second one, so that these two and their samples are left out.
itm port aimonen-tpiu-itm/capture.tpiu.bin
echo 'framing = coresight_sync' >>"$archive/m/port/capture.ini"
samples=$("$hartfs" cat -q --index-dir "$index" "$archive/m/port" hart1/listing.txt | grep -c '^# sample pc=')
[ "$samples" = 8380 ] || fail "capture.tpiu: $samples samples, not 8382 less 2"
finish
