#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CoreSight snapshots with sources that are not decoded (PTM, ETMv3, STM, what nobody knows, ETMv4 with data trace):
# each is told by name; alone they are a failed capture, beside a good source it is decoded as if they were not there.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

# device NAME TYPE REGISTER...: the file of a trace source.
device() {
	printf '[device]\nname=%s\nclass=trace_source\ntype=%s\n[regs]\n' "$1" "$2"
	shift 2
	printf '%s\n' "$@"
}

# core TYPE: its file, with 4 KiB of NOPs and a B.EQ at 1000.
core() {
	printf '[device]\nname=cpu_0\nclass=core\ntype=%s\n[regs]\nPC=0\n[dump1]\nfile=code.bin\naddress=0x1000\n' "$1"
}

# snapshot NAME CORE_TYPE SOURCE...: a directory whose sources are the device files SOURCE.ini that lie in it, each with a
# raw buffer SOURCE.bin.
snapshot() {
	local dir=$archive/$1 source n=1
	core "$2" >"$dir/cpu.ini"
	{ printf '\x40\x00\x00\x54'; for n in {1..1023}; do printf '\x1f\x20\x03\xd5'; done; } >"$dir/code.bin"
	shift 2
	{
		printf '[snapshot]\nversion=1.0\n[device_list]\ncore=cpu.ini\n'
		for source; do printf '%s=%s.ini\n' "$source" "$source"; done
		printf '[trace]\nmetadata=trace.ini\n'
	} >"$dir/snapshot.ini"
	{
		printf '[trace_buffers]\nbuffers=%s\n' "$(IFS=,; echo "$*")"
		for source; do printf '[%s]\nname=%s\nfile=%s.bin\nformat=source_data\n' "$source" "$source" "$source"; done
		printf '[source_buffers]\n'
		for source; do printf '%s=%s\n' "$source" "$source"; done
		printf '[core_trace_sources]\n'
		for source; do printf 'cpu_0=%s\n' "$source"; done
	} >"$dir/trace.ini"
	for source; do
		printf '\0\0\0\0\0\0\0\0\0\0\0\x80\x01\x00\x04\x82\x00\x08\x00\x00\x31\xf6' >"$dir/$source.bin"
	done
}

etm3=(ETMCR=0x2000cc00 ETMTRACEIDR=0x10 ETMIDR=0x4104f250 ETMCCER=0x18541800)
etm4=(TRCCONFIGR=1 TRCTRACEIDR=1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f420 TRCIDR2=0x488 TRCIDR8=0)
ete=(TRCCONFIGR=1 TRCTRACEIDR=2 TRCIDR0=0x28000ea1 TRCIDR1=0x4100fff0 TRCIDR2=0x488 TRCIDR8=0 TRCDEVARCH=0x47705a13)
mkdir "$archive"/{lacking,ptm,pft,etm3,stm,itm,unknown,bare,m4,m7,many,beside,good,none}
device PTM_0 PTM1.1 "${etm3[@]}" >"$archive/ptm/PTM_0.ini"; snapshot ptm Cortex-A15 PTM_0
device PTM_0 PFT1.1 "${etm3[@]}" >"$archive/pft/PTM_0.ini"; snapshot pft Cortex-A9 PTM_0
device ETM_0 ETM3.5 "${etm3[@]}" >"$archive/etm3/ETM_0.ini"; snapshot etm3 Cortex-A7 ETM_0
device STM_0 STM STMTCSR=0x200004 >"$archive/stm/STM_0.ini"; snapshot stm Cortex-A53 STM_0
device ITM_0 ITM 'ITMTCR(0xE80)=0' >"$archive/itm/ITM_0.ini"; snapshot itm Cortex-M4 ITM_0
device ODD_0 XYZ9 ODDREG=1 >"$archive/unknown/ODD_0.ini"; snapshot unknown Cortex-A53 ODD_0
device ETM_0 '' OTHER=1 >"$archive/bare/ETM_0.ini"; snapshot bare Cortex-A53 ETM_0
device ETM_0 ETM3.5 "${etm3[@]}" >"$archive/m4/ETM_0.ini"; snapshot m4 Cortex-M4 ETM_0
device ETM_0 ETM4.0 TRCCONFIGR=0x10001 "${etm4[@]:1}" >"$archive/m7/ETM_0.ini"; snapshot m7 Cortex-M7 ETM_0
for dir in many beside; do
	device PTM_0 PTM1.1 "${etm3[@]}" >"$archive/$dir/PTM_0.ini"
	device ETM_3 ETM3.5 "${etm3[@]}" >"$archive/$dir/ETM_3.ini"
	device STM_0 STM STMTCSR=0x120004 >"$archive/$dir/STM_0.ini"
	device ETM_D ETM4 TRCCONFIGR=0x10001 "${etm4[@]:1}" >"$archive/$dir/ETM_D.ini"
done
snapshot many Cortex-A53 PTM_0 ETM_3 STM_0 ETM_D
for dir in beside good; do device ETE_0 ETE "${ete[@]}" >"$archive/$dir/ETE_0.ini"; done
snapshot beside Cortex-A53 PTM_0 ETM_3 STM_0 ETM_D ETE_0
snapshot good Cortex-A53 ETE_0
device ETE_0 ETE TRCCONFIGR=1 TRCTRACEIDR=2 TRCIDR2=0x488 TRCDEVARCH=0x47705a13 >"$archive/lacking/ETE_0.ini"
snapshot lacking Cortex-A53 ETE_0
snapshot none Cortex-A53
printf '[trace_buffers]\nbuffers=b\n[b]\nfile=b.bin\nformat=source_data\n' >"$archive/none/trace.ini"
echo x >"$archive/none/b.bin"

timeout "$patience" "$hartfs" mount --wait --index-dir "$index" --log "$log" "$archive" "$mnt" >/dev/null 2>&1
[ $? = 3 ] || fail "mount --wait did not end with 3"

# refused CAPTURE PATTERN...: it fails, and says each of these.
refused() {
	local name=$1 pattern
	shift
	grep -q '"state": "failed"' "$mnt/$name@ete/info.json" || fail "$name: $(grep state "$mnt/$name@ete/info.json")"
	[ ! -e "$mnt/$name@ete/hart0" ] || fail "$name has a hart"
	for pattern; do
		grep -q -- "$pattern" "$mnt/$name@ete/errors.txt" ||
			fail "$name: no '$pattern': $(cat "$mnt/$name@ete/errors.txt")"
	done
	grep -q "\"$name" "$mnt/.hartfs/status.json" || fail "status.json says nothing of $name"
	"$hartfs" index -q --index-dir "$index" "$archive/$name" >/dev/null 2>&1 && fail "hartfs index of $name ended with 0"
}
refused ptm 'ptm/PTM_0.ini:4: PTM_0 (type PTM1.1) is not decoded: PTM is none'
refused pft 'PTM_0 (type PFT1.1) is not decoded: PTM is none'
refused etm3 'etm3/ETM_0.ini:4: ETM_0 (type ETM3.5) is not decoded: ETMv3 is none'
refused stm 'STM_0 (type STM) is not decoded: STM is none'
refused unknown 'unknown/ODD_0.ini:4: ODD_0 (type XYZ9) is not decoded: neither its type nor'
refused bare 'ETM_0 is not decoded: neither its type nor'
refused m4 'ETM_0 (type ETM3.5) is not decoded: ETMv3 is none'
refused m7 'ETM_0 (type ETM4.0) is not decoded: TRCCONFIGR = 0x10001 turns on data tracing'
refused many 'nor is .*PTM_0 (type PTM1.1)' 'ETM_D (type ETM4)' 'ETM_3 (type ETM3.5)' 'STM_0 (type STM)'
refused none 'no device of .device_list. that could be read has class = trace_source'

# An ITM is a hart without instructions: a byte of text, and then what is no packet of its.
printf '# text 0 "\\x00"\n' | cmp - <(head -n 1 "$mnt/itm@ete/hart0/listing.txt") || fail "itm: $(cat "$mnt/itm@ete/hart0/listing.txt")"

grep -q '"state": "ready"' "$mnt/beside@ete/info.json" || fail "beside: $(cat "$mnt/beside@ete/errors.txt")"
for source in 'PTM_0 (type PTM1.1)' 'ETM_3 (type ETM3.5)' 'STM_0 (type STM)' 'ETM_D (type ETM4)'; do
	[ "$(grep -c "warning: $source is not decoded: .*; the source is left out" "$mnt/beside@ete/errors.txt")" = 1 ] ||
		fail "beside, of $source: $(cat "$mnt/beside@ete/errors.txt")"
done
# One of them has the core of the good one and another configuration, which might be the damage.
grep -q 'TRCCONFIGR is not as that of ETM_D, which traces the same core' "$mnt/beside@ete/errors.txt" ||
	fail "beside: nothing is said of the two recordings of one core"
[ "$(wc -l <"$mnt/beside@ete/errors.txt")" = 5 ] || fail "beside: more than that: $(cat "$mnt/beside@ete/errors.txt")"
[ "$(cd "$mnt/beside@ete" && echo hart*)" = hart2 ] || fail "beside has $(cd "$mnt/beside@ete" && echo hart*)"
grep -q '"sources_refused":4' "$mnt/beside@ete/info.json" || fail "info.json: $(grep refused "$mnt/beside@ete/info.json")"
cmp -s "$mnt/beside@ete/hart2/listing.txt" "$mnt/good@ete/hart2/listing.txt" || fail "the good source is another beside others"
[ "$(grep -vc '^#' "$mnt/good@ete/hart2/listing.txt")" = 1 ] || fail "good: $(cat "$mnt/good@ete/hart2/listing.txt")"
[ ! -s "$mnt/good@ete/errors.txt" ] || fail "good: $(cat "$mnt/good@ete/errors.txt")"
grep -q 'lacking/ETE_0.ini: warning: ETE_0 (type ETE) has no TRCIDR0, TRCIDR8: what most' "$mnt/lacking@ete/errors.txt" ||
	fail "lacking: $(cat "$mnt/lacking@ete/errors.txt")"
do_umount
finish
