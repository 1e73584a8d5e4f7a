#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looks for tests that a machine's speed, or other processes, decide: each that waits runs 20 times among 15 others, and 20
# times on one core.
#   contrib/flaky.sh [--shard I/N] [--runs N] [--list] [REGEX]     REGEX: of those tests only these, as of ctest -R
# Runs are dealt to N shards by what ctest knows of their times, also those of one test. A shard takes at most 60 minutes:
# what has not ended by then is told. It is clean, and the status 0, if every run was made and none failed; outputs of
# runs that failed stay in build/flaky. The release build must be there, and is better run through ctest once before.
set -u
cd "$(dirname "$0")/.."
tests=build/release
minutes=60 cores=$(nproc)
shard=0 shards=1 runs=20 list='' only=.
while [ $# -gt 0 ]; do
	[[ $1 == --*=* ]] && set -- "${1%%=*}" "${1#*=}" "${@:2}"
	case $1 in
	--shard) shard=${2%/*} shards=${2#*/} && shift ;;
	--runs) runs=$2 && shift ;;
	--list) list=yes ;;
	-*) sed -n '3,/^set -u/s/^# \{0,1\}//p' "$0"; exit 2 ;;
	*) only=$1 ;;
	esac
	shift
done
[ "$shard" -lt "$shards" ] || { echo "$0: there are shards 0 to $((shards - 1))"; exit 2; }
[ -e $tests/CTestTestfile.cmake ] || { echo "$0: there is no build in $tests"; exit 2; }
[ -n "${HARTFS_CORPUS:-}" ] || echo "HARTFS_CORPUS is not set: tests of captures with known answers are SKIPPED"
# What is asked again and again waits no more than what is asked once.
export HARTFS_QUESTIONS=${HARTFS_QUESTIONS:-10} HARTFS_PAIRS=${HARTFS_PAIRS:-60} HARTFS_SOME=${HARTFS_SOME-1}

# What waits, or lets others wait. The one number that bounds all hangs (timeout "$patience") is no wait, nor is --wait.
in_c='(sleep|poll|select|alarm|kill|raise|signal|sigaction|timedwait|yield|waitpid|_idle|_settled|_comes)(_ms)? *\(|CHECK_COMES'
in_sh='^([^#]*[^-a-z_"/#])?(sleep|wait|wait_until|kill|kill_aimed|at_work|ends_soon|readers_end|flock|SECONDS)( |$)|^\s*trap |[^&>]& *$|timeout [^"]'
waits() {
	local name kind file pattern
	while read -r name; do
		kind=${name%%.*} name=${name#*.}
		for file in tests/"$kind"/test_"$name".sh tests/"$kind"/"$kind"_"$name".c tests/"$kind"/test_"$name".c tests/"$name"/*.py; do
			[[ $file == *.sh ]] && pattern=$in_sh || pattern=$in_c
			grep -qsE "$pattern" "$file" && { echo "$kind.$name"; break; }
		done
	done < <(ctest --test-dir $tests -N -R "$only" | sed -n 's/^ *Test *#[0-9]*: //p')
}

# Lines "MODE TEST RUNS" of this shard. The times of ctest are of a suite with two tests a core.
deal() {
	awk -v cores="$cores" -v costs=$tests/Testing/Temporary/CTestCostData.txt '
		BEGIN {while ((getline line <costs) > 0 && line != "---") {split(line, f, " "); cost[f[1]] = f[3]}}
		{c = (cost[$1] > 0.2 ? cost[$1] : 0.2) / 2 / cores; print c, "load", $1; print c, "core", $1}' |
		sort -k1,1nr -k2 | awk -v shard="$shard" -v shards="$shards" -v runs="$runs" '
		{
			for (i = 0; i < runs; i++) {
				for (least = s = 0; s < shards; s++) if (sum[s] < sum[least]) least = s
				sum[least] += $1
				n += least == shard
			}
			if (n) print $2, $3, n
			n = 0
		}
		END {printf "about %d minutes\n", sum[shard] / 60 >"/dev/stderr"}'
}

mine=$(waits | deal)
[ -n "$mine" ] || { echo "no test"; exit 2; }
if [ -n "$list" ]; then
	echo "$mine"
	exit 0
fi
out=build/flaky/$shard-of-$shards
rm -rf "$out" && mkdir -p "$out" || exit 2
end=$((SECONDS + minutes * 60)) stop=$(date -d "$minutes minutes" +%T) status=0
lanes=()
set -m # groups, so that tests end with their lane
trap 'for pid in "${lanes[@]}"; do kill -- -"$pid"; done 2>/dev/null' EXIT
trap 'exit 130' INT TERM HUP

# one_round MODE ROUND COMMAND...: each test that has so many runs, once.
one_round() {
	local mode=$1 log=$out/$1-$2.log names
	names=$(awk -v mode="$1" -v round="$2" '$1 == mode && $3 >= round {print $2}' <<<"$mine")
	[ -n "$names" ] || return 1
	if [ $SECONDS -ge $end ]; then
		echo "not run: $mode, round $2: $(wc -l <<<"$names") tests"
		status=1
		return 0
	fi
	shift 2
	if "$@" --test-dir $tests --stop-time "$stop" --output-on-failure -O "$log" -R "^(${names//$'\n'/|})\$" >/dev/null 2>&1; then
		sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*/skipped: \1/p' "$log" >>"$out/skipped"
		rm "$log"
		return 0
	fi
	status=1
	echo "$log:"
	awk '/ Passed | \*\*\*Skipped/ {next} /^ *[0-9]+\/[0-9]+ Test|stop time/' "$log"
}

# in_lanes MODE N: the rounds, N side by side.
in_lanes() {
	local lane round command
	for ((lane = 0; lane < $2; lane++)); do
		[ "$1" = load ] && command=(ctest -j 8) || command=(taskset -c $lane ctest -j 2)
		(
			for ((round = lane + 1; round <= runs; round += $2)); do one_round "$1" $round "${command[@]}" || break; done
			exit $status
		) &
		lanes+=($!)
	done
	for lane in "${lanes[@]}"; do wait "$lane" || status=1; done
	lanes=()
}

in_lanes load 2
echo "load: $(cut -d ' ' -f 1-3 /proc/loadavg)"
in_lanes core "$cores"
[ ! -s "$out/skipped" ] || sort "$out/skipped" | uniq -c
[ $status = 0 ] && echo "clean: shard $shard of $shards, $(awk '{n += $3} END {print n}' <<<"$mine") runs of $(awk '{print $2}' <<<"$mine" | sort -u | wc -l) tests"
exit $status
