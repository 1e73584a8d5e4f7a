#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_kept anew: tests/fuzz/seeds_kept.sh. They are those events of fuzz_summary, saved after some of
# them, with and without changes.
set -eu
cd "$(dirname "$0")"
to=corpus/kept
mkdir -p "$to"
for events in corpus/summary/events-*; do
	name=${events##*/events-}
	for first in 01 05 11 40; do
		{ printf "\\x$first\\x00"; tail -c +2 "$events"; } >"$to/$name-$first"
	done
	for place in 00 20 60 f0; do
		{ printf "\\x20\\x02\\x$place\\x00\\x03\\x$place\\x01\\xff"; tail -c +2 "$events"; } >"$to/$name-at-$place"
	done
done
