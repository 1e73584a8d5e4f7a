#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# cortex_m.py LOG DISASSEMBLY DIRECTORY: from QEMU's log of an M core (-singlestep -d exec,nochain,int) and the text of its
# program by llvm-objdump, what an ETMv4 without and with return stack (etm.bin, stack.bin) and an MTB (mtb.bin) would have
# written; pcs.txt and exceptions.txt are what the log has, mtb.pcs.txt what of it the MTB tells. The ring of the MTB is 64
# pairs; position.txt is its register.
import re
import struct
import sys

log, text, to = sys.argv[1:]
size, word = {}, {}
for line in open(text):
    m = re.match(r'\s*([0-9a-f]+):\s+((?:[0-9a-f]{4} ?)+)\s+(\S+)(.*)', line)
    if m:
        pc = int(m[1], 16)
        size[pc], word[pc] = 2 * len(m[2].split()), (m[3], m[4])

events = []
for line in open(log):
    if m := re.match(r'Trace 0: \S+ \[\w+/(\w+)/', line):
        events.append(['insn', int(m[1], 16)])
    elif m := re.search(r'taking pending (?:non)?(?:secure )?exception (\d+)', line):
        events.append(['exception', int(m[1]), None, False])
    elif m := re.match(r'Exception return: magic PC (\w+)', line):
        events.append(['return', int(m[1], 16)])
    elif 'tailchaining' in line:
        events.append(['tail'])
    elif m := re.search(r'loaded new PC 0x(\w+)', line):
        events[-1][2] = int(m[1], 16) & ~1 if events and events[-1][0] == 'exception' else None
events = [e for i, e in enumerate(events) if e[0] != 'tail' or events[i + 1].__setitem__(3, True)]
assert word[events[-1][1]][0] == 'bkpt', 'the program did not end'
end = events.pop()[1]



def returns():
    """Where each exception returns to: where the flow goes on when its handler, or the last one behind it, is left."""
    back, open_ones = {}, []
    for i, e in enumerate(events):
        if e[0] == 'exception' and not e[3]:
            open_ones.append(i)
        elif e[0] == 'return' and i + 1 < len(events) and events[i + 1][0] == 'insn':
            back[open_ones.pop()] = events[i + 1][1]
    return back


# QEMU logs an instruction before it looks for interrupts: if one comes, the instruction did not run, and is logged again.
again = {i - 1 for i, pc in returns().items() if events[i][1] != 11 and events[i - 1] == ['insn', pc]}
events = [e for i, e in enumerate(events) if i not in again]
back = returns()

BRANCH = re.compile(r'(b|bl|cbz|cbnz|wls|le)(eq|ne|lt|le|gt|ge|hs|lo|mi|pl|vs|vc|hi|ls)?(\.[nw])?$')
INDIRECT = re.compile(r'(bx|blx|tbb|tbh)')


def kind(pc):
    name, rest = word[pc]
    if INDIRECT.match(name) or (name.startswith('pop') and 'pc' in rest):
        return 'indirect'
    return 'isb' if name == 'isb' else 'direct' if BRANCH.match(name) else None


def after(i):
    """Where the flow went behind event i, an instruction, or None where it was an exception return."""
    if i + 1 == len(events):
        return end
    e = events[i + 1]
    return e[1] if e[0] == 'insn' else back[i + 1] if e[0] == 'exception' else None


def address(a):
    return bytes([a >> 1 & 0x7f, a >> 8 & 0xff, a >> 16 & 0xff, a >> 24])


def etm(stack):
    sync = bytes(11) + b'\x80\x01\x00'
    out, mode, links, since = sync + b'\x04\x83' + address(events[0][1]) + b'\0', 0, [], 0
    for i, e in enumerate(events):
        if e[0] == 'exception':
            number = e[1]
            kind_of = number if number < 16 else number - 16 + (0x10 if number < 24 else 0x200)
            out += b'\x06' + bytes([(kind_of & 31) << 1 | 1 | (0x80 if kind_of > 31 else 0)])
            out += bytes([kind_of >> 5]) if kind_of > 31 else b''
            mode = 3
            out += b'\x9b' + address(0xfffffffe if e[3] else back[i]) + b'\x83' + address(e[2]) + bytes([mode])
        elif e[0] == 'return':
            out += b'\x07'
            if events[i + 1][0] == 'insn':
                mode = 0 if e[1] & 8 else 3
                out += b'\x83' + address(events[i + 1][1]) + bytes([mode])
        elif kind(e[1]):
            pc, to = e[1], after(i)
            behind, how = pc + size[pc], kind(pc)
            taken = to != behind or how == 'isb'
            out += b'\xf7' if taken else b'\xf6'
            if taken and word[pc][0].startswith('bl') and word[pc][0] not in ('blt', 'ble', 'blo', 'bls'):
                links = (links + [behind])[-15:]
            if taken and how == 'indirect' and to is not None:
                if stack and links and links[-1] == to:
                    links.pop()
                else:
                    out += b'\x9b' + address(to)
            since += 1
            if how == 'direct' and since > 300 and to is not None:
                out, links, since = out + sync + b'\x83' + address(to) + bytes([mode]), [], 0
    return out + b'\x06\x31\x9b' + address(end)


def mtb():
    pairs, first = [], []
    for i, e in enumerate(events):
        if e[0] == 'exception' and not e[3]:
            pairs.append((back[i] | 1, e[2], i))
        elif e[0] == 'return':
            follow = events[i + 1]
            pairs.append((e[1] | 1, follow[1] if follow[0] == 'insn' else follow[2], i))
        elif e[0] == 'insn' and kind(e[1]) in ('direct', 'indirect'):
            to = after(i)
            if to is None:
                pairs.append((e[1], events[i + 1][1] & ~1, i))
            elif to != e[1] + size[e[1]]:
                pairs.append((e[1], to, i))
    return pairs


pairs = mtb()
assert len(pairs) > 64
at = len(pairs) % 64
kept = pairs[-64:]
ring = kept[64 - at:] + kept[:64 - at]
begin = kept[0][2] if not kept[0][0] & 1 else kept[0][2] + 1
pcs = [e[1] for e in events if e[0] == 'insn']
told = [e[1] for i, e in enumerate(events) if e[0] == 'insn' and begin <= i <= kept[-1][2]]
open(to + '/etm.bin', 'wb').write(etm(False))
open(to + '/stack.bin', 'wb').write(etm(True))
open(to + '/mtb.bin', 'wb').write(b''.join(struct.pack('<II', a, b) for a, b, _ in ring))
open(to + '/position.txt', 'w').write('0x%x\n' % (8 * at | 4))
for name, numbers in (('pcs', pcs), ('mtb.pcs', told)):
    open(to + '/' + name + '.txt', 'w').write(''.join('%x\n' % pc for pc in numbers))
open(to + '/exceptions.txt', 'w').write(''.join('%d\n' % e[1] for e in events if e[0] == 'exception'))
