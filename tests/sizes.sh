#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sizes.sh SOURCE: no function of the product (codecs, index, fs, mountd) has more than 60 lines, no file of it (*.c, *.h,
# *.def) more than 900. The lines of a function are all from the one with its name to its closing brace.
set -u
offences() {
	(cd "$1" && find codecs index fs mountd -name '*.[ch]' -o -name '*.def') | sort | (cd "$1" && xargs awk '
	FNR == 1 { begin = open = 0 }
	FNR == 901 { print FILENAME ": more than 900 lines" }
	/^[A-Za-z_].*\(/ { begin = FNR; name = $0 }
	/^\{$/ || /^[A-Za-z_].*\) ?\{$/ { open = begin }
	/^\}$/ && open {
		if (FNR - open >= 60)
			print FILENAME ":" open ": " FNR - open + 1 " lines: " name
		open = 0
	}')
}

# First, that offences are found at all, and nothing else.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir "$planted"/{codecs,index,fs,mountd}
lines() { yes "${2:-}" | head -n "$1"; }
{
	printf 'int all(int a,\n\tint b)\n{\n%s\n}\n\n' "$(lines 56 '	a = b;')"
	printf 'static inline int more(void)\n{\n%s\n}\n' "$(lines 58 '	;')"
} >"$planted/index/long.h"
{ printf 'struct table {\n%s\n};\n' "$(lines 70 '	int n;')"; lines 828 '//'; } >"$planted/fs/full.def"
cp "$planted/fs/full.def" "$planted/mountd/over.c" && echo >>"$planted/mountd/over.c"
want='index/long.h:62: 61 lines: static inline int more(void)
mountd/over.c: more than 900 lines'
got=$(offences "$planted")
[ "$got" = "$want" ] || { printf 'what was planted is not what is found:\n%s\n' "$got"; exit 1; }

got=$(offences "$1")
[ -z "$got" ] || { echo "$got"; exit 1; }
