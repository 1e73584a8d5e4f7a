#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One list of commands and options: the help texts, the manual page and the shell completion know all of it.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
hartfs=${HARTFS_BIN:?is the program to test}
bad=0

complain() {
	echo "FAIL: $*"
	bad=1
}

# rows MACRO FIELD: that argument of every row of that macro, without quotes.
rows() {
	sed -n "s/^$1(\(.*\))\$/\1/p" "$root/mountd/options.def" | awk -F', *' -v f="$2" '{gsub(/"/, "", $f); print $f}'
}

page=$root/mountd/hartfs.1.md
"$hartfs" help >/tmp/hartfs-help.$$ || complain "help ended with $?"
for command in $(rows HF_COMMAND 3); do
	grep -q "^  $command " /tmp/hartfs-help.$$ || complain "help does not know $command"
	grep -q "^\*\*hartfs $command\*\*" "$page" || complain "hartfs(1) does not know $command"
	"$hartfs" help "$command" | grep -q "^Usage: hartfs $command" || complain "no help for $command"
	"$hartfs" "$command" --help >/dev/null || complain "$command --help ended with $?"
done
# Every page of the manual is a topic: its examples and its words are there, its Markdown is not.
for source in "$root"/{mountd,index,fs}/hartfs*.[0-9].md; do
	name=$(basename "$source" .md) section=${source%.md}
	section=${section##*.} name=${name%.*}
	grep -q "^  ${name#hartfs-}($section) " /tmp/hartfs-help.$$ || complain "help does not list $name($section)"
	"$hartfs" help "$name.$section" >/tmp/hartfs-topic.$$ || complain "help $name.$section ended with $?"
	grep -q '^NAME$' /tmp/hartfs-topic.$$ || complain "help $name.$section has no headings"
	grep -m3 '^:   \|\*\*' /tmp/hartfs-topic.$$ && complain "Markdown in help $name.$section"
	sed -n 's/^    \(\$ .*\)/\1/p' "$source" | grep -qvxFf <(sed 's/^ *//' /tmp/hartfs-topic.$$) && complain "help $name.$section lacks examples"
done
"$hartfs" help nonsense 2>/dev/null
[ $? = 2 ] || complain "help nonsense"
rm -f /tmp/hartfs-help.$$ /tmp/hartfs-topic.$$
for option in $(rows HF_OPTION 4); do
	grep -q -- "\\*\\*\\\\--$option\\*\\*" "$page" || complain "hartfs(1) does not know --$option"
done
for option in $(rows HF_FIND_OPTION 2); do
	grep -q -- "\\*\\*\\\\--$option\\*\\*" "$root/mountd/hartfs-find.1.md" || complain "hartfs-find(1) does not know --$option"
	"$hartfs" find --help | grep -q -- "--$option" || complain "find --help does not know --$option"
done
for option in $(rows HF_DIFF_OPTION 2); do
	grep -q -- "\\*\\*\\\\--$option\\*\\*" "$root/mountd/hartfs-diff.1.md" || complain "hartfs-diff(1) does not know --$option"
	"$hartfs" diff --help | grep -q -- "--$option" || complain "diff --help does not know --$option"
done
for option in $(rows HF_FUSE_OPTION 1) $(rows HF_MOUNT_NOISE 1); do
	grep -q "\\*\\*$option\\*\\*" "$page" || complain "hartfs(1) does not know -o $option"
	"$hartfs" mount --help | grep -qw "$option" || complain "mount --help does not know -o $option"
done
# Every view is in the help: the rows of its list, and the program.
views=$("$hartfs" help info | sed -n '/^Views/{n;p}')
[ "$(wc -w <<<"$views")" = $(($(grep -c '^HF_VIEW(' "$root/codecs/views.def") + 1)) ] || complain "the views in the help: $views"
# What the system's calls can fail with is explained.
for errno in $(sed -n 's/^\t\?[A-Z_]*(.*[A-Z_], *[a-z]*, *\(E[A-Z]*\), *".*/\1/p' "$root"/codecs/{base/err.c,*/errors.def} | sort -u); do
	grep -qw "$errno" "$page" || complain "hartfs(1) does not know $errno"
done
for library in libfuse SQLite xxHash liblzma zlib libzstd LLVM; do
	"$hartfs" --version | grep -qE "$library [0-9]+\.[0-9]" || complain "--version does not tell of $library"
done
[ "$("$hartfs" --version)" = "$("$hartfs" mount -V)" ] || complain "two versions"
exit $bad
