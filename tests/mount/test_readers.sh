#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The options that hartfs-readers(7) gives for other readers are options, and a view made with them is read back whole.
. "$(dirname "$0")/../lib/mount.sh"
manual=$(cd "$(dirname "$0")/../../mountd" && pwd)/hartfs-readers.7.md
short_archive
capture=$archive/mini/rv32-mini.stf

retired() { awk '!/^#/ {print $3, $4}' "$1"; }
"$hartfs" cat --index-dir "$index" "$capture" hart0/listing.txt >"$tmp/listing"
retired "$tmp/listing" >"$tmp/want"
[ -s "$tmp/want" ] || fail "$capture has no instructions"
rows=0
while IFS='|' read -r _ reader view options _; do
	rows=$((rows + 1))
	view=${view// /} params=()
	case $view in ntrace/ | etrace/) ;; *) continue ;; esac
	for option in $(grep -o -- '-o [a-z0-9_]*\.[a-z0-9_]*=[a-z0-9.]*' <<<"$options" | cut -c4-); do
		params+=(--param "$option")
	done
	[ ${#params[@]} -gt 0 ] || fail "no options for$reader"
	rm -rf "$tmp/copy"
	mkdir "$tmp/copy"
	for file in trace.bin capture.ini program.elf; do
		name=$view$file
		[ $file = program.elf ] && name=program.elf
		"$hartfs" cat --index-dir "$index" "${params[@]}" "$capture" "hart0/$name" >"$tmp/copy/$file" ||
			fail "$reader: ${params[*]}: no $name"
	done
	"$hartfs" cat --index-dir "$index" "$tmp/copy" hart0/listing.txt >"$tmp/listing"
	retired "$tmp/listing" | cmp -s - "$tmp/want" || fail "$reader: ${params[*]}: $(head -n 3 "$tmp/listing")"
done < <(sed -n '/^# READERS/,/^# SEE ALSO/p' "$manual" | grep '^| .*/ |\|^| .*trace.stf')
[ $rows = 5 ] || fail "$rows readers in the manual"
finish
