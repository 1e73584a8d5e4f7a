#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Few descriptors and much that is open: captures of 300 files each, more of them than the server may have files open,
# plain captures beside them, and a user who has more files and directories open than that.
set -u
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
readonly files=300 described=2 plain=20 limit=256

# A few instructions as packets, with their program, and as STF.
mkdir "$tmp/seed"
slice=hart0/at/1000-1199
for view in etrace/trace.bin etrace/capture.ini etrace/program.elf trace.stf; do
	"$hartfs" cat --views=etrace,trace.stf --index-dir "$index" "$HARTFS_DATA/archive/mini/rv32-mini.stf" "$slice/$view" \
		>"$tmp/seed/${view##*/}" || fail "no $view to test with"
done

many() {
	local dir=$archive/many$1 i
	mkdir "$dir"
	cp "$tmp/seed/program.elf" "$dir/"
	for ((i = 0; i < files; i++)); do printf 'trace = %d.bin\n' "$i"; done >"$tmp/lines"
	sed "/^trace = /{
		r $tmp/lines
		d
	}" "$tmp/seed/capture.ini" >"$dir/capture.ini"
	echo "# capture $1" >>"$dir/capture.ini"
	for ((i = 0; i < files; i += 100)); do
		(cd "$dir" && tee $(seq -f '%g.bin' "$i" $((i + 99))) <"$tmp/seed/trace.bin" >/dev/null)
	done
}
for ((n = 0; n < described; n++)); do many "$n"; done
for ((n = 0; n < plain; n++)); do
	cp "$tmp/seed/trace.stf" "$archive/plain$n.stf"
	touch -d "@$((1000000000 + n))" "$archive/plain$n.stf"
done

# What all of it reads as: sums of listings and of what is wrong.
sums() {
	(cd "$mnt" && sha256sum many*@etrace/hart0/listing.txt plain*@stf/hart0/listing.txt ./*@*/errors.txt ./*@*/source.*)
}
# With a fresh index: everything is indexed under the limit as well.
few() {
	rm -rf "$index"
	mkdir "$index"
	(ulimit -n "$limit" && do_mount "$@") || exit 1
	[ "$(awk '/^Max open files/ {print $4}' "/proc/$(server)/limits")" = "$limit" ] || fail "the limit is not $limit"
}

do_mount --wait --views=listing.txt,etrace
want=$(sums)
[ "$(wc -l <<<"$want")" = $((3 * (described + plain))) ] || fail "not all captures are there: $(ls "$mnt")"
[ "$(wc -l <"$mnt/many0@etrace/hart0/listing.txt")" -gt $((files * 200)) ] || fail "parts of many0 are missing"
do_umount

few --wait --views=listing.txt,etrace
[ "$(sums)" = "$want" ] || fail "with $limit descriptors: $(diff <(sums) <(echo "$want") | head)"
# All of them at the same time.
for dir in "$mnt"/*@*; do
	(cd "$mnt" && sha256sum "./${dir##*/}/errors.txt" "${dir##*/}"/hart0/listing.txt "./${dir##*/}"/source.*) \
		>"$tmp/sum.${dir##*/}" 2>&1 &
done
wait
diff <(sort "$tmp"/sum.*) <(sort <<<"$want") >"$tmp/diff" || fail "read all at once: $(head "$tmp/diff")"

# Somebody has more open than the server may: files of the archive, and directories. Others do not notice.
if command -v perl >/dev/null; then
	cat >"$tmp/hog.pl" <<'END'
my ($mnt, $count) = @ARGV;
my (@files, @dirs);
for my $i (0 .. $count - 1) {
	open(my $file, '<', "$mnt/many" . $i % 2 . "/" . int($i / 2) . ".bin") or die "file $i: $!\n";
	push @files, $file;
	opendir(my $dir, $i % 3 ? $mnt : "$mnt/many0") or die "directory $i: $!\n";
	readdir $dir;
	push @dirs, $dir;
}
$| = 1;
print "open\n";
<STDIN>;
for my $i (0 .. $count - 1) {
	my $text;
	defined read($files[$i], $text, 1 << 20) && length $text or die "reading file $i: $!\n";
	my $names = () = readdir $dirs[$i];
	$names > 10 or die "names of directory $i: $names\n";
}
print "read\n";
END
	mkfifo "$tmp/go"
	(ulimit -n 2048 2>/dev/null; exec perl "$tmp/hog.pl" "$mnt" 600 <"$tmp/go" >"$tmp/hog" 2>&1) &
	hog=$!
	exec 5>"$tmp/go"
	wait_until grep -q . "$tmp/hog" || fail "600 files and directories are not open"
	[ "$(sums)" = "$want" ] || fail "beside one who has much open"
	(trap '' PIPE && echo go >&5)
	exec 5>&-
	wait "$hog"
	[ "$(cat "$tmp/hog")" = $'open\nread' ] || fail "who has much open: $(cat "$tmp/hog")"
else
	echo "perl is not there: no test of many open files"
fi
[ "$(sums)" = "$want" ] || fail "in the end"
grep -q 'ready": '"$((described + plain))" "$mnt/.hartfs/status.json" || fail "$(cat "$mnt/.hartfs/status.json")"
do_umount

# The same without a mount.
rm -rf "$index"
(ulimit -n "$limit" && "$hartfs" index -q --index-dir "$index" --views=listing.txt "$archive") || fail "index ended with $?"
(ulimit -n "$limit" && "$hartfs" verify -q --index-dir "$index" --views=listing.txt "$archive") || fail "verify ended with $?"
(ulimit -n 64 && "$hartfs" cat --index-dir "$index" --views=listing.txt "$archive/many1" hart0/listing.txt) |
	cmp -s - <("$hartfs" cat --index-dir "$index" --views=listing.txt "$archive/many1" hart0/listing.txt) ||
	fail "cat with 64 descriptors"

# The soft limit is raised.
(ulimit -S -n 300 && do_mount)
[ "$(awk '/^Max open files/ {print $4}' "/proc/$(server)/limits")" = "$(ulimit -H -n)" ] || fail "the soft limit stays"
do_umount
finish
