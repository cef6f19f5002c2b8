// The numbers of the page, decoded. Columns keep their own times where the run was thinned, and share them otherwise.

function bytes(text) {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out.buffer;
}

export const doubles = (text) => new Float64Array(bytes(text));
export const floats = (text) => new Float32Array(bytes(text));

export function readData() {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const shared = raw.t ? doubles(raw.t) : new Float64Array();
  const columns = (raw.columns || []).map((c) => ({ name: c.name, t: c.t ? doubles(c.t) : shared, v: doubles(c.v) }));
  return { ...raw, columns };
}

// the last index whose time is not after t; times ascend, or descend where a run goes backwards
export function indexAt(times, t) {
  const falls = times.length > 1 && times[times.length - 1] < times[0];
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (falls ? times[middle] >= t : times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function valueAt(column, t) {
  const { t: times, v } = column;
  if (!times.length) return NaN;
  const i = indexAt(times, t);
  if (i + 1 >= times.length || times[i + 1] === times[i]) return v[i];
  const part = (t - times[i]) / (times[i + 1] - times[i]);
  return part <= 0 ? v[i] : v[i] + Math.min(part, 1) * (v[i + 1] - v[i]);
}

// Columns over one list of times: the union of their own, values between two of them on the straight line that is drawn anyway.
export function onCommonTimes(columns) {
  if (columns.every((c) => c.t === columns[0].t)) return { t: columns[0].t, values: columns.map((c) => c.v) };
  const falls = columns[0].t[columns[0].t.length - 1] < columns[0].t[0];
  const all = new Set();
  for (const c of columns) for (const t of c.t) all.add(t);
  const t = Float64Array.from(all).sort();
  if (falls) t.reverse();
  const values = columns.map((c) => {
    const out = new Float64Array(t.length);
    let i = 0;
    for (let k = 0; k < t.length; k++) {
      while (i + 1 < c.t.length && (falls ? c.t[i + 1] >= t[k] : c.t[i + 1] <= t[k])) i++;
      const span = i + 1 < c.t.length ? c.t[i + 1] - c.t[i] : 0;
      const part = span ? (t[k] - c.t[i]) / span : 0;
      out[k] = part === 0 || !span ? c.v[i] : c.v[i] + part * (c.v[i + 1] - c.v[i]);
    }
    return out;
  });
  return { t, values };
}

// a number for people: few digits, powers of ten where they help
export function show(value, digits = 5) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−").replace(/e[+]?(−|-)?(\d+)$/, (_, minus, power) => `e${minus ? "−" : ""}${power}`);
}
