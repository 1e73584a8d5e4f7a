#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test that hartfs-security(7) names exists: manual.sh SOURCE_DIRECTORY
set -u
cd "$1" || exit 1
page=mountd/hartfs-security.7.md
status=0 count=0
for test in $(grep -oE '\*(unit|prop|mount|fuzz|golden|conformance)\.[a-z_0-9]+\*' "$page" | tr -d '*' | sort -u); do
	count=$((count + 1))
	ls "tests/${test%%.*}/test_${test#*.}".{c,sh} "tests/fuzz/fuzz_${test#*.}.c" 2>/dev/null | grep -q . ||
		{ echo "$page: there is no test $test"; status=1; }
done
[ "$count" -gt 5 ] || { echo "$page: no tests found in it"; status=1; }
exit $status
