#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a question to one long capture costs: bench_find.sh BUILD_DIR INSTRUCTIONS [THREADS]. Makes the capture below $TMPDIR
# with make_run, indexes it, prints the bits an instruction of each table of its summary, asks some questions (cold: the files'
# pages are dropped from the page cache first, as far as the kernel does that), and searches the listing for the same.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
count=$2 threads=${3:-1}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-find.XXXXXX")
archive=$tmp/archive index=$tmp/index
mkdir "$archive" "$index"
trap 'rm -rf --one-file-system "$tmp"' EXIT
capture=$archive/run.zstf

# Seconds of the clock, and of the processor.
timed() {
	local TIMEFORMAT='%R s, %U s of the processor'
	{ time "$@" >"$tmp/out" 2>"$tmp/err"; } 2>&1
}
cold() { find "$tmp" -type f -exec dd if={} iflag=nocache count=0 status=none \; ; }
hartfs() { "$build/hartfs" "$1" --index-dir "$index" "${@:2}"; }

"$build/tests/make_run" 1 "$count" stf "$capture"
echo "index with $threads threads: $(timed hartfs index -q -j "$threads" "$archive")"
echo "bytes: capture $(stat -c %s "$capture"), index $(du -b "$index" | cut -f 1), summary $(stat -c %s "$index"/*.hfq)"
python3 "$here/summary_parts.py" "$index"/*.hfq "$count"
# What is there to be asked: an instruction in the middle, the last word that was written, a function that was called.
pc=$(hartfs cat "$capture" "hart0/at/$((count / 2))-$((count / 2))/listing.txt" | awk '!/^#/ {print $3; exit}')
word=$(hartfs find "$capture" --write 0-ffffffffffffffff --last | sed -n 's/.* W[0-9]* \([0-9a-f]*\).*/\1/p' | tail -n 1)
old=$(hartfs find "$capture" --write 0-ffffffffffffffff --nth 1000 | sed -n 's/.* W[0-9]* \([0-9a-f]*\).*/\1/p' | tail -n 1)
call=$(hartfs find "$capture" --taken --mnemonic jal --nth 1000 | sed -n 's/.*-> \([0-9a-f]*\).*/\1/p')
ask() {
	cold
	echo "$*: cold $(timed hartfs find "$capture" "$@" --explain), warm $(timed hartfs find "$capture" "$@" --explain)"
	sed 's/^/  /' "$tmp/err"
}
ask --pc "0x$pc" --last
ask --write "0x$word" --last
ask --write "0x$old" --last
ask --call "0x$call" --count
ask --call "0x$call" --nth 100
ask --call "0x$call" --nth 100 --stack
echo "state $((count / 2)): cold $(cold; timed hartfs state "$capture" $((count / 2))), warm $(timed hartfs state "$capture" $((count / 2)))"
echo "grep $pc in the listing: $(timed bash -c "'$build/hartfs' cat --index-dir '$index' '$capture' hart0/listing.txt | grep ' $pc ' | tail -n 1")"
