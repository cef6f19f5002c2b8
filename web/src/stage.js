// The animation: the scene of the run, seen through three.js, drawn whenever something changes.
import { AmbientLight, Color, DirectionalLight, Group, PerspectiveCamera, Scene, Vector2, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Arrows } from "./arrows.js";
import { arrowList, player, switches } from "./controls.js";
import { Shapes, stretch } from "./shapes.js";
import { colour, onTheme } from "./theme.js";
import { moment, Surroundings, TurnTrack, VectorTrack } from "./tracks.js";

function radiusOf(body) {
  if (body.shape === "ball") return body.size[0];
  if (body.shape === "cylinder") return Math.hypot(body.size[0], body.size[1] / 2);
  if (body.shape === "box") return Math.hypot(...body.size) / 2;
  return 0;
}

class Stage {
  constructor(view, data, times, clock) {
    this.view = view;
    this.times = times;
    this.clock = clock;
    this.raw = data.scene;
    this.frames = times.length;
    this.points = this.raw.points.map((p) => ({ ...p, track: new VectorTrack(p.at) }));
    this.bodies = this.raw.bodies.map((b) => ({ ...b, track: new TurnTrack(b.turn), radius: radiusOf(b) }));
    this.around = new Surroundings(this.raw, this.points, this.bodies, this.frames);
    // a body that travels far is looked at, not the whole journey
    this.far = this.around.body > 0 && this.around.size > 60 * this.around.body;
    this.size = this.far ? 20 * this.around.body : this.around.size;

    this.renderer = new WebGLRenderer({ antialias: true, alpha: false });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    view.append(this.renderer.domElement);
    this.labels = view.appendChild(Object.assign(document.createElement("div"), { className: "labels" }));
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(32, 1, this.size / 500, this.size * 100);
    this.camera.up.copy(this.around.up);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    // the page scrolls under a finger and under the wheel; the scene is zoomed with a key held, or with two fingers
    this.renderer.domElement.style.touchAction = "pan-y";
    this.renderer.domElement.title = "Drag to turn, Ctrl or Shift and the wheel to zoom";
    this.controls.addEventListener("change", () => this.draw());
    view.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) event.stopPropagation();
      },
      { capture: true },
    );
    this.lights();
    this.shapes = new Shapes(this.size);
    this.populate();
    this.arrows = new Arrows(this.raw, this.points, this.size, this.frames);
    this.scene.add(this.arrows.group);
    this.around.samples.push(...this.arrows.tips(this.frames, 0.35 * this.size));
    this.look();
    this.following = this.far;
    this.resize();
    new ResizeObserver(() => this.resize()).observe(view);
    onTheme(() => this.paint());
    this.paint();
  }

  lights() {
    this.scene.add(new AmbientLight(0xffffff, 1.25));
    const sun = new DirectionalLight(0xffffff, 2.3);
    sun.position.copy(this.around.eye()).addScaledVector(this.around.up, 1.1).addScaledVector(this.around.right, -0.9);
    this.scene.add(sun);
  }

  // what moves has the colour of its path
  chooseColours(centers) {
    let next = 0;
    this.points.forEach((p, k) => {
      const drawn = !p.track.constant && (p.mass > 0 || centers.has(k) || this.points.length <= 8);
      p.tint = drawn ? `trace-${next++ % 7}` : null;
    });
  }

  populate() {
    const heaviest = Math.max(...this.points.map((p) => p.mass), 1e-300);
    const centers = new Set(this.bodies.map((b) => b.center));
    const linked = new Set(this.raw.links.flatMap((link) => [link.from, link.to]));
    this.chooseColours(centers);
    this.movers = [];
    this.named = [];
    for (const body of this.bodies) {
      const object = this.shapes.solid(body);
      body.axesObject = this.shapes.axes(Math.max(1.25 * body.radius, 0.1 * this.size));
      object.add(body.axesObject);
      this.scene.add(object);
      const at = this.points[body.center].track;
      this.movers.push((now) => {
        at.at(now, object.position);
        body.track.at(now, object.quaternion);
      });
      this.named.push({ name: body.name, track: at });
    }
    this.points.forEach((point, k) => {
      const particle = point.mass > 0;
      if (!particle && (centers.has(k) || (k === 0 && !linked.has(0)))) return;
      const radius = this.size * (particle ? 0.011 + 0.011 * Math.cbrt(point.mass / heaviest) : 0.006);
      const object = this.shapes.ball(radius, particle ? point.tint || "trace-6" : "link-line");
      this.scene.add(object);
      this.movers.push((now) => point.track.at(now, object.position));
      this.named.push({ name: point.name, track: point.track, minor: !particle });
    });
    const [from, to] = [new Vector3(), new Vector3()];
    const now = { i: 0, part: 0 };
    const inside = (link) =>
      this.bodies.some((body) => {
        if (link.kind !== "rod" || (link.from !== body.center && link.to !== body.center)) return false;
        return this.points[link.from].track.at(now, from).distanceTo(this.points[link.to].track.at(now, to)) < 1.02 * body.radius;
      });
    for (const link of this.raw.links) {
      if (inside(link)) continue;
      const object =
        link.kind === "spring" ? this.shapes.coil(0.02 * this.size) : this.shapes.rod((link.kind === "damper" ? 0.007 : 0.0045) * this.size, "link-line");
      this.scene.add(object);
      const [first, second] = [this.points[link.from].track, this.points[link.to].track];
      this.movers.push((now) => stretch(object, first.at(now, from), second.at(now, to)));
    }
    this.addPaths();
    this.addGround();
    this.world = this.shapes.axes(0.18 * this.size);
    this.scene.add(this.world);
    for (const { name } of this.named) this.labels.append(Object.assign(document.createElement("span"), { textContent: name }));
  }

  addPaths() {
    this.paths = new Group();
    this.travelled = [];
    const moving = this.points.filter((p) => p.tint);
    const p = new Vector3();
    for (const point of moving.slice(0, 40)) {
      const positions = [];
      for (let i = 0; i < this.frames; i++) {
        point.track.frame(i, p);
        if (Number.isFinite(p.x + p.y + p.z)) positions.push(p.x, p.y, p.z);
      }
      if (positions.length < 6) continue;
      this.paths.add(this.shapes.path(positions, point.tint, 1.2, 0.35));
      const line = this.shapes.path(positions, point.tint, 2, 1);
      this.paths.add(line);
      this.travelled.push({ line, segments: positions.length / 3 - 1 });
    }
    this.scene.add(this.paths);
  }

  addGround() {
    const a = this.around;
    const table = a.normal && !a.heavy;
    const normal = table ? a.normal : a.up;
    const heights = [a.low, a.high].map((corner) => corner.dot(normal));
    const lowest = Math.min(...heights);
    const top = Math.max(...heights);
    // things that stay above the origin's level stand on it; others hang over a floor below them
    let level = lowest > -0.02 * a.size ? 0 : lowest - 0.04 * a.size;
    if (table) level = (lowest + top) / 2 - 0.02 * this.size;
    const origin = a.center.clone().addScaledVector(normal, level - a.center.dot(normal));
    this.ground = this.shapes.grid(normal, a.right, origin, Math.min(a.size, 12 * this.size) * 1.1);
    this.scene.add(this.ground);
  }

  // so far away that everything fits, whatever the shape of the window
  look() {
    const a = this.around;
    const eye = a.eye();
    const height = this.far ? this.size : 0;
    const tangent = Math.tan((this.camera.fov * Math.PI) / 360);
    const side = a.up.clone().cross(eye).normalize();
    const above = eye.clone().cross(side);
    let distance = height / tangent;
    const middle = a.center.clone();
    if (!this.far) {
      // the middle of what is seen, not of the box around it
      for (const axis of [side, above]) {
        const along = a.samples.map(({ at }) => at.dot(axis));
        const least = Math.min(...along.map((v, i) => v - a.samples[i].radius));
        const most = Math.max(...along.map((v, i) => v + a.samples[i].radius));
        middle.addScaledVector(axis, (least + most) / 2 - middle.dot(axis));
      }
      const from = new Vector3();
      for (const { at, radius } of a.samples) {
        from.copy(at).sub(middle);
        const out = Math.max(Math.abs(from.dot(above)), Math.abs(from.dot(side)) / this.camera.aspect) + radius + 0.04 * a.size;
        distance = Math.max(distance, out / tangent + from.dot(eye));
      }
      distance *= 1.1;
    }
    this.controls.target.copy(this.far ? this.focus() : middle);
    this.camera.position.copy(this.controls.target).addScaledVector(eye, distance);
    this.controls.minDistance = distance / 60;
    this.controls.maxDistance = distance * 8;
    this.camera.near = distance / 300;
    this.camera.far = distance * 40 + a.size * 4;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.looked = true;
    this.draw();
  }

  // what is followed: the middle of all masses
  focus() {
    const sum = new Vector3();
    const p = new Vector3();
    let mass = 0;
    const now = moment(this.times, this.clock.t);
    const add = (track, weight) => {
      sum.addScaledVector(track.at(now, p), weight);
      mass += weight;
    };
    for (const body of this.bodies) add(this.points[body.center].track, body.mass || 1e-9);
    for (const point of this.points) if (point.mass > 0) add(point.track, point.mass);
    return mass > 0 ? sum.multiplyScalar(1 / mass) : this.around.center.clone();
  }

  resize() {
    const width = this.view.clientWidth;
    const height = this.view.clientHeight;
    if (!width || !height) return;
    const before = this.camera.aspect;
    this.renderer.setSize(width, height, false);
    this.resolution = new Vector2(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (Math.abs(before - this.camera.aspect) > 0.05) this.look();
    this.draw();
  }

  paint() {
    this.scene.background = new Color(colour("sky"));
    this.shapes.paint();
    this.arrows.paint();
    this.draw();
  }

  update(t) {
    const now = moment(this.times, t);
    for (const move of this.movers) move(now);
    this.arrows.update(now);
    for (const { line, segments } of this.travelled) line.geometry.instanceCount = Math.max(0, Math.min(segments, now.i));
    if (this.following) {
      const step = this.focus().sub(this.controls.target);
      this.controls.target.add(step);
      this.camera.position.add(step);
    }
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.renderer.render(this.scene, this.camera);
      this.placeLabels();
    });
  }

  placeLabels() {
    this.labels.hidden = !this.names;
    if (!this.names) return;
    const now = moment(this.times, this.clock.t);
    const p = new Vector3();
    const { width, height } = { width: this.view.clientWidth, height: this.view.clientHeight };
    this.named.forEach(({ track }, k) => {
      track.at(now, p).project(this.camera);
      const label = this.labels.children[k];
      label.style.transform = `translate(${((p.x + 1) / 2) * width + 8}px, ${((1 - p.y) / 2) * height - 20}px)`;
      label.style.display = Math.abs(p.x) > 1 || Math.abs(p.y) > 1 || p.z > 1 ? "none" : "";
    });
  }
}

export function startStage(root, data, times, clock) {
  const view = root.appendChild(Object.assign(document.createElement("div"), { className: "view" }));
  root.append(player(clock, data.events));
  const missing = (why) => {
    view.append(Object.assign(document.createElement("p"), { className: "missing", textContent: why }));
    view.style.height = "auto";
  };
  if (!data.scene) return missing("This run has no animation: the model has nothing to draw, or more than can be taken in.");
  let stage;
  try {
    stage = new Stage(view, data, times, clock);
  } catch (error) {
    return missing(`The animation needs WebGL, which this browser does not give: ${error.message}`);
  }
  const hasTorques = stage.arrows.list.some((a) => a.torque);
  const hasForces = stage.arrows.list.some((a) => !a.torque);
  stage.names = stage.named.filter((n) => !n.minor).length <= 12;
  const changed = () => stage.update(clock.t);
  const axes = (on) => {
    stage.world.visible = on;
    for (const body of stage.bodies) body.axesObject.visible = on;
    changed();
  };
  axes(false);
  root.append(
    switches([
      ...(hasForces ? [{ name: "Constraint forces", on: true, change: (on) => { stage.arrows.show.force = on; changed(); } }] : []),
      ...(hasTorques ? [{ name: "Constraint torques", on: true, change: (on) => { stage.arrows.show.torque = on; changed(); } }] : []),
      ...(hasForces || hasTorques ? [{ name: "Arrow length", slide: (factor) => { stage.arrows.magnification = factor; changed(); } }] : []),
      { name: "Paths", on: true, change: (on) => { stage.paths.visible = on; changed(); } },
      { name: "Ground", on: true, change: (on) => { stage.ground.visible = on; changed(); } },
      { name: "Axes", on: false, change: axes },
      { name: "Names", on: stage.names, change: (on) => { stage.names = on; changed(); } },
      { name: "Follow", on: stage.following, change: (on) => { stage.following = on; changed(); } },
      { name: "Reset view", press: () => stage.look() },
    ]),
  );
  const list = arrowList(stage.arrows, changed);
  if (stage.arrows.list.length) root.append(list.list);
  clock.onTime((t) => {
    stage.update(t);
    list.update();
  });
  stage.update(clock.t);
  list.update();
  view.dataset.ready = "yes";
}
