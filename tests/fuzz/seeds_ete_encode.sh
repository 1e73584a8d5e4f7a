#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the corpus of fuzz_ete_encode again: for each set of parameters calls, returns, branches, traps and losses.
set -eu
cd "$(dirname "$0")/corpus"
mkdir -p ete_encode

# event KIND-AND-SET FLAGS OFFSET(2 bytes) OPCODE(4 bytes), as \x escapes
event() { printf '%b' "$1$2$3$4"; }
walk() {
	event '\x00' '\x00' '\x00\x08' '\x1f\x20\x03\xd5' # nop
	event '\x00' '\x01' '\x02\x08' '\x20\x00\x3f\xd6' # blr
	event '\x00' '\x01' '\x00\x10' '\xc0\x03\x5f\xd6' # ret
	event '\x00' '\x01' '\x04\x08' '\x41\x00\x00\x54' # b.ne
	event '\x0c' '\x00' '\x10\x00' '\x03\xb5\x05\x00' # a timestamp
	event '\x00' '\x00' '\x08\x08' '\x01\x00\x00\xd4' # svc
	event '\x07' '\x0a' '\x10\x00' '\x15\x00\x00\x04' # its trap
	event '\x07' '\x09' '\x10\x00' '\x01\x00\x00\x04' # an interrupt there
	event '\x00' '\x00' '\x40\x08' '\xe0\x03\x9f\xd6' # eret
	event '\x06' '\x00' '\x40\x00' '\x1f\x20\x03\xd5' # attempt
	event '\x07' '\x08' '\x02\x04' '\x24\x00\x00\x00' # its fault
	event '\x09' '\x00' '\x02\x00' '\x07\x00\x00\x00' # context
	event '\x20' '\x01' '\x40\x00' '\x31\xff\x2f\xe1' # A32 blx
	event '\x30' '\x00' '\x40\x00' '\x70\x47\x00\x00' # T32 bx, not taken
	event '\x0a' '\x00' '\x00\x00' '\x00\x00\x00\x00' # gap
	event '\x00' '\x80' '\x20\x00' '\xc0\x03\x5f\xd6'
	event '\x0b' '\x01' '\x00\x00' '\x00\x00\x00\x00' # untraced
	event '\x00' '\x00' '\x20\x00' '\x1f\x20\x03\xd5'
}
for ((i = 0; i < 5; i++)); do
	{ printf '%b' "\\x0$i\\x00"; walk; walk; } >"ete_encode/walk-$i"
done
