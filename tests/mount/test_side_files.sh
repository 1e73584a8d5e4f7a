#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files beside a trace that are damaged: a cut ELF, a description with a wrong line, a dump that is too short. What is
# lost by that is said in errors.txt, with file and line, and of what is whole nothing is said.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
short_archive

# An ELF beside its capture, and the same in a description: the section table at its end is gone.
elf=$archive/boot/rv-sys.elf
mkdir "$archive/whole" "$archive/cut"
for name in whole cut; do
	printf '%s\n' '[capture]' 'format = ntrace' 'trace = t' '[program]' 'elf = p.elf' >"$archive/$name/capture.ini"
	printf '\x24\x05\x44\x28\x20\x00\x43\x84\x10\x0f' >"$archive/$name/t"
done
cp "$elf" "$archive/whole/p.elf"
head -c -700 "$elf" >"$archive/cut/p.elf"
mkdir "$archive/good"
mv "$archive/boot/rv-sys.stf.gz" "$elf" "$archive/good"
cp "$archive/good/rv-sys.stf.gz" "$archive/boot"
cp "$archive/cut/p.elf" "$elf"

# snapshot NAME: one core, recorded twice by its ETE: one hart. Its dump has 8 bytes.
snapshot() {
	local d=$archive/$1 n
	mkdir "$d"
	printf '%s\n' '[snapshot]' 'version=1.0' '[device_list]' 'device0=cpu.ini' 'device1=ete0.ini' 'device2=ete1.ini' \
		'[trace]' 'metadata=trace.ini' >"$d/snapshot.ini"
	printf '%s\n' '[device]' 'name=cpu_0' 'class=core' 'type=Cortex-A710' '[dump0]' 'file=dump.bin' 'address=0x1000' \
		'length=8' >"$d/cpu.ini"
	printf '\x1f\x20\x03\xd5\x1f\x20\x03\xd5' >"$d/dump.bin"
	for n in 0 1; do
		printf '%s\n' '[device]' "name=ETE_$n" 'class=trace_source' 'type=ETE' '[regs]' 'TRCTRACEIDR(0x010)=0x10' \
			'TRCCONFIGR(0x004)=0x1' 'TRCIDR0=0x28000ea1' 'TRCIDR2=0x488' 'TRCIDR8=0' >"$d/ete$n.ini"
		printf '\0\0\0\0\0\0\0\0\0\0\0\x80' >"$d/trace$n.bin"
	done
	printf '%s\n' '[trace_buffers]' 'buffers=b0,b1' '[b0]' 'name=b0' 'file=trace0.bin' 'format=source_data' '[b1]' \
		'name=b1' 'file=trace1.bin' 'format=source_data' '[core_trace_sources]' 'cpu_0=ETE_0' '[source_buffers]' \
		'ETE_0=b0' 'ETE_1=b1' >"$d/trace.ini"
}
declare -A expected
# damage NAME FILE SED-SCRIPT LINE
damage() {
	snapshot "$1"
	sed -i "$3" "$archive/$1/$2"
	cmp -s "$archive/$1/$2" "$archive/snapshot/$2" && fail "$1 is not damaged"
	expected[$1]=$1/$4
}
snapshot snapshot
damage register ete1.ini 's/^TRCCONF.*/TRCCONFIGR(0x004)=0x9/' \
	'ete1.ini:7: warning: TRCCONFIGR(0x004) is not as that of ETE_0, which traces the same core: they are harts 144 and 16'
damage gone ete1.ini '/^TRCCONF/d' \
	'ete1.ini: warning: TRCCONFIGR(0x004) is missing, and ETE_0, which traces the same core, has it: they are harts 144 and 16'
damage id ete1.ini 's/=0x10$/=0x11/' \
	'ete1.ini:6: warning: TRCTRACEIDR(0x010) is not as that of ETE_0, which traces the same core: they are harts 17 and 16'
damage line ete1.ini 's/^TRCCONFIGR(0x004)=/TRCCONFIGR(0x004)-/' \
	'ete1.ini:7: warning: this is neither [section] nor key = value: it is passed over'
damage class ete1.ini 's/trace_source/trace_sourxe/' \
	"ete1.ini:3: warning: ETE_1 has a trace id, and its class is 'trace_sourxe', not trace_source: it is left out"
damage stranger trace.ini 's/^ETE_1=/ETE_i=/' "trace.ini:15: warning: no device is called 'ETE_i'"
damage core trace.ini 's/^cpu_0=ETE_0/cpu_0=ETE_O/' "trace.ini:12: warning: no device is called 'ETE_O'"
damage dump cpu.ini 's/^length=8/length=16/' "cpu.ini:5: warning: 'dump.bin' has 8 of the 16 bytes: the rest is not known"

# The same names in an ELF of x86.
mkdir "$archive/other"
cp "$archive/good/rv-sys.stf.gz" "$archive/good/rv-sys.elf" "$archive/other"
printf '\x3e' | dd of="$archive/other/rv-sys.elf" bs=1 seek=18 conv=notrunc status=none

do_mount --wait
for name in "${!expected[@]}"; do
	[[ $(cat "$mnt/$name@ete/errors.txt")$'\n' == *"${expected[$name]}"$'\n'* ]] ||
		fail "errors.txt of $name: '$(cat "$mnt/$name@ete/errors.txt")' instead of '${expected[$name]}'"
done
grep warning "$mnt/snapshot@ete/errors.txt" && fail "a whole snapshot has warnings"
[ "$(cd "$mnt/snapshot@ete" && echo hart*)" = hart16 ] || fail "a whole snapshot has $(ls "$mnt/snapshot@ete")"
grep -q '^cut/capture.ini:5: warning: .p.elf. gives no symbols: file offset 23488: the file ends too early$' \
	"$mnt/cut@ntrace/errors.txt" || fail "errors.txt of cut: $(cat "$mnt/cut@ntrace/errors.txt")"
grep warning "$mnt/whole@ntrace/errors.txt" && fail "a whole ELF of a description has warnings"
grep -q '^boot/rv-sys.elf: warning: it gives no symbols: file offset 23488: the file ends too early$' \
	"$mnt/boot/rv-sys@stf@gz/errors.txt" || fail "errors.txt of boot: $(cat "$mnt/boot/rv-sys@stf@gz/errors.txt")"
[ -s "$mnt/good/rv-sys@stf@gz/errors.txt" ] && fail "a whole ELF: $(cat "$mnt/good/rv-sys@stf@gz/errors.txt")"
grep -qm1 '<' "$mnt/good/rv-sys@stf@gz/hart0/listing.txt" || fail "a whole ELF gives no symbols"
other=$mnt/other/rv-sys@stf@gz
grep -q '^other/rv-sys.elf: warning: it gives no symbols: it is code of another machine than the trace$' "$other/errors.txt" ||
	fail "an ELF of another machine: $(cat "$other/errors.txt")"
grep -qm1 '<' "$other/hart0/listing.txt" && fail "names of another machine in the listing"
[ "$(stat -c %s "$other/hart0/program.elf")" -lt "$(stat -c %s "$mnt/good/rv-sys@stf@gz/hart0/program.elf")" ] ||
	fail "names of another machine in program.elf"
do_umount
finish
