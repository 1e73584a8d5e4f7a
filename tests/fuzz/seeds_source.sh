#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_source anew: tests/fuzz/seeds_source.sh (needs gzip, xz and zstd). Compressors of another
# version give other bytes, which is fine: seeds only have to be valid.
set -eu
cd "$(dirname "$0")"
to=corpus/source
mkdir -p "$to"

# The containers in the order of hf_boxes; the first byte of a seed is its number plus 8 * (0..3, the sliver size).
zstf=0 gzip=1 xz=2 zstd=3 lzma=4 astf_xz=5 astf_lzma=6 astf_zlib=7

text() { # N: N lines that look like a trace
	for ((i = 0; i < $1; i++)); do printf '%08x %08x\n' $((0x80000000 + i * 4)) $((i * i % 97 * 65537)); done
}
byte() { printf "\\x$(printf %02x "$1")"; }
u64() { for ((k = 0; k < 8; k++)); do byte $(($1 >> 8 * k & 255)); done; }
seed() { # NAME CONTAINER SLIVER: the container's bytes from standard input
	{ byte $(($2 + 8 * $3)); cat; } >"$to/$1"
}

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
text 40 | gzip -n >"$work/a.gz"
text 20 | gzip -n1 >"$work/b.gz"
gzip -n </dev/null >"$work/empty.gz"
seed gzip $gzip 0 <"$work/a.gz"
cat "$work/a.gz" "$work/empty.gz" "$work/b.gz" | seed gzip-members $gzip 2
{ cat "$work/a.gz"; printf 'garbage'; } | seed gzip-garbage $gzip 1
head -c 100 "$work/a.gz" | seed gzip-cut $gzip 3

text 40 | xz --block-size=300 >"$work/a.xz"
text 20 | xz --check=crc32 >"$work/b.xz"
seed xz-blocks $xz 0 <"$work/a.xz"
{ cat "$work/a.xz"; printf '\0\0\0\0'; cat "$work/b.xz"; } | seed xz-streams $xz 2
text 40 | xz --x86 --lzma2=preset=0 --check=sha256 | seed xz-filter $xz 1
text 40 | xz --format=lzma | seed lzma $lzma 0

text 20 | zstd -qc >"$work/a.zst"
text 20 | zstd -qc --no-check >"$work/b.zst"
seed zstd $zstd 0 <"$work/a.zst"
{ cat "$work/a.zst"; printf '\x50\x2a\x4d\x18\x03\0\0\0abc'; cat "$work/b.zst"; } | seed zstd-skippable $zstd 1

zstf_head() { printf ZSTF; u64 20; u64 "$1"; }
size=$(text 20 | wc -c)
a=$(stat -c %s "$work/a.zst")
{
	zstf_head $((20 + 2 * a))
	cat "$work/a.zst" "$work/a.zst"
	u64 2; u64 20; u64 0; u64 "$size"
	u64 $((20 + a)); u64 $((0x80000050)); u64 "$size"
} >"$work/a.zstf"
seed zstf $zstf 0 <"$work/a.zstf"
{ zstf_head 0; cat "$work/b.zst"; } | seed zstf-no-table $zstf 1
{ zstf_head $((20 + 2 * a)); tail -c +21 "$work/a.zstf" | head -c $((2 * a)); u64 1; u64 20; u64 0; u64 $((2 * size)); } |
	seed zstf-two-frames $zstf 2
zstf_head 0 | seed zstf-empty $zstf 0

astf() { printf 'ASTF\0\13\0\0'; byte "$1"; printf '\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'; } # FORMAT
{ astf 1; cat "$work/a.xz"; } | seed astf-xz $astf_xz 1
{ astf 1; text 40 | xz --format=lzma; } | seed astf-lzma $astf_lzma 0
{ astf 3; text 40 | python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))'; } |
	seed astf-zlib $astf_zlib 2
{ astf 3; cat "$work/a.gz"; } | seed astf-gzip $astf_zlib 0
