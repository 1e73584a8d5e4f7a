#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_spool anew: tests/fuzz/seeds_spool.sh.
set -eu
cd "$(dirname "$0")"
to=corpus/spool
rm -rf "$to"
mkdir -p "$to"

# A stream as it is; a byte of a frame, of the head, of the table changed, with the hashes put right or not; cut short.
for ((i = 0; i < 8; i++)); do printf "\\x0$i" >"$to/valid$i"; done
printf '\x05\x10\x00\x00\x01\xff' >"$to/frame"
printf '\x05\x10\x00\x80\x01\xff' >"$to/head"
printf '\x05\x52\x00\x80\x02\x07\x07' >"$to/table"
printf '\x1d\x50\x00\x80\x04\x00\x00\x00\x10' >"$to/forged-size"
printf '\x1e\x50\x00\x80\x08\x00\x00\x00\x00\x00\x00\x04\x00' >"$to/forged-empty"
printf '\x1d\x10\x00\x00\x02\xff\xff\x50\x00\x80\x01\x21' >"$to/forged-both"
printf '\x04\x20\x00\x00\x00' >"$to/cut"
