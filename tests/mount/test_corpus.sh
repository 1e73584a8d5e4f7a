#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mounts a collection of captures, good and damaged ones, and reads everything: every size is right, nothing fails but
# where a capture's own damage is, and the server survives.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
command -v python3 >/dev/null || skip "python3 is needed"
[ -d "${HARTFS_CORPUS:-}/stf" ] || skip "HARTFS_CORPUS names no collection of captures"
archive=$HARTFS_CORPUS/stf
do_mount --wait
one=$(server)
python3 - "$mnt" <<'END' || fail "not everything can be read"
import os, sys
count = bad = 0
for base, _, names in os.walk(sys.argv[1]):
    for name in names if "@" in base else ():
        path, got = os.path.join(base, name), 0
        count += 1
        try:
            size = os.stat(path).st_size
            with open(path, "rb", buffering=0) as f:
                while data := f.read(1 << 17):
                    got += len(data)
            error = got != size and f"{got} bytes of {size}"
        except OSError as e:
            error = e.strerror
        # The stream itself of a container with a damaged chunk has a hole there.
        if error and not (name == "source.stf" and " of the container is damaged" in open(f"{base}/errors.txt").read()):
            print(f"{path}: {error}")
            bad += 1
sys.exit(bad > 0 or count <= 100)
END
[ "$(server)" = "$one" ] || fail "the server is another one"
do_umount
finish
