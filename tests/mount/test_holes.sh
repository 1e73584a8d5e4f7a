#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A .zstf with damaged chunks through the mount: all other instructions are there, each loss is told, sizes are exact,
# and only what lies in the hole cannot be read.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/listing.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
make_trace=$(dirname "$hartfs")/tests/make_trace
[ -x "$make_trace" ] || skip "there is no make_trace in the build directory"
short_archive
# It ends without tidying up.
ASAN_OPTIONS=detect_leaks=0 "$make_trace" 20000 2000 "$archive/boot/rv-sys.stf.gz" "$archive/whole.zstf" >/dev/null || fail "make_trace"

# damage NAME CHUNK...: a copy with these chunks spoilt; prints for each where its bytes are in the stream.
damage() {
	python3 - "$archive/whole.zstf" "$archive/$1.zstf" "${@:2}" <<'PY'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
table = struct.unpack_from("<q", b, 12)[0]
count = struct.unpack_from("<Q", b, table)[0]
entry = [struct.unpack_from("<qQQ", b, table + 8 + 24 * i) for i in range(count)] + [(table, 0, 0)]
for i in map(int, sys.argv[3:]):
    i %= count
    at, end = entry[i][0], entry[i + 1][0]
    keep = 12 if end - at > 100 else 0
    b[at + keep:end] = b"\xa5" * (end - at - keep)
    start = sum(e[2] for e in entry[:i])
    print(i, start, start + entry[i][2])
open(sys.argv[2], "wb").write(b)
PY
}
damage one 4 >"$tmp/one"
damage last -1 >"$tmp/last"
damage two 2 3 >"$tmp/two"
damage first 0 >"$tmp/first"
do_mount --wait

whole=$mnt/whole@zstf
listed_pcs <"$whole/hart0/listing.txt" >"$tmp/whole"

# around NAME LOST MORE: what is listed is the whole without so many lost chunks, more than MORE instructions.
around() {
	local views=$mnt/$1@zstf before got all
	all=$(wc -l <"$tmp/whole")
	listed_pcs <"$views/hart0/listing.txt" >"$tmp/pcs"
	got=$(wc -l <"$tmp/pcs")
	before=$(sed -n 's/.*is damaged; after \([0-9]*\) instructions.*/\1/p' "$views/errors.txt" | head -n 1)
	[ -n "$before" ] || { fail "$1: $(cat "$views/errors.txt")"; return; }
	[ $((all - got)) -le $(($2 * 2000)) ] && [ $((all - got)) -gt $3 ] ||
		fail "$1: $got instructions of $all"
	cmp <(head -n "$before" "$tmp/pcs") <(head -n "$before" "$tmp/whole") || fail "$1: before the hole"
	cmp <(tail -n +$((before + 1)) "$tmp/pcs") <(tail -n $((got - before)) "$tmp/whole") || fail "$1: behind the hole"
	[ "$(grep -c 'of the container is damaged' "$views/errors.txt")" = "$2" ] || fail "$1: $(cat "$views/errors.txt")"
	[ "$(grep -c '^# .*of the container is damaged' "$views/hart0/listing.txt")" = "$2" ] || fail "$1: listing.txt"
	[ "$(grep -c '^# .*of the container is damaged' "$views/records.txt")" = "$2" ] || fail "$1: records.txt"
}
around one 1 1800
around last 1 0
around two 2 3600
grep -q 'decoding goes on here, where chunk 5 ' "$mnt/one@zstf/errors.txt" || fail "not told how it was resumed"
grep -q 'file offset [0-9]*: the compressed stream is damaged' "$mnt/one@zstf/errors.txt" || fail "no place in the file"
grep -q 'damaged' "$mnt/first@zstf/errors.txt" || fail "first: no error"
[ ! -e "$mnt/first@zstf/hart0" ] || fail "first: instructions without a header"

# Every view can be read through, has its size, and is the same read from its end.
for view in hart0/listing.txt hart0/trace.stf records.txt; do
	file=$mnt/one@zstf/$view
	[ "$(cat "$file" | wc -c)" = "$(stat -c %s "$file")" ] || fail "$view: size"
	sum=$(sha256sum <"$file")
	echo 3 2>/dev/null >/proc/sys/vm/drop_caches
	"$hartfs" umount "$mnt" && do_mount --wait
	rm -f "$tmp/back"
	for ((at = $(stat -c %s "$file") / 65536; at >= 0; at--)); do
		dd if="$file" of="$tmp/back" bs=64k skip=$at seek=$at count=1 conv=notrunc status=none || fail "$view"
	done
	[ "$(sha256sum <"$tmp/back")" = "$sum" ] || fail "$view differs when it is read backwards"
done

# source.stf has its size; pages that touch the hole fail, all others are right.
for name in one last two; do
	source=$mnt/$name@zstf/source.stf
	size=$(stat -c %s "$source")
	[ "$size" = "$(stat -c %s "$whole/source.stf")" ] || fail "$name: $size bytes of source.stf"
	python3 - "$source" "$whole/source.stf" "$tmp/$name" <<'PY' || fail "$name: source.stf"
import os, sys
holes = [tuple(map(int, l.split()[1:])) for l in open(sys.argv[3])]
bad, good = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_RDONLY)
size, fails = os.fstat(bad).st_size, 0
for at in range(0, size, 4096):
    want, end = os.pread(good, 4096, at), min(at + 4096, size)
    touches = any(s < end and e > at for s, e in holes)
    try:
        got = os.pread(bad, 4096, at)
    except OSError:
        fails += 1
        assert touches, "page at %d cannot be read" % at
        continue
    assert not touches and got == want, "page at %d is wrong" % at
assert fails
PY
done
read -r _ start _ <"$tmp/one"
"$hartfs" cat --index-dir "$index" "$archive/one.zstf" source.stf >"$tmp/cat" 2>/dev/null &&
	fail "hartfs cat read a damaged chunk"
cmp -n "$start" "$tmp/cat" "$whole/source.stf" || fail "hartfs cat differs"
[ "$(stat -c %s "$tmp/cat")" = "$start" ] || fail "hartfs cat gave $(stat -c %s "$tmp/cat") bytes of $start"
do_umount
"$hartfs" verify --index-dir "$index" "$archive/one.zstf" >"$tmp/out" 2>&1 || fail "verify: $(cat "$tmp/out")"
finish
