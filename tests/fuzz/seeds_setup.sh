#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_capture_ini and fuzz_snapshot: small texts that hold several files, "@NAME" before each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/corpus/capture_ini"
cat >all <<'TEXT'
@capture.ini
; every kind of line
[capture]
format = toy
trace = a;b.bin
trace = "second, too" # the other
framing = encap
width = 3
[program]
raw = rom, address = 0x1000
raw = rom, address = 8192, offset = 2, size = 2, context = 7
[program 0x11]
raw = "rom", address = 010
[parameters]
step = 1
[parameters 17]
step = two words
@a;b.bin
abcde
@second, too
xyz
@rom
01234567
TEXT
printf '@capture.ini\n[capture]\nformat = toy\ntrace = t.gz\n@t.gz\nx' >packed
printf '@capture.ini\n[capture]\nformat = rv\ntrace = t\n[program]\nelf = t, bias = 4\n@t\n\177ELF\2\1\1' >elf
cat >maps <<'TEXT'
@capture.ini
[capture]
format = rv
trace = t
[program]
vdso = v
map = m, context = 5, root = r
map = m, root = "r/s", context = 6
@t
x
@v
vdso
@r/lib
code
@m
1000-2000 r-xp 00000000 08:01 1 /lib
3000-4000 rw-p 00001000 08:01 1 /lib
5000-6000 r-xp 00000000 00:00 0 [vdso]
7000-8000 r-xp 00001000 08:01 2 /../a/./b (deleted)
9000-a000 rwxp 00000000 00:00 0 
TEXT
printf '@capture.ini\n[capture]\nformat = toy\ntarce = x\n' >wrong
cd "$here/corpus/snapshot"
cat >all <<'TEXT'
@snapshot.ini
[device_list]
a=cpu
b=etm
c=etm2
[trace]
metadata=t
@cpu
[device]
name=cpu_0
class=core
location=here
[dump1]
file=x
address=0
length=2
offset=1
space=EL2
[dump2]
file=x
address=0x100
@etm
[device]
name=ETM
class=trace_source
type="ETE"
[regs]
TRCTRACEIDR(0x010) = 0x10
@etm2
[device]
name=ETM2
class=trace_source
[regs]
trctraceidr=16
TRCCONFIGR=1
@x
12345
@t
[trace_buffers]
buffers=b,c,
[b]
name=B
file=x,x
format=source_data
[c]
file=x
format=coresight
[source_buffers]
ETM=B(stream:0),c
ETM2=c
[core_trace_sources]
@here=ETM
cpu_0=ETM2
TEXT
