#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every target in turn with libFuzzer (clang 14), SECONDS each (default 60): contrib/fuzz.sh [SECONDS] [TARGET...]
# New inputs worth keeping go to build/fuzz/new/TARGET; a crash stops the run and leaves the input there.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES clang-14 libclang-rt-14-dev

seconds=${1:-60}
shift || true
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
if [ $# -gt 0 ]; then
	targets=("$@")
else
	targets=()
	for source in tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		targets+=("${name#fuzz_}")
	done
fi
for target in "${targets[@]}"; do
	echo "== $target, $seconds s"
	new=build/fuzz/new/$target
	mkdir -p "$new" "tests/fuzz/corpus/$target"
	"build/fuzz/tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -artifact_prefix="$new/" "$new" "tests/fuzz/corpus/$target" 2>&1 | tail -n 12
done
