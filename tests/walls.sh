#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# walls.sh SOURCE BUILD: the walls of the design: mountd -> fs -> index -> codecs, who may include which library, and
# floors inside the folders: no call cycles. Prints each breach.
set -u
cd "$1" || exit 1
build=$2
bad=0

# breach FOLDER PATTERN WHY [FILE]: no file of FOLDER but that one may include what matches PATTERN.
breach() {
	local hits
	hits=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" --include='*.c' --include='*.h' "$1" |
		grep -v "^${4:-none}:") || return 0
	printf '%s: %s\n%s\n' "$1" "$3" "$hits"
	bad=1
}

breach codecs '(\.\./)*(index|fs|mountd)/' 'codecs looks upward'
breach index '(\.\./)*(fs|mountd)/' 'index looks upward'
breach fs '(\.\./)*mountd/' 'fs looks upward'
for folder in codecs fs mountd; do breach $folder 'sqlite3' 'only index knows SQLite' 'mountd/sql/sqlite.h'; done
breach mountd/sql '(\.\./)*(codecs|index|fs|mountd/[a-z_]*\.h)' 'the extension knows nothing but its own folder'
for folder in codecs index fs; do breach $folder 'fuse' 'only mountd knows FUSE'; done
# LLVM is loaded once, whichever thread comes first.
breach codecs 'pthread|threads|semaphore|time\.h|sys/time' 'codecs knows no thread and no clock' codecs/isa/llvm.c
breach index 'index/index\.h' 'index.h is the door for those outside'
breach . '.*\.\./' 'includes are written from the root of the project'

# floors FOLDER FLOOR...: all floors of a folder, from the top down. Each knows those behind it alone.
floors() {
	local folder=$1 above= floor
	shift
	for floor in "$folder"/*/; do
		floor=$(basename "$floor")
		[[ " $* " == *" $floor "* ]] || { echo "$folder/$floor: of which floor is it?"; bad=1; }
	done
	for floor; do
		[ -n "$above" ] && breach "$folder/$floor" "$folder/($above)/" 'a floor looks upward'
		above=${above:+$above|}$floor
	done
}
# fs: archive <- stream, program <- facts <- capture <- bytes <- find <- tree <- rows, on what knows no archive.
floors fs rows tree diff find profile bytes capture facts program stream archive base
floors index upkeep pass answer summary read catalogue store table exec base
for folder in fs/archive fs/base fs/bytes fs/capture fs/diff fs/facts fs/find fs/profile fs/program fs/rows fs/stream fs/tree mountd; do
	breach $folder 'fs/whole\.h' 'struct hf_fs is seen by fs.c alone'
done
for folder in fs/archive fs/base fs/bytes fs/capture fs/diff fs/facts fs/find fs/profile fs/program fs/rows fs/stream fs/tree mountd; do
	breach $folder 'fs/capture/captures\.h' 'struct hf_captures is seen by captures.c and fs.c alone' fs/capture/captures.c
done
for folder in fs/archive fs/base fs/bytes fs/diff fs/find fs/profile fs/program fs/rows fs/stream fs/tree mountd; do
	breach $folder 'fs/facts/shared\.h' 'struct hf_shared is seen by the floors of captures alone'
done
for folder in fs/archive fs/base fs/bytes fs/capture fs/diff fs/facts fs/find fs/profile fs/program fs/rows fs/stream fs/tree; do
	breach $folder '(fs/fs|fs/library)\.h' 'a floor knows nothing of the facade'
done
# What a node is, its row in nodes.def says.
hits=$(grep -rnE '[!=]= *HF_NODE_|case HF_NODE_|kind *[<>]' --include='*.c' --include='*.h' fs mountd | grep -v '^fs/tree/kind\.c:') && {
	printf 'kinds of nodes are compared by fs/tree/kind.c alone:\n%s\n' "$hits"
	bad=1
}
# There is one list of views: a kind of bytes is told by its table of functions.
hits=$(grep -rnE 'hf_enc_(stf|astf|listing|etrace|ntrace|ete)\b' --include='*.c' --include='*.h' index fs mountd) && {
	printf 'views are told apart by codecs/views.def alone:\n%s\n' "$hits"
	bad=1
}

# Functions that are banned wherever a bounded one exists.
hits=$(grep -rnE '\b(strcpy|strcat|sprintf|vsprintf|gets|alloca|mmap)[[:space:]]*\(' --include='*.c' --include='*.h' \
	codecs index fs mountd | grep -vE '^[^:]+:[0-9]+:[[:space:]]*(/?\*|//)') && {
	printf 'banned functions:\n%s\n' "$hits"
	bad=1
}

# A process that has confined itself can load nothing: what is loaded is loaded in one place, before.
hits=$(grep -rnE '\bdlopen[[:space:]]*\(' --include='*.c' --include='*.h' codecs index fs mountd |
	grep -v '^codecs/isa/llvm\.c:') && {
	printf 'libraries are loaded by codecs/isa/llvm.c alone:\n%s\n' "$hits"
	bad=1
}
# What is simulated is the program as it is, whatever it looks like inside.
hits=$(grep -rnE '^#include "(fs|index|mountd)/' tests/sim | grep -vE '"(fs/fs|index/index)\.h"') && {
	printf 'the simulator knows fs/fs.h and index/index.h alone:\n%s\n' "$hits"
	bad=1
}

# Threads are the executor's. libfuse's loop and a writer into somebody's pipe, who may stop reading, have their own.
hits=$(grep -rnE '\bpthread_create[[:space:]]*\(' --include='*.c' codecs index fs mountd |
	grep -vE '^(index/exec/exec|mountd/session|mountd/output_queue)\.c:') && {
	printf 'threads are made by index/exec/exec.c, mountd/session.c and mountd/output_queue.c alone:\n%s\n' "$hits"
	bad=1
}

# Folders whose files do not call each other in a circle. First, that a circle is found at all: a.c calls b.c, which knows
# a.c through a pointer; p.c includes q.h, and q.c calls p.c.
circle=$(mktemp -d)
trap 'rm -rf "$circle"' EXIT
mkdir -p "$circle"/{x,y} "$circle/CMakeFiles/hf_x.dir"/{x,y}
echo 'int b(void); int a(void); int a(void) { return b(); }' >"$circle/x/a.c"
echo 'int a(void); extern int (*const c)(void); int b(void) { return c == a; }' >"$circle/x/b.c"
echo 'int a(void); extern int (*const c)(void); int (*const c)(void) = a;' >"$circle/x/c.c"
echo 'void q(void);' >"$circle/y/q.h"
printf '%s\n' '#include "y/q.h"' 'void p(void); void p(void) {}' >"$circle/y/p.c"
echo 'void p(void); void q(void); void q(void) { p(); }' >"$circle/y/q.c"
for name in x/a x/b x/c y/p y/q; do
	cc -c -I "$circle" -o "$circle/CMakeFiles/hf_x.dir/$name.c.o" "$circle/$name.c" || bad=1
done
# planted PATTERN ARGUMENT...: what is said of them.
planted() { [[ $(bash tests/cycles.sh "$circle" "$circle" "${@:2}" 2>&1) == $1 ]]; }
planted 'x/a.c refers to x/b.c*' x && planted '' y && planted '*2 files*not 1*' y 1 && planted '' y 2 &&
	planted '*record 2*' y 3 || {
	echo 'tests/cycles.sh does not find a circle, or one that is none'
	bad=1
}
# That a floor which looks upward is found, and one that nobody knows.
mkdir -p "$circle"/z/{high,low}
echo '#include "z/low/a.h"' >"$circle/z/high/a.h"
planted_floors() { (cd "$circle" && bad=0 && floors z "$@" >/dev/null && [ $bad = 0 ]); }
planted_floors high low && ! planted_floors low high && ! planted_floors high || {
	echo 'a floor that looks upward is not found, or one that does not'
	bad=1
}
bash tests/cycles.sh . "$build" codecs || bad=1
# How many are in circles of includes and calls may only fall.
while read -r folder count; do
	bash tests/cycles.sh . "$build" "$folder" "$count" || bad=1
done <<'END'
index 0
fs 0
mountd 0
END
# What is wrong, a loss says in hf_event.code; hf_event.size is bytes of DATA.
negated() { grep -rnE '\.size = -' --include='*.[ch]' --include='*.md' "$@"; }
echo '.size = -HF_ERR_CORRUPT' >"$circle/planted.md"
negated "$circle" >/dev/null || { echo 'an error in the size of an event is not found'; bad=1; }
hits=$(negated codecs index fs mountd) && {
	printf 'an error is the code of an event, and not its size:\n%s\n' "$hits"
	bad=1
}
# All work is a job of the executor. mountd/session.c: the threads that answer the kernel. mountd/output_queue.c: one
# that waits for whoever reads our output, for as long as that takes.
hits=$(grep -rnE '\b(pthread_create|thrd_create)[[:space:]]*\(' --include='*.c' --include='*.h' codecs index fs mountd |
	grep -vE '^(index/exec/exec|mountd/session|mountd/output_queue)\.c:') && {
	printf 'threads are started by index/exec/exec.c:\n%s\n' "$hits"
	bad=1
}
exit $bad
