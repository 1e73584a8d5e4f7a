#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manual is of one piece: every page that something refers to exists; hartfs-views(5) leads to every page; each page
# about a file or a format begins with examples; hartfs-index(5) says which files are databases: manual.sh SOURCE_DIRECTORY
set -u
cd "$1" || exit 1
status=0 count=0
bad() {
	echo "$*"
	status=1
}
for reference in $(grep -rhoE '\bhartfs(-[a-z]+)?(\*\*)?\([0-9]\)' --include='*.md' --include='*.[ch]' --include='*.def' --include='*.sh' \
	*.md codecs index fs mountd contrib tests | tr -d '*' | sort -u); do
	count=$((count + 1))
	name=${reference%(*} section=${reference: -2:1}
	ls {mountd,index,fs}/"$name.$section.md" 2>/dev/null | grep -q . || bad "there is no page $reference: $(grep -rlF -- "$reference" \
		--include='*.md' --include='*.[ch]' --include='*.def' *.md codecs index fs mountd | tr '\n' ' ')"
done
[ "$count" -gt 10 ] || bad "no references to pages found"

for page in {mountd,index,fs}/hartfs*.[0-9].md; do
	name=$(basename "$page" .md)
	[ "$name" = hartfs-views.5 ] || grep -qF "**${name%.*}**(${name##*.})" mountd/hartfs-views.5.md ||
		bad "hartfs-views(5) does not lead to $name"
	[[ $page != mountd/*.5.md ]] || [ "$(grep -m2 '^# ' "$page" | tail -n 1)" = '# EXAMPLES' ] || bad "$page does not begin with examples"
done

# databases TEXT: which of the kinds of files that it lists are databases, as schema.sql has it and as the text says it.
databases() {
	local ending name database named others
	others=$(grep '^Every file but .* is an SQLite 3 database' <<<"$1")
	awk '/^[^ ]*\.hf[a-z]$/ { ending = substr($0, length - 3); next }
		ending && match($0, /\*[a-z ]+\*/) { print ending, substr($0, RSTART + 1, RLENGTH - 2) } { ending = "" }' <<<"$1" |
		while read -r ending name; do
			grep -q "application_id.*>.*\\$ending\b" index/schema.sql && database=1 || database=0
			[[ $others == *" ${name}s"[\ ,]* ]] && named=0 || named=1
			echo "$ending" $database $named
		done
}
page=index/hartfs-index.5.md
[ "$(databases "$(sed 's/ spools,//' "$page")" | awk '$2 != $3')" = '.hfs 0 1' ] || bad "$page: a false word on spools is not found"
said=$(databases "$(cat "$page")")
[ "$(awk '$2 != $3' <<<"$said")" = '' ] || bad "$page: which files are databases is not as in schema.sql: $said"
exit $status
