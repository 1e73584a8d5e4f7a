#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A minute of contrib/attack.sh: tests/attack/README.md says what is attacked and what is right.
set -u
bin=${HARTFS_BIN:?is the program to test}
keep=$(mktemp -d "${TMPDIR:-/tmp}/hartfs-attack.failed.XXXXXX") || exit 1
bash "$(dirname "$0")/../../contrib/attack.sh" --binary "$bin" --keep "$keep" --seed "${HARTFS_SEED:-1}" \
	--descriptions 40 --kills 5 --index 16 --disks 1 --changes 30
status=$?
if [ $status = 1 ]; then
	find "$keep" -name '*.txt' -size -64k -exec sh -c 'echo "== $1"; tail -n 40 "$1"' sh {} \;
fi
rm -rf --one-file-system "$keep"
exit $status
