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

# slices HART: some from the start, over chunks, of one instruction, around each of a few traps, to the end.
slices() {
	local hart=$1 n range first last
	n=$("$listed" pc <"$hart/listing.txt" | wc -l)
	{
		echo "0-$((n < 20000 ? n / 2 : 20000))" "$((n / 2))-$((n / 2))" "$((n / 3))-$((n / 3 + n / 10))" "$((n > 700 ? n - 700 : 1))-$((n - 1))"
		"$listed" notes <"$hart/listing.txt" | awk '$3 == "trap" && t++ % 90 == 0 {n = $1 - 1; printf "%d-%d %d-%d ", n, n + 40, n + 1, n + 300}'
	} | tr ' ' '\n' | while IFS=- read -r first last; do
		if [ "$first" ] && [ "$last" ] && [ "$first" -le "$last" ] && [ "$last" -lt "$n" ]; then echo "$first-$last"; fi
	done | sort -nu -t- -k1,1 -k2,2 >"$tmp/ranges"
	# The part of each, in one pass: the instructions from first to last, and the notes behind each of them.
	awk -v want="$tmp/want." -v count="$count" '
		NR == FNR {split($0, range, "-"); first[++ranges] = range[1]; last[ranges] = range[2]; next}
		!/^#/ {
			for (i in active) if ($1 > last[i]) {close(want (count + i)); delete active[i]}
			while (next_one < ranges && first[next_one + 1] <= $1) active[++next_one]
			any = 1
		}
		!any {for (i = 1; i <= ranges && first[i] == 0; i++) print >(want (count + i))}
		any {for (i in active) print >(want (count + i))}
	' "$tmp/ranges" "$hart/listing.txt"
	while read -r range; do
		count=$((count + 1))
		same "$hart/at/$range/listing.txt" "$hart/at/$range/listing.txt" "$tmp/want.$count"
		cp "$hart/at/$range/trace.stf" "$tmp/again/$count.stf" || fail "cp $hart/at/$range/trace.stf"
		echo "$hart $range" >"$tmp/name.$count"
	done <"$tmp/ranges"
}

for hart in "$mnt"/qemu/{rv-sys/trace,rv32-mini/trace,rv-signals-ss/trace,rv-threads-ss/t1}@stf*/hart0 \
	"$mnt"/stf/harts/harts@zstf/hart{0,1,2} "$mnt"/stf/dhrystone/dhrystone@zstf/hart0 "$mnt"/stf/bmi_pmp.bare/*@*/hart0; do
	slices "$hart"
done
[ "$count" -gt 40 ] || fail "only $count slices"

timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$tmp/again" "$tmp/mnt2" || fail "second mount"
# differs WANT GOT: in instructions, accesses, traps or modes. Numbers of records count from the start of the slice.
differs() {
	local take
	for take in listed_insts listed_mem listed_traps listed_modes; do
		$take <"$1" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/want"
		$take <"$2" | awk -v t=$take 't == "listed_traps" {$2 = ""} {print}' >"$tmp/got"
		cmp -s "$tmp/got" "$tmp/want" || { echo "$take: $(diff "$tmp/got" "$tmp/want" | head -n 4)"; return 0; }
	done
	return 1
}

# One behind the other, and if that is not the same, each by itself.
for ((i = 1; i <= count; i++)); do
	views=$tmp/mnt2/$i@stf
	# in stf/harts there are jumps that contradict their opcodes
	! grep -qv 'does not lead' "$views/errors.txt" || fail "$(cat "$tmp/name.$i") has errors: $(head -n 2 "$views/errors.txt")"
	cat "$tmp/want.$i" >&3
	cat "$views/hart0/listing.txt" >&4
done 3>"$tmp/wants" 4>"$tmp/gots"
if difference=$(differs "$tmp/wants" "$tmp/gots"); then
	fail "slices: $difference"
	for ((i = 1; i <= count; i++)); do
		difference=$(differs "$tmp/want.$i" "$tmp/mnt2/$i@stf/hart0/listing.txt") && fail "$(cat "$tmp/name.$i"), $difference"
	done
fi
"$hartfs" umount "$tmp/mnt2" || fail "umount of the second mount"
do_umount
finish
