#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In whatever work a signal or umount comes: the work ends at once, and what has been done of it is kept.
. "$(dirname "$0")/../lib/mount.sh"
. "$(dirname "$0")/../lib/hostile.sh"
need_fuse

zeros etrace etrace 'framing = encap'
zeros pulp etrace 'framing = pulp'
zeros ntrace ntrace
zeros words ntrace 'word_bytes = 4'
zeros frames ntrace 'framing = coresight'
mkdir "$archive/ete"
printf '%s\n' '[snapshot]' 'version=1.0' '[device_list]' 'device0=cpu.ini' 'device1=ete.ini' '[trace]' \
	'metadata=trace.ini' >"$archive/ete/snapshot.ini"
printf '%s\n' '[device]' 'name=cpu_0' 'class=core' 'type=Cortex-A710' >"$archive/ete/cpu.ini"
printf '%s\n' '[device]' 'name=ETE_0' 'class=trace_source' 'type=ETE' '[regs]' 'TRCTRACEIDR(0x010)=0x10' \
	>"$archive/ete/ete.ini"
printf '%s\n' '[trace_buffers]' 'buffers=b' '[b]' 'name=b' 'file=trace.bin' 'format=source_data' \
	'[core_trace_sources]' 'cpu_0=ETE_0' '[source_buffers]' 'ETE_0=b' >"$archive/ete/trace.ini"
truncate -s 20G "$archive/ete/trace.bin"
packed_zeros gzip .gz gzip -1
if command -v xz >/dev/null; then packed_zeros xz .xz xz -0; fi
if command -v zstd >/dev/null; then packed_zeros zstd .zst zstd -q -1; fi
loop loop

# interrupt SIGNAL COMMAND CAPTURE [OPTION...]
interrupt() {
	local signal=$1 command=$2 name=$3 pid status
	shift 3
	"$hartfs" "$command" --index-dir "$index" "$@" "$archive/$name" >"$tmp/out" 2>&1 &
	pid=$!
	at_work $pid || { fail "$command $name: it did not come to work: $(cat "$tmp/out")"; return; }
	kill -"$signal" $pid
	ends_soon $pid "$command $name, SIG$signal"
	wait $pid
	status=$?
	[ $status = 1 ] || fail "$command $name: status $status"
	grep -q 'interrupted; started again it goes on from here' "$tmp/out" || fail "$command $name: $(cat "$tmp/out")"
}

signals=(INT TERM)
n=0
for directory in "$archive"/*/; do
	interrupt "${signals[n++ % 2]}" index "$(basename "$directory")" --expansion=0
done
interrupt INT verify etrace
# What was not finished did not fail.
interrupt INT index . --expansion=0 -j 1
grep -qE 'captures: [0-9]+ indexed, 0 failed, [1-9][0-9]* not finished$' "$tmp/out" || fail "sums: $(cat "$tmp/out")"
interrupt TERM verify loop --expansion=0 -j 1

# A mount that works on all of them at once, and somebody who waits for one.
do_mount -j 2 --expansion=0
at_work "$(server)" || fail "the server does nothing"
ls "$mnt/etrace@etrace/hart0" >/dev/null 2>&1 &
waiting=$!
pid=$(server)
kill -TERM "$(supervisor)"
ends_soon "$pid" "SIGTERM to a mount"
wait_until no_servers || fail "processes are left: $(servers)"
wait $waiting

do_mount -j 2 --expansion=0
pid=$(server)
at_work "$pid" || fail "the server does nothing"
timeout "$patience" "$hartfs" umount "$mnt" &
waiting=$!
wait_until not_mounted "$mnt" || fail "still mounted"
ends_soon "$pid" "umount"
wait $waiting || fail "umount ended with $?"
no_servers || fail "processes are left: $(servers)"

# The start that waits for all of it.
"$hartfs" mount --wait -j 2 --expansion=0 --index-dir "$index" --log "$log" "$archive" "$mnt" &
waiting=$!
wait_until is_mounted "$mnt" || fail "no mount"
pid=$(server)
at_work "$pid" || fail "the server does nothing"
kill -INT $waiting
ends_soon "$pid" "SIGINT to mount --wait"
wait $waiting && fail "an interrupted mount --wait reports success"
wait_until no_servers || fail "processes are left: $(servers)"
wait_until not_mounted "$mnt" || fail "still mounted"
finish
