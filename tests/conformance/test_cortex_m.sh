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
finish
