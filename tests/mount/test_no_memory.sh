#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# There is no memory for the n-th piece that a command asks for, for n from 1 on: it says so, or does its work all the same.
. "$(dirname "$0")/../lib/mount.sh"
[ -d "${HARTFS_DATA:-}/archive" ] || skip "there is no test data (HARTFS_DATA)"
command -v cc >/dev/null || skip "there is no cc"
for n in 1 2 3; do
	head -c $((60000 + n * 1000)) "$HARTFS_DATA/archive/mini/rv32-mini.stf" >"$archive/$n.stf"
done
cat >"$tmp/refuse.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Counted is what the program asks for, or libc for it; not what LLVM and libstdc++ do, which end the process then. */
static uintptr_t from[2], to[2];
static atomic_int left;

static int look(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const int k = !*info->dlpi_name ? 0 : strstr(info->dlpi_name, "/libc.so") ? 1 : -1;

	for (int i = 0; k >= 0 && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			from[k] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			to[k] = from[k] + info->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

static __attribute__((constructor)) void begin(void)
{
	dl_iterate_phdr(look, NULL);
	left = atoi(getenv("NO_MEMORY_AT"));
}

static int is_refused(void *caller)
{
	const uintptr_t at = (uintptr_t)caller;

	if ((at - from[0] >= to[0] - from[0] && at - from[1] >= to[1] - from[1]) || left <= 0 || --left)
		return 0;
	errno = ENOMEM;
	return 1;
}

#define REFUSABLE(name, parameters, ...) \
	void *name parameters \
	{ \
		static void *(*next) parameters; \
		if (!next) \
			next = dlsym(RTLD_NEXT, #name); \
		return is_refused(__builtin_return_address(0)) ? NULL : next(__VA_ARGS__); \
	}
REFUSABLE(malloc, (size_t n), n)
REFUSABLE(calloc, (size_t count, size_t n), count, n)
REFUSABLE(realloc, (void *old, size_t n), old, n)
END
cc -shared -fPIC "$tmp/refuse.c" -o "$tmp/refuse.so" || fail "refuse.c does not compile"
"$hartfs" index --index-dir "$tmp/whole" "$archive" >/dev/null || fail "index"

# try N COMMAND OPERAND...
try() {
	local at=$1 status out err
	shift
	rm -rf "${index:?}"
	cp -r "$tmp/whole" "$index"
	[ "$1" != index ] || rm -f "$index"/*
	LD_PRELOAD=$tmp/refuse.so ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" NO_MEMORY_AT=$at \
		"$hartfs" "$1" --index-dir "$index" "${@:2}" >"$tmp/out" 2>"$tmp/err"
	status=$?
	# That was the sanitizer itself, which asks libc about a new thread.
	IFS= read -rd '' err <"$tmp/err"
	[[ $err == *'AddressSanitizer: CHECK failed'* ]] && return
	[ $status -lt 124 ] || fail "$1, the ${at}th: status $status: $err"
	[[ $err =~ Sanitizer|'runtime error'|Assertion ]] && fail "$1, the ${at}th: $err"
	IFS= read -rd '' out <"$tmp/out"
	if [ "$at" = 0 ]; then
		right=$status wanted=$out
		sort "$tmp/out" >"$tmp/right"
	elif [ $status = $right ]; then
		# The order of lines is free.
		[ "$out" = "$wanted" ] || sort "$tmp/out" | diff "$tmp/right" - >"$tmp/diff" || fail "$1, the ${at}th: status $status, but $(cat "$tmp/diff")"
	else
		refused=$((refused + 1))
		[ -n "$err" ] || fail "$1, the ${at}th: status $status, and nothing is said"
	fi
}

commands=("ls $archive" "info $archive" "cat $archive/1.stf hart0/profile/functions.txt" "find $archive/1.stf --count --mnemonic addi"
	"state $archive/1.stf 5" "top $archive/1.stf" "index $archive" "verify $archive" "diff $archive/1.stf $archive/2.stf")
refused=0 right= wanted=
# Opening an archive is the same for all: one of them asks each time, and together they ask for much of the rest. 1: all do.
step=${NO_MEMORY_STEP:-54}
for i in "${!commands[@]}"; do
	read -ra command <<<"${commands[i]}"
	try 0 "${command[@]}"
	for ((at = 1 + i * step / 9; at <= 400; at += step)); do try $at "${command[@]}"; done
done
for ((at = 0; at <= 60; at++)); do try $at info "$archive"; done
[ $refused -gt 0 ] || fail "nothing was refused"
finish
