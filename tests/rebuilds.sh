#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rebuilds.sh SOURCE BUILD: a row in views.def or in a list of errors compiles at most 120 objects of the product anew, and
# codecs/base/err.c has each of those lists.
set -u
cd "$1" || exit 1
build=$2
lists=$(echo codecs/views.def codecs/*/errors.def)

# needs <DEPENDENCIES, as ninja prints them: how many objects need each list.
needs() {
	awk -v lists="$lists" -v most=120 '
	BEGIN { n = split(lists, list) }
	/: #deps / { object = $1; sub(/:$/, "", object); next }
	object !~ /^tests\// {
		for (i = 1; i <= n; i++)
			if (index($NF "\n", "/" list[i] "\n")) {
				count[i]++
				told[i] = told[i] || object ~ /\/codecs\/base\/err\.c\.o$/
			}
	}
	END {
		for (i = 1; i <= n; i++) {
			printf "%s: %d objects\n", list[i], count[i]
			if (count[i] > most || (list[i] ~ /errors\.def$/ && !told[i])) {
				print (count[i] > most ? "  more than " most : "  codecs/base/err.c does not include it")
				bad = 1
			}
		}
		exit bad
	}'
}

# made N LIST...: err.c with these lists, and N objects with views.def.
made() {
	echo 'x/codecs/base/err.c.o: #deps 9, deps mtime 1 (VALID)'
	printf '    /s/%s\n' "${@:2}"
	for ((i = 0; i < $1; i++)); do printf 'x/%d.c.o: #deps 1, deps mtime 1 (VALID)\n    /s/codecs/views.def\n\n' "$i"; done
}
# First, that it finds an object too many, and a list that err.c lacks.
# shellcheck disable=SC2086
if ! made 120 ${lists#* } | needs >/dev/null || made 121 ${lists#* } | needs >/dev/null ||
	made 1 ${lists#* * } | needs >/dev/null; then
	echo 'rebuilds.sh does not count'
	exit 1
fi
deps=$(ninja -C "$build" -t deps) || exit 1
needs <<<"$deps"
