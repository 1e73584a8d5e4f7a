#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A perf.data with RISC-V trace: its recordings by themselves, CPU by CPU; and decoded, if a capture.ini says how they were
# made, each as the view's own capture. A capture.ini with another perf.data, or with none, is refused with a reason.
. "$(dirname "$0")/../lib/mount.sh"
perf_wrap=$(dirname "$hartfs")/tests/perf_wrap
[ -x "$perf_wrap" ] || skip "there is no perf_wrap in the build directory"
cp "${HARTFS_DATA:?}/archive/mini/rv32-mini.stf" "$tmp/mini.stf"
cat_of() {
	"$hartfs" cat --index-dir "$index" "$@"
}
cat_of "$tmp/mini.stf" hart0/listing.txt | grep '^[0-9]' | cut -d ' ' -f 3,4 >"$tmp/wanted"
[ "$(wc -l <"$tmp/wanted")" = 200000 ] || fail "the listing is short"
for format in etrace ntrace; do
	cat_of "$tmp/mini.stf" "hart0/$format/trace.bin" >"$tmp/$format.bin"
	mkdir "$archive/$format"
	cat_of "$tmp/mini.stf" hart0/program.elf >"$archive/$format/program.elf"
	cat_of "$tmp/mini.stf" "hart0/$format/capture.ini" | sed 's/trace.bin/perf.data/' >"$archive/$format/capture.ini"
	# The recordings of CPU 3 lie apart, and the later one comes first.
	"$perf_wrap" "$archive/$format/perf.data" <<-END || fail "perf_wrap"
		riscv
		text 11 perf record -e rvtrace// -- mini
		comm 10 10 0 mini
		trace 3 10 10 50 0 $tmp/$format.bin
		trace 1 10 10 10 0 $tmp/$format.bin
		trace 3 10 11 20 1 $tmp/$format.bin
	END
	for hart in 1 3 3; do
		cat_of "$archive/$format" "hart$hart/listing.txt" | grep '^[0-9]' | cut -d ' ' -f 3,4 >"$tmp/got"
		if [ "$hart" = 1 ]; then cmp -s "$tmp/wanted" "$tmp/got"; else cat "$tmp/wanted" "$tmp/wanted" | cmp -s - "$tmp/got"; fi ||
			fail "$format: hart$hart has $(wc -l <"$tmp/got") instructions: $(cat_of "$archive/$format" errors.txt)"
	done
	cat_of "$archive/$format" hart3/listing.txt | grep -q '^# discontinuity' || fail "$format: nothing between two recordings"
	cat_of "$archive/$format" errors.txt >"$tmp/out"
	grep -q 'in 1 recordings trace was lost' "$tmp/out" || fail "$format: $(cat "$tmp/out")"
	"$hartfs" info --index-dir "$index" "$archive/$format" >"$tmp/out"
	for words in 'command  *perf record -e rvtrace// -- mini' 'CPUs  *trace of 2' 'processes  *mini 10' ', 3 traces'; do
		grep -q "$words" "$tmp/out" || fail "$format: info without $words: $(cat "$tmp/out")"
	done
done

# without a capture.ini
cp "$archive/etrace/perf.data" "$archive/raw.data"
size=$(stat -c %s "$tmp/etrace.bin")
cat_of "$archive/raw.data" source.bin | cmp - <(cat "$tmp/etrace.bin" "$tmp/etrace.bin" "$tmp/etrace.bin") || fail "raw bytes"
cat_of "$archive/raw.data" records.txt | diff - <(
	cat <<-END
		0 bytes=$size flags=0x0 cpu=1 tid=10 time=10
		$size bytes=$size flags=0x1 cpu=3 tid=11 time=20
		$((2 * size)) bytes=$size flags=0x0 cpu=3 tid=10 time=50
	END
) || fail "records of raw bytes"
cat_of "$archive/raw.data" errors.txt >"$tmp/out"
grep -q "raw.data: warning: RISC-V trace (AUXTRACE_INFO type 8) is only split, .* a capture.ini with 'trace = raw.data'" "$tmp/out" ||
	fail "nothing says that it is not decoded: $(cat "$tmp/out")"

# reasons
refused() {
	cat_of "$archive/etrace" errors.txt >"$tmp/out" 2>&1
	grep -q "$1" "$tmp/out" || fail "not refused: $(cat "$tmp/out")"
}
echo "info 1 1" | "$perf_wrap" "$archive/etrace/perf.data"
refused "etrace/capture.ini:4: 'perf.data' is a perf.data of CoreSight, which is a capture by itself: move it out of here"
seeds=$(cd "$(dirname "$0")/../fuzz/corpus/perf" && pwd)
cp "$seeds/samples" "$archive/etrace/perf.data"
refused "'perf.data' is a perf.data without trace"
cp "$seeds/intel" "$archive/etrace/perf.data"
refused 'perf.data: this perf.data holds no CoreSight trace but Intel PT'
finish
