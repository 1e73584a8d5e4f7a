# SPDX-License-Identifier: Apache-2.0
# Captures of a few bytes, or of none but holes, that are a lot of work. To be sourced after mount.sh.
# shellcheck shell=bash

# capture NAME LINE...: a directory of the archive with a capture.ini of these lines behind [capture].
capture() {
	local directory=$archive/$1
	shift
	mkdir -p "$directory"
	printf '%s\n' '[capture]' "$@" >"$directory/capture.ini"
}

# zeros NAME FORMAT [LINE...]: 20 GB in which no packet is, of a file that takes no room.
zeros() {
	local name=$1 format=$2
	shift 2
	capture "$name" "format = $format" 'trace = trace.bin' "$@"
	truncate -s 20G "$archive/$name/trace.bin"
}

# packed_zeros NAME SUFFIX COMMAND...: the same in some megabytes or less, of members that the command makes of zeros.
packed_zeros() {
	local name=$1 file=$archive/$1/trace.bin$2
	capture "$name" 'format = etrace' "trace = trace.bin$2" 'framing = encap'
	shift 2
	head -c 32M /dev/zero | "$@" >"$tmp/member"
	for _ in 1 2 3 4; do cat "$tmp/member" "$tmp/member" "$tmp/member" "$tmp/member" >"$file"; cp "$file" "$tmp/member"; done
}

# An N-Trace file of 428 bytes for half a billion instructions: a place to begin, then 60 times four million branches
# that were taken, each two instructions behind the one before (nop; beqz zero, -4).
loop() {
	capture "$1" 'format = ntrace' 'trace = trace.bin' '[program]' 'raw = code.bin, address = 0x80000000' \
		'[parameters]' 'srcbits = 0'
	printf '\x13\x00\x00\x00\xe3\x0e\x00\xfe' >"$archive/$1/code.bin"
	{
		printf '\x24\x15\x00\x00\x00\x00\x00\x07'
		for ((i = 0; i < 60; i++)); do printf '\x6c\xe4\xfc\xfc\xfc\x0f\x00'; done | sed 's/\x00//g'
	} >"$archive/$1/trace.bin"
}

# CPU time of a process so far, in ticks of 10 ms; fails when it is gone.
cpu_ticks() {
	local stat
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086
	set -- ${stat##*) }
	[ "$1" != Z ] || return 1
	echo $((${12} + ${13}))
}

# A thread of the process that indexes has taken 50 ms: it has begun.
indexes() {
	local file stat
	for file in /proc/"$1"/task/*/stat; do
		read -r stat 2>/dev/null <"$file" && [[ $stat == *'(hartfs-index)'* ]] || continue
		# shellcheck disable=SC2086
		set -- ${stat##*) }
		[ $((${12} + ${13})) -lt 5 ] || return 0
	done
	return 1
}

# A little CPU time on this machine, in such ticks: 20 times as long as the shell takes to count to 100,000.
little=$(cpu_ticks $$)
for ((i = 0; i < 100000; i++)); do :; done
little=$((20 * ($(cpu_ticks $$) - little + 1)))

# at_work PID: waits until it has come to work that is not over soon.
at_work() {
	local ticks end=$((SECONDS + patience))
	while ticks=$(cpu_ticks "$1") && [ "$SECONDS" -lt "$end" ]; do
		[ "$ticks" -lt $((little / 5)) ] && ! indexes "$1" || return 0
		nap 0.05
	done
	return 1
}

# ends_soon PID WHAT: it is told to end, and does so without much more work, however slow the machine is.
ends_soon() {
	local ticks before end=$((SECONDS + patience))
	before=$(cpu_ticks "$1") || return 0
	while ticks=$(cpu_ticks "$1"); do
		if [ $((ticks - before)) -gt "$little" ] || [ "$SECONDS" -ge "$end" ]; then
			fail "$2: after $((ticks - before)) ticks of CPU time it has not ended"
			kill -KILL "$1"
			return 1
		fi
		nap 0.05
	done
}
