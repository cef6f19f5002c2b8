// The controls under the animation: play, time, speed, what is shown, and the list of arrows.
import { show } from "./data.js";

const element = (tag, props = {}, ...children) => {
  const out = Object.assign(document.createElement(tag), props);
  out.append(...children);
  return out;
};

const icons = {
  play: '<svg viewBox="0 0 14 14" aria-hidden="true"><path d="M3 1.5v11l9-5.5z"/></svg>',
  pause: '<svg viewBox="0 0 14 14" aria-hidden="true"><path d="M3 1.5h3v11H3zM8 1.5h3v11H8z"/></svg>',
};

const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

// real time where a run lasts a while, otherwise about ten seconds for all of it
function ownSpeed(duration) {
  if (duration >= 4 && duration <= 40) return 1;
  const wanted = duration / 10;
  return speeds.reduce((best, s) => (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best), 1);
}

export function player(clock, events) {
  const button = element("button", { className: "play", type: "button" });
  const slider = element("input", { type: "range", min: 0, max: 1000, step: "any", value: 0 });
  slider.setAttribute("aria-label", "time");
  const output = element("output");
  const marks = element("div", { className: "marks" });
  const duration = clock.to - clock.from || 1;
  for (const event of events.slice(0, 300)) {
    const mark = element("i", { title: event.what });
    mark.style.left = `${(100 * (event.t - clock.from)) / duration}%`;
    marks.append(mark);
  }
  const speed = element("select", { title: "speed" });
  speed.setAttribute("aria-label", "speed");
  clock.speed = ownSpeed(duration);
  for (const s of speeds.filter((s) => s >= clock.speed / 25 && s <= clock.speed * 25))
    speed.append(element("option", { value: s, textContent: `${s}×`, selected: s === clock.speed }));
  const state = () => {
    button.innerHTML = clock.playing ? icons.pause : icons.play;
    button.setAttribute("aria-label", clock.playing ? "pause" : "play");
  };
  const decimals = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(duration / 10))));
  const time = (t) => {
    output.textContent = `t = ${t.toFixed(decimals).replace("-", "−")} s`;
    slider.value = (1000 * (t - clock.from)) / duration;
  };
  button.addEventListener("click", () => clock.play(!clock.playing));
  slider.addEventListener("input", () => {
    clock.play(false);
    clock.set(clock.from + (duration * Number(slider.value)) / 1000);
  });
  speed.addEventListener("change", () => { clock.speed = Number(speed.value); });
  clock.onTime(time);
  clock.onState(state);
  state();
  time(clock.t);
  return element("div", { className: "player" }, button, element("div", { className: "track" }, slider, marks), output, speed);
}

export function switches(list) {
  const row = element("div", { className: "switches" });
  for (const item of list) {
    if (item.press) {
      const button = element("button", { type: "button", textContent: item.name });
      button.addEventListener("click", item.press);
      row.append(button);
    } else if (item.slide) {
      const slider = element("input", { type: "range", min: -2, max: 2, step: 0.05, value: 0 });
      slider.addEventListener("input", () => item.slide(10 ** (Number(slider.value) / 2)));
      row.append(element("label", {}, item.name, slider));
    } else {
      const box = element("input", { type: "checkbox", checked: item.on });
      box.addEventListener("change", () => item.change(box.checked));
      row.append(element("label", {}, box, item.name));
    }
  }
  return row;
}

// every arrow that ever acts, with its size now; a long list is cut
export function arrowList(arrows, changed) {
  const most = 24;
  const list = element("div", { className: "arrows" });
  const sizes = [];
  for (const arrow of arrows.list.filter((a) => !a.idle).slice(0, most)) {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      arrow.shown = box.checked;
      changed();
    });
    const size = element("span", { className: "size" });
    sizes.push([arrow, size]);
    const text = `${arrow.owner} ${arrow.torque ? "turns" : "on"} ${arrow.place}`;
    list.append(element("label", { className: arrow.torque ? "torque" : "force", title: text }, box, element("span", { className: "mark" }),
      element("span", { className: "what", textContent: text }), size));
  }
  const update = () => {
    for (const [arrow, size] of sizes) size.textContent = `${show(arrow.now, 4)} ${arrow.torque ? "N m" : "N"}`;
  };
  return { list, update };
}
