#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every target in turn with libFuzzer (clang 14), SECONDS each (default 60):
#	contrib/fuzz.sh [--msan] [SECONDS] [TARGET...]
# --msan looks for uses of uninitialised memory instead of wrong addresses, in the targets that can have it.
# It prints for each how often it ran, how many edges of the program were seen, and the inputs that show them all. New
# inputs worth keeping go to build/fuzz/new/TARGET (build/msan/...); a crash, a hang or a leak stops the run and leaves the
# input there. How to add a target: tests/fuzz/README.md.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh

preset=fuzz
if [ "${1-}" = --msan ]; then
	preset=msan
	shift
fi
seconds=${1:-60}
shift || true
install_packages $BUILD_PACKAGES clang-14 libclang-rt-14-dev
cmake --preset $preset >/dev/null
cmake --build --preset $preset
if [ $# -gt 0 ]; then
	targets=("$@")
else
	targets=()
	for source in tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		targets+=("${name#fuzz_}")
	done
fi

# Why the target is not built so; nothing if it is.
left_out() { # TARGET
	[ $preset = msan ] && sed -n "s/^$1  *//p" tests/fuzz/msan.txt
}

printf '%-18s %12s %8s %8s %8s\n' target executions /s edges corpus
for target in "${targets[@]}"; do
	why=$(left_out "$target" || true)
	if [ -n "$why" ]; then
		printf '%-18s left out: %s\n' "$target" "$why"
		continue
	fi
	new=build/$preset/new/$target log=build/$preset/new/$target.log
	mkdir -p "$new" "tests/fuzz/corpus/$target"
	"build/$preset/tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -artifact_prefix="$new/" "$new" "tests/fuzz/corpus/$target" >"$log" 2>&1 || {
		echo "$target failed; the input is in $new:"
		tail -n 40 "$log"
		exit 1
	}
	# "#123 DONE cov: 45 ft: 67 corp: 8/9b … exec/s: 10 …"
	awk -v target="$target" '/^#[0-9]+\tDONE/ {
		for (i = 3; i < NF; i++) figure[$i] = $(i + 1)
		split(figure["corp:"], corpus, "/")
		printf "%-18s %12d %8d %8d %8d\n", target, substr($1, 2), figure["exec/s:"], figure["cov:"], corpus[1]
	}' "$log"
done
