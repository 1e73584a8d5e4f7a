#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs index is killed several times and then comes to its end: the summary has the rows of one that was not (verify), it
# gives the same answers, and nothing else is left in the directory.
. "$(dirname "$0")/../lib/mount.sh"
make_run=$(dirname "$hartfs")/tests/make_run
[ -x "$make_run" ] || skip "there is no make_run beside $hartfs"
capture=$archive/run.zstf whole=$tmp/whole

index_into() { exec "$hartfs" index -q -j "$1" --views=listing.txt --index-dir "$2" "$archive"; }
state() { find "$index" -name '.*.hfq.part' -size +0 -printf '%s %T@ %i\n' 2>/dev/null; }

# As soon as there is a commit that was not there before: so each time it has come further, on any machine.
kill_one() {
	local pid now killed=1
	index_into "$1" "$index" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		now=$(state)
		if [ -n "$now" ] && [ "$now" != "$seen" ]; then
			kill -9 "$pid" 2>/dev/null && killed=0
			seen=$now
			break
		fi
		nap 0.02
	done
	wait "$pid" 2>/dev/null
	return "$killed"
}

# A commit comes about once a second: a fast machine needs a longer capture.
kills=0
for instructions in 3000000 12000000 48000000 200000000; do
	rm -rf --one-file-system "$index" "$whole"
	mkdir "$index" "$whole"
	"$make_run" 3 "$instructions" stf "$capture" >/dev/null || fail "make_run ended with $?"
	kills=0 seen=
	for threads in 1 2 3 1 2; do
		kill_one "$threads" && kills=$((kills + 1))
	done
	[ "$kills" -lt 2 ] || break
done
[ "$kills" -ge 2 ] || fail "it was killed $kills times"
(index_into 2 "$index") || fail "indexing ended with $?"
(index_into 1 "$whole") || fail "indexing ended with $?"

left=$(find "$index" -mindepth 1 -name '.*')
[ -z "$left" ] || fail "left: $left"
for question in "--write 0-ffffffffffffffff --last" "--trap --nth 40" "--taken --count"; do
	# shellcheck disable=SC2086 # words
	"$hartfs" find --index-dir "$whole" "$capture" $question >"$tmp/want" || fail "find $question ended with $?"
	# shellcheck disable=SC2086
	"$hartfs" find --index-dir "$index" "$capture" $question >"$tmp/got" || fail "find $question ended with $?"
	cmp "$tmp/want" "$tmp/got" || fail "find $question differs"
done
"$hartfs" verify -q --views=listing.txt --index-dir "$index" "$archive" || fail "verify ended with $?"
finish
