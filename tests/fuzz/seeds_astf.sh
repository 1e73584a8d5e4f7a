#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_astf_decode and fuzz_astf_state anew: tests/fuzz/seeds_astf.sh.
set -eu
cd "$(dirname "$0")"
streams=corpus/astf_decode blobs=corpus/astf_state data=../data/astf
mkdir -p "$streams" "$blobs"

for name in figure tables; do { printf '\0'; cat $data/$name.astf; } >"$streams/$name"; done
records() { tail -c +33 $data/figure.astf; }
{ printf '\1'; records; } >"$streams/plus"
{ printf '\3'; records; } >"$streams/basic"
{ printf '\1'; records | head -c 333; } >"$streams/cut"
{ printf '\1'; records | tail -c +257; } >"$streams/no-context"
{ printf '\1'; records | head -c 160; records | tail -c +385; } >"$streams/orphans"
{ printf '\1\103\0\377\377'; head -c 28 /dev/zero; records; } >"$streams/string-cut"
{ printf '\1'; for i in 0 1 2 3; do printf '\%o' $((i * 50)); head -c 31 /dev/zero | tr '\0' '\377'; done; } >"$streams/unknown"

# bytes of the decoder's blob; it (version, fields); the encoder's
{ printf '\15\1\40'; head -c 11 /dev/zero; printf '\1'; head -c 19 /dev/zero; } >"$blobs/start"
{ printf '\15\1\300\1\2\204\40\7\0\5\6\321\4\0\0\3\10'; printf '\1\1'; head -c 18 /dev/zero; } >"$blobs/middle"
{ printf '\4\1\40\1\2'; printf '\2\0\0'; } >"$blobs/refused"
