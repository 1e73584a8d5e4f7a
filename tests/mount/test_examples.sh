#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples in README.md and in the manual pages print what the pages say. An example is a block of code with lines
# that begin with "$ "; the lines below such a line are its output, and "..." stands for any lines. ~/traces has the
# captures of tests/data, and is mounted on ~/mnt unless the page mounts it itself. While you write a page: ONLY=NAME takes
# the pages whose paths have NAME in them, SHOW=1 prints what the commands print.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
root=$(cd "$(dirname "$0")/../.." && pwd)
export HOME=$tmp XDG_CACHE_HOME=$tmp/cache
archive=$tmp/traces index=$XDG_CACHE_HOME/hartfs

# The lines of all examples of a page, without their indentation.
examples() {
	awk '/^```/ { fenced = !fenced; inside = blank = 0; next }
	     /^$/ { blank++; next }
	     fenced || /^    / { line = $0; if (!fenced) sub(/^    /, "", line)
				 if (line ~ /^\$ /) { inside = 1; blank = 0 }
				 for (; inside && blank; blank--) print ""
				 if (inside) print line; next }
	     { inside = blank = 0 }' "$1" | sed 's/[[:space:]]*$//'
}
# A script that prints each command, and then what it prints.
session() {
	echo 'hartfs() { "$HARTFS_BIN" "$@"; }; cd'
	awk 'function run() { print "cat <<\"END OF COMMAND\"\n" shown "END OF COMMAND\n" command; inside = 0 }
	     /^\$ / || inside { shown = inside ? shown : ""; command = inside ? command : ""
				text = $0; if (!inside) sub(/^\$ /, "", text)
				shown = shown $0 "\n"; command = command text "\n"
				inside = 1; if (text !~ /\\$/) run() }' "$1"
}
# same WANT GOT: "..." in WANT is any number of lines.
same() {
	awk 'FNR == NR { want[++n] = $0; next }
	     { got[++m] = $0 }
	     END { for (i = j = 1; i <= n; i++) {
			if (want[i] == "...") { while (j <= m && got[j] != want[i + 1]) j++; continue }
			if (got[j] != want[i]) { print "wanted: " want[i] "\ngot:    " got[j]; exit 1 }
			j++ }
		   if (j <= m) { print "also:   " got[j]; exit 1 } }' "$1" "$2"
}

# A page that indexes or mounts finds the captures as nobody has seen them; so does the one behind it, and one behind a page
# that changed them. All others share a mount.
anew() {
	! is_mounted "$mnt" || do_umount
	rm -rf "$archive"
	mkdir "$archive"
	cp -rp "$HARTFS_DATA"/archive/. "$HARTFS_DATA/astf/a64-sys.astf" "$archive/"
	before=$(snapshot)
}
pages=0 before=
for page in "$root"/README.md "$root"/{mountd,index,fs}/*.[0-9].md; do
	[[ $page == *${ONLY-}* ]] || continue
	examples "$page" >"$tmp/want"
	[ -s "$tmp/want" ] || continue
	pages=$((pages + 1))
	own=$(grep -oE '^\$ hartfs (mount|index)' "$tmp/want" | sort -u)
	[ -z "$own" ] && [ "$before" = "$(snapshot)" ] || anew
	[[ $own == *mount* ]] || is_mounted "$mnt" || do_mount --wait
	session "$tmp/want" >"$tmp/session"
	bash "$tmp/session" 2>&1 </dev/null | sed 's/[[:space:]]*$//' >"$tmp/got"
	[ -z "${SHOW-}" ] || cat "$tmp/got"
	same "$tmp/want" "$tmp/got" || fail "${page#"$root/"}: an example is not true"
	[ -z "$own" ] || before=
done
# The commands of README's table of questions find something.
[ "$before" = "$(snapshot)" ] || anew
is_mounted "$mnt" || do_mount --wait
questions=0
while read -r command; do
	questions=$((questions + 1))
	(cd "$mnt/boot/rv-sys@stf@gz" && bash -c 'hartfs() { "$HARTFS_BIN" "$@"; }; '"$command" 2>&1) >"$tmp/got" && [ -s "$tmp/got" ] ||
		fail "README.md: $command: $(head -n 1 "$tmp/got")"
done < <(sed -n '/^| question/,/^$/s/.*`\(.*\)` |$/\1/p' "$root/README.md")
[ "$questions" -ge 8 ] || fail "only $questions questions in README.md"
do_umount
[ "$pages" -ge 10 ] || [ -n "${ONLY-}" ] || fail "only $pages pages have examples"
finish
