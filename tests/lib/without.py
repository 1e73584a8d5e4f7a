# SPDX-License-Identifier: Apache-2.0
# without.py WHAT COMMAND...: runs it as on a kernel without landlock, or without seccomp; WHAT: one of them, or both with a
# comma between them.
import ctypes, os, struct, sys

LOAD, EQUAL, RETURN, ALLOW, NOT_THERE = 0x20, 0x15, 0x06, 0x7FFF0000, 0x50000 | 38
LANDLOCK_CREATE_RULESET, SECCOMP, PRCTL, SET_SECCOMP, SET_NO_NEW_PRIVS = 444, 317, 157, 22, 38
NUMBER, FIRST_ARGUMENT = 0, 16
refused = {"landlock": [(EQUAL, 0, 1, LANDLOCK_CREATE_RULESET), (RETURN, 0, 0, NOT_THERE)],
           "seccomp": [(EQUAL, 0, 1, SECCOMP), (RETURN, 0, 0, NOT_THERE), (EQUAL, 0, 3, PRCTL), (LOAD, 0, 0, FIRST_ARGUMENT),
                       (EQUAL, 0, 1, SET_SECCOMP), (RETURN, 0, 0, NOT_THERE)]}
code = [(LOAD, 0, 0, NUMBER)]
for what in sys.argv[1].split(","):
    code += refused[what]
code.append((RETURN, 0, 0, ALLOW))
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None)
assert libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.prctl(SET_SECCOMP, 2, program, 0, 0) == 0
os.execvp(sys.argv[2], sys.argv[2:])
