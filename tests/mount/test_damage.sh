#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damaged index files and things in their place, between mounts and while mounted: every view comes back, the good files
# stay, and verify, index and --prune say what was wrong and mend it.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
mkdir "$archive/a"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
# Of 12,000 instructions, so that the files have several pages and are made again in no time.
"$hartfs" cat --index-dir "$index" "$HARTFS_DATA/archive/mini/rv32-mini.stf" hart0/at/0-11999/trace.stf >"$archive/a/x.stf" ||
	fail "no capture to test with"
rm -r "$index" && mkdir "$index"
gzip -c "$archive/a/x.stf" >"$archive/a/y.stf.gz"
truth=$tmp/truth
h() { timeout "$patience" "$hartfs" "$@" --index-dir "$index"; }
views=(errors.txt records.txt source.stf hart0/listing.txt hart0/program.elf)

# One byte becomes another.
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %02x $((byte ^ 0x5a)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# same CAPTURE: every view of it is what it was, at once or after a few tries.
same() {
	# It names the size of the index, which a repair may change.
	wait_until test -s "$mnt/$1/info.json" || fail "$1/info.json does not come back"
	wait_until is_same "$1" || fail "$1 does not come back${2:+ ($2)}"
	sizes "$1" "$2"
}
is_same() { all_of "$mnt/$1" 2>/dev/null | cmp -s - "$truth/$1"; }
all_of() { cat "${views[@]/#/$1/}"; }

# The texts are as long as their sizes say, whatever state the capture is in.
sizes() {
	local name text sizes
	sizes=$(stat -c '%s %n' "$mnt/$1/"{info.json,errors.txt} 2>/dev/null)
	[ -z "$sizes" ] || while read -r size name; do
		IFS= read -rd '' text <"$name"
		[ "${#text}" = "$size" ] || fail "$name is not as long as its size${2:+ ($2)}"
	done <<<"$sizes"
}

do_mount --wait
for capture in a/x@stf a/y@stf@gz; do
	mkdir -p "$truth/${capture%/*}"
	all_of "$mnt/$capture" >"$truth/$capture"
	cp "$mnt/$capture/hart0/listing.txt" "$truth/$capture.listing"
done
do_umount
cp -r "$index" "$tmp/good"
restore() { rm -rf "$index"; cp -r "$tmp/good" "$index"; }
# The files of one of the captures: those of its decode index, which has the same first 32 digits.
table=$(basename "$(ls "$index"/*.listing.txt.*.hfv | head -n 1)")
hex=${table%%.*}
decode=$hex.hfi

# damage NAME WAY: the file, or something in its place.
damage() {
	local f=$index/$1
	case $2 in
	magic) flip "$f" 3 ;;
	id) flip "$f" 70 ;;
	page) flip "$f" 9000 ;;
	cut) truncate -s -4096 "$f" ;;
	empty) : >"$f" ;;
	garbage) head -c 20000 /dev/urandom >"$f" ;;
	directory) rm "$f" && mkdir "$f" ;;
	full) rm "$f" && mkdir "$f" && echo mine >"$f/note" ;;
	link) rm "$f" && ln -s /etc/passwd "$f" ;;
	fifo) rm "$f" && mkfifo "$f" ;;
	esac
}
ways="magic id page cut empty garbage directory link fifo"
# other_name: of the two files the one whose turn it is, so that each way meets one of them.
other_name() { [ "${name:-}" = "$table" ] && name=$decode || name=$table; }

# Between mounts. The other files of the capture stay as they are.
for way in $ways full full; do
	other_name
	restore
	stat -c '%n %i %s %Y' "$index"/*.hf? | grep -v "$name" | grep -v '\.hfc ' >"$tmp/before"
	damage "$name" "$way"
	do_mount
	timeout "$patience" ls -lR "$mnt" >"$tmp/ls" || fail "ls -lR ended with $? ($name: $way)"
	same a/x@stf "$name: $way"
	same a/y@stf@gz "$name: $way"
	do_umount
	stat -c '%n %i %s %Y' "$index"/*.hf? | grep -v "$name" | grep -v '\.hfc ' | cmp -s - "$tmp/before" ||
		fail "good files were touched ($name: $way)"
	[ "$way" != full ] || [ "$(cat "$index/$name/note")" = mine ] || fail "a directory with something in it is gone"
done

# While mounted, with the files open before. What the kernel has in its cache hides nothing: it is dropped.
restore
do_mount --wait
exec 8<"$mnt/a/x@stf/hart0/listing.txt" 9<"$mnt/a/y@stf@gz/hart0/listing.txt"
for way in $ways magic page; do
	other_name
	damage "$name" "$way"
	# For who opens the index anew.
	touch "$archive/a"
	sizes a/x@stf "$way"
	sizes a/y@stf@gz "$way"
	h cat "$archive/a/x.stf" hart0/listing.txt | cmp -s - "$truth/a/x@stf.listing" ||
		h cat "$archive/a/x.stf" hart0/listing.txt | cmp - "$truth/a/x@stf.listing" ||
		fail "cat of x does not come back ($name: $way)"
	h cat "$archive/a/y.stf.gz" hart0/listing.txt | cmp -s - "$truth/a/y@stf@gz.listing" ||
		h cat "$archive/a/y.stf.gz" hart0/listing.txt | cmp - "$truth/a/y@stf@gz.listing" ||
		fail "cat of y does not come back ($name: $way)"
	same a/x@stf "mounted, $name: $way"
	same a/y@stf@gz "mounted, $name: $way"
done
cmp -s - "$truth/a/x@stf.listing" <&8 || fail "an open file of x ends"
cmp -s - "$truth/a/y@stf@gz.listing" <&9 || fail "an open file of y ends"
exec 8<&- 9<&-
do_umount

# The commands name the file and mend it.
for way in $ways page; do
	other_name
	restore
	damage "$name" "$way"
	h verify "$archive" >"$tmp/out" 2>&1
	[ $? = 3 ] || fail "verify: status ($name: $way)"
	grep -q "index file $name .*removed" "$tmp/out" || fail "verify does not name it ($name: $way): $(cat "$tmp/out")"
	[ ! -e "$index/$name" ] || fail "verify leaves it ($name: $way)"
	# What is gone is made again, however it was damaged.
	if [ "$way" = magic ] || [ "$way" = id ]; then
		h index "$archive" >"$tmp/out" 2>&1 || fail "index after verify ended with $? ($name: $way)"
		h verify "$archive" >"$tmp/out" 2>&1 || fail "verify after index ended with $?: $(cat "$tmp/out")"
	fi
	restore
	damage "$name" "$way"
	h index "$archive" >"$tmp/out" 2>&1 || fail "index ended with $? ($name: $way): $(cat "$tmp/out")"
	grep -q "index file $name .*made again" "$tmp/out" || fail "index does not name it ($name: $way): $(cat "$tmp/out")"
	h verify "$archive" >"$tmp/out" 2>&1 || fail "index did not mend it ($name: $way): $(cat "$tmp/out")"
done

# A damaged catalogue makes nobody's index worthless.
restore
flip "$(echo "$index"/*.hfc)" 8200
h index --prune >"$tmp/out" || fail "--prune ended with $?"
[ "$(find "$index" -name '*.hf[iv]' | wc -l)" = "$(find "$tmp/good" -name '*.hf[iv]' | wc -l)" ] ||
	fail "good files went with the catalogue: $(cat "$tmp/out")"
finish
