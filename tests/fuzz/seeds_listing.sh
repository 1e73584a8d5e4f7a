#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the corpus of fuzz_listing again: one event of every kind with its DATA, and all of them in a row.
set -eu
cd "$(dirname "$0")/corpus"
mkdir -p listing
kinds=$(grep -c '^	HF_EVENT_[A-Z_]*,' ../../../codecs/event.h)

# 8 bytes little-endian of a number below 256.
word() { printf '%b' "\\x$(printf %02x "$1")\\0\\0\\0\\0\\0\\0\\0"; }
# event KIND: flags 1, small 2, size 30, and three words of payload.
event() {
	printf '%b' "\\x$(printf %02x "$1")\\x01\\x02\\0\\x1e\\0\\0\\0"
	word 16; word 32; printf '\x13\x05\x15\x00\x04\x02\x00\x04'
}
data() { printf '%b' "\\x$(printf %02x $((kinds - 1)))\\0\\x18\\0\\0\\0\\0\\0"; printf 'a text\nwith \x01 escapes \xff!'; }

printf "\x01\x09" >listing/all
for ((kind = 0; kind < kinds; kind++)); do
	{ printf "\x01\x02"; event 1; event $kind; data; data; event 1; } >"listing/kind-$kind"
	{ event $kind; data; } >>listing/all
done
