# SPDX-License-Identifier: Apache-2.0
# Aimed kills, shared by the mount tests and contrib/attack.sh; to be read after tests/lib/mount.sh. A changed capture is
# told to the kernel while readers wait for its bytes, and in that moment the processes of the mount are killed.
# shellcheck shell=bash

# kill_setup [INSTRUCTIONS]: a capture whose bytes take long to make, and another one to put in its place. Root.
kill_setup() {
	local make_trace data
	make_trace=$(dirname "$hartfs")/tests/make_trace
	[ -x "$make_trace" ] || skip "there is no make_trace in the build directory"
	command -v xz >/dev/null || skip "there is no xz"
	data=${HARTFS_DATA:?}/archive/boot/rv-sys.stf.gz
	mkdir -p "$tmp/kill" "$archive/c"
	# In one block of xz each read far apart decompresses from the beginning.
	ASAN_OPTIONS=detect_leaks=0 "$make_trace" "${1:-2000000}" 0 "$data" "$tmp/kill/long.stf" >/dev/null || fail "make_trace"
	xz -0 -T1 "$tmp/kill/long.stf"
	gzip -dc "$data" | head -c 200000 | xz -0 -T1 >"$tmp/kill/short.stf.xz"
	kill_options=(--chunk 4000000 --views listing.txt --spool 0 --threads 1 --cache 1M --index-dir "$index")
	ln -f "$tmp/kill/short.stf.xz" "$archive/c/x.stf.xz"
	"$hartfs" index -q "${kill_options[@]:0:4}" --index-dir "$index" "$archive" || fail "the short capture"
	ln -f "$tmp/kill/long.stf.xz" "$archive/c/x.stf.xz"
	"$hartfs" index -q "${kill_options[@]:0:4}" --index-dir "$index" "$archive" || fail "the long capture"
	kill_view=$mnt/c/x@stf/hart0/listing.txt
	if ! [ -d /sys/fs/fuse/connections ] || ! mountpoint -q /sys/fs/fuse/connections; then
		mkdir -p "$tmp/connections"
		mount -t fusectl none "$tmp/connections" || skip "there is no fusectl"
		connections=$tmp/connections
	else
		connections=/sys/fs/fuse/connections
	fi
}

kill_cleanup() {
	[ "${connections:-}" != "$tmp/connections" ] || umount -l "$connections"
}

# connection POINT: of the mount there, asked of nobody who could be dead.
connection() {
	awk -v p="$1" '$5 == p {split($3, dev, ":"); n = dev[2]} END {print n}' /proc/self/mountinfo
}

# The processes of one mountpoint, supervisor first.
processes_of() {
	local processes
	find_servers " $1"$'\n'
	echo "${processes[@]}"
}

# Requests that nobody has answered yet.
waits() { local n; read -r n <"$connections/$1/waiting" && [ "$n" -ge "$2" ]; }

# No job of this shell is left.
readers_end() { wait_until no_jobs; }
no_jobs() { [ -z "$(jobs -rp)" ]; }

# kill_readers COUNT: so many wait for bytes, of places in the long capture that are far apart. Prints nothing.
kill_readers() {
	local size i
	size=$(stat -c %s "$kill_view")
	for ((i = 0; i < $1; i++)); do
		dd if="$kill_view" of=/dev/null bs=65536 count=1 skip=$(((size - size / 2 / $1 * i) / 65536 - 1)) 2>/dev/null &
	done
}

# kill_aimed VICTIM: mounts, aims, and kills server, supervisor, both at once, or one after the other (either). What a
# reader gets does not matter as long as it gets it: status 1 if some wait for ever, whom aborting the connection then
# releases. The mount stays as it is.
kill_aimed() {
	local pids number status=0 i
	ln -f "$tmp/kill/long.stf.xz" "$archive/c/x.stf.xz"
	"$hartfs" mount "${kill_options[@]}" --log "$log" "$archive" "$mnt" || return 2
	number=$(connection "$mnt")
	[ -e "$kill_view" ] || kill_view=$(echo "$mnt"/c/*@*/hart0/listing.txt)
	kill_readers 6
	# A fast machine may have answered some before others ask.
	for ((i = 0; i < 300; i++)); do
		waits "$number" 4 && break
		sleep 0.01
	done
	ln -f "$tmp/kill/short.stf.xz" "$archive/c/.x" && mv "$archive/c/.x" "$archive/c/x.stf.xz"
	pids=($(processes_of "$mnt"))
	# The look that finds the change; what it waits for comes after the kernel was told.
	stat "${kill_view%/*/*}/info.json" >/dev/null 2>&1 &
	# The moment: a thread that waits in the kernel, or some milliseconds.
	for ((i = 0; i < 20 + RANDOM % 20; i++)); do
		grep -qs folio_lock "/proc/${pids[1]}/task/"*/stack && break
		sleep 0.005
	done
	case $1 in
	server) kill -KILL "${pids[1]}" ;;
	supervisor) kill -KILL "${pids[0]}" ;;
	both) kill -KILL "${pids[@]}" ;;
	either) kill -KILL "${pids[RANDOM % 2]}"; sleep "0.0$((RANDOM % 10))"; kill -KILL "${pids[@]}" 2>/dev/null ;;
	esac
	if ! readers_end; then
		status=1
		echo 1 >"$connections/$number/abort"
	fi
	wait
	return $status
}
