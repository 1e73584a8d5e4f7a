#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_checkpoint anew: tests/fuzz/seeds_checkpoint.sh. They are those events of fuzz_summary, again and again,
# with and without changes to rows.
set -eu
cd "$(dirname "$0")"
to=corpus/checkpoint
mkdir -p "$to"
for events in corpus/summary/events-*; do
	name=${events##*/events-}
	again() { for _ in {1..30}; do tail -qc +2 "$events"; done | head -c 900; }
	{ printf '\x00' && again; } >"$to/$name" || true
	for row in 00 01 02 03 04 05; do
		{ printf "\\x02\\x$row\\x00\\x09\\xff\\x$row\\x00\\x1c\\x03" && again; } >"$to/$name-$row"
	done
done
