# SPDX-License-Identifier: Apache-2.0
# Closed loops: every view that is a capture is copied out, mounted again, and must give the same instructions and
# traps. Read by tests that have read mount.sh. shellcheck shell=bash

# listed LISTING FIELDS: pc and opcode of what retired; between them the traps: retired instructions before, kind (exception,
# interrupt), cause, target. FIELDS: which of these the format can tell, 1-4 or 1,4.
listed() { "$(dirname "$hartfs")/tests/listed" flow "$2" <"$1"; }

# What survives in each view.
declare -A round_trip_fields=([trace.stf]=1-4 [trace.astf]=1,4 [etrace]=1-4 [ntrace]=1,4 [ete]=1,4)

# round_trip: every view of every hart of the mounted archive, through a second mount.
round_trip() {
	local again=$tmp/again mnt2=$tmp/mnt2 listing hart view name copy
	declare -A original=() known=()
	mkdir -p "$again" "$mnt2"
	while read -r listing; do
		hart=$(dirname "$listing")
		[ -s "$listing" ] || continue
		for view in "${!round_trip_fields[@]}"; do
			[ -e "$hart/$view" ] || continue
			name=$(echo "${hart#"$mnt"/}" | tr '/@' '__')
			copy=$again/$name.${view#trace.}
			case $view in
			*.*) cp "$hart/$view" "$copy" || fail "cp $hart/$view" ;;
			*) cp -r "$hart/$view" "$again/$name" || fail "cp -r $hart/$view"; mv "$again/$name" "$copy" ;;
			esac
			original[$copy]=$listing
		done
	done < <(find "$mnt" -path "$mnt/.hartfs" -prune -o -name listing.txt -print | sort)
	[ ${#original[@]} -gt 0 ] || fail "no view that is a capture"
	timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$again" "$mnt2"
	is_mounted "$mnt2" || { fail "the views are not mounted again"; return; }
	for copy in "${!original[@]}"; do
		round_trip_compare "$copy" "${original[$copy]}" "$mnt2"
	done
	echo "${#original[@]} views went around"
	timeout "$patience" "$hartfs" umount "$mnt2" || fail "umount of the second mount"
}

# round_trip_compare COPY LISTING MOUNT
round_trip_compare() {
	local name=${1##*/} view=${1##*.} again fields
	[[ -v round_trip_fields[$view] ]] || view=trace.$view
	again=$(echo "$3/${name%.*}"[@.]"${view#trace.}"*/hart*/listing.txt)
	[ -e "$again" ] || { fail "$name: no listing: $(cat "$3/${name%.*}"*/errors.txt 2>&1 | head -n 3)"; return; }
	fields=${round_trip_fields[$view]}
	# Several views come of one listing, which is read once for all that can tell the same of it.
	[ "${known[$2 $fields]:-}" ] || known[$2 $fields]=$(listed "$2" "$fields" | md5sum)
	[ "$(listed "$again" "$fields" | md5sum)" = "${known[$2 $fields]}" ] ||
		fail "$name: other instructions or traps: $(diff <(listed "$2" "$fields") <(listed "$again" "$fields") |
			head -n 4 | tr '\n' '|')"
}
