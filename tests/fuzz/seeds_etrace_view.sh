#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the corpus of fuzz_etrace_view again: the numbers of the choices are those of the target's list.
set -eu
cd "$(dirname "$0")"
to=corpus/etrace_view
mkdir -p "$to"
mapfile -t choices < <(sed -n '/choices\[\] = {/,/^};/p' fuzz_etrace_view.c | grep -o '"[^"]*"' | tr -d '"')

seed() { # NAME WALK CHOICE...: WALK is a byte, its lowest two bits the program, the others enum hf_rvwalk_flags
	local name=$1 bytes="\\x00\\x$2" choice i
	shift 2
	for choice in "$@"; do
		for i in "${!choices[@]}"; do
			[ "${choices[i]}" != "$choice" ] || bytes+=$(printf '\\x%02x' "$i")
		done
	done
	printf "$bytes" >"$to/$name"
}
seed defaults ff
seed tables 8d version=2.1 options=implicit_return+branch_prediction+jump_target_cache+implicit_exception f0s_width=1 \
	mtvec=0x80000000 return_stack_size=1 cache_size=1 bpred_size=1
seed irets f6 version=2.1 support_options=standard options=implicit_return irets=1 resync_disabled=1 \
	sync_instructions=0 return_stack_size=1 call_counter_size=1
seed c111 40 profile=c111 resync_packets=3 options=implicit_return call_counter_size=1
seed python 81 profile=python resync_packets=1
seed encap fc framing=encap srcid_bits=16 type_bits=2 timestamp_bytes=8 data=1
seed smi fd framing=smi alignment=blocks block_bytes=64 data=1 compression=none
seed coresight fe framing=coresight version=1.1.1
seed pulp fc framing=pulp
seed esp32 fc framing=esp32 alignment=blocks block_bytes=100
seed data 7e data=1 lrid_width=1 mmacas=1 version=2.1 sync_instructions=7
seed filter 7e filter_privilege=U+S filter_address=80000000-80000200 context=asid context_change=imprecise
seed zcmt 7e zcmp=1 zcmt=1 no_address=1 data=1
printf '\1\0options=implicit_return,widths=1,return_stack_size=9' >"$to/text"
