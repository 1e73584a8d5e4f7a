#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Slices of real executions: the listing of each is a part of the whole's bytes, its trace.stf mounted again has exactly
# those instructions, memory accesses, traps and modes.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
[ -d "${HARTFS_CORPUS:-}/qemu" ] || skip "HARTFS_CORPUS names no corpus"
mkdir "$archive/qemu" "$archive/stf"
cp -r "$HARTFS_CORPUS"/qemu/rv* "$archive/qemu" && cp -r "$HARTFS_CORPUS"/stf/{dhrystone,harts,bmi*} "$archive/stf" || exit 1
do_mount --wait
mkdir "$tmp/again" "$tmp/mnt2"
count=0

modes() { awk '!/^#/ {print $2}'; }

# slices HART: some from the start, over chunks, of one instruction, around each of a few traps, to the end.
slices() {
	local hart=$1 n at range first last
	n=$(grep -vc '^#' "$hart/listing.txt")
	{
		echo "0-$((n < 20000 ? n / 2 : 20000))" "$((n / 2))-$((n / 2))" "$((n / 3))-$((n / 3 + n / 10))" "$((n > 700 ? n - 700 : 1))-$((n - 1))"
		awk '!/^#/ {n = $1} /^# trap/ && t++ % 90 == 0 {printf "%d-%d %d-%d ", n, n + 40, n + 1, n + 300}' "$hart/listing.txt"
	} | tr ' ' '\n' | while IFS=- read -r first last; do
		if [ "$first" ] && [ "$last" ] && [ "$first" -le "$last" ] && [ "$last" -lt "$n" ]; then echo "$first-$last"; fi
	done | sort -u >"$tmp/ranges"
	while read -r range; do
		first=${range%-*} last=${range#*-}
		awk -v f="$first" -v l="$last" '!/^#/ {on = $1 >= f && $1 <= l; if ($1 > l) exit}
			on || ($1 == "#" && f == 0 && !any) {print} !/^#/ {any = 1}' "$hart/listing.txt" >"$tmp/want"
		same "$hart/at/$range/listing.txt" "$hart/at/$range/listing.txt" "$tmp/want"
		count=$((count + 1))
		cp "$hart/at/$range/trace.stf" "$tmp/again/$count.stf" || fail "cp $hart/at/$range/trace.stf"
		mv "$tmp/want" "$tmp/want.$count"
		echo "$hart $range" >"$tmp/name.$count"
	done <"$tmp/ranges"
}

for hart in "$mnt"/qemu/{rv-sys/trace,rv32-mini/trace,rv-signals-ss/trace,rv-threads-ss/t1}@stf*/hart0 \
	"$mnt"/stf/harts/harts@zstf/hart{0,1,2} "$mnt"/stf/dhrystone/dhrystone@zstf/hart0 "$mnt"/stf/bmi_pmp.bare/*@*/hart0; do
	slices "$hart"
done
[ "$count" -gt 40 ] || fail "only $count slices"

timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$tmp/again" "$tmp/mnt2" || fail "second mount"
for ((i = 1; i <= count; i++)); do
	views=$tmp/mnt2/$i@stf
	[ ! -s "$views/errors.txt" ] || fail "$(cat "$tmp/name.$i") has errors: $(head -n 2 "$views/errors.txt")"
	for take in listed_insts listed_mem listed_traps modes; do
		# Numbers of records count from the start of the slice.
		$take <"$tmp/want.$i" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/want"
		$take <"$views/hart0/listing.txt" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/got"
		cmp -s "$tmp/got" "$tmp/want" || fail "$(cat "$tmp/name.$i"), $take: $(diff "$tmp/got" "$tmp/want" | head -n 4)"
	done
done
"$hartfs" umount "$tmp/mnt2" || fail "umount of the second mount"
do_umount
finish
