#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The way of somebody who measures a C++ program of their own, with the installed hartfs: record it; the five functions that
# took most, by the names of the source and of libc; the flame graph; then a faster build, and what it is that became faster.
. "$(dirname "$0")/../lib/mount.sh"
for tool in riscv64-linux-gnu-g++ qemu-riscv64 cmake python3; do
	command -v "$tool" >/dev/null || skip "no $tool (contrib/packages.sh has the list)"
done
qemu-riscv64 --help | grep -q -- -plugin || skip "this QEMU has no plugins"
build=$(dirname "$hartfs")
[ -e "$build/hartfs_capture.so" ] && [ -e "$build/cmake_install.cmake" ] || skip "the program is not in its build directory"
export XDG_CACHE_HOME=$tmp/cache
DESTDIR=$tmp/root cmake --install "$build" >"$tmp/installed" 2>&1 || fail "install: $(tail -n 3 "$tmp/installed")"
installed=$(find "$tmp/root" -type f -path '*/bin/hartfs')
[ -n "$installed" ] || { fail "nothing is installed"; finish; }
PATH=$(dirname "$installed"):$PATH
cd "$tmp" || exit 1

cat >words.cpp <<'END'
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#ifndef SLOWLY
#define SLOWLY 1
#endif
struct Table {
	std::vector<std::string> words;
	__attribute__((noinline)) int find(const char *word) const
	{
		for (size_t i = 0; i < words.size(); i++)
			if (SLOWLY ? std::strcmp(words[i].c_str(), word) == 0
				   : words[i][0] == word[0] && words[i][5] == word[5] && std::strcmp(words[i].c_str(), word) == 0)
				return (int)i;
		return -1;
	}
	__attribute__((noinline)) void add(const char *word)
	{
		if (find(word) < 0)
			words.push_back(word);
	}
};
__attribute__((noinline)) unsigned mix(unsigned seed)
{
	for (int i = 0; i < 200; i++)
		seed = seed * 1103515245 + 12345 + (seed >> 16);
	return seed;
}
__attribute__((noinline)) void name_of(unsigned n, char *to)
{
	for (int i = 0; i < 8; i++, n /= 3)
		to[i] = (char)('a' + n % 3);
	to[8] = 0;
}
int main()
{
	Table table;
	char word[16];
	unsigned seed = 1;
	for (int i = 0; i < 600; i++) {
		seed = mix(seed);
		name_of(seed >> 8, word);
		table.add(word);
	}
	std::printf("%zu\n", table.words.size());
}
END
riscv64-linux-gnu-g++ -g -O1 -static -o words words.cpp && riscv64-linux-gnu-g++ -g -O1 -static -DSLOWLY=0 -o faster words.cpp || fail "the compiler"
for program in words faster; do
	hartfs record -o traces -- "./$program" >"$program.out" 2>"$program.err" || fail "record: $(cat "$program.err")"
done
cmp words.out faster.out || fail "the builds differ"

# The five most expensive functions are of the source, and of libc by the names of its manual.
hartfs top -n 5 traces/words.zstf >five || fail "top"
[ "$(grep -vc '^#' five)" = 5 ] || fail "not five: $(cat five)"
for name in 'Table::find' 'Table::add' mix strcmp memcpy; do
	grep -q "words  *_*$name" five || fail "$name is not among the five: $(cat five)"
done

# The flame graph, as record says it is made.
sed -n 's/^  \(hartfs cat .*flame.svg\)$/\1/p' words.err >try.sh
[ -s try.sh ] && sh try.sh || fail "what is to be tried: $(cat words.err)"
python3 - flame.svg <<'END' || fail "the flame graph"
import json, re, sys
from xml.etree import ElementTree
text = open(sys.argv[1]).read()
ElementTree.fromstring(text)
names = json.loads(re.search(r'fg-data"><!\[CDATA\[(\{.*?\})\]\]>', text, re.S)[1])["names"]
for name in "main", "Table::add", "Table::find", "mix":
    assert any(n.startswith(name) for n in names), (name, names)
END

# What became faster.
hartfs top -n 3 traces/words.zstf traces/faster.zstf >both || fail "top of two"
grep -v '^#' both | grep -q ' -[0-9]* .*strcmp' || fail "strcmp is not faster: $(cat both)"
hartfs top --svg traces/words.zstf traces/faster.zstf >pair.svg || fail "top --svg"
grep -q '<title>[^<]*Table::find' pair.svg || fail "pair.svg"
hartfs diff --count traces/words.zstf traces/words.zstf | grep -qx 0 || fail "diff of one"
finish
