#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sim.sh [SECONDS] [FIRST-SEED]: runs the fault simulator (tests/sim) on every core for that long (default 600), each core
# its own seeds. Prints the failures, and a line of totals for each round of 200 schedules a core; ends with 1 if one failed.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-600} seed=${2:-$(date +%s)000}
sim=build/release/tests/sim
if [ ! -x "$sim" ]; then
	cmake --preset release >/dev/null
	cmake --build --preset release --target sim
fi
round=200 failed=0
until=$(($(date +%s) + seconds))
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
while [ "$(date +%s)" -lt "$until" ]; do
	pids=()
	for core in $(seq "$(nproc)"); do
		"$sim" --go-on --seed "$seed" --count "$round" >"$out/$core" 2>&1 &
		pids+=($!)
		seed=$((seed + round))
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	cat "$out"/*
done
exit $failed
