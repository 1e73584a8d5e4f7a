#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manual is of one piece: every test that hartfs-security(7) names exists; every page that something refers to exists;
# hartfs-views(5) leads to every page; each page about a file or a format begins with examples: manual.sh SOURCE_DIRECTORY
set -u
cd "$1" || exit 1
page=mountd/hartfs-security.7.md
status=0 count=0
bad() {
	echo "$*"
	status=1
}
for test in $(grep -oE '\*(unit|prop|mount|fuzz|golden|conformance)\.[a-z_0-9]+\*' "$page" | tr -d '*' | sort -u); do
	count=$((count + 1))
	ls "tests/${test%%.*}/test_${test#*.}".{c,sh} "tests/fuzz/fuzz_${test#*.}.c" 2>/dev/null | grep -q . ||
		bad "$page: there is no test $test"
done
[ "$count" -gt 5 ] || bad "$page: no tests found in it"

count=0
for reference in $(grep -rhoE '\bhartfs(-[a-z]+)?(\*\*)?\([0-9]\)' --include='*.md' --include='*.[ch]' --include='*.def' --include='*.sh' \
	README.md CHANGES.md codecs index fs mountd contrib tests | tr -d '*' | sort -u); do
	count=$((count + 1))
	name=${reference%(*} section=${reference: -2:1}
	ls {mountd,index,fs}/"$name.$section.md" 2>/dev/null | grep -q . || bad "there is no page $reference: $(grep -rlF -- "$reference" \
		--include='*.md' --include='*.[ch]' --include='*.def' README.md CHANGES.md codecs index fs mountd | tr '\n' ' ')"
done
[ "$count" -gt 10 ] || bad "no references to pages found"

for page in {mountd,index,fs}/hartfs*.[0-9].md; do
	name=$(basename "$page" .md)
	[ "$name" = hartfs-views.5 ] || grep -qF "**${name%.*}**(${name##*.})" mountd/hartfs-views.5.md ||
		bad "hartfs-views(5) does not lead to $name"
	[[ $page != mountd/*.5.md ]] || [ "$(grep -m2 '^# ' "$page" | tail -n 1)" = '# EXAMPLES' ] || bad "$page does not begin with examples"
done
exit $status
