# SPDX-License-Identifier: Apache-2.0
# What the conformance tests take out of a listing, in the form of the goldens. Each function reads a listing from
# standard input. shellcheck shell=bash

# golden FILE: a golden text, which may be xz-compressed.
golden() {
	if [ -e "$1.xz" ]; then xz -dc "$1.xz"; else cat "$1"; fi
}

# shorten_qemu ARCHIVE: of its captures with signals, millions of instructions of one loop, the first part: all faults and a
# quarter of the signals. Of the threads the first, one with a signal, and one that hardly runs: the others do as these do.
# The tests with goldens read all of it.
shorten_qemu() {
	local a64=$1/a64-signals-ss/trace.astf rv=$1/rv-signals-ss/trace.stf
	if [ -e "$a64" ]; then chmod u+w "$a64" && truncate -s 22K "$a64" || fail "cannot shorten $a64"; fi
	if [ -e "$rv.xz" ]; then
		# up to where an instruction ends
		xz -dc "$rv.xz" | head -c 6000014 >"$rv" && rm -f "$rv.xz" || fail "cannot shorten $rv"
	fi
	rm -f "$1"/*-threads-ss/t[2356].*
}

# What lib/tools/listed.c tells of a listing.
listed=$(dirname "$HARTFS_BIN")/tests/listed
listed_pcs() { "$listed" pcs; }
listed_insts() { "$listed" insts; }
listed_mem() { "$listed" mem; }
listed_modes() { "$listed" modes; }
listed_places() { "$listed" places; }

# The goldens have sizes as stored: golden_mem bits|bytes [LISTING] turns them into bytes, as the instruction in the
# listing says by its name, else as the file has most of them.
golden_mem() {
	awk -v bits="$([ "$1" = bits ] && echo 1 || echo 0)" -v listing="${2:-/dev/null}" '
	     function own(name) {
		if (name ~ /^(amo.*|lr|sc)\.w/ || name ~ /^f?[ls]wu?$/) return 4
		if (name ~ /^(amo.*|lr|sc)\.d/ || name ~ /^f?[ls]d$/) return 8
		if (name ~ /^f?[ls]hu?$/) return 2
		return name ~ /^[ls]bu?$/
	     }
	     BEGIN {
		while ((getline line <listing) > 0) {
			split(line, field)
			if (field[1] != "#") names[n++] = field[5]
			else if (field[2] == "attempt") names[n++] = field[6]
		}
	     }
	     {
		size = own(names[$1])
		if (size && $4 == 8 * size) $4 = size
		else if ((!size || $4 != size) && bits && $4 % 8 == 0) $4 = $4 / 8
		print
	     }' -
}

# retired record kind cause epc value target of traps; the record of an attempt that carries them.
listed_traps() {
	"$listed" notes | awk 'function strip(s) {sub(/^0+/, "", s); return s == "" ? "0" : s}
	     {n = $1; sub(/^[0-9]+ /, "")}
	     /^# attempt/ {epc = strip($4); record = "-"; for (i = 5; i <= NF; i++) if ($i ~ /^record=/) record = substr($i, 8)}
	     /^# trap (exception|interrupt)/ {
		kind = $3 == "exception" ? "exc" : "int"; cause = "?"; value = "0"; target = "-"
		for (i = 4; i <= NF; i++) {
			if ($i ~ /^cause=/) cause = sprintf("%x", substr($i, 7))
			if ($i ~ /^value=/) value = strip(substr($i, 7))
			if ($i == "->") target = strip($(i + 1))
		}
		print n + 0, record, kind, cause, epc, value, target
	     }'
}

# retired target of changes of flow that the trace does not explain.
listed_jumps() {
	"$listed" notes | awk 'function strip(s) {sub(/^0+/, "", s); return s == "" ? "0" : s}
	     {n = $1; sub(/^[0-9]+ /, "")} /^# discontinuity/ {print n + 0, strip($5)}'
}

# same WHAT GOT EXPECTED: two files of the test's directory are equal, and not empty.
same() {
	[ -s "$3" ] || fail "$1: the expectation is empty"
	cmp -s "$2" "$3" || fail "$1 differs: $(diff "$2" "$3" | head -n 4 | tr '\n' '|')"
}

# retired kind cause value target of traps, whatever instruction has them; a system call's value is its number.
listed_exceptions() {
	"$listed" notes | awk 'function strip(s) {sub(/^0+/, "", s); return s == "" ? "0" : s}
	     {n = $1; sub(/^[0-9]+ /, "")}
	     /^# trap (exception|interrupt)/ {
		kind = $3 == "exception" ? "exc" : "int"; cause = "?"; value = "0"; target = "-"
		for (i = 4; i <= NF; i++) {
			if ($i ~ /^cause=/) cause = sprintf("%x", substr($i, 7))
			if ($i ~ /^value=/) value = strip(substr($i, 7))
			if ($i == "->") target = strip($(i + 1))
		}
		if (kind == "int" || cause == "15") value = "0"
		print n + 0, kind, kind == "int" ? 0 : cause, value, target
	     }'
}
