#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looks for tests that a machine's speed, or other processes, decide: each that waits runs 20 times at a load of 15, among
# others and beside loops that only compute, and 20 times on one core.
#   contrib/flaky.sh [--shard I/N] [--runs N] [--list] [REGEX]     REGEX: of those tests only these, as of ctest -R
# Runs are dealt to N shards by what ctest knows of their times, also those of one test. A shard takes at most 60 minutes:
# what has not ended by then is told. It is clean, and the status 0, if every run was made and none failed; outputs of
# runs that failed stay in build/flaky. The release build must be there, and is better run through ctest once before.
set -u
cd "$(dirname "$0")/.."
tests=build/release
side_by_side=7 load=15 minutes=60 cores=$(nproc)
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

# Lines "MODE TEST RUNS" of this shard. One run beside a load lasts eight times as long, and takes a seventh of the shard.
deal() {
	awk -v cores="$cores" -v costs=$tests/Testing/Temporary/CTestCostData.txt '
		BEGIN {while ((getline line <costs) > 0 && line != "---") {split(line, f, " "); cost[f[1]] = f[3]}}
		{c = cost[$1] > 0.2 ? cost[$1] : 0.2; print c * 8 / 7, "load", $1; print c / cores, "core", $1}' |
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
loops=() ctest=
set -m # groups, so that tests end with ctest
trap 'for pid in $ctest "${loops[@]}"; do kill -- -"$pid"; done 2>/dev/null' EXIT
trap 'exit 130' INT TERM HUP

# one_round MODE ROUND COMMAND...: each test that has so many runs, once.
one_round() {
	local mode=$1 log=$out/$1-$2.log names
	names=$(awk -v mode="$1" -v round="$2" '$1 == mode && $3 >= round {print $2}' <<<"$mine")
	[ -n "$names" ] || return 1
	if [ $SECONDS -ge $end ]; then
		echo "not run: $mode, round $2 and later: ${names//$'\n'/ }"
		status=1
		return 1
	fi
	shift 2
	"$@" --test-dir $tests --stop-time "$stop" --output-on-failure -O "$log" -R "^(${names//$'\n'/|})\$" >/dev/null 2>&1 &
	ctest=$!
	if wait $ctest; then
		ctest=
		sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*/skipped: \1/p' "$log" >>"$out/skipped"
		rm "$log"
		return 0
	fi
	ctest= status=1
	echo "$log:"
	awk '/ Passed | \*\*\*Skipped/ {next} /^ *[0-9]+\/[0-9]+ Test|stop time/' "$log"
}

for ((i = side_by_side; i < load; i++)); do
	# Ends with this script, also if that is killed.
	(while [ -e /proc/$$ ]; do for _ in {1..20000}; do :; done; done) &
	loops+=($!)
done
disown "${loops[@]}"
for ((round = 1; round <= runs; round++)); do one_round load $round ctest -j $side_by_side || break; done
for i in "${loops[@]}"; do kill -- -"$i"; done
loops=()
for ((core = 0; core < cores; core++)); do
	(
		for ((round = core + 1; round <= runs; round += cores)); do
			one_round core $round taskset -c $core ctest -j 2 || break
		done
		exit $status
	) &
	loops+=($!)
done
for i in "${loops[@]}"; do wait "$i" || status=1; done
[ ! -s "$out/skipped" ] || sort "$out/skipped" | uniq -c
[ $status = 0 ] && echo "clean: shard $shard of $shards, $(awk '{n += $3} END {print n}' <<<"$mine") runs of $(awk '{print $2}' <<<"$mine" | sort -u | wc -l) tests"
exit $status
