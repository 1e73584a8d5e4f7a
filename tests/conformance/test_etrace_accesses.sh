#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The memory accesses of real executions through the data trace of etrace/: a copy of the view shows each at its
# instruction, with address and data as its parameters leave them.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"

# accesses PATTERN SPLIT: ordinal and pc of each instruction of a listing, and those of its accesses that are like that; an
# atomic of which not both are has no packet, unless its load is split (SPLIT is not empty).
accesses() {
	awk -v pattern="$1" -v split_loads="${2:-}" '!/^#/ {
		n = split($0, field, " ")
		lacks = text = ""
		for (i = 5; i < n; i++) {
			if (field[i] !~ /^[RW][0-9]+$/) continue
			if (field[i + 1] ~ pattern) text = text $1 " " $3 " " field[i] " " field[i + 1] "\n"
			else lacks = 1
		}
		if (!(lacks && !split_loads && field[5] ~ /^amo/)) printf "%s", text
	}'
}

show() { timeout "$patience" "$hartfs" cat -q --index-dir "$index" "$@"; }

# goes_around CAPTURE PARAMETERS PATTERN CUT: accesses with a value like that (CUT: a character from which on the view
# does not have them) are those of the view with these parameters.
goes_around() {
	local capture=$HARTFS_CORPUS/qemu/$1 copy=$tmp/copy file params=() word split=
	[[ $2 != *lrid_width* ]] || split=1
	for word in $2; do params+=(--param "etrace.$word"); done
	rm -rf "$copy"
	mkdir "$copy"
	for file in trace.bin capture.ini program.elf; do
		show "${params[@]}" "$capture" "hart0/etrace/$file" >"$copy/$file" || fail "$1: no $file with $2"
	done
	show "$capture" hart0/listing.txt | accesses "$3" $split | sed "s/$4.*//" >"$tmp/want"
	show "$copy" hart0/listing.txt | accesses "$3" $split | sed "s/$4.*//" >"$tmp/got"
	[ "$(wc -l <"$tmp/want")" -gt 1000 ] || fail "$1: hardly any access"
	cmp -s "$tmp/want" "$tmp/got" || fail "$1, $2: $(diff "$tmp/want" "$tmp/got" | head -n 4 | tr '\n' '|')"
	echo "$1, $2: $(wc -l <"$tmp/want") accesses, $(stat -c %s "$copy/trace.bin") bytes"
}

value='^[0-9a-f]+=[0-9a-f]+' any='^[0-9a-f]+'
goes_around rv-sys/trace.stf.gz data=1 "$value" '|'
goes_around rv-sys/trace.stf.gz "data=1 version=1.1.1 lrid_width=4 sync_instructions=1000" "$value" '|'
goes_around rv-sys/trace.stf.gz "data=1 no_data=1" "$any" '='
goes_around rv32-mini/trace.stf "data=1 version=2.1 mmacas=1 data_compress=xor" "$value" '|'
goes_around rv-recurse/trace.stf.gz "data=1 no_data=1" "$any" '='
goes_around rv-threads-ss/t3.stf.gz data=1 "$value" '|'
goes_around rv-threads-ss/t3.stf.gz "data=1 lrid_width=4" "$value" '|'
finish
