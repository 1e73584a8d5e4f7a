#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartfs cat of a capture that was never indexed prints what is made while the index goes on behind: the same bytes as ever,
# and however slowly they are read.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/hostile.sh"
short_archive
h() { timeout "$patience" "$hartfs" "$1" --index-dir "$index" "${@:2}"; }
# A decode index that is whole, or a pack with it: private forms have other names.
published() { [ -n "$(find "$index" -name '*.hf[ip]' 2>/dev/null)" ]; }
fresh() { rm -rf "${index:?}"/*; }

# The first lines come long before the last ones are known.
loop long
# shellcheck disable=SC2216
h cat --expansion=0 "$archive/long" hart0/listing.txt 2>"$tmp/err" | head -n 3 >"$tmp/out"
[ "$(wc -l <"$tmp/out")" = 3 ] || fail "no lines: $(cat "$tmp/err")"
published && fail "the lines came when the index was there"
rm -rf "$archive/long"

# Of one hart and several, of a capture that is cut, and of a copy of packets.
head -c 40000 "$archive/boot/rv-sys.stf.gz" >"$archive/cut.stf.gz"
mkdir "$archive/packets"
h cat "$archive/mini/rv32-mini.stf" hart0/listing.txt >/dev/null || fail "cat"
for file in trace.bin capture.ini; do
	h cat "$archive/mini/rv32-mini.stf" hart0/ntrace/$file >"$archive/packets/$file" || fail "cat of $file"
done
h cat "$archive/mini/rv32-mini.stf" hart0/ntrace/program.elf >"$archive/packets/program.elf" || fail "cat of program.elf"
for capture in mini/rv32-mini.stf cut.stf.gz packets; do
	for view in hart0/listing.txt hart0/trace.stf records.txt hart0/etrace/trace.bin hart0/none; do
		fresh
		h cat "$archive/$capture" $view >"$tmp/first" 2>"$tmp/err1"
		echo $? >>"$tmp/err1"
		published || fail "$capture/$view: the index was not made"
		h cat "$archive/$capture" $view >"$tmp/second" 2>"$tmp/err2"
		echo $? >>"$tmp/err2"
		cmp "$tmp/first" "$tmp/second" || fail "$capture/$view: other bytes at first"
		cmp "$tmp/err1" "$tmp/err2" || fail "$capture/$view: $(cat "$tmp/err1")"
	done
done
h index "$archive/mini/rv32-mini.stf" >/dev/null
h cat "$archive/mini/rv32-mini.stf" hart0/listing.txt >"$tmp/listing0"
h cat "$archive/mini/rv32-mini.stf" hart0/listing.txt >"$tmp/listing"
size=$(stat -c %s "$tmp/listing")
for range in "0 0" "0 1" "1 100000" "70000 70000" "$((size - 10)) 100" "$((size + 10)) 5"; do
	read -r offset length <<<"$range"
	fresh
	h cat --offset="$offset" --length="$length" "$archive/mini/rv32-mini@stf/hart0/listing.txt" >"$tmp/out" || fail "$range"
	tail -c +$((offset + 1)) "$tmp/listing" | head -c "$length" | cmp - "$tmp/out" || fail "$range: other bytes"
done

# Beside another process that indexes the capture it waits for that.
h index -q --pack-below=0 "$archive/mini/rv32-mini.stf" || fail "index ended with $?"
part=$index/.$(basename "$index"/*.hfi).part
fresh
python3 - "$part" <<'END' &
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX, 1)
os.write(fd, b"busy")
time.sleep(600)
END
worker=$!
held() { [ -s "$part" ]; }
wait_until held || fail "nobody holds the file"
h cat -v --pack-below=0 "$archive/mini/rv32-mini.stf" hart0/listing.txt >"$tmp/out" 2>"$tmp/err" &
waits() { grep -q 'another process indexes it; this one waits' "$tmp/err"; }
wait_until waits || fail "cat does not wait: $(cat "$tmp/err")"
: >"$part"
kill -9 $worker
wait $! || fail "cat ended with $?: $(cat "$tmp/err")"
cmp "$tmp/out" "$tmp/listing0" || fail "other bytes than beside nobody"

# Who does not read does not stop the index.
fresh
h cat "$archive/boot/rv-sys.stf.gz" hart0/listing.txt | {
	wait_until published || fail "the index waits for the reader"
	cat >"$tmp/slow"
	exit $failures
} || failures=1
h cat "$archive/boot/rv-sys.stf.gz" hart0/listing.txt | cmp - "$tmp/slow" || fail "a slow reader gets other bytes"
# Nobody can be written to.
fresh
if [ -e /dev/full ]; then
	h cat "$archive/boot/rv-sys.stf.gz" hart0/listing.txt >/dev/full 2>"$tmp/err" && fail "a full disk is success"
	grep -q 'standard output: No space left' "$tmp/err" || fail "a full disk: $(cat "$tmp/err")"
fi
finish
