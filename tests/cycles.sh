#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cycles.sh SOURCE BUILD FOLDER [COUNT]: no file of FOLDER, or of a folder in it, calls another one that, by whatever way,
# calls it back. The object files say who refers to whom: functions and variables, by name or through a pointer.
# With COUNT: if a file's .c and .h are one, and an include counts as a call, COUNT files are in circles. If there are
# fewer, the one who calls this records that.
set -uo pipefail
source=$1 build=$2 folder=$3 count=${4:-}
objects=()
while read -r file; do
	# Where several targets have it, they have the same.
	for object in "$build"/CMakeFiles/*.dir/"$file.o"; do break; done
	objects+=("$object")
done < <(cd "$source" && find "$folder" -name '*.c')
# Lines: "PATH/file.c.o: [address] type symbol".
symbols=$(nm -g -A "${objects[@]}") || { echo "build $folder first"; exit 1; }
# Lines: 'PATH/file.c:#include "PATH/file.h"'.
includes=$(cd "$source" && grep -roE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"$folder/[^\"]*\"" --include='*.[ch]' \
	--include='*.def' "$folder")
awk -v folder="$folder" -v count="$count" '
function edge(a, b) {
	if (a != b && !((a, b) in known)) {
		known[a, b]
		edges[a] = edges[a] " " b
	}
}
# Tarjan: circle[a] is the same of all that lead to each other, and size[] how many they are.
function visit(a,    to, n, i) {
	low[a] = order[a] = ++clock
	stack[++top] = a
	n = split(edges[a], to, " ")
	for (i = 1; i <= n; i++) {
		if (!(to[i] in order))
			visit(to[i])
		if (!(to[i] in circle) && low[to[i]] < low[a])
			low[a] = low[to[i]]
	}
	if (low[a] == order[a])
		do {
			circle[stack[top]] = a
			size[a]++
		} while (stack[top--] != a)
}
function find_circles(    a) {
	split("", order)
	split("", circle)
	split("", size)
	for (a in edges)
		if (!(a in order))
			visit(a)
}
function room(file) {
	sub(/\.[ch]$/, "", file)
	return file
}
/#[ \t]*include/ {
	split($0, part, "\"")
	includes[substr($0, 1, index($0, ":") - 1), part[2]]
	next
}
NF {
	file = $1
	sub(/\.o:.*/, "", file)
	sub(/.*\/CMakeFiles\/[^\/]*\//, "", file)
	if ($(NF - 1) == "U")
		needs[file, $NF]
	else
		home[$NF] = file
}
END {
	for (pair in needs) {
		split(pair, at, SUBSEP)
		to = home[at[2]]
		if (to == "" || to == at[1])
			continue
		calls[at[1], to] = calls[at[1], to] " " at[2]
		edge(at[1], to)
	}
	find_circles()
	for (pair in calls) {
		split(pair, at, SUBSEP)
		if (circle[at[1]] == circle[at[2]]) {
			printf "%s refers to %s, which leads back to it:%s\n", at[1], at[2], calls[pair]
			bad = 1
		}
	}
	if (count == "")
		exit bad
	split("", edges)
	split("", known)
	for (pair in calls) {
		split(pair, at, SUBSEP)
		edge(room(at[1]), room(at[2]))
	}
	for (pair in includes) {
		split(pair, at, SUBSEP)
		edge(room(at[1]), room(at[2]))
	}
	find_circles()
	for (a in circle)
		if (size[circle[a]] > 1) {
			found++
			names[circle[a]] = names[circle[a]] " " a
		}
	if (found + 0 != count) {
		for (a in names)
			printf "%s: a circle of includes and calls:%s\n", folder, names[a]
		printf "%s: %d files are in circles of includes and calls, and not %d%s\n", folder, found, count,
			found < count ? ": record " found + 0 : ""
		bad = 1
	}
	exit bad
}' <<<"$symbols"$'\n'"$includes" | sort
