// Constraint forces as arrows at their points, torques as arrows with two heads at the centres of their bodies. One scale for all
// forces and one for all torques: the longest, but for rare peaks, takes a fixed part of the scene.
import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshBasicMaterial, MeshLambertMaterial, Quaternion, Vector3 } from "three";
import { colour } from "./theme.js";
import { VectorTrack } from "./tracks.js";

const Y = new Vector3(0, 1, 0);
const part = 0.24; // of the scene

function largeValue(tracks, frames) {
  const sizes = [];
  const v = new Vector3();
  for (const track of tracks)
    for (let i = 0; i < (track.constant ? 1 : frames); i++) {
      const size = track.frame(i, v).length();
      if (size > 0 && Number.isFinite(size)) sizes.push(size);
    }
  sizes.sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor(0.97 * (sizes.length - 1))] : 0;
}

class Arrow {
  constructor(size, heads, { solid, ghost }) {
    this.group = new Group();
    this.radius = 0.0065 * size;
    this.head = 0.045 * size;
    this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 14).translate(0, 0.5, 0), solid);
    this.heads = [];
    for (let i = 0; i < heads; i++) this.heads.push(new Mesh(new ConeGeometry(1, 1, 20).translate(0, -0.5, 0), solid));
    this.group.add(this.shaft, ...this.heads);
    // what is behind a body shows through it
    for (const mesh of [this.shaft, ...this.heads]) {
      const through = new Mesh(mesh.geometry, ghost);
      through.renderOrder = 10;
      mesh.add(through);
    }
    this.turn = new Quaternion();
  }

  set(from, vector, scale) {
    const length = vector.length() * scale;
    this.group.visible = length > 0.25 * this.radius && Number.isFinite(length);
    if (!this.group.visible) return;
    this.group.position.copy(from);
    this.group.quaternion.copy(this.turn.setFromUnitVectors(Y, vector.normalize()));
    const head = Math.min(this.head, 0.5 * length);
    const thick = this.radius * Math.min(1, (0.5 * length) / this.head + 0.25);
    this.shaft.scale.set(thick, length - 0.6 * head, thick);
    this.heads.forEach((mesh, i) => {
      mesh.position.y = length - i * 0.75 * head;
      mesh.scale.set(head * 0.36, head, head * 0.36);
    });
  }
}

export class Arrows {
  constructor(scene, points, size, frames) {
    this.group = new Group();
    const pair = () => ({
      solid: new MeshLambertMaterial(),
      ghost: new MeshBasicMaterial({ transparent: true, opacity: 0.28, depthTest: false, depthWrite: false }),
    });
    this.materials = { force: pair(), torque: pair() };
    this.magnification = 1;
    this.list = scene.arrows.map((raw) => {
      const arrow = new Arrow(size, raw.torque ? 2 : 1, raw.torque ? this.materials.torque : this.materials.force);
      this.group.add(arrow.group);
      const track = new VectorTrack(raw.v);
      // a component that never acts, as across the plane of a flat linkage, is not worth a line
      const idle = track.constant && track.values.every((v) => v === 0);
      return { ...raw, track, point: points[raw.at], arrow, idle, shown: true, now: 0 };
    });
    const tracks = (torque) => this.list.filter((a) => a.torque === torque).map((a) => a.track);
    const scale = (torque) => {
      const large = largeValue(tracks(torque), frames);
      return large > 0 ? (part * size) / large : 0;
    };
    this.scales = { force: scale(false), torque: scale(true) };
    this.show = { force: true, torque: true };
    this.from = new Vector3();
    this.value = new Vector3();
  }

  // where arrows end in some of the frames, rare peaks cut off
  tips(frames, longest) {
    const out = [];
    const step = Math.max(1, Math.floor(frames / 40));
    for (const a of this.list)
      for (let i = 0; i < frames; i += step) {
        const tip = a.track.frame(i, new Vector3()).multiplyScalar(this.scales[a.torque ? "torque" : "force"]).clampLength(0, longest);
        tip.add(a.point.track.frame(i, this.from));
        if (Number.isFinite(tip.x + tip.y + tip.z)) out.push({ at: tip, radius: 0 });
      }
    return out;
  }

  paint() {
    for (const [kind, { solid, ghost }] of Object.entries(this.materials)) {
      solid.color.set(colour(kind));
      solid.emissive.set(colour(kind)).multiplyScalar(0.25);
      ghost.color.set(colour(kind));
    }
  }

  update(now) {
    for (const a of this.list) {
      const kind = a.torque ? "torque" : "force";
      a.track.at(now, this.value);
      a.now = this.value.length();
      if (a.shown && this.show[kind]) a.arrow.set(a.point.track.at(now, this.from), this.value, this.scales[kind] * this.magnification);
      else a.arrow.group.visible = false;
    }
  }
}
