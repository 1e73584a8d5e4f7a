# SPDX-License-Identifier: Apache-2.0
"""What perf and OpenCSD have of a perf.data, without anything of hartfs.

perf_judge.py counts DUMP              the records of each type, of a dump of `perf script -D`, as records.txt has them
perf_judge.py bytes DUMP DATA OUT      the bytes of all recordings, in the order of time
perf_judge.py pcs DUMP STREAM DIR [RECORDED_NAME=FILE | ADDRESS=FILE@OFFSET]...
                                       the instructions that OpenCSD finds in them, in STREAM; DIR is for snapshots
"""
import collections, os, re, subprocess, sys

LINE = re.compile(r"^(?:(-?\d+) (\d+) )?0x([0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_(\w+)(.*)")
PAIR = re.compile(r"(\w+): +(?:0x)?([0-9a-f]+)")
KINDS = {"5": "ETE", "4": "ETM4"}


def records(dump):
    for line in open(dump, errors="replace"):
        match = LINE.match(line)
        if match:
            yield match[4], match[1], int(match[2] or 0), int(match[3], 16), match[5]


def numbers(rest):
    return {key: int(value, 16) for key, value in PAIR.findall(rest)}


def pieces(dump):
    """(place in the file, size, CPU, raw) of each recording that has bytes, in the order of time."""
    buffers, found = [], []
    for kind, _, _, at, rest in records(dump):
        if kind == "AUXTRACE":
            of = numbers(rest)
            buffers.append((of["offset"], of["size"], at + 0x30, re.search(r"cpu: (-?\d+)", rest)[1]))
    for kind, cpu, time, _, rest in records(dump):
        if kind != "AUX":
            continue
        of = numbers(rest.split("[")[0])
        if of["flags"] & 2:
            of["offset"] -= of["size"]  # it is where the recording ends
        for offset, size, at, of_cpu in buffers:
            if of["size"] and of_cpu in (cpu, "-1") and offset <= of["offset"] and of["offset"] + of["size"] <= offset + size:
                found.append((time, at + of["offset"] - offset, of["size"], int(cpu), of["flags"] >> 8 & 1))
                break
    return [piece[1:] for piece in sorted(found, key=lambda piece: piece[0])]


def units(dump):
    """The registers of each CPU's trace unit."""
    found = []
    for line in open(dump, errors="replace"):
        match = re.match(r"^\t([A-Z][\w ]*?)\s+([0-9a-f]+)$", line)
        if match and match[1] == "Magic number":
            found.append({"kind": KINDS[match[2][0]]})
        elif match and found and (match[1] == "CPU" or match[1].startswith("TRC")):
            found[-1][match[1]] = int(match[2], 16)
    return found


def images(dump, programs):
    """(address, file, offset, size) of the code that is there."""
    named = dict(word.split("=", 1) for word in programs)
    found = set()
    for kind, _, _, _, rest in records(dump):
        match = re.search(r"\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+).*?\]: (\S+) (.*)", rest)
        if kind.startswith("MMAP") and match and "x" in match[4] and match[5] in named:
            address, size, offset = (int(match[i], 16) for i in (1, 2, 3))
            size = min(size, os.path.getsize(named[match[5]]) - offset)
            found.add((address, named[match[5]], offset, size))
    for name, file in named.items():
        if name.startswith("0x"):
            file, offset = file.split("@")
            found.add((int(name, 16), file, int(offset, 0), os.path.getsize(file) - int(offset, 0)))
    return sorted(found)


def snapshot(where, trace, raw, those, code):
    os.makedirs(where)

    def write(name, text):
        with open(os.path.join(where, name), "w") as file:
            file.write(text)

    with open(os.path.join(where, "trace.bin"), "wb") as file:
        file.write(trace)
    core = ""
    for i, (address, name, offset, size) in enumerate(code):
        core += f"\n[dump{i}]\nfile=code{i}.bin\naddress={address:#x}\nlength={size:#x}\n"
        with open(name, "rb") as source, open(os.path.join(where, f"code{i}.bin"), "wb") as file:
            source.seek(offset)
            file.write(source.read(size))
    devices, buffers, cores = "", "", ""
    for i, unit in enumerate(those):
        write(f"cpu{i}.ini", f"[device]\nname=cpu{i}\nclass=core\ntype=ARM-AA64\n\n[regs]\nPC(size:64)=0\n{core}")
        registers = "".join(f"{key}={value & 0x7f if key == 'TRCTRACEIDR' else value:#x}\n"
                            for key, value in unit.items() if key.startswith("TRC"))
        write(f"unit{i}.ini", f"[device]\nname=unit{i}\nclass=trace_source\ntype={unit['kind']}\n\n[regs]\n{registers}")
        devices += f"cpu{i}=cpu{i}.ini\nunit{i}=unit{i}.ini\n"
        buffers += f"unit{i}=BUFFER\n"
        cores += f"cpu{i}=unit{i}\n"
    write("snapshot.ini", f"[snapshot]\nversion=1.0\n\n[device_list]\n{devices}\n[trace]\nmetadata=trace.ini\n")
    write("trace.ini", "[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=BUFFER\nfile=trace.bin\nformat="
          f"{'source_data' if raw else 'coresight'}\n\n[source_buffers]\n{buffers}\n[core_trace_sources]\n{cores}")


def pcs(dump, stream, directory, programs):
    """The addresses of each CPU, of a file of recordings end to end."""
    trace, at = open(stream, "rb").read(), 0
    all_units, code = units(dump), images(dump, programs)
    found = collections.defaultdict(list)
    for i, (_, size, cpu, raw) in enumerate(pieces(dump)):
        where = os.path.join(directory, str(i))
        snapshot(where, trace[at:at + size], raw, [u for u in all_units if not raw or u["CPU"] == cpu], code)
        at += size
        text = subprocess.run(["trc_pkt_lister", "-ss_dir", ".", "-decode", "-logstdout"], cwd=where,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode(errors="replace")
        for line in text.splitlines():
            match = re.search(r"ID:([0-9a-f]+);.*INSTR_RANGE\(exec range=0x([0-9a-f]+):\[0x([0-9a-f]+)\]", line)
            if match:
                owner = next((u["CPU"] for u in all_units if u["TRCTRACEIDR"] & 0x7f == int(match[1], 16)), None)
                found[cpu if raw else owner] += range(int(match[2], 16), int(match[3], 16), 4)
    if at != len(trace):
        print(f"{len(trace)} bytes, and not {at}")
    for cpu in sorted(found):
        print("\n".join(f"{pc:x}" for pc in found[cpu]))


def main():
    what, dump, *rest = sys.argv[1:]
    if what == "counts":
        counts = collections.Counter(record[0] for record in records(dump) if record[0] != "ATTR")
        print("\n".join(sorted(f"{kind} {count}" for kind, count in counts.items())))
    elif what == "bytes":
        data = open(rest[0], "rb").read()
        with open(rest[1], "wb") as file:
            for at, size, _, _ in pieces(dump):
                file.write(data[at:at + size])
    else:
        pcs(dump, rest[0], rest[1], rest[2:])


main()
