#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lines of the product's files in git, by folder and in all.
set -eu
cd "$(dirname "$0")/.."
all=0
for folder in codecs index fs mountd; do
	lines=$(git ls-files -z -- "$folder" | grep -zE '\.(c|h|def|js|css)$' | xargs -0 cat | wc -l)
	printf '%7d %s\n' "$lines" "$folder"
	all=$((all + lines))
done
printf '%7d in all\n' "$all"
