#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hartN/where/: its files have the ordinals that a search of listing.txt finds, for every kind of question, with and without
# a summary, for chunks of any size, read whole, in pieces and at once; one spelling a value; what is no value, what cannot be
# told and what would take too long; names of any bytes.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "there is no python3"
capture_archive
cp "$HARTFS_DATA"/astf/a64-sys.astf "$archive/"
here=$(cd "$(dirname "$0")/.." && pwd)
rv=$mnt/boot/rv-sys@stf@gz/hart0

# judged HART riscv|arm COUNT [SAID]
judged() {
	timeout "$patience" python3 "$here/find/where.py" "$1" "$2" "${HARTFS_SEED:-1}" "$3" "${@:4}" >"$tmp/out" 2>&1 ||
		fail "chunks of $chunk, summary $summary: $(tail -n 5 "$tmp/out")"
}

# ---- against the listing ----
# Pieces of the captures, so that a plain reading of their listings takes no time.
mkdir "$tmp/parts"
cp "$archive/boot/rv-sys.elf" "$tmp/parts/rv.elf"
"$hartfs" cat --index-dir "$index" "$archive/boot/rv-sys.stf.gz" hart0/at/0-19999/trace.stf >"$tmp/parts/rv.stf" || fail "a piece of rv-sys"
"$hartfs" cat --index-dir "$index" "$archive/a64-sys.astf" hart0/at/0-9999/trace.astf >"$tmp/parts/a64.astf" || fail "a piece of a64-sys"
# The same with registers of each kind, which no capture here has.
"$hartfs" cat --index-dir "$index" "$tmp/parts/rv.stf" records.txt >"$tmp/records" || fail "records of a piece"
timeout "$patience" python3 "$here/find/registers.py" "$tmp/parts/rv.stf" "$tmp/records" 6000 "$tmp/parts/regs.stf" || fail "a piece with registers"
for how in on,1000 off,7 $(some '' on,16384); do
	summary=${how%,*} chunk=${how#*,} index=$tmp/index-$how
	mkdir "$index"
	archive=$tmp/parts do_mount --wait --chunk "$chunk" --summary="$summary"
	judged "$mnt/rv@stf/hart0" riscv 4
	judged "$mnt/a64@astf/hart0" arm 3
	judged "$mnt/regs@stf/hart0" riscv 8
	for name in x10 f3 v2 mstatus csr_7c0 pc; do
		[ -s "$mnt/regs@stf/hart0/where/register/$name" ] || fail "chunks of $chunk, summary $summary: nothing wrote $name"
	done
	for name in x30 v31 fcsr csr_7c1; do
		[[ -f $mnt/regs@stf/hart0/where/register/$name && ! -s $mnt/regs@stf/hart0/where/register/$name ]] ||
			fail "chunks of $chunk, summary $summary: something wrote $name"
	done
	do_umount
done

do_mount --wait

# ---- as a shell uses it ----
# All that is asked of the listing, in one go.
awk -v to="$tmp" '
	/^#/ {next}
	$3 == "0000000080001028" {
		printf "%20d\n", $1 >(to "/want")
		if (++n == 1000) print >(to "/thousandth")
	}
	$2 == "U" {printf "%20d\n", $1 >(to "/user")}
	/ W[0-9]+ 0000000080006980/ {printf "%20d\n", $1 >(to "/writes")}
	{last = $1}
	END {print last + 1 >(to "/count")}' "$rv/listing.txt"
cmp "$tmp/want" "$rv/where/pc/80001028" || fail "where/pc is not what awk finds"
# As the listing has addresses and opcodes, too.
cmp "$tmp/want" "$rv/where/pc/0000000080001028" || fail "where/pc by the listing's spelling"
[ -e "$rv/where/pc/0000000080001028-000000008000102a" ] || fail "a range by the listing's spelling"
listed=$(awk '!/^#/ && length($4) == 8 && $4 ~ /^0/ {print $4; exit}' "$rv/listing.txt")
short=$(awk '!/^#/ && length($4) == 4 && $4 ~ /^0/ {print $4; exit}' "$rv/listing.txt")
for opcode in $listed $short; do
	[ "$(stat -c %s "$rv/where/opcode/$opcode")" = "$(awk -v o="$opcode" '$4 == o {n += 21} END {print n}' "$rv/listing.txt")" ] || fail "where/opcode/$opcode"
done
n=$(dd if="$rv/where/pc/80001028" bs=21 skip=999 count=1 status=none)
[ "$n" = "$(sed -n 1000p "$tmp/want")" ] || fail "the thousandth by dd: $n"
[ $((n)) -gt 0 ] || fail "a shell does not count with '$n'"
grep -v '^#' "$rv/at/$((n))-$((n))/listing.txt" | cmp - "$tmp/thousandth" || fail "at/ of that"
tail -n 1 "$rv/where/pc/80001028" | cmp - <(tail -n 1 "$tmp/want") || fail "the last one"
tail -c 210 "$rv/where/mode/U" | cmp - <(tail -n 10 "$tmp/user") || fail "the end of where/mode/U"
while read -r n; do echo "$n"; done <"$rv/where/trap/5" | cmp - <(tr -d ' ' <"$rv/where/trap/5") || fail "read by a shell"
cp "$rv/where/call/fib" "$tmp/copy" && cmp "$tmp/copy" "$rv/where/call/fib" || fail "a copy"
"$hartfs" cat --index-dir "$index" "$archive/boot/rv-sys.stf.gz" hart0/where/call/fib | cmp - "$tmp/copy" || fail "cat without a mount"
[ "$(stat -c %s "$rv/where/pc/7")" = 0 ] || fail "what never ran is no empty file"

# ---- names ----
[ "$(ls "$rv/where")" = README.txt ] || fail "where/ lists $(ls "$rv/where")"
# It names every kind, and the example in it works.
[ "$(sed -n 's,/$,,p' "$rv/where/README.txt" | xargs)" = "access call gap mnemonic mode not-taken opcode pc read register symbol taken trap write" ] ||
	fail "where/README.txt: $(cat "$rv/where/README.txt")"
example=$(sed -n 's/.*bytes: tail -n 1 //p' "$rv/where/README.txt")
[ -s "$rv/where/${example:-nothing}" ] || fail "where/README.txt: there is no ${example:-example}"
[ -z "$(ls "$rv/where/pc")" ] || fail "where/pc lists something"
ls "$rv" | grep -qx where || fail "where is not listed"
[ -e "$rv/at/0-9/where" ] && fail "a slice has where/"
timeout "$patience" python3 - "$rv/where" "${HARTFS_SEED:-1}" \
	pc/xyz pc/080001028 pc/0x80001028 pc/8000102A pc/80001028-80001028 pc/2-1 pc/1- pc/-1 pc/-- 'pc/ 1' pc/ pc/10000000000000000 \
	pc/page call/080001028 call/0x80001028 call/nobody call/ symbol/80001028 symbol/page+28 symbol/page+0x028 symbol/page+0x0 \
	symbol/page+0xFF symbol/page+zz symbol/page@0 symbol/page@80001000 symbol/fib@1 symbol/fib@0x4001014e call/sort.constprop.0@040010246 \
	opcode/0fee79de3 opcode/fee79de3/ff opcode/FEE79DE3 opcode/123456789 mnemonic/ADDI 'mnemonic/add i' mnemonic/5 mode/W mode/u \
	trap/05 trap/0x5 trap/nonsense trap/-1 trap/ gap/0 gap/ gap/none write/80005360/8 write/0 read/00 taken/x taken/080001028 \
	value/5 register/a0 register/x010 register/X10 register/sp register/csr_300 register/r13_svc register/ nothing/1 PC/80001028 <<'END' || fail "names"
import errno, os, random, sys
where = sys.argv[1].encode()
for name in sys.argv[3:]:
    try:
        os.stat(where + b"/" + name.encode())
        # A kind itself, and an address.
        assert name.endswith("/") or name == "write/0", name
    except OSError as e:
        assert name != "write/0" and e.errno in (errno.ENOENT, errno.ENOTDIR), (name, e)
rng = random.Random(sys.argv[2])
kinds = [line[:-2] for line in open(where + b"/README.txt", "rb") if line.endswith(b"/\n")]
assert len(kinds) > 9
pieces = [b"0x", b"80001028", b"-", b"+", b"@", b"page", b"fib", b"ffffffffffffffff", b"any", b"00", b"\xff", b"\n", b"%s", b" ", b"5", b"A"]
known = (errno.ENOENT, errno.ENAMETOOLONG)
for n in range(500):
    name = b"".join(rng.choice(pieces) for _ in range(rng.randrange(1, 6)))
    if n % 3 == 0:
        name = bytes(rng.choice([c for c in range(1, 256) if c != 47]) for _ in range(rng.choice((1, 3, 16, 255, 256))))
    try:
        st = os.stat(where + b"/" + rng.choice(kinds) + b"/" + name)
        assert st.st_size % 21 == 0
    except OSError as e:
        assert e.errno in known, (name, e)
END
do_umount

# ---- what is not known yet ----
# The name is EAGAIN while the capture is being indexed; never ENOENT, which would read as "never".
index=$tmp/index-empty
mkdir "$index"
do_mount
size_comes() {
	size=$(stat -c %s "$rv/where/pc/80001028" 2>"$tmp/err") || ! grep -q 'Resource temporarily unavailable' "$tmp/err"
}
wait_until size_comes || fail "it is never indexed"
[ -n "$size" ] || fail "while it is indexed: $(cat "$tmp/err")"
[ "$size" = $((21 * 3072)) ] || fail "as soon as it is indexed: $size"
do_umount

# ---- what would take too long ----
# The capture twice in a row: without a summary more than a million instructions would have to be decoded.
index=$tmp/index
source() { "$hartfs" cat --index-dir "$index" "$archive/boot/rv-sys.stf.gz" "$1"; }
body=$(source records.txt 2>/dev/null | awk '$2 == "END_HEADER" {print $1 + 2; exit}')
mkdir "$tmp/long"
source source.stf >"$tmp/once"
tail -c +"$body" "$tmp/once" | cat "$tmp/once" - >"$tmp/long/twice.stf"
index=$tmp/index-long
mkdir "$index"
twice=$mnt/twice@stf/hart0
refused() {
	stat "$twice/where/$1" >"$tmp/out" 2>&1 && fail "$1 is there"
	grep -q 'File too large' "$tmp/out" || fail "$1: $(cat "$tmp/out")"
	"$hartfs" cat --index-dir "$index" "$tmp/long/twice.stf" "hart0/where/$1" 2>&1 | grep -q 'hartfs find' || fail "$1: cat does not say what to do"
}
archive=$tmp/long do_mount --wait --summary=off
refused pc/80001028
refused write/80006980
grep -q "where/pc/80001028 is not there: .* ask with hartfs find" "$mnt/.hartfs/log.txt" || fail "the log does not say why: $(cat "$mnt/.hartfs/log.txt")"
do_umount
# With one counts are in the lists, and only few chunks may write that word.
"$hartfs" index -q --index-dir "$index" "$tmp/long" || fail "index ended with $?"
archive=$tmp/long do_mount --wait
twice_of() { cat "$1" && awk -v n="$(cat "$tmp/count")" '{printf "%20d\n", $1 + n}' "$1"; }
twice_of "$tmp/want" | cmp - "$twice/where/pc/80001028" || fail "where/pc of twice"
twice_of "$tmp/writes" | cmp - "$twice/where/write/80006980" || fail "where/write of twice"
refused write/0-ffffffffffffffff
do_umount
# What damage leaves of it does not lead astray.
damage_pages "$index"/*.hfq
archive=$tmp/long do_mount --wait
refused pc/80001028
do_umount

# ---- what the lists promise, and the capture does not keep ----
# An instruction becomes another one, in place: neither size nor time tells that. Never are there wrong ordinals.
index=$tmp/index-changed
mkdir "$index" "$tmp/changed"
cp "$tmp/parts/rv.stf" "$tmp/changed/rv.stf"
archive=$tmp/changed do_mount --wait --chunk 1000 --summary=on
changed=$mnt/rv@stf/hart0
# One that was executed once, in the middle.
read -r opcode ordinal < <(awk '!/^#/ {n[$4]++; at[$4] = $1} END {for (o in n) if (n[o] == 1 && length(o) == 8 && at[o] > 7000 && at[o] < 13000) print o, at[o]}' \
	"$changed/listing.txt" | sort | head -n 1)
at=$(awk -v o="$opcode" '$2 == "INST_OPCODE32" && $3 == o {print $1}' "$mnt/rv@stf/records.txt")
opcode=$(printf %x $((16#$opcode)))
[ "$(cat "$changed/where/opcode/$opcode")" = "$(printf '%20d' "$ordinal")" ] || fail "opcode $opcode: $(cat "$changed/where/opcode/$opcode")"
do_umount
archive=$tmp/changed do_mount --wait --chunk 1000 --summary=on
[ "$(stat -c %s "$changed/where/opcode/$opcode")" = 21 ] || fail "opcode $opcode has another size"
touch -r "$tmp/changed/rv.stf" "$tmp/time"
printf '\x13\0\0\0' | dd of="$tmp/changed/rv.stf" bs=1 seek=$((at + 1)) conv=notrunc status=none
touch -r "$tmp/time" "$tmp/changed/rv.stf"
cat "$changed/where/opcode/$opcode" >"$tmp/out" 2>"$tmp/err" && [ -s "$tmp/out" ] && fail "an ordinal of an instruction that is gone: $(cat "$tmp/out")"
grep -q 'the summary is damaged and was removed' "$mnt/.hartfs/log.txt" || fail "the log does not tell: $(cat "$mnt/.hartfs/log.txt")"
is_gone() { [ "$(stat -c %s "$changed/where/opcode/$opcode")" = 0 ]; }
wait_until is_gone || fail "counted anew it is still there"
do_umount

# ---- what cannot be told ----
cannot_tell() {
	stat "$mnt/$1/hart0/where"/{register/x10,write/80006980} >"$tmp/out" 2>&1
	[ "$(grep -c 'not supported' "$tmp/out")" = 2 ] || fail "registers and writes of $1: $(cat "$tmp/out")"
}
index=$tmp/index-on,1000
mkdir "$tmp/told"
archive=$tmp/parts do_mount --wait --chunk 1000
cp -r "$mnt/rv@stf/hart0/etrace" "$tmp/told/packets"
do_umount
archive=$tmp/told do_mount --wait
packets=$mnt/packets@etrace/hart0
cannot_tell packets@etrace
awk '$3 == "0000000080001028" {printf "%20d\n", $1}' "$packets/listing.txt" | tee "$tmp/want" | cmp - "$packets/where/pc/80001028" && [ -s "$tmp/want" ] || fail "where/pc of packets"
do_umount
# A trace that could tell of accesses, but has none.
"$hartfs" cat --index-dir "$index" "$tmp/told/packets" hart0/trace.stf >"$tmp/told/none.stf" || fail "trace.stf of packets"
archive=$tmp/told do_mount --wait
cannot_tell none@stf
do_umount
finish
