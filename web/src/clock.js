// The time that the page shows. The animation plays it, plots and the slider move it, everybody listens.
export class Clock {
  constructor(from, to) {
    this.from = Math.min(from, to);
    this.to = Math.max(from, to);
    this.t = from;
    this.start = from;
    this.end = to;
    this.playing = false;
    this.speed = 1;
    this.listeners = [];
    this.states = [];
  }

  onTime(listener) { this.listeners.push(listener); }
  onState(listener) { this.states.push(listener); }

  set(t, source) {
    this.t = Math.min(this.to, Math.max(this.from, t));
    for (const listener of this.listeners) listener(this.t, source);
  }

  play(on) {
    if (on === this.playing) return;
    if (on && this.t === this.end) this.set(this.start);
    this.playing = on;
    for (const listener of this.states) listener();
    if (on) {
      this.last = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
  }

  tick(now) {
    if (!this.playing) return;
    const direction = this.end >= this.start ? 1 : -1;
    // a page that was in the background goes on where it was
    const passed = Math.min(now - this.last, 100) / 1000;
    this.last = now;
    let t = this.t + direction * passed * this.speed;
    if ((t - this.end) * direction >= 0) t = this.start;
    this.set(t);
    requestAnimationFrame((later) => this.tick(later));
  }
}
