#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# perf.data in an archive: of samples, an ordinary file, and hartfs info says why; with CoreSight trace a capture, as a file
# and as a directory, with the files in x.d; with any other trace a failed one whose reason leads on.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
perf_wrap=$(dirname "$hartfs")/tests/perf_wrap
[ -x "$perf_wrap" ] || skip "there is no perf_wrap in the build directory"
seeds=$(cd "$(dirname "$0")/../fuzz/corpus/perf" && pwd)
mkdir "$archive/plain" "$archive/failed" "$archive/trace"
cp "$seeds/samples" "$archive/plain/perf.data"
gzip -c "$seeds/samples" >"$archive/plain/packed.gz"
head -c 100 "$seeds/coresight" >"$archive/plain/cut.data"
cp "$seeds/intel" "$archive/failed/intel.data"
cp "$seeds/coresight" "$archive/failed/damaged.data"
gzip -c "$seeds/recorded" >"$archive/failed/packed.gz"
cp "$seeds/swapped" "$archive/failed/swapped.data"
# Thread 10, and 20, takes the branch at 1000.
branch='\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0\x04\x82\0\x08\0\0\xb0'
printf "$branch\\x0a\\0\\0\\0\\xf7" >"$tmp/one"
printf "$branch\\x14\\0\\0\\0\\xf7" >"$tmp/two"
# wrap FILE FORM: two processes; OTHER is the file that is mapped but not there.
wrap() {
	mkdir -p "$1.d/bin"
	"$perf_wrap" "$1" <<-END || fail "perf_wrap"
		form $2
		text 5 6.12
		text 11 /usr/bin/perf record -e cs_etm// -- one
		info 1 2
		comm 10 10 0 perf
		map 10 0 0x1000 0x1000 0x1000 5 /bin/a aa
		map 10 0 0x20000 0x1000 0 5 /lib/other cc
		comm 10 10 5 one exec
		map 10 6 0x1000 0x1000 0x1000 5 /bin/a aa
		map 10 6 0x20000 0x1000 0 5 /lib/other cc
		fork 20 20 10 7
		comm 20 20 7 two
		trace 1 10 10 10 0x100 $tmp/one
		trace 1 20 20 20 0x101 $tmp/two
		elf $1.d/bin/a aa 0x54008000
	END
}
for form in pipe killed zstd threads; do
	wrap "$archive/trace/$form.data" "$form"
done
mkdir "$archive/trace/perf.data"
wrap "$archive/trace/recorded.data" ''
cp "$archive/trace/recorded.data" "$archive/trace/perf.data/data"
cp -r "$archive/trace/recorded.data.d" "$archive/trace/perf.data.d"
rm -rf "${index:?}"/*

"$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >"$tmp/out" 2>&1
[ $? = 3 ] || fail "mount --wait of an archive with foreign trace in a perf.data did not end with 3: $(cat "$tmp/out")"
plain=$'cut.data\npacked.gz\nperf.data'
[ "$(ls "$mnt/plain")" = "$plain" ] || fail "a plain perf.data has views: $(ls "$mnt/plain")"
cmp -s "$mnt/plain/perf.data" "$seeds/samples" || fail "a plain perf.data is not itself"
grep -q plain/ "$mnt/.hartfs/status.json" && fail "status.json tells of an ordinary file"
# reason VIEW TEXT
reason() {
	grep -q '"state": "failed"' "$mnt/failed/$1/info.json" || fail "$1: $(cat "$mnt/failed/$1/info.json")"
	grep -q -- "$2" "$mnt/failed/$1/errors.txt" || fail "$1: $(cat "$mnt/failed/$1/errors.txt")"
}
reason intel.data@perf 'intel.data: .*no CoreSight trace but Intel PT (AUXTRACE_INFO type 1).* perf script does'
reason swapped.data@perf 'swapped.data: .* big-endian machine'
reason damaged.data@ete 'damaged.data: .*is damaged: its header, or the record AUXTRACE_INFO'
reason packed@gz 'is compressed as a whole: unpack it'

wanted='# context pid=10 tid=10 comm="one" mode=EL0
0 EL0 0000000000001000 54008000 b.eq #4096              -> 0000000000002000
# discontinuity 0000000000002000 -> ?
# doubt offset=26 trace was lost in or around this recording (AUX flags 1: 1 no room, 4 gaps, 8 the buffer was full)
# context pid=20 tid=20 comm="two" mode=EL0
1 EL0 0000000000001000 54008000 b.eq #4096              -> 0000000000002000'
for view in recorded.data@ete pipe.data@ete killed.data@ete zstd.data@ete threads.data@ete perf.data@ete; do
	[ "$(sed 's/ *$//' "$mnt/trace/$view/hart1/listing.txt")" = "$wanted" ] ||
		fail "$view: $(ls "$mnt/trace" "$mnt/trace/$view") $(cat "$mnt/trace/$view/hart1/listing.txt" "$mnt/trace/$view/errors.txt")"
done
# another file in x.d is another version
"$perf_wrap" "$tmp/none" <<<"elf $archive/trace/perf.data.d/bin/a aa 0x54000040"
for ((i = 0; i < patience; i++)); do
	grep -q '^0 .* 0000000000001008' "$mnt/trace/perf.data@ete/hart1/listing.txt" 2>"$tmp/err" && break
	sleep 1
done
[ "$i" -lt "$patience" ] || fail "another program: $(cat "$mnt/trace/perf.data@ete/hart1/listing.txt" "$tmp/err")"
do_umount

"$hartfs" find --count --index-dir "$index" "$archive/trace/recorded.data" --context tid=20 >"$tmp/out" 2>&1
grep -q '^1' "$tmp/out" || fail "find of a thread: $(cat "$tmp/out")"
# A buffer of 5 GiB, all but its end a hole in the file.
"$perf_wrap" "$archive/trace/large.data" <<-END
	form killed
	info 1 2
	comm 10 10 0 one
	map 10 0 0x1000 0x1000 0x1000 5 /bin/a aa
	aux 1 10 10 10 0x100 0x13fffffc0 26
	hole 1 0x140000000
	elf $archive/trace/large.data.a aa 0x54008000
END
mkdir "$archive/trace/large.data.d"
mv "$archive/trace/large.data.a" "$archive/trace/large.data.d/a"
size=$(stat -c %s "$archive/trace/large.data")
truncate -s "$((size + 0x140000000))" "$archive/trace/large.data"
dd if="$tmp/one" of="$archive/trace/large.data" bs=1 seek="$((size + 0x13fffffc0))" conv=notrunc status=none
"$hartfs" cat --index-dir "$index" "$archive/trace/large.data" hart1/listing.txt | sed 's/ *$//' |
	diff - <(head -n 2 <<<"$wanted") || fail "beyond 4 GiB"
rm "$archive/trace/large.data"

# The kernel's names come with its copy, those of modules too.
kernel=$archive/trace/kernel
mkdir -p "$kernel/kcore_dir"
printf '\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0\x04\x85\0\x08\x08\x10\0\x80\xff\xff\xb1\x0a\0\0\0\xf7' >"$tmp/three"
"$perf_wrap" "$kernel/data" <<-END || fail "perf_wrap"
	clock 10 2560 77
	info 2 2
	comm 10 10 0 a"b
	trace 1 10 10 10 0x100 $tmp/three
	kcore $kernel/kcore_dir/kcore 0xffff800010080ffc 0xd503201f 0x54008000
END
printf '%s\n' 'ffff800010080ff0 T _text' 'ffff800010081000 t $x' 'ffff800010081000 t entry	[mod]' 'odd' \
	'ffff800010081004 d table	[mod]' >"$kernel/kcore_dir/kallsyms"
"$hartfs" cat --index-dir "$index" "$kernel" hart1/listing.txt | sed 's/ *$//' | diff - <(
	cat <<-'END'
		# context pid=10 tid=10 comm="a\"b" mode=EL1
		0 EL1 ffff800010081000 54008000 b.eq #4096              <entry> -> ffff800010082000
	END
) || fail "names of the kernel"
"$hartfs" top --index-dir "$index" "$kernel" >"$tmp/out"
grep -q ' entry$' "$tmp/out" || fail "a function of the kernel: $(cat "$tmp/out")"
[ "$("$hartfs" find --index-dir "$index" "$kernel" --pc entry --count 2>/dev/null)" = 1 ] || fail "find of a function of the kernel"
"$hartfs" info --index-dir "$index" "$kernel" >"$tmp/out"
grep -q 'clock  *a time T of the trace is 77 + T \* 2560 / 2^10 ns of perf' "$tmp/out" || fail "no clock: $(cat "$tmp/out")"
printf '%s\n' '0000000000000000 T _text' >"$kernel/kcore_dir/kallsyms"
"$hartfs" cat --index-dir "$index" "$kernel" hart1/listing.txt | grep -q '<' && fail "names without addresses"
rm -r "$kernel"

# Threads by name: questions, tables, profiles.
two=$archive/trace/killed.data
"$hartfs" find --index-dir "$index" "$two" --context comm=two --ordinals >"$tmp/out" 2>/dev/null
[ "$(cat "$tmp/out")" = 1 ] || fail "find of a name: $(cat "$tmp/out")"
"$hartfs" find --index-dir "$index" "$two" --context comm=two,pid=10 --count >"$tmp/out" 2>/dev/null
[ "$(cat "$tmp/out")" = 0 ] || fail "a name and another process: $(cat "$tmp/out")"
"$hartfs" find --index-dir "$index" "$two" --context comm=three >"$tmp/out" 2>&1 && fail "a name that nobody has"
grep -q "not one thread is called 'three'" "$tmp/out" || fail "a name that nobody has: $(cat "$tmp/out")"
"$hartfs" cat --index-dir "$index" "$two" hart1/profile/stacks.folded >"$tmp/out" 2>/dev/null
diff - "$tmp/out" <<-END || fail "stacks of processes"
	[one 10 EL0] a+0x1000 1
	[two 20 EL0] a+0x1000 1
END
if command -v sqlite3 >/dev/null; then
	"$hartfs" sql --index-dir "$index" "$two" "SELECT pid, tid, comm FROM context;
		SELECT comm, pid, tid, sum(own) FROM callnode WHERE kind = 'root' GROUP BY comm" 2>/dev/null |
		grep -v comm >"$tmp/out"
	[ "$(cat "$tmp/out")" = $'10|10|one\n20|20|two\none|10|10|1\ntwo|20|20|1' ] || fail "sql of threads: $(cat "$tmp/out")"
fi

# What names an event, and what is missing: each file whose code ran once, with its build id.
id=aa01020300000000000000000000000000000000
mkdir -p "$tmp/debug/bin/a/$id"
mv "$archive/trace/pipe.data.d/bin/a" "$tmp/debug/bin/a/$id/elf"
"$hartfs" cat --index-dir "$index" "$archive/trace/pipe.data" errors.txt >"$tmp/out"
grep -qF "warning: code of '/bin/a' is not known: no file has its build id $id: copy it into pipe.data.d; 2 places, at least 2 instructions" "$tmp/out" ||
	fail "a file that is missing: $(cat "$tmp/out")"
[ "$(grep -c /bin/a "$tmp/out")" = 2 ] || fail "it is named more than once, and as the likely cause: $(cat "$tmp/out")"
"$hartfs" cat --index-dir "$index" --debug-dir "$tmp/debug" "$archive/trace/pipe.data" hart1/listing.txt | sed 's/ *$//' |
	diff - <(echo "$wanted") || fail "from perf's cache of files"
"$hartfs" info --index-dir "$index" "$archive/trace/zstd.data" >"$tmp/out"
for words in 'command  */usr/bin/perf record -e cs_etm// -- one' 'recorder  *perf 6.12' 'CPUs  *2, trace of 1' \
	'processes  *one 10, two 20'; do
	grep -q "$words" "$tmp/out" || fail "info without $words: $(cat "$tmp/out")"
done

"$hartfs" info "$archive/plain/perf.data" >"$tmp/out" 2>&1 && fail "info of an ordinary file: $(cat "$tmp/out")"
grep -q 'a perf.data without trace (no AUXTRACE_INFO record) is an ordinary file' "$tmp/out" || fail "$(cat "$tmp/out")"
rm -r "$archive/failed" "$archive/trace"
timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >"$tmp/out" 2>&1 ||
	fail "mount --wait of ordinary perf.data files ended with $?"
[ "$(ls "$mnt/plain")" = "$plain" ] || fail "remembered otherwise: $(ls "$mnt/plain")"
do_umount
finish
