#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completion: what hartfs complete offers, and that the shells hand it on. zsh and fish are tried where they are installed.
. "$(dirname "$0")/../lib/mount.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
short_archive
stf=$archive/boot/rv-sys.stf.gz

# offers WANT WORD...: exactly these lines. has WANT WORD...: among others.
offers() {
	local want=$1 got
	shift
	got=$("$hartfs" complete -- "$@" | tr '\n' ' ')
	[ "$got" = "$want" ] || fail "complete $*: '$got' instead of '$want'"
}
has() {
	local want=$1
	shift
	"$hartfs" complete -- "$@" | grep -qxF -- "$want" || fail "complete $*: no $want"
}

offers 'index info ' in
offers 'umount ' help um
offers 'security ' help sec
offers '--index-dir= ' mount --index-d
offers '--sandbox=required --sandbox=try --sandbox=off ' mount --sandbox=
offers 'required ' mount --sandbox re
offers 'wait,sandbox= ' mount -o wait,sand
has allow_other mount -o allow
offers 'listing.txt ' cat --views lis
has --views=etrace,program.elf cat --views=etrace,
has etrace. cat --param et
offers ':files ' index --index-dir=/tm
has :files index bo
offers '' umount "$tmp/nothing"
# No command has such an option, and no capture is there.
offers '' mount --nonsense=
offers '' find "$archive/none" --pc=m

# Of a capture: only what is indexed is looked at.
export XDG_CACHE_HOME=$tmp/cache
offers '' find "$stf" --call m
"$hartfs" index -q "$stf"
has m_trap find "$stf" --call m_
offers '--pc=m_trap --pc=m_handler --pc=m_init ' find "$stf" --pc=m_
has hart0/etrace/trace.bin cat "$stf" hart0/etr
offers 'hart0/profile/functions.txt hart0/profile/functions-files.txt hart0/profile/flame.svg hart0/profile/fdo/objects.txt ' cat "$stf" hart0/profile/f
offers '--data ' diff --da
offers '--csv ' sql --cs
has :files state bo

need_fuse
"$hartfs" mount "$archive" "$mnt" || exit 1
has "$mnt" umount "$tmp"
"$hartfs" umount "$mnt"

# bash, as it calls the function.
(
	. "$root/contrib/completion/hartfs.bash"
	hartfs() { "$HARTFS_BIN" "$@"; }
	# completes WANT WORD...
	completes() {
		local want=$1
		shift
		COMP_WORDS=(hartfs "$@") COMP_CWORD=$#
		_hartfs
		[ "${COMPREPLY[*]}" = "$want" ] || fail "bash: $*: '${COMPREPLY[*]}' instead of '$want'"
	}
	completes umount u
	completes --index-dir= mount --index-d
	completes listing.txt mount --views = lis
	completes 'required try off' mount --sandbox =
	completes "$archive/boot" index "$archive/bo"
	exit "$failures"
) || failures=1

export PATH=$(dirname "$hartfs"):$PATH
if command -v fish >/dev/null; then
	got=$(fish -c "source $root/contrib/completion/hartfs.fish; complete -C 'hartfs mount --sand'")
	[ "$got" = --sandbox= ] || fail "fish: '$got'"
else
	echo "SKIP: fish is not installed"
fi
if command -v zsh >/dev/null; then
	zsh -n "$root/contrib/completion/_hartfs" || fail "zsh cannot read it"
else
	echo "SKIP: zsh is not installed"
fi
finish
