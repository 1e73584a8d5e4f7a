#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need (Debian 12), builds with warnings as errors, and runs the tests through ctest.
#   contrib/test.sh [--all] [release|asan-ubsan|tsan]...
# Without a build: the release. --all runs what takes long too (tests/lists.cmake), in all three builds unless some are
# named.
# HARTFS_CORPUS names the directory of captures with known answers; without it those tests are skipped, and say so.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES

all=
[ "${1:-}" != --all ] || { all=1; shift; }
builds=("$@")
[ ${#builds[@]} -gt 0 ] || builds=(release ${all:+asan-ubsan tsan})
[ -n "${HARTFS_CORPUS:-}" ] || echo "HARTFS_CORPUS is not set: the tests on captures with known answers are SKIPPED"
# What was freed waits in 32 MB, not in 256, to be used again: every page of that costs the kernel's time.
export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:quarantine_size_mb=32" UBSAN_OPTIONS="print_stacktrace=1"
export LSAN_OPTIONS="suppressions=$PWD/tests/lib/lsan.supp" TSAN_OPTIONS="suppressions=$PWD/tests/lib/tsan.supp"

status=0
for build in "${builds[@]}"; do
	echo "=== $build"
	cmake --preset "$build" -DHARTFS_WERROR=ON >/dev/null
	cmake --build --preset "$build"
	only=(-LE long)
	[ -z "$all" ] || only=()
	# A sanitizer learns nothing from the thousandth question.
	HARTFS_QUESTIONS=100 HARTFS_PAIRS=300 HARTFS_SOME=
	[ "$build" = release ] || HARTFS_QUESTIONS=10 HARTFS_PAIRS=60 HARTFS_SOME=1
	export HARTFS_QUESTIONS HARTFS_PAIRS HARTFS_SOME
	# Many tests wait for most of their time: for a timeout, a signal, another process.
	ctest --test-dir "build/$build" -j "$((2 * $(nproc)))" --output-on-failure "${only[@]}" || status=1
done
exit $status
