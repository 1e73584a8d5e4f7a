#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The STF corpus through the mount: instruction records, memory accesses, harts, the stream's checksum, and an error
# line with its place for every damaged file.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/stf" ] || skip "HARTFS_CORPUS names no corpus"
archive=$HARTFS_CORPUS/stf
do_mount --wait

json_value() {
	sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$1" | head -n 1
}

# view_dir PATH: the directory of a capture's views.
view_dir() {
	local name=${1##*/}
	echo "$mnt/${1%/*}/$(echo "$name" | sed -E 's/\.((stf|zstf)(\.(gz|xz|zst|lzma))?)$/@\1/; s/(@stf)\./\1@/')"
}

trace() {
	local name=$1 unit=$2 file
	file=$(cd "$archive/$name" && ls ./*.zstf ./*.stf 2>/dev/null | head -n 1)
	local views
	views=$(view_dir "$name/${file#./}")
	local listing=$views/hart0/listing.txt
	listed_insts <"$listing" >"$tmp/got"
	golden "$archive/$name/insts.txt" >"$tmp/want"
	same "$name insts" "$tmp/got" "$tmp/want"
	golden "$archive/$name/mem.txt" | golden_mem "$unit" "$listing" >"$tmp/want"
	listed_mem <"$listing" >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/want" || fail "$name mem: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
	[ "$(sha256sum <"$views/source.stf" | cut -d' ' -f1)" = "$(json_value "$archive/$name/counts.json" stream_sha256)" ] ||
		fail "$name: source.stf is not the stream"
	cmp -s "$views/source.stf" "$views/hart0/trace.stf" || fail "$name: trace.stf is not the original"
	[ ! -s "$views/errors.txt" ] || fail "$name has errors: $(cat "$views/errors.txt")"
}

trace dhry_riscv bits
trace dhrystone_opt1 bytes
trace dhrystone bytes
trace bmi_pmp.bare bits

# Three harts in one stream.
views=$(view_dir harts/harts.zstf)
golden "$archive/harts/harts.txt" >"$tmp/harts"
golden "$archive/harts/mem.txt" | golden_mem bytes >"$tmp/mem"
for hart in 0 1 2; do
	awk -v h=$hart '$1 == h {print $4, $5}' "$tmp/harts" >"$tmp/want"
	listed_insts <"$views/hart$hart/listing.txt" >"$tmp/got"
	same "hart $hart insts" "$tmp/got" "$tmp/want"
	awk -v h=$hart 'NR == FNR {hart[NR - 1] = $1; next} hart[$1] == h {$1 = ""; print}' "$tmp/harts" "$tmp/mem" >"$tmp/want"
	listed_mem <"$views/hart$hart/listing.txt" | awk '{$1 = ""; print}' >"$tmp/got"
	same "hart $hart mem" "$tmp/got" "$tmp/want"
done
[ "$(sha256sum <"$views/source.stf" | cut -d' ' -f1)" = "$(json_value "$archive/harts/counts.json" stream_sha256)" ] ||
	fail "harts: source.stf is not the stream"
# What hartfs writes for one of them is a capture again, of that hart.
mkdir "$tmp/again" "$tmp/mnt2"
for hart in 0 1 2; do cp "$views/hart$hart/trace.stf" "$tmp/again/h$hart.stf"; done
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$tmp/again" "$tmp/mnt2" || fail "second mount"
for hart in 0 1 2; do
	for take in listed_insts listed_mem listed_traps; do
		$take <"$views/hart$hart/listing.txt" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/want"
		$take <"$tmp/mnt2/h$hart@stf/hart0/listing.txt" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/got"
		same "hart $hart again, $take" "$tmp/got" "$tmp/want"
	done
done
"$hartfs" umount "$tmp/mnt2" || fail "umount of the second mount"

# Small files at the edges of the format.
for name in all64 all32 pid comment-after-last; do
	file=$(cd "$archive/edge" && ls "$name".stf*)
	views=$(view_dir "edge/$file")
	listed_insts <"$views/hart0/listing.txt" >"$tmp/got"
	golden "$archive/edge/$name.insts.txt" >"$tmp/want"
	same "edge/$name insts" "$tmp/got" "$tmp/want"
	[ "$(sha256sum <"$views/source.stf" | cut -d' ' -f1)" = "$(json_value "$archive/edge/$name.counts.json" stream_sha256)" ] ||
		fail "edge/$name: source.stf is not the stream"
done
for want in header-only.stf:0 comment-lost.zstf:100000 two-full-chunks.zstf:200000 writer-killed.zstf:100000 \
	all64.one-chunk.zstf:3 bytes-after-index.zstf:3; do
	got=$(listed_insts <"$(view_dir "edge/${want%:*}")/hart0/listing.txt" | wc -l)
	[ "$got" = "${want#*:}" ] || fail "edge/${want%:*}: $got instructions instead of ${want#*:}"
done
[ -s "$(view_dir edge/txn.stf)/source.stf" ] || fail "a transaction trace has no source.stf"
[ ! -e "$(view_dir edge/txn.stf)/hart0" ] || fail "a transaction trace has a hart"

# One stream in every container.
for file in "$archive"/variants/*; do
	views=$(view_dir "variants/${file##*/}")
	cmp -s "$views/source.stf" "$(view_dir dhrystone_opt1/dhrystone_opt1.zstf)/source.stf" || fail "${file##*/}: source.stf"
	cmp -s "$views/hart0/listing.txt" "$(view_dir dhrystone_opt1/dhrystone_opt1.zstf)/hart0/listing.txt" ||
		fail "${file##*/}: listing.txt"
done

# Damaged files: name, place (stream or file, "null" is anywhere), instructions before. For the compressed ones fewer
# instructions may come out: a decompressor's last bytes before damage are not to be trusted.
awk '/"file":/ {f = $2} /"offset":/ {o = $2} /"instructions_before":/ {gsub(/[",]/, "", f); gsub(/,/, "", o); gsub(/,/, "", $2); print f, o, $2}' \
	"$archive/bad/bad.json" >"$tmp/bad"
[ "$(wc -l <"$tmp/bad")" -eq 38 ] || fail "bad.json is not understood"
while read -r file place before; do
	views=$(view_dir "bad/$file")
	[ -s "$views/errors.txt" ] || { fail "$file has no error line"; continue; }
	case $file in
	bad-bit-flip.stf.xz) place='[0-9]*' ;; # the decoder notices a little later
	esac
	[ "$place" = null ] || grep -Eq "offset $place:" "$views/errors.txt" ||
		fail "$file: no line names offset $place: $(cat "$views/errors.txt")"
	grep -q "^bad/$file: " "$views/errors.txt" || fail "$file: no line names the capture"
	got=0
	[ -e "$views/hart0/listing.txt" ] && got=$(listed_insts <"$views/hart0/listing.txt" | wc -l)
	if [ "$file" = bad-bit-flip.stf.xz ]; then
		[ "$got" -le "$before" ] && [ "$got" -gt $((before - 1000)) ]
	else
		[ "$got" -ge "$before" ]
	fi || fail "$file: $got instructions, $before lie before the defect"
	if [ "$got" -gt 0 ] && [ "$got" -le 287020 ] && grep -q '^bad-.*zstf$\|stf.[gx]z$' <<<"$file" && [ "$got" -gt 1000 ]; then
		listed_insts <"$views/hart0/listing.txt" >"$tmp/got"
		golden "$archive/dhrystone_opt1/insts.txt" | head -n "$got" >"$tmp/want"
		# Of this one the second of three chunks is damaged: the third follows.
		if [ "$file" = bad-chunk-not-zstd.zstf ]; then
			[ "$got" -eq 187020 ] || fail "$file: $got instructions of the first and the third chunk"
			golden "$archive/dhrystone_opt1/insts.txt" | sed 100001,200000d >"$tmp/want"
		fi
		same "$file: the instructions around the defect" "$tmp/got" "$tmp/want"
	fi
done <"$tmp/bad"
do_umount
finish
