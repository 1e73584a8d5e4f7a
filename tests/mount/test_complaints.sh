#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Descriptions and parameters that are wrong: whoever looks, in the mount or on the command line, is told the file, the
# line, what is wrong and what there could be instead.
set -u
. "$(dirname "$0")/../lib/mount.sh"
need_fuse

# elf FILE MACHINE: one of 64 bits for that e_machine, as printf has it, with a nop (RISC-V) at 0x80000000.
elf() {
	{
		printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0'"$2"'\0\x01\0\0\0'
		printf '\0\0\0\x80\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0'
		printf '\x01\0\0\0\x05\0\0\0\x78\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\x80\0\0\0\0'
		printf '\x04\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x13\0\0\0'
	} >"$1"
}

declare -A expected
# wrong NAME FORMAT WHAT: a capture whose description is standard input; "LINE: text" that begins the complaint.
wrong() {
	mkdir "$archive/$1"
	cat >"$archive/$1/capture.ini"
	# ProgTraceSync to 0x20010522, and 3 halfwords to the end of the trace.
	printf '\x24\x05\x44\x28\x20\x00\x43\x84\x10\x0f' >"$archive/$1/t"
	elf "$archive/$1/rv.elf" '\xf3'
	elf "$archive/$1/arm.elf" '\xb7'
	expected["$1@$2"]="$1/capture.ini:$3"
}
ntrace=$'[capture]\nformat = ntrace\ntrace = t'
etrace=$'[capture]\nformat = etrace\ntrace = t'

# Values that only the codec knows of.
wrong xlen ntrace "5: 'xlen = 48': it must be 32 or 64" <<<"$ntrace"$'\n[parameters]\nxlen = 48'
wrong narrow ntrace "7: 'xlen = 32': it must be 64, as the program is" <<<"$ntrace"$'\n[program]\nelf = rv.elf\n[parameters]\nxlen = 32'
wrong srcbits ntrace "5: 'srcbits = 13': it must be a number from 0 to 12" <<<"$ntrace"$'\n[parameters]\nsrcbits = 13'
wrong flag ntrace "5: 'all_jumps = yes': it must be 0 or 1" <<<"$ntrace"$'\n[parameters]\nall_jumps = yes'
wrong hart ntrace "7: 'zcmt = 2': it must be 0 or 1" <<<"$ntrace"$'\n[parameters]\nxlen = 32\n[parameters 3]\nzcmt = 2'
wrong nframing ntrace "4: 'framing = encap': it must be raw, coresight, coresight_sync or dstream_coresight" <<<"$ntrace"$'\nframing = encap'
wrong version etrace "6: 'version = 3': it must be 1.1.1, 2.0 or 2.1" <<<"$etrace"$'\nframing = encap\n[parameters]\nversion = 3'
wrong width etrace "5: 'iaddress_width = 65': it must be a number from 8 to 64" <<<"$etrace"$'\n[parameters]\niaddress_width = 65'
wrong modes etrace "5: 'options = implicit_jump': it must be a list of full_address," <<<"$etrace"$'\n[parameters]\noptions = implicit_jump'
wrong eframing etrace "4: 'framing = raw': it must be te_inst_raw, encap, smi, coresight, pulp or esp32" <<<"$etrace"$'\nframing = raw'
wrong noframing etrace "2: [capture] has no 'framing'" <<<"$etrace"
wrong register ete "5: 'TRCIDR2 = no': it must be a number" <<<$'[capture]\nformat = ete\ntrace = t\n[parameters 1]\nTRCIDR2 = no'
wrong failed ete "5: 'failed_transactions = x': it must be keep or drop" <<<$'[capture]\nformat = ete\ntrace = t\n[parameters 1]\nfailed_transactions = x\nTRCIDR2 = 0'
wrong unit ete "5: source 1 is not decoded: TRCDEVARCH = 0x47700a31 is neither ETE nor ETMv4" <<<$'[capture]\nformat = ete\ntrace = t\n[parameters 1]\nTRCDEVARCH = 0x47700a31'
# Keys, sections, formats.
wrong key ntrace "4: unknown key 'framming' (did you mean 'framing'?)" <<<"$ntrace"$'\nframming = raw'
wrong param ntrace "5: unknown key 'srcbit' (did you mean 'srcbits'?)" <<<"$ntrace"$'\n[parameters]\nsrcbit = 3'
wrong place ntrace "4: unknown key 'elf': it belongs to [program]" <<<"$ntrace"$'\nelf = rv.elf'
wrong section ntrace "4: unknown section [programm] (did you mean 'program'?): there are [capture], [program]," <<<"$ntrace"$'\n[programm]'
wrong twice ntrace "6: 'xlen' stands in line 5 already" <<<"$ntrace"$'\n[parameters]\nxlen = 32\nxlen = 64'
wrong format capture "2: unknown format 'ntrac' (did you mean 'ntrace'?): there are stf" <<<$'[capture]\nformat = ntrac\ntrace = t'
wrong noformat capture "1: [capture] has no 'format'" <<<$'[capture]\ntrace = t'
wrong notrace ntrace "2: [capture] has no 'trace'" <<<$'[capture]\nformat = ntrace'
wrong attribute ntrace "5: 'elf' of a program: unknown key 'bais' (did you mean 'bias'?): there are bias and context" <<<"$ntrace"$'\n[program]\nelf = rv.elf, bais = 4'
wrong common ntrace "5: 'srcbits' is of all harts: it belongs to [parameters]" <<<"$ntrace"$'\n[parameters 1]\nsrcbits = 3'
wrong wrap ntrace "6: 'wrap_offset = 4': it must be 0 with several trace files: a circular buffer is one file" <<<"$ntrace"$'\ntrace = rv.elf\n[parameters]\nwrap_offset = 4'
wrong far ntrace "5: 'wrap_offset = 10': it must be less than the 10 bytes of t" <<<"$ntrace"$'\n[parameters]\nwrap_offset = 10'
wrong words ntrace "5: 'word_bytes = 4': it must be 1: the 10 bytes of t are no whole words" <<<"$ntrace"$'\n[parameters]\nword_bytes = 4'
wrong wraptext ntrace "6: 'wrap_offset = 4': it must be 0 with a trace file that is text: convert it to bytes" <<<"$ntrace"$'\n[parameters]\ntext = hex\nwrap_offset = 4'
wrong text etrace "5: 'text = base64': it must be hex or hex_words" <<<"$etrace"$'\nframing = encap\ntext = base64'
wrong wrapgz ntrace "5: 'wrap_offset = 4': it must be 0 with a compressed trace file: unpack it" <<<$'[capture]\nformat = ntrace\ntrace = t.gz\n[parameters]\nwrap_offset = 4'
gzip -c "$archive/wrapgz/t" >"$archive/wrapgz/t.gz"
# Files.
wrong missing ntrace "5: 'none.elf' is no file within the archive" <<<"$ntrace"$'\n[program]\nelf = none.elf'
wrong outside ntrace "5: '../../x.elf' is no file within the archive, which ends at the directory that is mounted or indexed" <<<"$ntrace"$'\n[program]\nelf = ../../x.elf'
wrong noelf ntrace "5: 't' is no ELF program" <<<"$ntrace"$'\n[program]\nelf = t'
wrong nmachine ntrace "5: 'arm.elf' is for another machine (e_machine 183): format ntrace needs RISC-V (243)" <<<"$ntrace"$'\n[program]\nelf = arm.elf'
wrong emachine etrace "6: 'arm.elf' is for another machine (e_machine 183): format etrace needs RISC-V (243)" <<<"$etrace"$'\nframing = encap\n[program]\nelf = arm.elf'
wrong amachine ete "5: 'rv.elf' is for another machine (e_machine 243): format ete needs AArch64 (183) or Arm (40)" <<<$'[capture]\nformat = ete\ntrace = t\n[program]\nelf = rv.elf'
wrong packed ntrace "4: 't.gz': of several trace files none may be compressed" <<<"$ntrace"$'\ntrace = t.gz'
gzip -c "$archive/packed/t" >"$archive/packed/t.gz"

# Descriptions that are right, of programs that are not the ones that were traced.
right() { wrong "$1" ntrace "" <<<"$2"; unset "expected[$1@ntrace]"; }
right elsewhere "$ntrace"$'\n[program]\nelf = rv.elf'
right none "$ntrace"
right empty "$ntrace"
: >"$archive/empty/t"

# The log has them although they were found before the mount was ready.
do_mount --wait 2>"$tmp/told"
done_with() { [ -e "$mnt/$1/errors.txt" ] && [ ! -e "$mnt/$1/INDEXING" ]; }
for view in "${!expected[@]}" elsewhere@ntrace none@ntrace empty@ntrace; do
	wait_until done_with "$view" || fail "$view does not come"
done
for view in "${!expected[@]}"; do
	text=${expected[$view]}
	grep -qF -- "$text" "$mnt/$view/errors.txt" ||
		fail "errors.txt of $view says '$(cat "$mnt/$view/errors.txt")' instead of '$text'"
	grep -qF "\"error\": \"$text" "$mnt/$view/info.json" || fail "info.json of $view: $(cat "$mnt/$view/info.json")"
	grep -qF "$text" "$mnt/.hartfs/status.json" || fail "status.json says nothing of $text"
	grep -qF "$text" "$log" || fail "the log says nothing of $text"
done
grep -q 'elsewhere: .*no instruction at address 20010522' "$mnt/elsewhere@ntrace/errors.txt" ||
	fail "code that is not in the program: $(cat "$mnt/elsewhere@ntrace/errors.txt")"
grep -q "^none/capture.ini:2: warning: no \[program\] with an 'elf' or 'raw'" "$mnt/none@ntrace/errors.txt" ||
	fail "no program: $(cat "$mnt/none@ntrace/errors.txt")"
grep -q "^empty/capture.ini:3: warning: 't' is empty" "$mnt/empty@ntrace/errors.txt" ||
	fail "no trace: $(cat "$mnt/empty@ntrace/errors.txt")"
do_umount

"$hartfs" index --index-dir "$index" "$archive" >"$tmp/out" 2>&1
for view in "${!expected[@]}"; do
	grep -qF "${expected[$view]}" "$tmp/out" || fail "hartfs index says nothing of ${expected[$view]}"
done
"$hartfs" cat --index-dir "$index" "$archive/xlen" hart0/listing.txt >/dev/null 2>"$tmp/out" && fail "cat succeeds"
grep -qF "capture.ini:5: 'xlen = 48': it must be 32 or 64" "$tmp/out" || fail "cat: $(cat "$tmp/out")"

# Parameters of views: by the option as it was written, or by the line of hartfs.conf.
refused() {
	local text=$1
	shift
	"$hartfs" mount --index-dir "$index" "$@" "$archive" "$mnt" 2>"$tmp/err"
	[ $? = 2 ] || fail "$* is taken"
	grep -qF -- "$text" "$tmp/err" || fail "$*: '$(cat "$tmp/err")' instead of '$text'"
}
refused "-o ntrace.mod=btm: ntrace has no parameter 'mod' (did you mean 'mode'?)" -o ntrace.mod=btm
refused "--param ntrace.mode=x: mode must be btm or htm" --param ntrace.mode=x
refused "--param ntrace.srcbits=13: srcbits must be a number from 0 to 12" -o ro,ntrace.mode=btm --param ntrace.srcbits=13
refused "-o ete.return_stack=2: return_stack must be a number from 0 to 1" -o ete.return_stack=2
refused "-o etrace.bpredsize=4: etrace has no parameter 'bpredsize' (did you mean 'bpred_size'?)" -o etrace.bpredsize=4
refused "-o etrace.profile=x: 'profile = x': it must be exact, c111 or python" -o etrace.profile=x
refused "-o entrace.mode=btm: there is no view entrace with parameters (did you mean 'etrace'?)" -o entrace.mode=btm
refused "--param ntrace.mode: it is not VIEW.key=value" --param ntrace.mode
refused "--param ntrace.mode=btm: it is given twice" -o ntrace.mode=htm --param ntrace.mode=btm
# Two that go together only with a third, which comes last; and one that the others do not go with.
"$hartfs" info --json --index-dir "$index" --param etrace.options=implicit_exception --param etrace.mtvec=0x80000000 \
	"$archive/none" >/dev/null || fail "a parameter that another one needs is not waited for"
refused "--param etrace.cache_size=9: jump_target_cache needs a cache_size of 1 to 8" \
	--param etrace.options=jump_target_cache --param etrace.cache_size=9

conf() {
	cat >"$archive/hartfs.conf"
	"$hartfs" index -q --index-dir "$index" "$archive" 2>"$tmp/err" && fail "index takes $1"
	grep -qF "$1" "$tmp/err" || fail "index: '$(cat "$tmp/err")' instead of '$1'"
}
conf "hartfs.conf:2: ntrace.mod=btm: ntrace has no parameter 'mod' (did you mean 'mode'?)" <<<$'; parameters\nntrace.mod = btm'
conf "hartfs.conf:3: etrace.version=3: " <<<$'ntrace.mode = btm\n\netrace.version = 3'
conf "hartfs.conf:2: ntrace.mode=btm: it is given twice" <<<$'ntrace.mode = btm\nntrace.mode = btm'
conf "hartfs.conf:1: [ntrace]: it has no sections" <<<$'[ntrace]\nmode = btm'
conf "hartfs.conf:1: this is no 'VIEW.key = value'" <<<"mode"
conf "hartfs.conf:1: astf.width=80: there is no view astf with parameters" <<<"astf.width = 80"
conf "hartfs.conf:1: listing.width=80: listing has no parameter 'width'" <<<"listing.width = 80"
finish
