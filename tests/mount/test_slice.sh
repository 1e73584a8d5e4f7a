#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartN/at/FIRST-LAST: the listing of a slice is a part of the whole, and its trace.stf is a capture again with the same
# instructions, memory accesses and traps.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
capture_archive
short_boot
do_mount --wait --chunk 1000 --cache 4M
mkdir "$tmp/again" "$tmp/mnt2"

# whole_lines RANGE...: into $tmp/whole.RANGE each, from the line of FIRST up to but not including that of LAST + 1; before 0
# is 0's.
whole_lines() {
	awk -v ranges="$*" -v to="$tmp/whole." '{line[NR] = $0} !/^#/ {at[$1] = NR}
		END {
			n = split(ranges, range, " ")
			for (i = 1; i <= n; i++) {
				split(range[i], end, "-")
				last = end[2] + 1 in at ? at[end[2] + 1] - 1 : NR
				for (k = end[1] == 0 ? 1 : at[end[1]]; k <= last; k++) print line[k] >(to range[i])
			}
		}'
}

count=0
for listing in $(listings); do
	hart=$mnt/${listing%/listing.txt}
	n=$(grep -vc '^#' "$hart/listing.txt")
	[ -z "$(ls "$hart/at")" ] || fail "$hart/at lists something"
	ranges=(0-0 0-$((n - 1)) $((n / 3))-$((n / 2)) $((n / 2))-$((n / 2)) $((n - 5))-$((n - 1)) 999-1000 1000-1999 17-)
	whole_lines "${ranges[@]/%-/-$((n - 1))}" <"$hart/listing.txt"
	for range in "${ranges[@]}"; do
		first=${range%-*} last=${range#*-}
		last=${last:-$((n - 1))}
		[ "$last" -lt "$n" ] || { [ ! -e "$hart/at/$range" ] || fail "$hart/at/$range exists"; continue; }
		slice=$hart/at/$range
		wait_until measured "$slice"
		mv "$tmp/whole.$first-$last" "$tmp/want"
		same "$slice/listing.txt" "$slice/listing.txt" "$tmp/want"
		if [ "$first" -gt 0 ] && [ "$last" -lt $((n - 1)) ]; then
			sed -n "/^$first /,/^$((last + 1)) /p" "$hart/listing.txt" | sed '$d' | cmp -s - "$slice/listing.txt" ||
				fail "$slice/listing.txt is not what sed finds"
		fi
		[ "$(stat -c %s "$slice/trace.stf")" = "$(cat "$slice/trace.stf" | wc -c)" ] || fail "$slice/trace.stf: size"
		count=$((count + 1))
		cp "$slice/trace.stf" "$tmp/again/$count.stf" || fail "cp $slice/trace.stf"
		cp "$tmp/want" "$tmp/want.$count"
		# Only one instruction has a state.
		[ "$(ls "$slice")" = "$({ ls "$hart" | grep -vxE 'at|where'; [ "$first" != "$last" ] || echo state.txt; } | sort)" ] || fail "ls $slice: $(ls "$slice")"
	done
	for bad in 99999999999999999999-1 5-3 - 01-2 0-$n $n- -5 5 0-0x; do
		[ ! -e "$hart/at/$bad" ] || fail "$hart/at/$bad exists"
	done
done
[ "$count" -gt 8 ] || fail "only $count slices"

# The slices are captures.
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$tmp/again" "$tmp/mnt2" || fail "second mount"
for ((i = 1; i <= count; i++)); do
	[ ! -s "$tmp/mnt2/$i@stf/errors.txt" ] || fail "slice $i has errors: $(cat "$tmp/mnt2/$i@stf/errors.txt")"
	for take in listed_insts listed_mem listed_traps; do
		# Numbers of records count from the start of the slice.
		$take <"$tmp/want.$i" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/want"
		$take <"$tmp/mnt2/$i@stf/hart0/listing.txt" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/got"
		cmp -s "$tmp/got" "$tmp/want" || fail "slice $i, $take: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
	done
	# Modes too, but where the whole does not say which it is.
	awk '!/^#/ {print $2}' "$tmp/want.$i" >"$tmp/want"
	awk '!/^#/ {print $2}' "$tmp/mnt2/$i@stf/hart0/listing.txt" >"$tmp/got"
	same "slice $i, modes" "$tmp/got" "$tmp/want"
done
"$hartfs" umount "$tmp/mnt2" || fail "umount of the second mount"

# Without a mount.
one=$(listings | head -n 1)
one=${one#./}
wait_until measured "$mnt/${one%/listing.txt}/at/3-40"
cmp <("$hartfs" cat --index-dir "$index" "$archive/${one%/listing.txt}/at/3-40/trace.stf") \
	"$mnt/${one%/listing.txt}/at/3-40/trace.stf" || fail "hartfs cat gives another slice"
do_umount

# Packets are made with the parameters that their description names.
mkdir "$tmp/packets"
rm -r "${archive:?}/boot"
do_mount --wait --chunk 1000 -o etrace.framing=encap,etrace.options=full_address,ntrace.srcbits=4,ntrace.all_jumps=1
one=$(listings)
for view in etrace ntrace; do
	for range in 0-700 999-2500 1500-; do
		slice=$mnt/${one%/listing.txt}/at/$range
		copy=$tmp/packets/$view$range
		wait_until measured "$slice" "$slice/$view" || fail "$slice/$view is not there"
		cp -r "$slice/$view" "$copy" || fail "cp $slice/$view"
		awk '!/^#/ {print $3, $4}' "$slice/listing.txt" >"$tmp/want"
		"$hartfs" cat --index-dir "$index" "$copy" hart0/listing.txt | awk '!/^#/ {print $3, $4}' >"$tmp/got"
		same "$view of $range" "$tmp/got" "$tmp/want"
		[ -z "$("$hartfs" cat --index-dir "$index" "$copy" errors.txt)" ] || fail "$view of $range has errors"
	done
done
do_umount
finish
