#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --debug-dir, and symbols = in a description: more places with programs, libraries and debug files. What lies there
# gives names and lines as if it lay beside the capture; what fewer may read than the directory is left out and told, and
# who may not read the directory may not read the views.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
here=$(dirname "$0")
for tool in cc qemu-riscv64 riscv64-linux-gnu-gcc riscv64-linux-gnu-objcopy riscv64-linux-gnu-readelf; do
	command -v "$tool" >/dev/null || skip "$tool is needed"
done

cat >"$tmp/sort.c" <<'END_C'
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	int v[100];
	for (int i = 0; i < 100; i++)
		v[i] = i * 7919 % 1009;
	qsort(v, 100, sizeof *v, compare);
	return printf("%d\n", v[5]) < 0;
}
END_C
cc -std=gnu17 -O2 -shared -fPIC "$here/../../contrib/capture/hartfs_capture.c" -o "$tmp/plugin.so" ||
	{ fail "the plugin cannot be built"; finish; }
riscv64-linux-gnu-gcc -g -O1 -Wl,--build-id=sha1 "$tmp/sort.c" -o "$tmp/sort" ||
	{ fail "the program cannot be built"; finish; }
qemu-riscv64 -L /usr/riscv64-linux-gnu -plugin "$tmp/plugin.so,out=$tmp/out" "$tmp/sort" >/dev/null ||
	fail "qemu ended with $?"
mv "$tmp"/out.t0.* "$archive/sort.stf"
debug=$tmp/debug
mkdir "$debug" "$archive/sort.d"
chmod 0755 "$tmp" "$archive" "$debug"
info=$mnt/sort@stf/info.json errors=$mnt/sort@stf/errors.txt listing=$mnt/sort@stf/hart0/listing.txt

shows() { cat "$listing" >"$tmp/now" && grep -q "$1" "$tmp/now"; }
lacks() { cat "$listing" >"$tmp/now" && ! grep -q "$1" "$tmp/now"; }
is_like() { cmp -s "$1" "$listing"; }
mode_is() { [ "$(stat -c %a "$listing")" = "$1" ]; }

# Beside the capture: what all other ways are to come to.
cp "$tmp/sort" /usr/riscv64-linux-gnu/lib/libc.so.6 "$archive/sort.d/"
"$hartfs" cat --index-dir "$index" "$archive/sort.stf" hart0/listing.txt >"$tmp/whole" || fail "cat ended with $?"
grep -q '<compare+0x[0-9a-f]* sort.c:3>' "$tmp/whole" && grep -q '<qsort>' "$tmp/whole" ||
	fail "beside the capture there are no names: $(sed -n 20,30p "$tmp/whole")"

# A program and a library that lie nowhere else.
mv "$archive/sort.d/libc.so.6" "$debug/"
cp "$tmp/sort" "$debug/"
rm "$archive/sort.d/sort"
do_mount --wait --debug-dir "$debug"
is_like "$tmp/whole" || fail "with the files in the debug directory the listing is another one"
grep -q "\"file\": \"$debug/sort\"" "$info" || fail "info.json does not know the program: $(cat "$info")"
[ -s "$errors" ] && fail "$(cat "$errors")"
for command in cat verify info; do
	what=()
	[ "$command" = cat ] && what=(hart0/listing.txt)
	timeout "$patience" "$hartfs" "$command" --index-dir "$index" --debug-dir "$debug" "$archive/sort.stf" "${what[@]}" \
		>"$tmp/$command" || fail "$command ended with $?"
done
cmp "$tmp/cat" "$tmp/whole" || fail "cat and the mount differ"
grep -q "$debug/sort" "$tmp/info" || fail "info does not know the program"
mv "$debug/sort" "$tmp/moved"
wait_until lacks '<compare' || fail "the names stay without the program"
mv "$tmp/moved" "$debug/sort"
wait_until is_like "$tmp/whole" || fail "the program is back, and its names are not"

# The usual layout: by build id.
cp "$tmp/sort" "$archive/sort.d/sort"
riscv64-linux-gnu-strip "$archive/sort.d/sort"
rm "$debug/sort"
wait_until lacks 'sort.c:' || fail "the lines stay without a file that has them"
id=$(riscv64-linux-gnu-readelf -n "$tmp/sort" | sed -n 's/.*Build ID: //p')
ids=$debug/.build-id/${id:0:2}
mkdir -p "$ids"
riscv64-linux-gnu-objcopy --only-keep-debug "$tmp/sort" "$ids/${id:2}.debug"
wait_until is_like "$tmp/whole" || fail "nobody looks in .build-id"
grep -A1 '"debug_files"' "$info" | grep -q "$ids/${id:2}.debug" || fail "info.json does not know the debug file"
# Its name is of this build, its contents are not.
riscv64-linux-gnu-gcc -g -O1 -Wl,--build-id=0x1234567890 "$tmp/sort.c" -o "$tmp/other"
cp "$tmp/other" "$ids/new"
mv "$ids/new" "$ids/${id:2}.debug"
wait_until lacks 'sort.c:' || fail "a debug file of another build is taken"
rm -r "$debug/.build-id"

# By the name that the program says, among more files than are looked for.
riscv64-linux-gnu-objcopy --only-keep-debug --remove-section=.note.gnu.build-id "$tmp/sort" "$tmp/sort.debug"
riscv64-linux-gnu-objcopy --remove-section=.note.gnu.build-id --add-gnu-debuglink="$tmp/sort.debug" \
	"$archive/sort.d/sort" "$tmp/linked"
for i in {100..170}; do cp "$tmp/other" "$debug/a$i"; done
mv "$debug/libc.so.6" "$archive/sort.d/"
cp "$tmp/sort.debug" "$debug/sort.debug"
mv "$tmp/linked" "$archive/sort.d/sort"
wait_until is_like "$tmp/whole" || fail "a debug file that the program names is not taken"
grep -q 'sort.stf: warning: of the files beside it 10 are not looked at' "$errors" ||
	fail "nobody says that there are too many files: $(grep -v gives "$errors")"
rm "$debug"/a1?? "$debug/sort.debug"

# Who may read what.
wait_until mode_is 444 || fail "the listing has the mode $(stat -c %a "$listing")"
cp "$tmp/sort.debug" "$tmp/private"
chmod 0600 "$tmp/private"
mv "$tmp/private" "$debug/sort.debug"
withheld() { grep -q "$debug: warning: 1 files give no symbols: fewer may read them than the directory" "$errors"; }
wait_until withheld || fail "nobody says that a file is private: $(cat "$errors")"
lacks 'sort.c:' || fail "a private file is shown to everybody"
mode_is 444 || fail "with a private file that is not used the listing has the mode $(stat -c %a "$listing")"
chmod 0700 "$debug"
wait_until mode_is 400 || fail "with a private debug directory the listing has the mode $(stat -c %a "$listing")"
wait_until shows 'sort.c:' || fail "who may read the directory may read the file, and it is not used"
chmod 0755 "$debug"
wait_until mode_is 444 || fail "the listing has the mode $(stat -c %a "$listing") again"
do_umount
chmod 0700 "$tmp"
do_mount --wait --debug-dir "$debug"
mode_is 400 || fail "with a private directory above the debug directory the listing has the mode $(stat -c %a "$listing")"

# Packets with a program that has no names: the description says where there are some.
mkdir "$archive/packets"
cp "$mnt/sort@stf/hart0/ntrace/"* "$archive/packets/"
do_umount
chmod -R u+w "$archive/packets"
riscv64-linux-gnu-strip "$archive/packets/program.elf"
cp "$tmp/sort" "$archive/packets/"
packets() {
	"$hartfs" cat --index-dir "$index" "$@" "$archive/packets" hart0/listing.txt >"$tmp/packets" ||
		fail "cat of packets ended with $?"
}
packets
grep -q '<compare' "$tmp/packets" && fail "the packets have names of themselves"
cp "$tmp/sort" "$debug/"
packets --debug-dir "$debug"
grep -q '<compare+0x[0-9a-f]* sort.c:3>' "$tmp/packets" || fail "--debug-dir gives packets no names"
sed -i 's/^elf = .*/&\nsymbols = sort\nsymbols = missing/' "$archive/packets/capture.ini"
packets
grep -q '<compare+0x[0-9a-f]* sort.c:3>' "$tmp/packets" || fail "symbols = gives no names"
"$hartfs" cat --index-dir "$index" "$archive/packets" errors.txt >"$tmp/out"
grep -q 'packets/missing: warning: it gives no symbols' "$tmp/out" ||
	fail "nobody says that a file of symbols is missing: $(cat "$tmp/out")"
sed -i 's/^symbols = missing/[program 3]\nsymbols = sort/' "$archive/packets/capture.ini"
"$hartfs" cat --index-dir "$index" "$archive/packets" errors.txt 2>&1 | grep -q "'symbols' belongs to \[program\]" ||
	fail "symbols of one hart are no error"

"$hartfs" cat --debug-dir "$tmp/none" --index-dir "$index" "$archive/sort.stf" 2>"$tmp/out" &&
	fail "a debug directory that is not there is no error"
grep -q "$tmp/none: the directory of debug files cannot be used: No such file" "$tmp/out" || fail "$(cat "$tmp/out")"
finish
