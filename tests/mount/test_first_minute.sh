#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a new user does with the installed program: compile a program of one's own as compilers do by default
# (position-independent, C++, a shared library), record it, mount it, find a function and its line in the listing, and ask
# for the first answers and pictures. Prints how long it took to come to each; then an XML parser reads the pictures, and
# every place is compared with the files, and its line with another reader of them. HARTFS_SEED draws the places.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
for tool in {riscv64,aarch64}-linux-gnu-g++ qemu-{riscv64,aarch64} llvm-addr2line-19 python3; do
	command -v "$tool" >/dev/null || skip "no $tool (contrib/packages.sh has the list)"
done
here=$(cd "$(dirname "$0")" && pwd) build=$(dirname "$hartfs") seed=${HARTFS_SEED:-$RANDOM}

# From a build directory it is installed first; elsewhere it is installed.
if [ -e "$build/cmake_install.cmake" ]; then
	command -v cmake >/dev/null || skip "cmake is needed"
	cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/out" 2>&1 || fail "cmake --install: $(tail -n 3 "$tmp/out")"
	hartfs=$tmp/prefix/bin/hartfs
fi
PATH=$(dirname "$hartfs"):$PATH
export HOME=$tmp/home
unset XDG_CACHE_HOME XDG_CONFIG_HOME
mkdir "$HOME"
cd "$HOME" || exit 1

cat >tally.h <<'END'
#include <map>
#include <string>
#include <vector>
namespace tally {
class Words {
public:
	void add(const std::string &text);
	std::vector<std::pair<std::string, int>> by_count() const;
private:
	std::map<std::string, int> counts;
};
}
END
cat >tally.cpp <<'END'
#include "tally.h"
#include <algorithm>
#include <regex>
namespace tally {
void Words::add(const std::string &text)
{
	static const std::regex word("[a-z]+");
	for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i)
		counts[i->str()]++;
}
std::vector<std::pair<std::string, int>> Words::by_count() const
{
	std::vector<std::pair<std::string, int>> all(counts.begin(), counts.end());
	std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
	return all;
}
}
END
cat >words.cpp <<'END'
#include "tally.h"
#include <iostream>
#include <sstream>
template <class T> static T total(const std::vector<std::pair<std::string, T>> &all)
{
	T sum = 0;
	for (const auto &word : all)
		sum += word.second;
	return sum;
}
int main()
{
	tally::Words words;
	std::ostringstream text;
	for (int i = 0; i < 8; i++)
		text << (i % 3 ? "the cat sat " : "on the mat, ") << i << "\n";
	words.add(text.str());
	for (const auto &word : words.by_count())
		std::cout << word.second << " " << word.first << "\n";
	std::cout << total(words.by_count()) << std::endl;
}
END

# reached WHAT: how long it took from the source to there.
reached() {
	printf '%s: from the source to %s in %d ms\n' "$machine" "$1" $((($(date +%s%N) - begin) / 1000000))
}
# Each function of the program and of its library is known to the flame graph, and the functions that the overview names are
# such ones, as far as their code is in these files.
cat >"$tmp/pictures.py" <<'END'
import json, re, sys
import xml.etree.ElementTree as tree
SVG = "{http://www.w3.org/2000/svg}"
own = set(line.rstrip("\n") for line in sys.stdin)
flame = tree.parse("flame.svg").getroot()
# A function of a library has the name of its entry in the procedure linkage table if that is what was called, and of a long
# name the beginning is there.
names = json.loads([e for e in flame.iter(SVG + "script") if e.get("class") == "fg-data"][0].text)["names"]
names = {name.removesuffix("@plt") for name in names}
names = {n for n in names if n in own or n.endswith("...") and any(o.startswith(n[:-3]) for o in own)}
for name in ("main", "tally::Words::by_count", "tally::Words::add("):
    if not any(n.startswith(name) for n in names):
        sys.exit("flame.svg does not name " + name)
titles = [e.text for e in tree.parse("overview.svg").getroot().iter(SVG + "title")]
named = set(found[1] for found in (re.match(r".* in (?!code at )(.*)", title) for title in titles) if found)
if not named & own:
    sys.exit("overview.svg names no function of the program: %s" % sorted(named)[:3])
page, begin, depth, pictures = open("report.html", encoding="utf-8").read(), 0, 0, 0
for tag in re.finditer("<svg[ >]|</svg>", page):
    begin = begin if depth else tag.start()
    depth += -1 if tag[0] == "</svg>" else 1
    if depth == 0:
        tree.fromstring(page[begin:tag.end()])
        pictures += 1
if depth or pictures != 2:
    sys.exit("report.html has %d pictures" % pictures)
print(len(names), len(named & own))
END
# pictures CAPTURE: the answers and the pictures that one asks for first, without a mount.
pictures() {
	local file found
	hartfs top "$1" >top.txt || fail "$machine: top ended with $?"
	reached "the functions that took most instructions"
	for file in flame.svg overview.svg report.html; do
		hartfs cat "$1" "hart0/profile/$file" >"$file" || fail "$machine: cat of $file ended with $?"
		reached "$file"
	done
	found=$(hartfs find "$1" --call tally::Words::add --ordinals) || fail "$machine: find ended with $?"
	reached "the call of a function, which led to instruction $found"
	hartfs cat "$1" "hart0/at/$found-$found/listing.txt" | grep -q "^$found .* <tally::Words::add(std::.*@plt>$" ||
		fail "$machine: no call at '$found'"
	"$machine-linux-gnu-nm" -C --defined-only words libtally.so | sed -n 's/^[0-9a-f]* [^ ] //p' |
		python3 "$tmp/pictures.py" >"$tmp/out" 2>&1 || fail "$machine: $(tail -n 1 "$tmp/out")"
	echo "$machine: functions of the program in the flame graph, and in the overview: $(cat "$tmp/out")"
}
# walk MACHINE: each command as one types it.
walk() {
	local machine=$1 capture=traces/$1/words views found begin
	begin=$(date +%s%N)
	"$machine-linux-gnu-g++" -g -shared -fPIC -o libtally.so tally.cpp &&
		"$machine-linux-gnu-g++" -g -o words words.cpp -L. -ltally -Wl,-rpath,'$ORIGIN' || { fail "$machine: the compiler"; return; }
	hartfs record -o "traces/$machine" -- ./words >"$tmp/out" 2>"$tmp/err" || fail "$machine: record ended with $?: $(cat "$tmp/err")"
	[ "$(tail -n 1 "$tmp/out")" = 24 ] || fail "$machine: the program printed $(tail -n 1 "$tmp/out")"
	hartfs mount --wait --log "$log" traces "$mnt" || fail "$machine: mount ended with $?"
	views=$(echo "$mnt/$machine"/words@*)
	found=$(grep -m1 '<tally::Words::add(std::[^ ]*.* tally.cpp:6>' "$views/hart0/listing.txt")
	reached "this line"
	echo "$found"
	[ -n "$found" ] || fail "$machine: the function of the library is not there with its line"
	[ -s "$views/errors.txt" ] && fail "$machine: $(head -n 3 "$views/errors.txt")"
	pictures "$(echo "$capture".*st*)"
	# A file has one name, but a question may leave the parameters out.
	[ -e "$views/hart0/where/call/tally::Words::add" ] && fail "$machine: a function without its parameters is a file"
	[ -s "$views/hart0/where/symbol/main" ] || fail "$machine: where/symbol/main is not there"
	# Each place once is enough, if there is a tool that is fast.
	if [ -x "$build/tests/listed" ]; then "$build/tests/listed" places; else cat; fi <"$views/hart0/listing.txt" >"$tmp/listing"
	grep -q '<int total<int>(.* words.cpp:4>' "$tmp/listing" || fail "$machine: no template of the program"
	hartfs umount "$mnt" || fail "$machine: umount ended with $?"
	found=$(python3 "$here/../lib/source_lines.py" "$capture.d" "$seed" <"$tmp/listing" 2>&1)
	echo "$machine: places, files, lines compared (seed $seed): $found"
	read -r places files lines <<<"$found"
	[ "${places:-0}" -gt 10000 ] 2>/dev/null && [ "$files" -ge 6 ] && [ "$lines" -ge 2000 ] || fail "$machine: $found"
	rm libtally.so words
}
walk riscv64
walk aarch64
finish
