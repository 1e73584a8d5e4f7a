#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs info: a page for people, and info.json for programs.
. "$(dirname "$0")/../lib/mount.sh"
capture_archive
head -c 700000 "$archive/boot/rv-sys.stf.gz" >"$archive/boot/cut.stf.gz"
head -c 100 /dev/zero >"$archive/boot/empty.zstf"

# info STATUS ARGUMENT...: what it prints is in $tmp/out.
info() {
	local want=$1 status
	shift
	"$hartfs" info --index-dir "$index" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" = "$want" ] || fail "info $*: status $status instead of $want: $(cat "$tmp/err")"
}
has() { grep -qE -- "$1" "$tmp/out" || fail "no line of: $1; but: $(cat "$tmp/out")"; }

info 0 "$archive/boot/rv-sys.stf.gz"
has '^rv-sys\.stf\.gz: Simple Trace Format 1\.6, gzip$'
has '^  machine        riscv, rv64$'
has '^  instructions   873,595 retired by 1 hart, 739 attempts, 7\.38 bits each$'
has '^  size           787 KiB, 9\.5 MiB decompressed; its index [0-9.]+ KiB$'
has '^  symbols        [0-9]+ of rv-sys\.elf$'
has '^  problems       none$'
has '^    hart0        listing\.txt [0-9]+ MiB, trace\.stf 9\.5 MiB, etrace/trace\.bin '
has '^  not there      trace\.astf: ASTF is AArch64 only'

info 0 "$archive/boot/cut.stf.gz"
has '^  problems       2 in the trace; errors\.txt has all$'
has '^                 the first: offset 8565478: the compressed stream is cut short$'

# Nothing of it can be decoded: the page says why, and so does the status.
info 1 "$archive/boot/empty.zstf"
has '^empty\.zstf: '
has '^  failed         offset 0: '

# The whole archive: a page each, in the order of the tree; the failed one is named and does not hide the others.
info 3 "$archive"
[ "$(grep -c '^[^ ]' "$tmp/out")" = 4 ] || fail "not four pages: $(grep '^[^ ]' "$tmp/out")"
has '^mini/rv32-mini\.stf: '

# For programs: the file of the mount.
info 0 --json "$archive/boot/rv-sys.stf.gz"
cp "$tmp/out" "$tmp/json"
"$hartfs" cat --index-dir "$index" "$archive/boot/rv-sys.stf.gz" info.json | cmp - "$tmp/json" || fail "--json is not info.json"

finish
