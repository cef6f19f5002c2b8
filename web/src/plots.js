// The plots: curves over time, and curves against each other. A cursor on one of them is the time of the whole page.
import uPlot from "uplot";
import { onCommonTimes, show, valueAt } from "./data.js";
import { colour, onTheme } from "./theme.js";

const k_traces = 7;
const k_shown = 8; // curves of a long list that are shown at first
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

const stroke = (i) => () => colour(`trace-${i % k_traces}`);
const dash = (i) => dashes[Math.floor(i / k_traces) % dashes.length];

// Ticks in few digits, all with the same number of decimals. Where they differ only far behind the first digits, the middle one is
// written out and the others by their distance from it.
function ticks(u, values) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 1;
  const size = Math.max(...values.map(Math.abs));
  if (step < 1e-6 * size) {
    const middle = Math.floor(values.length / 2);
    const signed = (k) => (k > 0 ? "+" : "−") + show(Math.abs(k) * step, 3);
    return values.map((v, i) => (i === middle ? show(v, 9) : signed(i - middle)));
  }
  if (size >= 1e5 || (size < 1e-3 && size > 0)) return values.map((v) => (v === 0 ? "0" : show(v, 4)));
  let decimals = 0;
  while (decimals < 8 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 * step * 10 ** decimals) decimals++;
  return values.map((v) => v.toFixed(decimals).replace("-", "−"));
}

function axis(label, side) {
  const line = () => colour("grid");
  return {
    label: label || undefined,
    labelSize: 22,
    labelGap: 0,
    labelFont: "12px system-ui, sans-serif",
    font: "11.5px system-ui, sans-serif",
    stroke: () => colour("quiet"),
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
    gap: 4,
    values: ticks,
    size: side ? (u, values) => (values ? 18 + 6.4 * Math.max(...values.map((v) => String(v).length)) : 48) : 30,
  };
}

// a little room above and below, and some height where everything is one value
function range(u, low, high) {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const room = (high - low) * 0.06;
  const least = Math.max(Math.abs(low), Math.abs(high)) * 1e-12 || 1;
  return high - low > least ? [low - room, high + room] : [low - Math.max(least, 1e-12) * 10, high + Math.max(least, 1e-12) * 10];
}

const height = (width) => Math.round(Math.min(300, Math.max(220, width * 0.56)));

function timePlot(figure, plot, columns, clock) {
  const { t, values } = onCommonTimes(plot.traces.map((trace) => columns[trace.y]));
  const falls = t.length > 1 && t[t.length - 1] < t[0];
  const ordered = (v) => (falls ? Float64Array.from(v).reverse() : v);
  const gaps = (v) => Array.from(v, (y) => (Number.isFinite(y) ? y : null));
  const data = [ordered(t), ...values.map((v) => ordered(v).every(Number.isFinite) ? ordered(v) : gaps(ordered(v)))];
  const options = {
    width: 440,
    height: 250,
    scales: { x: { time: false }, y: { range } },
    axes: [axis(plot.x), axis(plot.y === plot.title ? "" : plot.y, true)],
    cursor: {
      drag: { x: true, y: false, setScale: true },
      points: { size: 7 },
      focus: { prox: -1 },
      y: false,
    },
    legend: { live: true },
    series: [
      { label: "t", value: (u, v) => (v === null ? "" : `${show(v)} s`) },
      ...plot.traces.map((trace, i) => ({
        label: trace.label,
        stroke: stroke(i),
        dash: dash(i),
        width: 1.5,
        pxAlign: 0, // thin curves are not rounded to pixels
        points: { show: t.length < 3 },
        show: i < k_shown,
        value: (u, v) => (v === null ? "" : show(v)),
      })),
    ],
  };
  const u = new uPlot(options, data, figure);
  let own = false; // the cursor is moved by us
  u.over.addEventListener("mousemove", () => {
    if (!clock.playing && u.cursor.left >= 0) clock.set(u.posToVal(u.cursor.left, "x"), u);
  });
  u.over.addEventListener("click", () => {
    clock.play(false);
    clock.set(u.posToVal(u.cursor.left, "x"), u);
  });
  const follow = (now, source) => {
    if (source === u || own) return;
    own = true;
    const left = u.valToPos(now, "x");
    const inside = left >= 0 && left <= u.over.clientWidth;
    u.setCursor({ left: inside ? left : -10, top: inside ? u.over.clientHeight / 2 : -10 }, false);
    own = false;
  };
  u.over.addEventListener("mouseleave", () => requestAnimationFrame(() => follow(clock.t)));
  return { u, follow };
}

// The same scale on both axes of a path: the shorter one is widened.
function equalRanges(box, width, tall) {
  const [x0, x1, y0, y1] = box;
  const room = 1.08;
  const unit = Math.max(((x1 - x0) * room) / width, ((y1 - y0) * room) / tall) || 1 / width;
  const cx = (x0 + x1) / 2;
  const cy = (y0 + y1) / 2;
  return { x: [cx - (unit * width) / 2, cx + (unit * width) / 2], y: [cy - (unit * tall) / 2, cy + (unit * tall) / 2] };
}

// the names under a plot of curves against each other, in the manner of uPlot's own, which only know values over x
function names(plot, toggle) {
  const table = document.createElement("table");
  table.className = "u-legend u-inline";
  plot.traces.forEach((trace, k) => {
    const row = document.createElement("tr");
    row.className = "u-series";
    const name = document.createElement("th");
    const marker = document.createElement("div");
    marker.className = "u-marker";
    marker.style.background = `var(--trace-${k % k_traces})`;
    const label = document.createElement("div");
    label.className = "u-label";
    label.textContent = trace.label;
    name.append(marker, label);
    name.addEventListener("click", () => toggle(k, !row.classList.toggle("u-off")));
    row.append(name);
    table.append(row);
  });
  return table;
}

function planePlot(figure, plot, columns, clock) {
  figure.classList.add("turned");
  const traces = plot.traces.map((trace) => {
    const both = onCommonTimes([columns[trace.x], columns[trace.y]]);
    return { t: both.t, x: both.values[0], y: both.values[1] };
  });
  let box = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of traces)
    for (let i = 0; i < x.length; i++) {
      if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) continue;
      box = [Math.min(box[0], x[i]), Math.max(box[1], x[i]), Math.min(box[2], y[i]), Math.max(box[3], y[i])];
    }
  if (!Number.isFinite(box[0])) box = [0, 1, 0, 1];
  let zoomed = null;

  const draw = (u, k) => {
    const { x, y } = traces[k - 1];
    if (!u.series[k].show) return null;
    const path = new Path2D();
    let open = false;
    for (let i = 0; i < x.length; i++) {
      if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) {
        open = false;
        continue;
      }
      const px = u.valToPos(x[i], "x", true);
      const py = u.valToPos(y[i], "y", true);
      if (open) path.lineTo(px, py);
      else path.moveTo(px, py);
      open = true;
    }
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.clip();
    u.ctx.strokeStyle = colour(`trace-${(k - 1) % k_traces}`);
    u.ctx.lineWidth = 1.5 * devicePixelRatio;
    u.ctx.lineJoin = "round";
    u.ctx.stroke(path);
    u.ctx.restore();
    return null;
  };
  const limits = (axis) => (u) => {
    if (zoomed) return zoomed[axis];
    if (plot.kind === "path") {
      // the first drawing comes before the size of the field is known
      const width = u.bbox ? u.bbox.width || 360 : 360;
      const tall = u.bbox ? u.bbox.height || 220 : 220;
      return equalRanges(box, width, tall)[axis];
    }
    return axis === "x" ? range(u, box[0], box[1]) : range(u, box[2], box[3]);
  };
  const dots = [];
  const options = {
    mode: 2,
    width: 440,
    height: 250,
    scales: { x: { time: false, auto: false, range: limits("x") }, y: { auto: false, range: limits("y") } },
    axes: [axis(plot.x), axis(plot.y || (plot.traces.length === 1 ? plot.traces[0].label : ""), true)],
    cursor: { drag: { x: true, y: true, setScale: false }, points: { show: false }, x: false, y: false },
    legend: { show: false },
    series: [
      {},
      ...plot.traces.map((trace, i) => ({ label: trace.label, stroke: stroke(i), facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: draw })),
    ],
    hooks: {
      setSelect: [
        (u) => {
          if (u.select.width < 6 || u.select.height < 6) return;
          const { left, top, width, height } = u.select;
          zoomed = {
            x: [u.posToVal(left, "x"), u.posToVal(left + width, "x")],
            y: [u.posToVal(top + height, "y"), u.posToVal(top, "y")],
          };
          if (plot.kind === "path") {
            const fit = equalRanges([...zoomed.x, ...zoomed.y], u.bbox.width, u.bbox.height);
            zoomed = fit;
          }
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          u.redraw(true, true);
          rescale(u);
        },
      ],
    },
  };
  const rescale = (u) => {
    u.batch(() => {
      const [x0, x1] = limits("x")(u);
      const [y0, y1] = limits("y")(u);
      u.setScale("x", { min: x0, max: x1 });
      u.setScale("y", { min: y0, max: y1 });
    });
    place(clock.t);
  };
  const u = new uPlot(options, [null, ...traces.map(({ x, y }) => [x, y])], figure);
  u.over.addEventListener("dblclick", () => {
    zoomed = null;
    rescale(u);
  });
  figure.append(names(plot, (k, on) => {
    u.series[k + 1].show = on;
    u.redraw(false, false);
    place(clock.t);
  }));
  for (let k = 0; k < traces.length; k++) {
    const dot = document.createElement("div");
    dot.style.cssText = "position:absolute;width:9px;height:9px;margin:-4.5px 0 0 -4.5px;border-radius:50%;pointer-events:none";
    u.over.append(dot);
    dots.push(dot);
  }
  const place = (t) => {
    for (let k = 0; k < traces.length; k++) {
      const x = u.valToPos(valueAt({ t: traces[k].t, v: traces[k].x }, t), "x");
      const y = u.valToPos(valueAt({ t: traces[k].t, v: traces[k].y }, t), "y");
      const inside = x >= 0 && y >= 0 && x <= u.over.clientWidth && y <= u.over.clientHeight && u.series[k + 1].show;
      dots[k].style.display = inside ? "" : "none";
      dots[k].style.left = `${x}px`;
      dots[k].style.top = `${y}px`;
      dots[k].style.background = colour(`trace-${k % k_traces}`);
    }
  };
  // the time of the nearest point of any curve
  const nearest = (left, top) => {
    let best = Infinity;
    let found = null;
    for (let k = 0; k < traces.length; k++) {
      if (!u.series[k + 1].show) continue;
      const { t, x, y } = traces[k];
      for (let i = 0; i < t.length; i++) {
        const d = (u.valToPos(x[i], "x") - left) ** 2 + (u.valToPos(y[i], "y") - top) ** 2;
        if (d < best) [best, found] = [d, t[i]];
      }
    }
    return best < 40 * 40 ? found : null;
  };
  const point = (event) => {
    const frame = u.over.getBoundingClientRect();
    const t = nearest(event.clientX - frame.left, event.clientY - frame.top);
    if (t !== null) clock.set(t);
  };
  u.over.addEventListener("mousemove", (event) => {
    if (!clock.playing && !event.buttons) point(event);
  });
  u.over.addEventListener("click", (event) => {
    clock.play(false);
    point(event);
  });
  return { u, follow: place, resized: () => rescale(u) };
}

export function startPlots(data, clock) {
  const made = [];
  const make = (figure) => {
    const plot = data.plots[Number(figure.dataset.plot)];
    if (!plot || !plot.traces.length) return;
    const drawn = (plot.kind === "time" ? timePlot : planePlot)(figure, plot, data.columns, clock);
    figure.dataset.drawn = "yes";
    const fit = () => {
      const width = figure.clientWidth;
      if (!width) return;
      drawn.u.setSize({ width, height: plot.kind === "path" ? Math.round(Math.min(380, width * 0.72)) : height(width) });
      if (drawn.resized) drawn.resized();
      drawn.follow(clock.t);
    };
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(figure);
    fit();
    made.push(drawn);
  };
  // plots are made when they come near the screen, those on demand when they are asked for
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        near.unobserve(entry.target);
        make(entry.target);
      }
    },
    { rootMargin: "400px" },
  );
  for (const figure of document.querySelectorAll(".plot")) near.observe(figure);
  clock.onTime((t, source) => {
    for (const plot of made) plot.follow(t, source);
  });
  onTheme(() => {
    for (const plot of made) {
      plot.u.redraw(false, true);
      plot.follow(clock.t);
    }
  });
}
