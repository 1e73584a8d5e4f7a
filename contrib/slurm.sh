#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# contrib/slurm with a Slurm of its own (Debian's slurm-wlm, as root): one node with two slots, on this machine. An array
# over shards of one archive, beside an array for another archive, into one index directory: one task is killed and
# requeued, one of the other archive has a capture that nobody can decode. Then two mounts with that index must show what an index of their own shows.
#	contrib/slurm.sh [COPIES]	captures in each archive (12), each an index of its own
set -eu
cd "$(dirname "$0")/.."
. contrib/packages.sh
[ "$(id -u)" = 0 ] || { echo "only root can start a Slurm" >&2; exit 1; }
install_packages slurm-wlm
copies=${1:-12}
hartfs=${HARTFS_BIN:-$PWD/build/release/hartfs}
job=$PWD/contrib/slurm/hartfs-index.sbatch
work=$(mktemp -d)
mkdir "$work"/{spool,state,one,two,index,own,mnt1,mnt2,bin}
ln -s "$hartfs" "$work/bin/hartfs"
cat >"$work/slurm.conf" <<END
ClusterName=try
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 RealMemory=4096 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
export SLURM_CONF=$work/slurm.conf PATH=$work/bin:$PATH
end() {
	for mnt in "$work"/mnt*; do "$hartfs" umount --quiet --lazy "$mnt" 2>/dev/null || true; done
	for daemon in slurmd slurmctld; do
		# It removes the file when it ends.
		pid=$(cat "$work/$daemon.pid" 2>/dev/null) || continue
		kill "$pid" && tail -s 0.1 -f /dev/null --pid "$pid"
	done
	rm -rf --one-file-system "$work"
}
trap end EXIT
until_true() { for _ in {1..6000}; do "$@" && return; sleep 0.1; done; echo "never: $*" >&2; squeue -a >&2; exit 1; }
state() { scontrol show job "$1" -o 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p' | tail -n 1; }
is() { [ "$(state "$1")" = "$2" ]; }

for ((i = 0; i < copies; i++)); do
	for archive in one two; do
		cp tests/data/archive/boot/rv-sys.stf.gz "$work/$archive/t$i.stf.gz"
		touch -d "@$((1500000000 + i))" "$work/$archive/t$i.stf.gz"
	done
done
# It looks like a capture, and its first record is not one.
{ head -c 64 tests/data/archive/mini/rv32-mini.stf; head -c 4000 /dev/zero | tr '\0' '\377'; } >"$work/two/bad.stf"

slurmctld
slurmd -N "$(hostname -s)"
until_true eval 'sinfo -h -o %T | grep -q idle'
submit() { sbatch --parsable --mem-per-cpu=500M --requeue --array="$1" -o "$work/%A_%a.out" "$job" "$work/$2" "$work/index"; }
one=$(submit 0-3 one) two=$(submit 0-3 two)
echo "two arrays of four tasks on one node with two slots: $(sinfo -h -o '%n %c CPUs')"
# The program of a task that runs: killed, as by a machine without memory. Slurm makes that FAILED, and we queue it again.
victim() { pgrep -f "index --jobs 1 --index-dir $work/index --shard [0-9]*/4 $work/one" | head -n 1; }
until_true eval '[ -n "$(victim)" ]'
pid=$(victim)
shard=$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 's,/4$,,p')
kill -9 "$pid"
until_true is "${one}_$shard" FAILED
echo "task $shard was killed: $(state "${one}_$shard")"
scontrol requeue "${one}_$shard"
until_true eval '[ -z "$(squeue -h)" ]'
failed=0
for id in "$one" "$two"; do
	for task in 0 1 2 3; do
		code=$(scontrol show job "${id}_$task" -o | sed -n 's/.* ExitCode=\([0-9]*\):.*/\1/p')
		echo "array $id task $task: $(state "${id}_$task"), status $code, $(grep -c ': indexed$' "$work/${id}_$task.out") indexed," \
			"restarts $(scontrol show job "${id}_$task" -o | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')"
		[ "$code" = 0 ] || failed=$((failed + 1))
	done
done
[ "$failed" = 1 ] || { echo "WRONG: $failed tasks failed, and one has a capture that cannot be decoded" >&2; exit 1; }

wrong=0
for archive in one two; do
	for mnt in mnt1 mnt2; do
		"$hartfs" mount --index-dir "$work/index" "$work/$archive" "$work/$mnt"
	done
	for ((i = 0; i < copies; i++)); do
		want=$("$hartfs" cat --index-dir "$work/own" "$work/$archive/t$i.stf.gz" hart0/listing.txt | sha256sum)
		for mnt in mnt1 mnt2; do
			[ "$(sha256sum <"$work/$mnt/t$i@stf@gz/hart0/listing.txt")" = "$want" ] || wrong=$((wrong + 1))
		done
	done
	for mnt in mnt1 mnt2; do
		[ "$(sed -n 's/^hartfs_indexed_total //p' "$work/$mnt/.hartfs/metrics.prom")" = 0 ] ||
			{ echo "WRONG: $mnt indexed again" >&2; wrong=$((wrong + 1)); }
		"$hartfs" umount "$work/$mnt"
	done
done
echo "two mounts of each archive: $wrong of $((copies * 4)) listings wrong, nothing was indexed again"
[ "$wrong" = 0 ]
