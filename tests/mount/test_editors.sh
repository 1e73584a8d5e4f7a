#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# contrib/editors: vim and lnav read a listing with them.
. "$(dirname "$0")/../lib/mount.sh"
editors=$(cd "$(dirname "$0")/../../contrib/editors" && pwd)
short_archive
export HOME=$tmp/home
mkdir -p "$HOME/.vim/syntax"
"$hartfs" cat --index-dir "$index" "$archive/boot/rv-sys.stf.gz" hart0/at/1-999/listing.txt >"$tmp/listing.txt" || fail "listing.txt"
line=$(grep -n -m1 '<.*> W8 ' "$tmp/listing.txt") || fail "no access in the listing"
none=1

if command -v vim >/dev/null && vim --version | grep -q '+syntax'; then
	none=0
	cp "$editors/hartfs_listing.vim" "$HOME/.vim/syntax/"
	text=${line#*:} number=${line%%:*} before=${line#*:}
	before=${before%%<*}
	cat >"$tmp/script.vim" <<END_VIM
set nocompatible
syntax on
edit $tmp/listing.txt
set filetype=hartfs_listing
redir! > $tmp/groups
for column in [1, ${#before} + 2, match(getline($number), ' W8 ') + 2]
	echo synIDattr(synID($number, column, 1), "name")
endfor
redir END
qa!
END_VIM
	timeout "$patience" vim -es -u NONE -i NONE --cmd "set runtimepath^=$HOME/.vim" -S "$tmp/script.vim" </dev/null || fail "vim: status $?"
	[ "$(xargs <"$tmp/groups")" = "hartfsOrdinal hartfsPlace hartfsAccess" ] || fail "vim: $(xargs <"$tmp/groups") in $text"
fi
if command -v lnav >/dev/null; then
	none=0
	timeout "$patience" lnav -i "$editors/hartfs_listing.json" </dev/null >"$tmp/out" 2>&1 || fail "lnav -i: $(cat "$tmp/out")"
	timeout "$patience" lnav -C </dev/null >"$tmp/out" 2>&1 || fail "lnav -C: $(cat "$tmp/out")"
	timeout "$patience" lnav -n -c ";SELECT count(*) AS n, min(pc) AS least FROM hartfs_listing" -c ":write-csv-to -" \
		"$tmp/listing.txt" </dev/null >"$tmp/out" 2>&1
	grep -q "^999,$(grep -v '^#' "$tmp/listing.txt" | cut -d ' ' -f 3 | sort | head -n 1)\$" "$tmp/out" || fail "lnav: $(cat "$tmp/out")"
fi
[ "$none" = 0 ] || skip "neither vim nor lnav"

finish
