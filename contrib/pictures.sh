#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pictures to be looked at: pictures.sh BUILD DIRECTORY. Makes those of captures of 10^3, 10^6 and 10^8 instructions, and of
# one with symbols and without, prints how long that takes and how large they are, and with chromium takes screenshots in
# two widths, light and dark. 10^8 instructions take some minutes and half a gigabyte, less with COUNTS="1000 1000000".
#   pictures.sh --readme BUILD: makes contrib/pictures/*.svg again, which the README shows.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C

# Where it is shown it has no window to be as wide as: fixed width, and a scale.
fix() {
	sed -E '1s/ width="100%" height="([0-9]+)"/ width="1000" height="\1" viewBox="0 0 1000 \1"/' "$1" >"$2"
	[ "$(stat -c %s "$2")" -le 102400 ] || { echo "$2 is larger than 100 KiB" >&2; exit 1; }
}

if [ "${1:-}" = --readme ]; then
	hartfs=$2/hartfs tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p contrib/pictures
	for file in overview flame; do
		"$hartfs" cat --index-dir "$tmp" tests/data/archive/boot/rv-sys.stf.gz hart0/profile/$file.svg >"$tmp/$file.svg"
		fix "$tmp/$file.svg" contrib/pictures/$file.svg
		stat -c '%n %s bytes' contrib/pictures/$file.svg
	done
	exit 0
fi

build=$(cd "$1" && pwd)
mkdir -p "$2/archive/bare" "$2/index" "$2/home"
out=$(cd "$2" && pwd)
cp tests/data/archive/boot/rv-sys.* "$out/archive/"
cp tests/data/archive/boot/rv-sys.stf.gz "$out/archive/bare/"
for count in ${COUNTS:-1000 1000000 100000000}; do
	[ -e "$out/archive/run$count.zstf" ] || "$build/tests/make_run" 1 "$count" stf "$out/archive/run$count.zstf"
done
"$build/hartfs" index --index-dir "$out/index" "$out/archive"

browser=$(command -v chromium || true)
shoot() { # FILE NAME WIDTH SCHEME: 0 dark, 1 light
	HOME=$out/home "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=3000 \
		--blink-settings=preferredColorScheme="$4" --window-size="$3,1000" --screenshot="$2" "file://$1" 2>/dev/null
}

printf '%-34s %9s %9s\n' picture seconds bytes
for capture in "$out"/archive/*.stf.gz "$out"/archive/bare/*.stf.gz "$out"/archive/*.zstf; do
	name=${capture#"$out/archive/"}
	for file in overview.svg flame.svg calls.perfetto report.html; do
		to=$out/$(tr / - <<<"$name").$file
		TIMEFORMAT=%U
		seconds=$({ time "$build/hartfs" cat --index-dir "$out/index" "$capture" "hart0/profile/$file" >"$to"; } 2>&1)
		printf '%-34s %9s %9s\n' "$name $file" "$seconds" "$(stat -c %s "$to")"
		[ -n "$browser" ] && [ "$file" != calls.perfetto ] || continue
		for width in 600 1600; do
			shoot "$to" "$to.$width.png" "$width" 1
			shoot "$to" "$to.$width.dark.png" "$width" 0
		done
	done
done
[ -n "$browser" ] || echo "no chromium: there are no screenshots"
