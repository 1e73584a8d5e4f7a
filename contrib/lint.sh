#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What clang-tidy (.clang-tidy) and gcc's -fanalyzer find in the product's C files, a line each; ends with 1 if there is
# any. Takes some minutes.
#   contrib/lint.sh [PATH...]    only files whose names begin so: codecs/stf fs/tree/walk.c
# All that they say, with the paths through the code, is in build/lint/{tidy,analyzer}.log.
# A finding that is wrong has its exception beside the line: an assert, NOLINT(check): why, or a #pragma.
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
install_packages $BUILD_PACKAGES $LINT_PACKAGES

# Why not -Wanalyzer-malloc-leak: gcc 12 takes what is stored in a struct behind a pointer for lost, 50 times here. Leaks
# are looked for by clang-tidy, and by LeakSanitizer in every test.
analyzer="-fanalyzer -Wno-analyzer-malloc-leak -fno-diagnostics-show-caret"

[ $# -gt 0 ] || set -- codecs index fs mountd
out=build/lint
cmake --preset release -B "$out" -DCMAKE_C_COMPILER_LAUNCHER= >/dev/null
mapfile -t files < <(git ls-files -- "${@/%/*}" | grep -E '^(codecs|index|fs|mountd)/.*\.c$')
[ ${#files[@]} -gt 0 ] || { echo "no C file of the product begins so: $*" >&2; exit 2; }

# analyze FILE: its command of compile_commands.json, with the analyzer and without an object.
analyze() {
	local command
	command=$(awk -v end="/$1\"" '/"command":/ {line = $0} /"file":/ && substr($0, length($0) - length(end) + 1) == end {
		sub(/^ *"command": "/, "", line); sub(/",$/, "", line); gsub(/\\"/, "\"", line); gsub(/\\\\/, "\\", line)
		sub(/ -o [^ ]+/, " -o /dev/null", line); print line; exit}' "$out/compile_commands.json")
	[ -n "$command" ] || { echo "$1: error: it is not built"; return; }
	(eval "$command $analyzer") 2>&1 || echo "$1: error: it does not compile"
}
export -f analyze
export out analyzer

jobs=$(nproc) failed=
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$jobs" clang-tidy -p "$out" --quiet >"$out/tidy.log" 2>&1 ||
	failed=clang-tidy
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'said=$(analyze "$1"); [ -z "$said" ] || echo "$said"' - \
	>"$out/analyzer.log" || failed="${failed:+$failed, }the analyzer"
# A header is read by many.
findings=$(grep -hE '^[^ ]+: (warning|error): ' "$out/tidy.log" "$out/analyzer.log" | sed "s|^$PWD/||" | sort -u)
if [ -n "$findings" ]; then
	echo "$findings"
elif [ -n "$failed" ]; then
	echo "failed without a finding: $failed; see $out/*.log" >&2
fi
echo "${#files[@]} files, $(grep -c . <<<"$findings" || true) findings"
[ -z "$findings$failed" ]
