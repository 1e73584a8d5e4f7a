#!/usr/bin/env bash
# Makes the corpus of fuzz_etrace_encode again: for each set of parameters calls, returns, branches, traps and losses.
set -eu
cd "$(dirname "$0")/corpus"
mkdir -p etrace_encode

# event KIND-AND-MODE FLAGS OFFSET(2 bytes) OPCODE(4 bytes), as \x escapes
event() { printf '%b' "$1$2$3$4"; }
walk() {
	event '\x40' '\x00' '\x00\x00' '\x05\x05\x00\x00' # plain
	event '\x40' '\x01' '\x02\x00' '\xef\x00\xe0\x00' # call +14
	event '\x48' '\x01' '\x10\x00' '\x03\xb5\x05\x00' # an access
	event '\x40' '\x00' '\x10\x00' '\x82\x80\x00\x00' # return
	event '\x40' '\x01' '\x06\x00' '\x63\x06\xb5\x00' # branch +12, taken
	event '\x40' '\x00' '\x12\x00' '\x02\x85\x00\x00' # indirect jump
	event '\x46' '\x00' '\x40\x00' '\x05\x05\x00\x00' # attempt there
	event '\x07' '\x08' '\x02\x04' '\x00\x00\x00\x00' # its trap
	event '\x40' '\x00' '\x80\x00' '\x73\x00\x20\x30' # mret
	event '\x10' '\x00' '\x40\x00' '\x01\xa0\x00\x00' # a loop of one
	event '\x10' '\x00' '\x40\x00' '\x01\xa0\x00\x00'
	event '\x09' '\x00' '\x01\x00' '\x00\x00\x00\x00' # context
	event '\x10' '\x00' '\x40\x00' '\x01\xa0\x00\x00'
	event '\x0a' '\x00' '\x00\x00' '\x00\x00\x00\x00' # gap
	event '\x40' '\x00' '\x20\x00' '\x37\x03\x00\x80' # lui
	event '\x40' '\x01' '\x24\x00' '\x67\x00\x03\x01' # and its jump
	event '\x40' '\x00' '\x10\x00' '\x82\x80\x00\x00'
}
for ((i = 0; i < 9; i++)); do
	{ printf '%b' "\\x0$i\\x00"; walk; walk; } >"etrace_encode/walk-$i"
done
