#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs ls: captures with their state, or the files of one; colours on a terminal only.
. "$(dirname "$0")/../lib/mount.sh"
capture_archive
head -c 700000 "$archive/boot/rv-sys.stf.gz" >"$archive/boot/cut.stf.gz"
head -c 100 /dev/zero >"$archive/boot/empty.zstf"

# ls_ STATUS ARGUMENT...: what it prints is in $tmp/out.
ls_() {
	local want=$1 status
	shift
	"$hartfs" ls --index-dir "$index" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" = "$want" ] || fail "ls $*: status $status instead of $want: $(cat "$tmp/err")"
}
has() { grep -qE -- "$1" "$tmp/out" || fail "no line of: $1; but: $(cat "$tmp/out")"; }

# Nothing is indexed, and listing changes nothing of that.
ls_ 0 "$archive"
has '^ +SIZE  FORMAT +HARTS +INSTRUCTIONS  STATE +CAPTURE$'
has '^ +787 KiB  stf, gzip +\? +\?  not indexed  boot/rv-sys\.stf\.gz$'
[ -z "$(find "$index" -name '*.hfi' -print -quit)" ] || fail "listing made an index"

# What is indexed is known; the failed one says why, and the others stay.
"$hartfs" index -q --index-dir "$index" "$archive" 2>/dev/null
ls_ 3 "$archive"
has '^ +787 KiB  stf, gzip +1 +873,595  indexed +boot/rv-sys\.stf\.gz$'
has ' 2 problems +boot/cut\.stf\.gz$'
has ' \?  failed +boot/empty\.zstf: offset 0: '
ls_ 0 "$archive/mini"
[ "$(wc -l <"$tmp/out")" = 2 ] || fail "not one capture in mini: $(cat "$tmp/out")"

# The files of a capture are those of info.json; the sizes are those that cat writes.
ls_ 0 "$archive/mini/rv32-mini.stf"
size=$("$hartfs" cat --index-dir "$index" "$archive/mini/rv32-mini.stf" hart0/listing.txt | wc -c)
has "^ +$(printf "%'d" "$size" | sed 's/,//g' | rev | sed 's/\(...\)/\1,/g; s/,$//' | rev)  rv32-mini@stf/hart0/listing\.txt$"

# A capture that nobody has indexed yet is indexed, and of two paths each has its title.
cp "$archive/mini/rv32-mini.stf" "$archive/new.stf"
ls_ 3 "$archive/new.stf" "$archive/nothing"
has "^$archive/new\.stf:\$"
has '  new@stf/hart0/trace\.stf$'
grep -q 'nothing: there is no such file' "$tmp/err" || fail "it does not say what is missing: $(cat "$tmp/err")"
mkdir "$archive/none"
ls_ 1 "$archive/none"

# The list of a directory does without LLVM. A loader that tells nothing of what it loads shows neither.
loads() {
	rm -f "$tmp"/loads*
	LD_DEBUG=files LD_DEBUG_OUTPUT="$tmp/loads" "$hartfs" "$@" >/dev/null 2>&1
	grep -qi llvm "$tmp"/loads* 2>/dev/null
}
if loads ls --index-dir "$index" "$archive/new.stf"; then
	loads ls --index-dir "$index" "$archive" && fail "ls of a directory loads LLVM"
fi

# Colours for a terminal, unless nobody wants them.
colours() { script -qec "env TERM=xterm $1 '$hartfs' ls --index-dir '$index' '$archive'" /dev/null | grep -c $'\033'; }
[ "$(colours '')" -gt 0 ] || fail "no colours on a terminal"
[ "$(colours NO_COLOR=1)" = 0 ] || fail "colours in spite of NO_COLOR"
[ "$(colours TERM=dumb)" = 0 ] || fail "colours on a dumb terminal"
grep -q $'\033' "$tmp/out" && fail "colours in a file"
finish
