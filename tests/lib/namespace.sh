# SPDX-License-Identifier: Apache-2.0
# For a script that runs in a mount namespace of its own.
# shellcheck shell=bash

# Mounts of hartfs that others had when the namespace was made: as long as a copy is here their servers would live on.
forget_other_mounts() {
	local point
	awk '/ - fuse\.hartfs / {print $5}' /proc/self/mountinfo | while read -r point; do
		umount -l "$(printf '%b' "$point")"
	done
}
