#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each test costs: costs.py BUILD [-j N] [-R REGEX] [-E REGEX] >costs.tsv

Runs the tests of a build directory as ctest would, N (1) at once, and prints a line a test: its name, its status (0:
passed, 77: skipped), seconds until it ended, seconds of CPU in user mode and in the kernel, and, where perf may count
them, programs started and system calls. All processes that a test starts count, also those that it leaves behind.
"""
import argparse
import ctypes
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
EVENTS = ("sched:sched_process_exec", "raw_syscalls:sys_enter")
PATIENCE = 3000  # seconds


def run_here(command, report):
    """In a process of its own: runs the command, waits for every descendant, and tells what they used."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    start = time.monotonic()
    first = os.posix_spawnp(command[0], command, os.environ)
    status, wall = None, 0
    while True:
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            break
        if pid == first:
            status, wall = os.waitstatus_to_exitcode(ended), time.monotonic() - start
    used = os.times()
    with open(report, "w") as out:
        json.dump((status, wall, used.children_user, used.children_system), out)


def counts(path):
    try:
        values = [line.split(",")[0] for line in open(path) if "," in line]
        return [value if value.isdigit() else "-" for value in values]
    except OSError:
        return ["-"] * len(EVENTS)


def run(test, has_perf):
    properties = {p["name"]: p["value"] for p in test["properties"]}
    env = dict(os.environ, **dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", [])))
    with tempfile.TemporaryDirectory() as tmp:
        report, counted = os.path.join(tmp, "report"), os.path.join(tmp, "counts")
        perf = ["perf", "stat", "-x,", "-o", counted, "-e", ",".join(EVENTS), "--"] if has_perf else []
        with open(os.path.join(tmp, "out"), "w") as out:
            subprocess.run([*perf, sys.executable, __file__, "--run", report, *test["command"]], env=env, stdout=out,
                           stderr=out, stdin=subprocess.DEVNULL, cwd=properties.get("WORKING_DIRECTORY"),
                           timeout=PATIENCE)
        status, wall, user, system = json.load(open(report))
        return [test["name"], status, "%.2f" % wall, "%.2f" % user, "%.2f" % system, *counts(counted)]


def work(todo, has_perf, lock):
    while True:
        try:
            test = todo.get_nowait()
        except queue.Empty:
            return
        row = run(test, has_perf)
        with lock:
            print(*row, sep="\t", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("-R", default="")
    parser.add_argument("-E", default="$^")
    args = parser.parse_args()
    listed = subprocess.check_output(["ctest", "--test-dir", args.build, "--show-only=json-v1"])
    todo = queue.Queue()
    for test in json.loads(listed)["tests"]:
        if re.search(args.R, test["name"]) and not re.search(args.E, test["name"]):
            todo.put(test)
    has_perf = shutil.which("perf") and not subprocess.run(
        ["perf", "stat", "-e", ",".join(EVENTS), "true"], capture_output=True).returncode
    lock = threading.Lock()
    threads = [threading.Thread(target=work, args=(todo, has_perf, lock)) for _ in range(args.j)]
    print("test", "status", "wall", "user", "system", "programs", "calls", sep="\t")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[3:], sys.argv[2])
    else:
        main()
