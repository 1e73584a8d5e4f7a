# SPDX-License-Identifier: Apache-2.0
# The checks of an ASTF capture's views against what the emulator logged. shellcheck shell=bash

# check_astf WHAT VIEWS GOLDENS SUFFIX: VIEWS is the directory of the hart, GOLDENS holds pcs, insts, mem, events.
check_astf() {
	local what=$1 listing=$2/listing.txt truth=$3 suffix=$4
	[ -s "$listing" ] || { fail "$what has no listing"; return; }
	listed_pcs <"$listing" >"$tmp/got"
	golden "$truth/pcs$suffix.txt" >"$tmp/want"
	same "$what pcs" "$tmp/got" "$tmp/want"
	if [ -e "$truth/insts$suffix.txt.xz" ]; then
		listed_insts <"$listing" >"$tmp/got"
		golden "$truth/insts$suffix.txt" | cut -d' ' -f1,2 >"$tmp/want"
		same "$what insts" "$tmp/got" "$tmp/want"
	fi
	if [ -e "$truth/mem$suffix.txt.xz" ]; then
		# line pc R|W|RW size address of retired instructions
		golden "$truth/mem$suffix.txt" | awk '!/^#/ {print $1, $3, $5, $4}' >"$tmp/want"
		grep -v '^#' "$listing" | listed_mem | cut -d' ' -f1-4 >"$tmp/got"
		same "$what mem" "$tmp/got" "$tmp/want"
	fi
}

# check_astf_traps WHAT VIEWS GOLDENS: of a BasicPlus trace. The cause of a breakpoint is BRK's class here.
check_astf_traps() {
	awk '!/^#/ {print $1, $3, $4, $3 == "int" || $4 == "15" ? 0 : $6, $7}' "$3/events.txt" >"$tmp/want"
	listed_exceptions <"$2/listing.txt" >"$tmp/got"
	same "$1 traps" "$tmp/got" "$tmp/want"
}

# check_astf_jumps WHAT VIEWS EVENTS: of a Basic trace, where signals are all that breaks the flow. Of several between
# two instructions the last is where it goes on.
check_astf_jumps() {
	awk '!/^#/ {if (n && $1 != last) print last, to; n++; last = $1; to = $7} END {print last, to}' "$3" >"$tmp/want"
	listed_jumps <"$2/listing.txt" >"$tmp/got"
	same "$1 signals" "$tmp/got" "$tmp/want"
}

# check_astf_loop WHAT VIEWS BACK: BACK is the hart's directory of this one's trace.stf, mounted again. The records are
# the same but for timestamps and strings, which STF has no record for.
check_astf_loop() {
	"$hartfs" cat --index-dir "$index" "$3/trace.astf" records.txt >"$tmp/back" || fail "$1: trace.astf of its trace.stf"
	"$hartfs" cat --index-dir "$index" "$2/trace.astf" records.txt >"$tmp/forth" || fail "$1: its trace.astf"
	for f in back forth; do
		cut -d' ' -f2- "$tmp/$f" | grep -vE '^(TIMESTAMP|STRING|STRING_CONT|HEADER)' >"$tmp/$f.records"
	done
	same "$1 through STF" "$tmp/back.records" "$tmp/forth.records"
}
