#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_etrace_packet, _decode and _state anew: tests/fuzz/seeds_etrace.sh.
set -eu
cd "$(dirname "$0")"
packets=corpus/etrace_packet streams=corpus/etrace_decode blobs=corpus/etrace_state
mkdir -p "$packets" "$streams" "$blobs"

put() { # FILE HEX...: bytes
	local file=$1 hex
	shift
	hex=$(printf %s "$@" | tr -d ' ')
	printf "$(sed 's/../\\x&/g' <<<"$hex")" >"$file"
}
zeros() { printf '00%.0s' $(seq "$1"); }

# Twelve bytes of parameters and modes, and the payload.
put "$packets/f1" 61 01 00 00 04 "$(zeros 7)" 2D0042FE
put "$packets/f3" 65 01 00 00 04 "$(zeros 7)" 77000000803336000010
put "$packets/pulp" 888888888888888888888869 650100000400006700 10

# Streams: 16 bytes of parameters, the code's length and the code, then raw packets, each behind its length and type.
# A call of a loop that counts down, a load and a return; mret and ecall.
code='2800 97020000 1305A000 EF000001 1305F5FF E31C05FE 6F000000 03351500 8280 0100 73002030 73000000'
start='45 7300000020' step='41 1A  41 05  42 8504'
plain="0003050104 $(zeros 11) $code 41 1F $start $step"
put "$streams/plain" "$plain"
put "$streams/predict" 00030501 1400 330C "$(zeros 8)" "$code" 42 1FF8 "$start" 42 803E 41 1C
put "$streams/return" 000305010420 "$(zeros 10)" "$code" 42 1F01 "$start" 41 0D 45 7303000020 \
	4E 7701000000 08000000 40000000 08
put "$streams/encap" 0403050104 "$(zeros 4)" 08 "$(zeros 6)" "$code" "$(zeros 34)" \
	80 01 03 1F 05 03 7300000020 01 03 1A 01 03 05
# Data trace of a loop of a load, a store, an atomic and a CSR access, each packet before the report of its instruction,
# behind it, with split loads, and in an order that the description does not tell.
loop='1400 03A50500 23A0A500 2FA5C500 73150634 6FF01FFF' head='0103060105 00000000 0000'
start='42 1F20 45 7300000040' again='45 7300000040' report='41 22' more='41 02' last='41 4F'
load='64 10220008' other='64 12240208 66 8E50C0810001 64 05243418'
put "$streams/data-before" "$head" 00 02 000000 "$loop" "$start" "$load$other" "$report" "$load$other" "$more" "$again" \
	"$load" "$report" "$last" "$load$other"
put "$streams/data-late" "$head" 00 01 000000 "$loop" "$start" "$report" "$load$other" "$more" "$load" "$more" "$other" \
	"$load$other" "$again" "$report" "$last" "$load$other"
split() { # FILE ID-BITS ORDER REQUEST DATA OTHER
	put "$streams/$1" "$head" "$2" "$3" 000000 "$loop" "$start" "$report" "$4$5$6" "$more" "$4" "$more" "$5$6" "$4$5$6" \
		"$again" "$report" "$last" "$4$5$6"
}
split data-late-split 02 01 '63 300004' '62 3423' '64 12240208 65 8E42810001 62 570E 64 05243418'
split data-unsaid 03 00 '63 300008' '62 3446' '64 12240208 65 8E82020102 62 971C 64 05243418'
# What fuzzing found: tables that make a state too large, and code that goes on as packets.
put "$streams/large-state" 00030501041FFFF6 "$(zeros 8)" 2800 976D0000 130540A0 00EF0084 011305F5 FFE31C05 FE6F0000 \
	007FFFEF 48DF3F1C 05616C69 676E6D65 6E74FE6F 00000003 00CF "$(zeros 12)" 45 7300000020 41 0D 45 7303000020 \
	4E 7701000000 08000000 40000000 08
put "$streams/lost-data" 0003050104 "$(zeros 11)" 2800 97020000 1305A000 EF000001 1305F5FF E31C05FE 6F000000 03351500 \
	8280 1500 8280 0100 7300 20307300 "$(zeros 6)" 0100 73002030 73000000 41 1F 45 7300000020 "$step"
# The f0s_width that a support packet of 2.1 says, 3.
put "$streams/f0s-width" E203050104 "$(zeros 11)" $code 46 1F0030000000 45 7300000020 "$step"

# The state's length, a state that is none, then a stream.
put "$blobs/plain" 0300010001 "$plain"
