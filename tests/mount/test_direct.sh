#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# With -o direct every read has the bytes that it has without; mmap is private. Without it the kernel reads further ahead
# where we may say so.
. "$(dirname "$0")/../lib/mount.sh"
short_archive
file=$mnt/mini/rv32-mini@stf/hart0/listing.txt

do_mount --wait
cp "$file" "$tmp/want"
ahead=/sys/class/bdi/$(awk -v place="$mnt" '$5 == place {print $3}' /proc/self/mountinfo)/read_ahead_kb
if [ -w "$ahead" ]; then
	[ "$(cat "$ahead")" = 512 ] || fail "the kernel reads $(cat "$ahead") KiB ahead"
fi
do_umount

do_mount --wait -o direct
cmp "$file" "$tmp/want" || fail "cp and cmp differ"
size=$(stat -c %s "$tmp/want")
dd if="$file" bs=1M status=none | cmp - "$tmp/want" || fail "reads of 1 MiB differ"
dd if="$file" bs=777 skip=3 status=none | cmp - <(dd if="$tmp/want" bs=777 skip=3 status=none) || fail "reads of 777 differ"
tail -c 100 "$file" | cmp - <(tail -c 100 "$tmp/want") || fail "the end differs"
cmp "$file" "$tmp/want" & cmp "$file" "$tmp/want" || fail "two readers differ"
wait $! || fail "two readers differ"
python3 - "$file" "$tmp/want" <<'END' || fail "a private map differs, or a shared one shows other bytes"
import errno, mmap, sys

want = open(sys.argv[2], "rb").read()
with open(sys.argv[1], "rb") as file:
    with mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as private:
        assert private[:] == want
    try:
        with mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as shared:
            assert shared[:] == want
    except OSError as error:
        assert error.errno == errno.ENODEV
END
[ "$size" -gt 1000 ] || fail "there is too little to read: $size bytes"
do_umount
finish
