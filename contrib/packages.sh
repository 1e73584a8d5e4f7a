# SPDX-License-Identifier: Apache-2.0
# What hartfs needs from Debian 12: sourced by demo.sh, test.sh, lint.sh and clean.sh. install_packages NAME... as root or with sudo.
BUILD_PACKAGES="build-essential cmake ninja-build pkg-config libfuse3-dev fuse3 libsqlite3-dev liblzma-dev zlib1g-dev
	libdeflate-dev libzstd-dev libxxhash-dev libseccomp-dev llvm-19-dev libiberty-dev"
PACKAGING_PACKAGES="dpkg-dev debhelper pandoc lintian"
LINT_PACKAGES="clang-tidy"
TEST_PACKAGES="acl xz-utils zstd gzip sqlite3 python3 strace libopencsd-bin binutils-riscv64-unknown-elf qemu-user
	qemu-system-misc qemu-system-arm clang llvm valgrind g++-riscv64-linux-gnu g++-aarch64-linux-gnu libc6-dev-riscv64-cross libc6-dev-arm64-cross
	lcov libdevel-nytprof-perl bolt-19 llvm-19 clang-19 lld autofdo"

install_packages() {
	local missing=() package
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	local sudo=
	if [ "$(id -u)" -ne 0 ]; then
		sudo=sudo
		command -v sudo >/dev/null || { echo "these packages are missing and there is no sudo: ${missing[*]}" >&2; return 1; }
	fi
	echo "installing: ${missing[*]}"
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q
	$sudo apt-get install --assume-no --no-install-recommends "${missing[@]}" | grep -E '^(Need to get|After this)' || true
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}
