#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pictures in a browser: they are drawn, letters can be read in a narrow and in a wide window, the flame graph searches and
# zooms, and a link of the overview leads to its slice. With symbols and without.
. "$(dirname "$0")/../lib/mount.sh"
need_fuse
browser=$(command -v chromium || command -v google-chrome) || skip "no chromium: pictures are not looked at in a browser"
short_archive
mkdir "$archive/bare"
cp "$archive/boot/rv-sys.stf.gz" "$archive/bare/"

# see WIDTH URL: the document as it is after its scripts ran.
see() {
	HOME=$tmp timeout "$patience" "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
		--virtual-time-budget=5000 --window-size="$1,900" --dump-dom "$2" 2>"$tmp/err"
}

# A page with the pictures of a hart, which tries them and writes what it found.
cat >"$tmp/try.html" <<'END'
<!DOCTYPE html><meta charset="utf-8"><style>object { width: 100%; display: block }</style><body><pre id="found"></pre><script>
const say = text => document.getElementById("found").append(text + "\n"), params = new URLSearchParams(location.search);
const load = name => new Promise(done => {
	const object = document.createElement("object");
	object.type = "image/svg+xml";
	object.onload = () => done(object.contentDocument.documentElement);
	object.data = params.get("at") + "/" + name;
	document.body.append(object);
});
const letters = svg => Math.min(...[...svg.querySelectorAll("text")].filter(t => t.textContent.trim()).map(t => t.getBoundingClientRect().height));
const click = element => element.dispatchEvent(new MouseEvent("click", {bubbles: true}));
const frame = (svg, i) => svg.querySelector('[data-i="' + i + '"]');
const wide = g => g.querySelector("rect").getBoundingClientRect().width;
(async () => {
	const overview = await load("overview.svg"), flame = await load("flame.svg");
	say("overview letters " + letters(overview));
	say("overview images " + [...overview.querySelectorAll("image")].map(e => e.getBoundingClientRect()).filter(r => r.width > 200 && r.height > 5).length);
	say("overview right " + (Math.max(...[...overview.querySelectorAll("image, rect")].map(e => e.getBoundingClientRect().right)) <= innerWidth));
	say("overview link " + overview.querySelectorAll("a")[3].href.baseVal);
	say("flame letters " + letters(flame));
	say("flame frames " + flame.querySelectorAll("[data-i]").length);
	const field = flame.querySelector("input"), whole = wide(frame(flame, 0));
	const some = [...flame.querySelectorAll("[data-i]")].find(g => wide(g) > 30 && wide(g) < whole / 2).dataset.i;
	const narrow = wide(frame(flame, some));
	field.value = params.get("search");
	field.dispatchEvent(new Event("input"));
	say("flame hits " + flame.querySelectorAll(".fg-hit").length);
	say("flame share " + flame.querySelector(".fg-found").textContent);
	click(frame(flame, some));
	say("flame zoomed " + (Math.abs(wide(frame(flame, some)) - whole) < 1));
	click(flame.querySelector(".fg-reset"));
	click(flame.querySelector(".fg-invert"));
	say("flame inverted " + flame.querySelectorAll("[data-i]").length);
	say("flame whole " + (Math.abs(wide(frame(flame, 0)) - whole) < 1));
	click(flame.querySelector(".fg-invert"));
	say("flame reset " + (Math.abs(wide(frame(flame, some)) - narrow) < 1));
	say("done");
})();
</script>
END

# try CAPTURE SEARCH WIDTH
try() {
	local profile=$mnt/$1/hart0/profile value
	see "$3" "file://$tmp/try.html?at=file://$profile&search=$2" >"$tmp/dom"
	sed -n '/<pre id="found">/,/<\/pre>/p' "$tmp/dom" | sed 's/.*<pre id="found">//' >"$tmp/found"
	grep -q '^done$' "$tmp/found" || { fail "$1 at $3: the page did not end: $(cat "$tmp/found")"; return; }
	for value in "overview right true" "overview images 3" "flame zoomed true" "flame reset true" "flame whole true"; do
		grep -qx "$value" "$tmp/found" || fail "$1 at $3: not '$value' but $(grep "^${value% *}" "$tmp/found")"
	done
	for value in overview flame; do
		awk -v p="$value" '$1 == p && $2 == "letters" && $3 >= 10 {ok = 1} END {exit !ok}' "$tmp/found" ||
			fail "$1 at $3: $(grep "^$value letters" "$tmp/found")"
	done
	awk '/^flame (frames|hits|inverted)/ && $3 > 0 {n++} END {exit n != 3}' "$tmp/found" || fail "$1 at $3: $(grep '^flame' "$tmp/found")"
	grep -q '^flame share .*%' "$tmp/found" || fail "$1 at $3: no share of what was found"
}

do_mount --wait
try boot/rv-sys@stf@gz sort 1600
link=$(sed -n 's/^overview link //p' "$tmp/found")
try boot/rv-sys@stf@gz sort 600
try bare/rv-sys@stf@gz 0x4001 600
# What the browser shows where the fourth part of the overview leads.
see 1000 "file://$mnt/boot/rv-sys@stf@gz/hart0/profile/$link" >"$tmp/dom"
first=${link%-*}
grep -q "^${first##*/} \|>${first##*/} " "$tmp/dom" || fail "the link $link shows $(head -c 300 "$tmp/dom")"
# The page to be sent: both pictures are drawn in it.
cp "$mnt/boot/rv-sys@stf@gz/hart0/profile/report.html" "$tmp/"
see 800 "file://$tmp/report.html" >"$tmp/dom"
grep -q 'data-i="0"' "$tmp/dom" || fail "the flame graph of report.html is not drawn"
grep -q 'class="ov"' "$tmp/dom" || fail "the overview of report.html is not there"
see 800 "file://$mnt/.hartfs/index.html" | grep -q 'rv-sys' || fail "index.html shows no capture"
do_umount

finish
