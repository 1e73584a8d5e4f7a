#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_ntrace_message, _decode and _state anew: tests/fuzz/seeds_ntrace.sh.
set -eu
cd "$(dirname "$0")"
messages=corpus/ntrace_message streams=corpus/ntrace_decode blobs=corpus/ntrace_state
mkdir -p "$messages" "$streams" "$blobs"

put() { # FILE HEX...: bytes
	local file=$1 hex
	shift
	hex=$(printf %s "$@" | tr -d ' ')
	printf "$(sed 's/../\\x&/g' <<<"$hex")" >"$file"
}

put "$messages/history" 00 70D01D1DF8FF
put "$messages/silicon" 02 7424412CA0040000050D3C74A0A0CCFC13
put "$messages/start" 00 2415000000000007
put "$messages/extended" C0 2415FF
put "$messages/vendor" 00 E013
put "$messages/narrow" 20 24150000FCFCFCFCFCFCFF
put "$messages/trap-value" 10 E0091107
put "$messages/bad-mseo" 00 70D21D
put "$messages/short" 00 2407

# A start at 0x10000, then: branches, histories, repeats, a trap, a stop, ownership, an error, a sync, padding.
start=2415000003
put "$streams/linear" 0040 $start 0C13
put "$streams/history" 0280 $start 6C048B 704013F7 6C080B1F
put "$streams/repeat" 0080 $start 102007 7807 7813
put "$streams/trap" 00C0 $start 1018072F 08C83B 842401
put "$streams/lost" 0020 $start 201013 $start 74084001000003 00000000FFFFFF
put "$streams/wrapped" 2010 F803 $start 0C13
# SYNC 15; times; a trap and its value
put "$streams/sample" 0020 243C00000B $start 0C13
put "$streams/times" 0020 241500000D2B 6C04178B 2415000009FF
put "$streams/value" 0040 $start 1018072F 0A28F7 E0091107 0C13
put "$streams/many" 0110 245801000B 24F801000B 08C83B

# The first of these in a CoreSight frame of id 1, as it is and with the bytes of each word turned round; words of a
# circular buffer.
put "$streams/frames" 0081 $(printf '03241400 00030C13 01000000 00000002 %.0s' 1 2)
put "$streams/frames-turned" 0089 $(printf '00142403 130C0300 00000001 02000000 %.0s' 1 2)
put "$streams/words" 2044 1524 0000 0C03 FF13 1524 0000 0C03 FF13

# A version byte, then as many numbers as the states have fields: 76 of the decoder, 66 of the encoder.
zeros() { printf '00%.0s' $(seq "$1"); }
encoder=01$(zeros 20)01$(zeros 45) # HIST empty
put "$blobs/fresh" 4D 01 "$(zeros 76)" "$encoder"
# Synchronised at 0x10000: 20 halfwords to go, without HIST; a history to walk four times.
put "$blobs/counting" 4F 01 00 02 00 01 "$(zeros 8)" 808004 "$(zeros 9)" 01 00 14 "$(zeros 51)" "$encoder"
put "$blobs/history" 4F 01 00 01 00 01 "$(zeros 8)" 808004 "$(zeros 8)" 0B 0B 03 "$(zeros 52)" "$encoder"
put "$blobs/empty" 00
put "$blobs/version" 01 02 02
