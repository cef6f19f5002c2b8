// Where things are, frame by frame, and in between.
import { Quaternion, Vector3 } from "three";
import { floats, indexAt } from "./data.js";

// `width` numbers a frame, or one value for all frames
class Track {
  constructor(raw, width) {
    this.constant = Array.isArray(raw);
    this.values = this.constant ? Float32Array.from(raw) : floats(raw);
    this.width = width;
  }
}

export class VectorTrack extends Track {
  constructor(raw) {
    super(raw, 3);
  }
  frame(i, out) {
    const at = this.constant ? 0 : 3 * i;
    return out.set(this.values[at], this.values[at + 1], this.values[at + 2]);
  }
  at({ i, part }, out) {
    this.frame(i, out);
    if (this.constant || part === 0) return out;
    const v = this.values;
    const next = 3 * i + 3;
    out.x += part * (v[next] - out.x);
    out.y += part * (v[next + 1] - out.y);
    out.z += part * (v[next + 2] - out.z);
    return out;
  }
}

export class TurnTrack extends Track {
  constructor(raw) {
    super(raw, 4);
    this.next = new Quaternion();
  }
  at({ i, part }, out) {
    out.fromArray(this.values, this.constant ? 0 : 4 * i);
    if (!this.constant && part !== 0) out.slerp(this.next.fromArray(this.values, 4 * i + 4), part);
    return out;
  }
}

export function moment(times, t) {
  const i = indexAt(times, t);
  const span = i + 1 < times.length ? times[i + 1] - times[i] : 0;
  return { i, part: span ? Math.min(1, Math.max(0, (t - times[i]) / span)) : 0 };
}

// The box that everything stays in, and the directions to look from.
export class Surroundings {
  constructor(scene, points, bodies, frames) {
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = new Vector3(-Infinity, -Infinity, -Infinity);
    const p = new Vector3();
    const size = new Vector3();
    this.samples = []; // of where things are, for the view to hold
    const step = Math.max(1, Math.floor(frames / 150));
    const include = (track, radius) => {
      for (let i = 0; i < (track.constant ? 1 : frames); i++) {
        track.frame(i, p);
        if (!Number.isFinite(p.x + p.y + p.z)) continue;
        if (i % step === 0 || i === frames - 1) this.samples.push({ at: p.clone(), radius });
        size.setScalar(radius);
        low.min(p.clone().sub(size));
        high.max(p.clone().add(size));
      }
    };
    const linked = new Set(scene.links.flatMap((link) => [link.from, link.to]));
    const radius = new Map(bodies.map((body) => [body.center, body.radius]));
    points.forEach((point, k) => {
      if (!point.fixed || point.mass > 0 || linked.has(k) || radius.has(k)) include(point.track, radius.get(k) || 0);
    });
    if (!Number.isFinite(low.x)) {
      low.set(-1, -1, -1);
      high.set(1, 1, 1);
      this.samples.push({ at: low.clone(), radius: 0 }, { at: high.clone(), radius: 0 });
    }
    this.low = low;
    this.high = high;
    this.center = low.clone().add(high).multiplyScalar(0.5);
    const extent = high.clone().sub(low);
    this.size = Math.max(extent.x, extent.y, extent.z, 1e-9);
    this.body = Math.max(0, ...bodies.map((body) => body.radius));

    // flat motion is looked at from in front
    const flat = ["x", "y", "z"].filter((axis) => extent[axis] < 1e-4 * this.size);
    const gravity = new Vector3(...scene.gravity);
    this.heavy = gravity.length() > 0;
    this.up = this.heavy ? gravity.clone().normalize().negate() : new Vector3(0, 0, 1);
    const unit = (axis) => new Vector3(axis === "x" ? 1 : 0, axis === "y" ? 1 : 0, axis === "z" ? 1 : 0);
    const normals = flat.map(unit).filter((n) => !this.heavy || Math.abs(n.dot(this.up)) < 0.01);
    this.normal = null;
    if (normals.length) {
      this.normal = normals.find((n) => n.z === 1) || normals[normals.length - 1];
      if (!this.heavy) this.up = this.normal.z === 1 ? new Vector3(0, 1, 0) : new Vector3(0, 0, 1);
      if (this.normal.y === 1) this.normal.negate();
    } else if (this.heavy && flat.length && bodies.length === 0) {
      this.onTable = true; // all at one height
    }
    this.right = this.normal ? this.up.clone().cross(this.normal) : anyAcross(this.up);
    this.towards = this.normal || this.right.clone().cross(this.up);
    this.flatSolids = bodies.length === 0;
  }

  // the direction from the scene to the eye
  eye() {
    const out = this.towards.clone();
    if (this.normal) return out.addScaledVector(this.up, 0.1).addScaledVector(this.right, 0.14).normalize();
    return out.addScaledVector(this.up, 0.5).addScaledVector(this.right, 0.45).normalize();
  }
}

function anyAcross(up) {
  const other = Math.abs(up.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
  return other.addScaledVector(up, -other.dot(up)).normalize();
}
