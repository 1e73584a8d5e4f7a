#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# soak.sh [-n COUNT] [-c MIB] [-k packets|damaged|stf|programs] [-p INSTRUCTIONS] [HARTFS]: what a mount of many captures
# takes in memory and descriptors. Makes COUNT captures of that kind and length from tests/data, mounts them with a cache
# of MIB, has all of them indexed, listed and read, and prints the high-water mark of the server's memory beside its
# limit, the cache and 128 MiB. Ends with 1 if that is exceeded, or if a file reads otherwise the second time.
set -u
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
count=2000 cache=64 kind=packets part=16384
while getopts n:c:k:p: option; do
	case $option in
	n) count=$OPTARG ;;
	c) cache=$OPTARG ;;
	k) kind=$OPTARG ;;
	p) part=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
hartfs=${1:-${HARTFS_BIN:-$root/build/release/hartfs}}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-soak.XXXXXX") || exit 1
archive=$tmp/archive mnt=$tmp/mnt index=$tmp/index
mkdir "$archive" "$mnt" "$index" "$tmp/seed" "$tmp/seed-index"
supervisor= server=
finish() {
	"$hartfs" umount -l "$mnt" 2>/dev/null
	rm -rf --one-file-system "$tmp"
}
trap finish EXIT
trap 'exit 1' INT TERM

begin() {
	"$hartfs" mount --index-dir "$2" --log "$tmp/log" "${@:4}" "$1" "$mnt" || [ $? = 3 ] || exit 1
	supervisor=$(pgrep -f -n "^$hartfs mount --index-dir $2 ")
	server=$(pgrep -P "$supervisor" || echo "$supervisor")
}

# Short packet captures with different programs, and a short STF.
make_seeds() {
	local i from view
	begin "$root/tests/data/archive" "$tmp/seed-index" x --wait
	for i in 0 1 2 3 4 5 6 7; do
		from=$((i * 25000))
		for view in etrace ntrace; do
			mkdir "$tmp/seed/$view$i"
			until cat "$mnt/mini/rv32-mini@stf/hart0/at/$from-$((from + part - 1))/$view/trace.bin" >"$tmp/seed/$view$i/trace.bin"; do
				sleep 0.1
			done
			cat "$mnt/mini/rv32-mini@stf/hart0/at/$from-$((from + part - 1))/$view/capture.ini" >"$tmp/seed/$view$i/capture.ini"
			cat "$mnt/mini/rv32-mini@stf/hart0/program.elf" >"$tmp/seed/$view$i/program.elf"
		done
		cat "$mnt/mini/rv32-mini@stf/hart0/at/$from-$((from + part - 1))/trace.stf" >"$tmp/seed/stf$i.stf"
	done
	"$hartfs" umount "$mnt" || exit 1
}

# Overwrites some bytes of a file, the same ones for the same number.
damage() {
	local size at k
	size=$(stat -c %s "$1")
	RANDOM=$(($2 % 32768))
	for k in 1 2 3; do
		at=$((64 + (RANDOM * 32768 + RANDOM) % (size - 64)))
		printf "\\x$(printf %x $((RANDOM % 256)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
	done
}

make_one() {
	local i=$1 dir seed
	dir=$archive/$((i / 100))
	mkdir -p "$dir"
	case $kind in
	packets | programs)
		seed=etrace$((i % 8))
		[ $((i % 2)) = 0 ] || seed=ntrace$((i % 8))
		mkdir "$dir/c$i"
		cp "$tmp/seed/$seed/"* "$dir/c$i/"
		echo "# capture $i" >>"$dir/c$i/capture.ini"
		if [ $kind = programs ]; then
			truncate -s $((1 + i % 3))M "$dir/c$i/ram"
			sed -i '/^elf = /a raw = ram, address = 0x10000000' "$dir/c$i/capture.ini"
		fi
		;;
	damaged)
		cp "$tmp/seed/stf$((i % 8)).stf" "$dir/c$i.stf"
		damage "$dir/c$i.stf" "$i"
		;;
	stf)
		cp "$tmp/seed/stf$((i % 8)).stf" "$dir/c$i.stf"
		touch -d "@$((1000000000 + i))" "$dir/c$i.stf"
		;;
	esac
}

memory() {
	printf '%-34s' "$1:"
	awk '/^(VmHWM|VmRSS|RssAnon|RssFile)/ {printf "%s %.1f MiB  ", $1, $2 / 1024}' "/proc/$server/status"
	echo "$(find "/proc/$server/fd" -mindepth 1 2>/dev/null | wc -l) descriptors"
}

sums() {
	(cd "$mnt" && find . -name .hartfs -prune -o \( -name errors.txt -o -name program.elf -o -name listing.txt \) \
		-type f -print0 | sort -z | xargs -0 -r -n 64 head -q -c 300000 | sha256sum)
}

make_seeds
for ((i = 0; i < count; i++)); do make_one "$i"; done
begin "$archive" "$index" x --cache "${cache}M" --wait >/dev/null 2>&1
memory "indexed"
ls -lR "$mnt" >/dev/null
memory "listed"
(cd "$mnt" && find . -name info.json -exec cat {} + >/dev/null)
memory "info.json read"
first=$(sums)
memory "listings read"
second=$(sums)
memory "read again"
[ "$first" = "$second" ] || { echo "FAIL: the files read otherwise the second time"; exit 1; }
high=$(awk '/^VmHWM/ {print int($2 / 1024)}' "/proc/$server/status")
echo "$count captures ($kind), cache $cache MiB: $high MiB at most, the limit is $((cache + 128)) MiB"
"$hartfs" umount "$mnt" || exit 1
[ "$high" -le $((cache + 128)) ]
