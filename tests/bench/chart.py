# SPDX-License-Identifier: Apache-2.0
"""A chart of curves as SVG: both axes logarithmic, readable in light and dark and without colours."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 780, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 220, 56, 64
# Okabe and Ito's: to be told apart by colour-blind readers. The marks differ, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
MARKS = ("M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z", "M-4,-4H4V4H-4Z", "M0,-5L5,4H-5Z", "M0,-5L5,0L0,5L-5,0Z",
         "M-4,-4L4,4M-4,4L4,-4")
STYLE = """text {font: 13px sans-serif; fill: #222} .title {font-size: 16px; font-weight: bold}
.grid {stroke: #ccc; stroke-width: 1} .curve {fill: none; stroke-width: 2} .back {fill: #fff}
@media (prefers-color-scheme: dark) {text {fill: #ddd} .grid {stroke: #444} .back {fill: #181818}}"""


def shown(value):
    """A number as people write it: 10 k, 2.5, 100 M."""
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return "%.3g%s" % (value / unit, letter)
    return "%.3g" % value


class Axis:
    """Values to pixels: from the power of ten (or, of a short range, the step of 1, 2, 5) below them to the one above."""

    def __init__(self, values, start, end):
        self.start, self.end = start, end
        steps = (1,) if max(values) / min(values) >= 1000 else (1, 2, 5)
        powers = range(math.floor(math.log10(min(values))) - 1, math.ceil(math.log10(max(values))) + 2)
        ticks = [step * 10.0 ** power for power in powers for step in steps]
        low = max(tick for tick in ticks if tick <= min(values) * 1.0001)
        high = min(tick for tick in ticks if tick >= max(values) * 0.9999)
        if low == high:
            high = min(tick for tick in ticks if tick > low)
        self.low, self.high = low, high
        self.ticks = [tick for tick in ticks if low <= tick <= high]

    def place(self, value):
        return self.start + math.log(value / self.low) / math.log(self.high / self.low) * (self.end - self.start)


def axes(x, y, x_name, y_name):
    for tick in x.ticks:
        yield '<path class="grid" d="M%.1f,%dV%d"/>' % (x.place(tick), TOP, HEIGHT - BOTTOM)
        yield '<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x.place(tick), HEIGHT - BOTTOM + 20, shown(tick))
    for tick in y.ticks:
        yield '<path class="grid" d="M%d,%.1fH%d"/>' % (LEFT, y.place(tick), WIDTH - RIGHT)
        yield '<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (LEFT - 8, y.place(tick) + 4, shown(tick))
    yield '<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, escape(x_name))
    yield '<text transform="translate(20,%d) rotate(-90)" text-anchor="middle">%s</text>' % (
        (TOP + HEIGHT - BOTTOM) / 2, escape(y_name))


def curve(x, y, name, points, colour, mark):
    places = [(x.place(px), y.place(py)) for px, py in points]
    yield '<g stroke="%s" fill="%s">' % (colour, colour)
    yield '<path class="curve" d="M%s"/>' % "L".join("%.1f,%.1f" % place for place in places)
    for (left, top), (px, py) in zip(places, points):
        yield '<path d="%s" transform="translate(%.1f,%.1f)"><title>%s: %s at %s</title></path>' % (
            mark, left, top, escape(name), shown(py), shown(px))
    yield "</g>"


def svg(title, x_name, y_name, curves):
    """curves: [(name, [(x, y), ...]), ...], all above 0 and at most as many as there are colours."""
    if len(curves) > len(COLOURS):
        raise ValueError("%d curves in one chart, at most %d can be told apart" % (len(curves), len(COLOURS)))
    x = Axis([px for _, points in curves for px, _ in points], LEFT, WIDTH - RIGHT)
    y = Axis([py for _, points in curves for _, py in points], HEIGHT - BOTTOM, TOP)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">' % (
        WIDTH, HEIGHT, escape(title, {'"': "&quot;"})), "<style>%s</style>" % STYLE,
        '<rect class="back" width="%d" height="%d"/>' % (WIDTH, HEIGHT),
        '<text class="title" x="%d" y="30">%s</text>' % (LEFT, escape(title))]
    lines += axes(x, y, x_name, y_name)
    for i, (name, points) in enumerate(curves):
        lines += curve(x, y, name, points, COLOURS[i], MARKS[i])
        lines.append('<path d="%s" fill="%s" stroke="%s" transform="translate(%d,%d)"/>' % (
            MARKS[i], COLOURS[i], COLOURS[i], WIDTH - RIGHT + 20, TOP + 10 + 24 * i))
        lines.append('<text x="%d" y="%d">%s</text>' % (WIDTH - RIGHT + 32, TOP + 14 + 24 * i, escape(name)))
    return "\n".join(lines + ["</svg>", ""])
