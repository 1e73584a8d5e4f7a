#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LLVM is loaded by the commands that disassemble and by no other, and where it cannot be loaded they say so.
. "$(dirname "$0")/../lib/mount.sh"
short_archive
"$hartfs" index -q --index-dir "$index" "$archive" || fail "the archive cannot be indexed"

# loads COMMAND...: whether it opens LLVM, by the word of the dynamic linker.
loads() {
	LD_DEBUG=files LD_DEBUG_OUTPUT="$tmp/files" "$hartfs" "$@" >"$tmp/out" 2>"$tmp/err"
	cat "$tmp"/files.* >"$tmp/opened"
	rm -f "$tmp"/files.*
	[ -s "$tmp/opened" ] || skip "the dynamic linker does not say what it opens"
	grep -qE 'libLLVM|hartfs_llvm' "$tmp/opened"
}

for command in --version -V help --help 'help mount' 'mount --help' 'nonsense' 'mount' 'umount' "umount $tmp" \
	"index --prune --dry-run --index-dir $index"; do
	# shellcheck disable=SC2086
	loads $command && fail "'hartfs $command' loads LLVM"
done
capture=$(find "$archive" -name '*.stf*' | sort | head -n 1)
loads cat --index-dir "$index" "$capture" hart0/listing.txt || fail "a listing without LLVM"
grep -q . "$tmp/out" || fail "no listing: $(cat "$tmp/err")"
opened=$(grep -oE '(libLLVM|hartfs_llvm)[-.0-9a-z]*' "$tmp/opened" | sort -u)
cp "$tmp/out" "$tmp/listing"

# A program without the module beside it takes LLVM's own library, and writes the same.
module=$(dirname "$hartfs")/hartfs_llvm.so
if [ -e "$module" ]; then
	[ "$opened" = hartfs_llvm.so ] || fail "the module is there, and this is loaded: $opened"
	mkdir -p "$tmp/alone/bin"
	cp "$hartfs" "$tmp/alone/bin/"
	hartfs=$tmp/alone/bin/hartfs
	loads cat --index-dir "$index" "$capture" hart0/listing.txt || fail "no listing without the module: $(cat "$tmp/err")"
	cmp "$tmp/listing" "$tmp/out" || fail "LLVM's own library disassembles otherwise"
	# Found from its own place, not from the name it is called by.
	mkdir "$tmp/links"
	ln -s "${module%/*}/hartfs" "$tmp/links/hartfs"
	hartfs=$tmp/links/hartfs
	loads cat --index-dir "$index" "$capture" hart0/listing.txt
	grep -q libLLVM "$tmp/opened" && fail "through a link the module is not found"
	hartfs=$tmp/alone/bin/hartfs
	loads cat --index-dir "$index" "$capture" hart0/listing.txt
fi
library=$(grep -oE 'libLLVM[-.0-9a-z]*' "$tmp/opened" | head -n 1)

# A library that is none stands before the one of the system.
mkdir "$tmp/lib"
: >"$tmp/lib/$library"
export LD_LIBRARY_PATH=$tmp/lib
"$hartfs" --version >/dev/null || fail "--version needs LLVM"
for command in "cat --index-dir $index $capture hart0/listing.txt" "index --index-dir $index $archive" \
	"mount --index-dir $index $archive $mnt"; do
	# shellcheck disable=SC2086
	"$hartfs" $command >"$tmp/out" 2>"$tmp/err"
	[ $? = 1 ] || fail "'hartfs $command' ends well without LLVM"
	grep -q "LLVM, which disassembles, cannot be loaded: .*$library" "$tmp/err" || fail "$command: $(cat "$tmp/err")"
done
is_mounted "$mnt" && fail "mounted without LLVM"
finish
