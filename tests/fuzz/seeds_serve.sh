#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of fuzz_serve_request and fuzz_serve_answer: each message once as it should be, and some that are cut or
# say too much.
set -eu
cd "$(dirname "$0")/corpus"
python3 - <<'PYTHON'
import struct

VERSION = 2

def u32(*values):
    return b"".join(struct.pack("<I", v & 0xffffffff) for v in values)

def text(s):
    return u32(len(s)) + s.encode() + b"\0"

def save(folder, name, message, data):
    open("%s/%s" % (folder, name), "wb").write(bytes([message]) + data)

ranged = u32(2, 1) + struct.pack("<qq", -5, 1 << 40)
equal = u32(0, 2) + text("boot/run.stf")
opened = u32(4, 0x1c, 1, 16, 0, 0, 2) + ranged + equal
save("serve_request", "open", 16, opened)
save("serve_request", "open_all", 16, u32(0, 0x7fffffff, 0, 8192, 0, 0, 0))
save("serve_request", "open_twice", 16, u32(4, 4, 0, 16, 0, 0, 2) + ranged + ranged)
save("serve_request", "open_cut", 16, opened[:-3])
save("serve_request", "open_zero_inside", 16, u32(4, 4, 0, 16, 0, 0, 1) + u32(0, 2) + u32(3) + b"a\0b\0")
save("serve_request", "open_column", 16, u32(4, 4, 0, 16, 0, 0, 1) + u32(31, 2) + text("x"))
among = u32(4, 3, 3) + struct.pack("<qqq", -7, 0, 1 << 62)
like = u32(8, 4) + text("%a_i%")
save("serve_request", "open_count", 16, u32(4, 0, 4, 1 << 30, 5, 0, 2) + among + like)
save("serve_request", "open_rows", 16, u32(4, 0, 0, 8193, 0, 0, 0))
save("serve_request", "open_among_none", 16, u32(4, 4, 0, 16, 0, 0, 1) + u32(4, 3, 0))
save("serve_request", "open_among_same", 16, u32(4, 4, 0, 16, 0, 0, 1) + u32(4, 3, 2) + struct.pack("<qq", 5, 5))
save("serve_request", "open_among_cut", 16, u32(4, 4, 0, 16, 0, 0, 1) + u32(4, 3, 4096) + struct.pack("<q", 5))
save("serve_request", "next", 17, u32(3, 32))
save("serve_request", "next_none", 17, u32(3, 0))
save("serve_request", "close", 18, u32(1023))
save("serve_request", "cancel", 19, b"")
save("serve_request", "cancel_more", 19, b"x")

def table(name, flags, *columns):
    return text(name) + u32(flags, len(columns)) + b"".join(text(c) + u32(f) for c, f in columns)

hello = u32(0x51534648, VERSION, 2) + table("capture", 0, ("capture", 9)) + \
    table("instruction", 3, ("capture", 11), ("hart", 10), ("ordinal", 40))
save("serve_answer", "hello", 1, hello)
save("serve_answer", "hello_cut", 1, hello[:-1])
save("serve_answer", "hello_version", 1, u32(0x51534648, VERSION + 1, 0))
save("serve_answer", "hello_name", 1, u32(0x51534648, VERSION, 1) + table("x); DROP", 0, ("a", 0)))
save("serve_answer", "hello_same", 1, u32(0x51534648, VERSION, 1) + table("t", 0, ("a", 0), ("a", 0)))
row = struct.pack("<q", 7) + b"\1" + struct.pack("<q", -1) + b"\2" + text("addi") + b"\0"
save("serve_answer", "rows", 2, u32(7) + u32(0, 1, 2) + row + row)
save("serve_answer", "rows_cut", 2, u32(7) + u32(0, 0, 2) + row + row[:9])
save("serve_answer", "rows_type", 2, u32(1) + u32(0, 0, 1) + struct.pack("<q", 7) + b"\3")
save("serve_answer", "rows_many", 2, u32(1) + u32(0, 0, (1 << 30) + 1))
save("serve_answer", "failed", 3, u32(1) + text("of which capture?"))
PYTHON
