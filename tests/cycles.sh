#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cycles.sh SOURCE BUILD FOLDER: no file of FOLDER, or of a folder in it, calls another one that, by whatever way, calls it
# back. The object files say who refers to whom: functions and variables, by name or through a pointer. A pair that stays
# all the same is defended in FOLDER/README.md, in a line with `a.c` ↔ `b.c` (paths from FOLDER on): b.c may refer to a.c
# then.
set -uo pipefail
source=$1 build=$2 folder=$3
defended=$(grep -ohE '`[a-z0-9_/]+\.c` ↔ `[a-z0-9_/]+\.c`' "$source/$folder/README.md" 2>/dev/null)
objects=$(cd "$source" && find "$folder" -name '*.c' -printf "CMakeFiles/hf_$folder.dir/%p.o ")

# Lines: "PATH/file.c.o: [address] type symbol".
# shellcheck disable=SC2086
symbols=$(cd "$build" && nm -g -A $objects) || { echo "build $folder first"; exit 1; }
awk -v folder="$folder" -v defended="$defended" '
{
	file = $1
	sub(/\.o:.*/, "", file)
	sub(/^CMakeFiles\/[^\/]*\/[^\/]*\//, "", file)
	type = $(NF - 1)
	files[file]
	if (type == "U")
		needs[file, $NF]
	else
		home[$NF] = file
}
# Whether a reaches b, once seen[] is empty.
function reaches(a, b,    c) {
	for (c in files)
		if ((a, c) in calls && !(c in seen)) {
			if (c == b)
				return 1
			seen[c]
			if (reaches(c, b))
				return 1
		}
	return 0
}
END {
	for (pair in needs) {
		split(pair, at, SUBSEP)
		to = home[at[2]]
		if (to == "" || index(defended, "`" to "` ↔ `" at[1] "`"))
			continue
		calls[at[1], to] = calls[at[1], to] " " at[2]
	}
	for (pair in calls) {
		split(pair, at, SUBSEP)
		split("", seen)
		if (reaches(at[2], at[1])) {
			printf "%s/%s refers to %s, which leads back to it:%s\n", folder, at[1], at[2], calls[pair]
			bad = 1
		}
	}
	exit bad
}' <<<"$symbols" | sort
