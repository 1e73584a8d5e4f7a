#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bytes of a view ete/, wrapped into perf.data of every form: cut into recordings, some of them in one AUXTRACE record,
# and with a program that nothing but its name tells of. The instructions are those of the view's own capture.
. "$(dirname "$0")/../lib/mount.sh"
perf_wrap=$(dirname "$hartfs")/tests/perf_wrap
[ -x "$perf_wrap" ] || skip "there is no perf_wrap in the build directory"
cp "${HARTFS_DATA:?}/astf/a64-sys.astf" "$tmp/a64.astf" || skip "there is no a64-sys.astf"
view() {
	"$hartfs" cat --index-dir "$index" "$tmp/a64.astf" "hart0/$1"
}
view ete/trace.bin >"$tmp/trace.bin"
view program.elf >"$tmp/program.elf"
view ete/ETE_0.ini >"$tmp/ini"
view listing.txt | grep -v '^#' | cut -d ' ' -f 3,4 >"$tmp/wanted"
[ "$(wc -l <"$tmp/wanted")" -gt 800000 ] || fail "the listing is short"
# registers of perf's order
number=0
for name in TRCCONFIGR - TRCIDR0 TRCIDR1 TRCIDR2 TRCIDR8 - TRCDEVARCH; do
	value=$(sed -n "s/^$name=//p" "$tmp/ini")
	[ -z "$value" ] || echo "register $number $value"
	number=$((number + 1))
done >"$tmp/registers"
for form in file pipe killed zstd threads 'pipe zstd' 'events zstd' 'events pipe' 'events threads nocpu'; do
	name=${form// /_}
	mkdir "$archive/$name.data.d"
	cp "$tmp/program.elf" "$archive/$name.data.d/"
	{
		echo "form $form"
		cat "$tmp/registers"
		echo "text 5 6.12"
		echo "info 1 1"
		for pid in 0 1 2; do
			cat <<-END
				comm $pid $pid 0 system$pid
				map $pid 0 0x40080000 0x1980 0x1000 5 /boot/program.elf
				map $pid 0 0x80010000 0x414 0x3000 5 /boot/program.elf
				map $pid 0 0x80040000 0x414 0x4000 5 /boot/program.elf
			END
		done
		echo "split 0 0 0 100 0x100 $tmp/trace.bin 7"
	} | "$perf_wrap" "$archive/$name.data" || fail "perf_wrap"
	"$hartfs" cat --index-dir "$index" "$archive/$name.data" hart0/listing.txt >"$tmp/listing" 2>"$tmp/err"
	grep -v '^#' "$tmp/listing" | cut -d ' ' -f 3,4 | cmp - "$tmp/wanted" ||
		fail "$form: $(cat "$tmp/err") $("$hartfs" cat --index-dir "$index" "$archive/$name.data" errors.txt | head -n 5)"
	[ "$(grep '^# context' "$tmp/listing" | sort -u)" = '# context pid=0 tid=0 comm="system0" mode=EL1
# context pid=1 tid=1 comm="system1" mode=EL0
# context pid=2 tid=2 comm="system2" mode=EL0' ] || fail "$form: $(grep '^# context' "$tmp/listing" | sort -u)"
	"$hartfs" info --index-dir "$index" "$archive/$name.data" >"$tmp/out"
	grep -q "description  *$name.data, 52 traces" "$tmp/out" || fail "$form: $(cat "$tmp/out")"
done
# a program that is another one is not taken for it, whatever its name
printf '\x1f\x20\x03\xd5%.0s' {1..2000} >"$tmp/nops"
dd if="$tmp/nops" of="$archive/file.data.d/program.elf" bs=1 seek=4096 count=6528 conv=notrunc status=none
"$hartfs" cat --index-dir "$index" "$archive/file.data" errors.txt 2>/dev/null >"$tmp/out"
grep -q "code of '/boot/program.elf' is not known: no build id was recorded, 'file.data.d/program.elf' has its name, and" "$tmp/out" ||
	fail "another program: $(head -n 3 "$tmp/out")"
finish
