#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the corpora of fuzz_coresight, fuzz_ete, fuzz_ete_packet and fuzz_ete_state again.
set -eu
cd "$(dirname "$0")/corpus"
mkdir -p coresight ete ete_packet ete_state

# bytes HEX...: SYNC is an A-sync.
bytes() {
	local word
	for word in "$@"; do
		if [ "$word" = SYNC ]; then
			printf '\0\0\0\0\0\0\0\0\0\0\0\x80'
		else
			printf '%b' "\\x$word"
		fi
	done
}
start="SYNC 01 00 04 82 00 08 00 00 31"
aarch32="SYNC 01 00 04 82 00 0c 00 00 21"
n=0
for trace in "$start f7 f7 f6 dc d4 e0 d5 95 08 d9" "$start ff c3 9a 10 08 00 00 f7 90 91 92 d8" \
	"$start f7 f7 2e 01 30 f6 2d 01 36 3b 2f 01 0c 11 0e 01 05 0f 00 15" \
	"$start 06 05 95 03 82 00 08 00 00 32 f7 06 1d 90 06 5c 9a 00 08 00 00 06 01 70 9a 00 08 00 00 f7" \
	"$start f7 0a f7 f7 0b 0a f6 06 31 70 9a 01 08 00 00 f7" \
	"$start b6 23 08 00 00 b4 23 a5 10 05 af 9a 00 08 00 00 ac 03 95 10 f7" \
	"$start f7 88 f7 02 05 03 85 01 04 71 7f 09 01 01 02 03 04 05 06 07 08 70 80 81 31" \
	"$start f7 00 05 71 f7 SYNC 01 00 82 00 08 00 00 31 f6 00 03 01 04 02 90 80 f7" \
	"$start f7 07 f7 00 00 00 SYNC 01 09 01 04 85 00 08 00 00 00 00 00 00 f1 01 02 03 04 05 06 07 08 f7" \
	"$aarch32 f7 f7 d9 9b 00 18 00 00 f7 f6 f7 b7 03 18 00 00 f7 96 10"; do
	n=$((n + 1))
	for flags in 00 01 16 31 80 2e; do
		bytes $flags 05 $trace >ete/trace-$n-$flags
	done
	bytes 10 $trace >ete_packet/trace-$n
	bytes 12 $trace >ete_packet/deep-$n
done
# Frames behind an FSYNC: id 1, then the bytes in even and odd places.
frames="ff ff ff 7f 03 00 00 00 00 00 00 00 00 00 00 00 80 01 00 00"
frames+=" 04 82 00 08 00 00 ff 7f 30 f7 f6 f7 f6 d4 d8 00 00 10"
bytes 40 03 $frames $frames >ete/framed
bytes c1 03 $frames $frames >ete/framed-2
for layout in 00 01 02 03; do
	bytes $layout 01 $frames $frames >coresight/frames-$layout
	bytes $layout 01 21 aa 10 22 25 33 44 55 01 66 76 88 21 99 25 0e \
		03 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f \
		ff ff ff 7f ff ff ff 7f ff ff ff 7f ff ff ff 7f 02 01 >coresight/ids-$layout
done
# Speculation depths of 2^32, committed by atoms and by Commit packets: work is by packets, not by what they say.
deep="00 03 01 04 ff ff ff ff 0f"
for i in {1..150}; do
	many+=" $deep f6 f6 $deep 2d fe ff ff ff 0f"
done
bytes 16 00 00 00 00 00 00 00 00 00 00 00 00 80 01 00 04 82 00 08 00 00 31 f6 $many >ete/depths
zeros() { for ((i = 0; i < $1; i++)); do printf '\0'; done; }
# No stack, nothing pending; version, part, phase, stamped, again, zeros, lost_at, lost_bytes, lost_code, and zeros.
{ bytes 00 31 00 00 01 00 00 00 00 00 00 00 01; zeros 38; bytes $start f7 f7 f6; } >ete_state/first
{ bytes 01 32 01 04 00 01 00 02 01 00 00 00 00 01; zeros 38; bytes $start f7 f7 f6; } >ete_state/stack
{ bytes 00 18 01 00 00 00 00 01 00; zeros 17; bytes $start f7 f7 f6; } >ete_state/records
