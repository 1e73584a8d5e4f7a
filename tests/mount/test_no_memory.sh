#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# There is no memory for the name of a capture, wherever that is asked for: hartfs index says so, or all is indexed.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
command -v cc >/dev/null || skip "there is no cc"
for name in a b c; do
	cp "$HARTFS_DATA/archive/mini/rv32-mini.stf" "$archive/$name.stf"
done
cat >"$tmp/refuse.c" <<'END'
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* There is no memory for the n-th copy of NO_MEMORY_FOR, n being NO_MEMORY_AT. */
char *strdup(const char *s)
{
	static atomic_int calls;
	const size_t size = strlen(s) + 1;
	char *copy = NULL;

	if (strcmp(s, getenv("NO_MEMORY_FOR")) != 0 || ++calls != atoi(getenv("NO_MEMORY_AT")))
		copy = malloc(size);
	else
		errno = ENOMEM;
	return copy ? memcpy(copy, s, size) : NULL;
}
END
cc -shared -fPIC "$tmp/refuse.c" -o "$tmp/refuse.so" || fail "refuse.c does not compile"

refused=0
for ((at = 1; at <= 40; at++)); do
	rm -rf "${index:?}"/*
	LD_PRELOAD=$tmp/refuse.so ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" NO_MEMORY_FOR=b.stf NO_MEMORY_AT=$at \
		timeout "$patience" "$hartfs" index --index-dir "$index" "$archive" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -lt 124 ] || fail "refused the ${at}th time: status $status: $(cat "$tmp/err")"
	grep -qE 'Sanitizer|runtime error|Assertion' "$tmp/err" && fail "refused the ${at}th time: $(cat "$tmp/err")"
	indexed=$(grep -c ': indexed$' "$tmp/out")
	if [ $status = 0 ]; then
		[ "$indexed" = 3 ] || fail "refused the ${at}th time: status 0, but $indexed of 3 are indexed"
	else
		refused=$((refused + 1))
		[ -s "$tmp/err" ] || fail "refused the ${at}th time: status $status, and nothing is said"
	fi
done
[ $refused -gt 0 ] || fail "nothing was refused"
finish
