// SPDX-License-Identifier: Apache-2.0
// The script of flame.svg: of all frames it draws those that are wide enough to be seen, and draws again when somebody
// zooms, searches, or makes the window wider. The frames are numbers in pre-order: 8 times the depth plus the kind, the name,
// own instructions, calls (of two runs: own instructions of the first).
(function () {
"use strict";
const NS = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
const ROW = 17, LETTER = 6.65, MARGIN = 10, MOST = 4000;
const svg = document.currentScript.closest("svg"), alone = svg === document.documentElement;
const part = name => svg.querySelector(".fg-" + name);
const data = JSON.parse(part("data").textContent), NONE = 0, OTHER = 4, KINDS = data.kinds || "ctino";
const top = +svg.dataset.top, picture = part("frames"), status = part("status"), found = part("found");
let kind, depth, name, own, calls, count, end, parent, total, start;
let zoomed = 0, pattern = null, hit = [], said = status.textContent, inverted = false;
const status_text = said;

// Of frames in pre-order: where those below each one end, which one is above it, and its place.
function take(frames) {
	({kind, depth, name, own, calls} = frames);
	count = name.length;
	end = new Uint32Array(count), parent = new Int32Array(count), total = Float64Array.from(own), start = new Float64Array(count);
	const path = [], next = new Float64Array(count);
	for (let i = 0; i < count; i++) {
		while (path.length > depth[i]) end[path.pop()] = i;
		parent[i] = path.length ? path[path.length - 1] : -1;
		path.push(i);
	}
	while (path.length) end[path.pop()] = count;
	for (let i = count - 1; i > 0; i--) total[parent[i]] += total[i];
	for (let i = 0; i < count; i++) {
		if (i) {
			start[i] = next[parent[i]];
			next[parent[i]] += total[i];
		}
		next[i] = start[i];
	}
}

function read() {
	const column = at => data.frames.filter((n, i) => i % 4 === at);
	return {kind: column(0).map(n => n % 8), depth: column(0).map(n => n >> 3), name: column(1), own: column(2), calls: column(3)};
}

// The tree upside down: functions by their own instructions, and below each who called it. chains: of each that is to be
// split by its callers, the frame that is the next one and the instructions.
function invert() {
	const made = {kind: [], depth: [], name: [], own: [], calls: []}, least = total[0] / MOST;
	const todo = [{kind: OTHER, depth: 0, name: name[0], chains: Array.from(own, (n, i) => [i, n]).filter(([, n]) => n)}];
	for (let node; (node = todo.pop());) {
		const groups = new Map();
		let rest = node.own || 0, few = 0, many = 0;
		for (const [i, n] of node.chains || []) {
			if (i <= 0) {
				rest += n;
				continue;
			}
			if (!groups.has(name[i])) groups.set(name[i], {kind: kind[i], depth: node.depth + 1, name: name[i], sum: 0, chains: []});
			groups.get(name[i]).sum += n;
			groups.get(name[i]).chains.push([parent[i], n]);
		}
		for (const key of ["kind", "depth", "name"]) made[key].push(node[key]);
		made.own.push(rest);
		made.calls.push(node.calls || 0);
		for (const group of [...groups.values()].sort((a, b) => a.sum - b.sum)) {
			if (group.sum >= least) {
				todo.push(group);
			} else {
				few++;
				many += group.sum;
			}
		}
		if (few) todo.push({kind: OTHER, depth: node.depth + 1, name: NONE, own: many, calls: few});
	}
	return made;
}

const grouped = n => n.toLocaleString("en-US");
const percent = (n, of) => (of ? 100 * n / of : 0).toFixed(2) + "%";

function describe(i) {
	const line = [data.names[name[i]] + ": " + grouped(total[i]) + " instructions, " + percent(total[i], total[0])];
	if (i) line.push(percent(total[i], total[parent[i]]) + (inverted ? " of the frame above" : " of its caller"));
	if (name[i] && !inverted) line.push(grouped(own[i]) + " own");
	if (name[i] && inverted) return line.join(", ");
	if (name[i] && data.kinds) line.push(grouped(calls[i]) + " own in A");
	else if (name[i] && calls[i]) line.push(calls[i] === 1 ? "1 call" : grouped(calls[i]) + " calls");
	else if (!name[i]) line.push(grouped(calls[i]) + (calls[i] === 1 ? " frame" : " frames") + " too small to be here");
	return line.join(", ");
}

// As much of a name as there is room for: of C++ the template arguments go first, of an address and of libc.so.6+0x78c96
// the beginning.
function fit(text, room) {
	if (text.length > room && room > 3 && /(^|\+)0x[0-9a-f]+$/.test(text)) return "…" + text.slice(1 - room);
	for (let shorter; text.length > room && (shorter = text.replace(/<[^<>…]+>/g, "<…>")) !== text;) text = shorter;
	if (text.length <= room) return text;
	return room < 4 ? "" : text.slice(0, room - 1) + "…";
}

function element(tag, attributes) {
	const made = document.createElementNS(NS, tag);
	for (const key in attributes) made.setAttribute(key, attributes[key]);
	return made;
}

// The frames to be drawn: those above the zoomed one, and of those below it the ones that are at least so wide.
function visible(least) {
	const list = [];
	for (let i = parent[zoomed]; i >= 0; i = parent[i]) list.unshift(i);
	for (let i = zoomed; i < end[zoomed];) {
		if (total[i] < least) {
			i = end[i];
		} else {
			list.push(i++);
		}
	}
	return list;
}

const width_now = () => Math.max(280, svg.clientWidth || svg.getBoundingClientRect().width);

function say(text) {
	said = text;
	status.textContent = fit(text, Math.floor((width_now() - 2 * MARGIN) / LETTER));
}

function draw() {
	const width = width_now(), scale = (width - 2 * MARGIN) / total[zoomed];
	const made = document.createDocumentFragment();
	let least = 0.4, list = visible(least / scale), lowest = 0;
	while (list.length > MOST) list = visible((least *= 1.5) / scale);
	for (const i of list) {
		const above = i < zoomed && end[i] >= end[zoomed];
		const x = above ? MARGIN : MARGIN + (start[i] - start[zoomed]) * scale, w = above ? width - 2 * MARGIN : total[i] * scale;
		const group = element("g", {class: KINDS[kind[i]] + data.shades[name[i]] + (above ? " fg-above" : "") + (hit[name[i]] ? " fg-hit" : ""), "data-i": i});
		const text = fit(data.names[name[i]], Math.floor((w - 6) / LETTER));
		group.append(element("rect", {x: x.toFixed(2), y: top + depth[i] * ROW, width: w.toFixed(2), height: ROW - 1}));
		if (text) group.append(element("text", {x: (x + 3).toFixed(2), y: top + depth[i] * ROW + 12}));
		if (text) group.lastChild.textContent = text;
		lowest = Math.max(lowest, depth[i]);
		made.append(group);
	}
	picture.replaceChildren(made);
	svg.setAttribute("height", top + (lowest + 1) * ROW + 12);
	part("reset").setAttribute("visibility", zoomed ? "visible" : "hidden");
	part("invert").textContent = inverted ? "callees" : "invert";
	say(said);
}

// Matches below a match count once.
function search(text) {
	let matches = 0, sum = 0, behind = 0;
	pattern = text;
	hit = [];
	found.textContent = "";
	if (text) {
		let expression;
		try {
			expression = new RegExp(text, /[A-Z]/.test(text) ? "" : "i");
		} catch (e) {
			found.textContent = "this is no pattern";
			return draw();
		}
		hit = data.names.map((n, i) => i > 0 && expression.test(n));
		for (let i = 1; i < count; i++) {
			if (!hit[name[i]]) continue;
			matches++;
			if (i < behind) continue;
			sum += total[i];
			behind = end[i];
		}
		found.textContent = grouped(matches) + (matches === 1 ? " frame, " : " frames, ") + percent(sum, total[0]);
	}
	draw();
}

function keep() {
	const state = new URLSearchParams();
	if (!alone) return;
	if (inverted) state.set("v", 1);
	if (zoomed) state.set("i", zoomed);
	if (pattern) state.set("s", pattern);
	try {
		history.replaceState(null, "", "#" + state);
	} catch (e) {
		// Where there is no address, nothing can be kept in it.
	}
}

// Another picture of the same: the order of calls, or from each function to its callers.
function turn(to) {
	if (to === inverted) return;
	take(to ? invert() : read());
	inverted = to;
	zoomed = 0;
	said = to ? "Below each function are its callers. Widths are its own instructions." : status_text;
	search(pattern || "");
}

function zoom(i) {
	zoomed = i >= 0 && i < count && total[i] > 0 ? i : 0;
	draw();
	keep();
}

// The field for the search is HTML, which a picture without script could not use.
function add_search() {
	const place = element("foreignObject", {x: MARGIN, y: 64, width: 190, height: 22}), field = document.createElementNS(XHTML, "input");
	field.setAttribute("type", "search");
	field.setAttribute("placeholder", "search (/)");
	field.setAttribute("aria-label", "search for functions");
	field.addEventListener("input", () => { search(field.value); keep(); });
	place.append(field);
	svg.append(place);
	return field;
}

function show(event) {
	const group = event.target.closest && event.target.closest("[data-i]");
	if (!group || !picture.contains(group)) return;
	say(describe(+group.dataset.i));
	if (!group.querySelector("title")) group.prepend(element("title", {}));
	group.querySelector("title").textContent = describe(+group.dataset.i);
}

function begin() {
	const state = new URLSearchParams(alone ? location.hash.slice(1) : ""), field = add_search();
	take(read());
	svg.classList.add("fg-live");
	picture.addEventListener("mouseover", show);
	picture.addEventListener("click", event => { const g = event.target.closest("[data-i]"); if (g) zoom(+g.dataset.i); });
	part("reset").addEventListener("click", () => zoom(0));
	part("invert").setAttribute("visibility", "visible");
	part("invert").addEventListener("click", () => { turn(!inverted); keep(); });
	window.addEventListener("resize", draw);
	window.addEventListener("keydown", event => {
		if (event.key === "Escape") {
			field.value = "";
			search("");
			zoom(0);
		} else if (event.key === "/" && alone && document.activeElement !== field) {
			event.preventDefault();
			field.focus();
		}
	});
	turn(state.get("v") === "1");
	zoomed = Math.min(count - 1, Math.max(0, Math.floor(+state.get("i") || 0)));
	field.value = state.get("s") || "";
	search(field.value);
}
begin();
})();
