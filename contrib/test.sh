#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need (Debian 12), builds with warnings as errors, and runs the tests through ctest.
#   contrib/test.sh [--all] [release|asan-ubsan|tsan]...
# Without a build: the release. --all runs what takes long too (tests/lists.cmake), in all three builds unless some are
# named.
# HARTFS_CORPUS names the directory of captures with known answers; without it those tests are skipped, and say so.
# HARTFS_MAY_SKIP names the tests that may be skipped; any other that is skipped is a failure then.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES

all=
[ "${1:-}" != --all ] || { all=1; shift; }
builds=("$@")
[ ${#builds[@]} -gt 0 ] || builds=(release ${all:+asan-ubsan tsan})
[ -n "${HARTFS_CORPUS:-}" ] || echo "HARTFS_CORPUS is not set: the tests on captures with known answers are SKIPPED"
# What was freed waits in 32 MB, not in 256, to be used again, and what is known of it is cleared in place: every fresh
# page costs the kernel's time.
ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:quarantine_size_mb=32:clear_shadow_mmap_threshold=1000000000"
export ASAN_OPTIONS UBSAN_OPTIONS="print_stacktrace=1"
export LSAN_OPTIONS="suppressions=$PWD/tests/lib/lsan.supp" TSAN_OPTIONS="suppressions=$PWD/tests/lib/tsan.supp"

# Hundredths of a second of CPU that this machine has used.
cpu() { awk '$1 == "cpu" {print $2 + $3 + $4 + $7 + $8}' /proc/stat; }
build() { cmake --preset "$1" -DHARTFS_WERROR=ON && cmake --build --preset "$1"; }

# skipped LOG: the tests that ctest skipped and HARTFS_MAY_SKIP does not name.
skipped() {
	awk -v may=" $HARTFS_MAY_SKIP " '/\*\*\*Skipped/ && !index(may, " " $4 " ") {print $4}' "$1"
}

# run BUILD: its tests. A sanitizer learns nothing from the thousandth question.
run() {
	local only=(-LE long) log=build/$1/tests.log
	[ -z "$all" ] || only=()
	export HARTFS_QUESTIONS=100 HARTFS_PAIRS=300 HARTFS_SOME=
	[ "$1" = release ] || HARTFS_QUESTIONS=10 HARTFS_PAIRS=60 HARTFS_SOME=1
	# Many tests wait for most of their time: for a timeout, a signal, another process.
	ctest --test-dir "build/$1" -j "$((2 * $(nproc)))" --output-on-failure "${only[@]}" | tee "$log" || status=1
	if [ -n "${HARTFS_MAY_SKIP+set}" ] && [ -n "$(skipped "$log")" ]; then
		echo "skipped, and not in HARTFS_MAY_SKIP:" $(skipped "$log")
		status=1
	fi
}

set -o pipefail
status=0 cpu=$(cpu) making=
for ((i = 0; i < ${#builds[@]}; i++)); do
	echo "=== ${builds[i]}"
	if [ -n "$making" ]; then
		wait "$making" || { cat "build/${builds[i]}.log"; exit 1; }
	else
		build "${builds[i]}"
	fi
	# The next one is compiled while the tests of this one wait.
	if [ $((i + 1)) -lt ${#builds[@]} ]; then
		nice bash -c "$(declare -f build); build $(printf %q "${builds[i + 1]}")" >"build/${builds[i + 1]}.log" 2>&1 &
		making=$!
	fi
	run "${builds[i]}"
done
! git rev-parse HEAD >/dev/null 2>&1 || bash contrib/lines.sh
cpu=$((($(cpu) - cpu) / 100))
echo "$SECONDS seconds, and $cpu of CPU on $(nproc) cores: 1.3 times what these take at least is $((cpu * 13 / 10 / $(nproc)))"
exit $status
