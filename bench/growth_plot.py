"""Growth curves as SVG: both axes logarithmic, a line for each model, and thin lines of slope one to compare with."""
import math
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 380, 76, 32, 34, 46
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def ticks(low, high):
    return [10.0**k for k in range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)]


def label(value, unit):
    if unit == "s":
        for name, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
            if value >= size * 0.999 or name == "ns":
                return f"{value / size:.0f} {name}"
    if unit == "bytes":
        for name, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)):
            if value >= size * 0.999:
                return f"{value / size:.0f} {name}"
    return f"{value:.0f}"


def plot(title, across, curves, unit):
    """`curves`: pairs of a name and points (x, y)."""
    xs = [x for _, points in curves for x, _ in points]
    ys = [y for _, points in curves for _, y in points]
    across_ticks, up_ticks = ticks(min(xs), max(xs)), ticks(min(ys), max(ys))
    x0, x1 = math.log10(min(xs)), math.log10(max(xs))
    y0, y1 = math.log10(up_ticks[0]), math.log10(up_ticks[-1])

    def px(x):
        return LEFT + (math.log10(x) - x0) / ((x1 - x0) or 1) * (WIDTH - LEFT - RIGHT)

    def py(y):
        return HEIGHT - BOTTOM - (math.log10(y) - y0) / ((y1 - y0) or 1) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{WIDTH / 2}" y="18" text-anchor="middle" font-size="14">{escape(title)}</text>']
    for y in up_ticks:
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{py(y):.1f}" y2="{py(y):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{py(y) + 4:.1f}" text-anchor="end">{label(y, unit)}</text>')
    for x in across_ticks:
        if not min(xs) <= x <= max(xs):
            continue
        out.append(f'<line x1="{px(x):.1f}" x2="{px(x):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(f'<text x="{px(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:.0f}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>')
    for k, (name, points) in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        # what grows in proportion to the size, from the first point on
        (xa, ya), xb = points[0], points[-1][0]
        yb = min(ya * xb / xa, 10**y1)
        xb = xa * yb / ya
        out.append(f'<line x1="{px(xa):.1f}" y1="{py(ya):.1f}" x2="{px(xb):.1f}" y2="{py(yb):.1f}" stroke="{colour}" '
                   f'stroke-width="0.7" stroke-dasharray="3 3"/>')
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{LEFT + 12}" y="{TOP + 16 + 16 * k}" fill="{colour}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>", ""])


def figures(curves, folder):
    """One figure for each kind of work and quantity, in the folder: pairs of a title and the name of its file."""
    out = []
    for kind in ("derivation", "evaluation", "step"):
        for unit, word in (("s", "time"), ("bytes", "memory")):
            lines = []
            for curve in curves:
                points = [(p["n"], p["seconds"] if unit == "s" else p["counts"]["memory"]) for p in curve["points"]
                          if "seconds" in p and (unit == "s" or "memory" in p["counts"])]
                if curve["kind"] == kind and len(points) > 1:
                    lines.append((curve["name"], points))
            if lines:
                title, name = f"{kind}: {word} against size", f"growth_{kind}_{word}.svg"
                (folder / name).write_text(plot(title, "size", lines, unit), encoding="utf-8")
                out.append((title, name))
    return out
