// Bodies, particles, links, ground and paths as three.js objects. Solids have the mass and inertia of their bodies; what is
// round carries a pattern, so that one sees it turn.
import {
  BoxGeometry, BufferGeometry, CanvasTexture, CylinderGeometry, Float32BufferAttribute, Group, LineBasicMaterial,
  LineSegments, Mesh, MeshLambertMaterial, Quaternion, SphereGeometry, SRGBColorSpace, Vector3, EdgesGeometry,
} from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { colour } from "./theme.js";

const Y = new Vector3(0, 1, 0);

// two tones around the axis
function sectors(count, rows) {
  const canvas = document.createElement("canvas");
  canvas.width = 256;
  canvas.height = 64;
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.paint = () => {
    const g = canvas.getContext("2d");
    for (let i = 0; i < count; i++)
      for (let j = 0; j < rows; j++) {
        g.fillStyle = colour((i + j) % 2 ? "body" : "body-dark");
        g.fillRect((i * 256) / count, (j * 64) / rows, 256 / count + 1, 64 / rows + 1);
      }
    texture.needsUpdate = true;
  };
  return texture;
}

function wedges(count) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 4;
  texture.paint = () => {
    const g = canvas.getContext("2d");
    for (let i = 0; i < count; i++) {
      g.fillStyle = colour(i % 2 ? "body" : "body-dark");
      g.beginPath();
      g.moveTo(128, 128);
      g.arc(128, 128, 190, (i * 2 * Math.PI) / count, ((i + 1) * 2 * Math.PI) / count + 0.01);
      g.fill();
    }
    texture.needsUpdate = true;
  };
  return texture;
}

export class Shapes {
  constructor(size) {
    this.size = size;
    this.painted = []; // things to do when the colours change
    this.textures = { side: sectors(8, 1), ball: sectors(8, 2), cap: wedges(8) };
  }

  paint() {
    for (const texture of Object.values(this.textures)) texture.paint();
    for (const paint of this.painted) paint();
  }

  tinted(material, name) {
    this.painted.push(() => material.color.set(colour(name)));
    return material;
  }

  solid(body) {
    const group = new Group();
    const thin = Math.max(0.012 * this.size, 0.02 * body.radius);
    let mesh;
    if (body.shape === "ball") {
      mesh = new Mesh(new SphereGeometry(body.size[0], 40, 24), new MeshLambertMaterial({ map: this.textures.ball }));
    } else if (body.shape === "cylinder") {
      const [radius, length] = [Math.max(body.size[0], thin / 2), Math.max(body.size[1], Math.min(thin, body.size[0] * 0.12 || thin))];
      const side = new MeshLambertMaterial({ map: this.textures.side });
      const cap = new MeshLambertMaterial({ map: this.textures.cap });
      const geometry = new CylinderGeometry(radius, radius, length, 64);
      geometry.rotateX(Math.PI / 2); // its axis is the third one
      mesh = new Mesh(geometry, [side, cap, cap]);
    } else if (body.shape === "box") {
      const edges = body.size.map((edge) => Math.max(edge, thin));
      const geometry = new BoxGeometry(...edges);
      mesh = new Mesh(geometry, this.tinted(new MeshLambertMaterial(), "body"));
      mesh.add(new LineSegments(new EdgesGeometry(geometry), this.tinted(new LineBasicMaterial(), "edge")));
    } else {
      mesh = new Mesh(new SphereGeometry(0.02 * this.size, 24, 16), this.tinted(new MeshLambertMaterial(), "body"));
    }
    mesh.quaternion.fromArray(body.axes.some((c) => !Number.isFinite(c)) ? [0, 0, 0, 1] : body.axes);
    group.add(mesh);
    return group;
  }

  ball(radius, name) {
    return new Mesh(new SphereGeometry(radius, 28, 18), this.tinted(new MeshLambertMaterial(), name));
  }

  // from one point to another; `stretch` puts it there
  rod(radius, name) {
    const mesh = new Mesh(new CylinderGeometry(radius, radius, 1, 12), this.tinted(new MeshLambertMaterial(), name));
    mesh.geometry.translate(0, 0.5, 0);
    return mesh;
  }

  coil(radius) {
    const turns = 12;
    const points = [];
    for (let i = 0; i <= turns * 24; i++) {
      const part = i / (turns * 24);
      const inside = part > 0.08 && part < 0.92 ? radius : 0;
      const angle = part * turns * 2 * Math.PI;
      points.push(inside * Math.cos(angle), part, inside * Math.sin(angle));
    }
    const geometry = new LineGeometry().setPositions(points);
    const line = new Line2(geometry, this.tinted(new LineMaterial({ linewidth: 1.6 }), "link-line"));
    line.frustumCulled = false;
    return line;
  }

  path(positions, name, width, opacity) {
    const geometry = new LineGeometry().setPositions(positions);
    const line = new Line2(geometry, this.tinted(new LineMaterial({ linewidth: width, transparent: opacity < 1, opacity }), name));
    line.frustumCulled = false;
    return line;
  }

  axes(length) {
    const group = new Group();
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
      const line = this.rod(0.004 * this.size, ["trace-1", "trace-2", "trace-0"][i]);
      stretch(line, new Vector3(), new Vector3(...axis).multiplyScalar(length));
      group.add(line);
    });
    return group;
  }

  // lines at round distances, in the plane across `normal` through `origin`
  grid(normal, across, origin, reach) {
    const step = niceStep(reach / 7);
    const other = normal.clone().cross(across);
    const count = Math.ceil(reach / step);
    const base = origin.clone();
    // lines go through whole multiples of the step
    for (const axis of [across, other]) base.addScaledVector(axis, Math.round(origin.dot(axis) / step) * step - origin.dot(axis));
    const positions = [];
    const p = new Vector3();
    for (let i = -count; i <= count; i++)
      for (const [along, beside] of [[across, other], [other, across]]) {
        p.copy(base).addScaledVector(beside, i * step).addScaledVector(along, -count * step);
        positions.push(p.x, p.y, p.z);
        p.addScaledVector(along, 2 * count * step);
        positions.push(p.x, p.y, p.z);
      }
    const geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(positions, 3));
    const lines = new LineSegments(geometry, this.tinted(new LineBasicMaterial(), "grid"));
    lines.step = step;
    return lines;
  }
}

export function niceStep(about) {
  const power = 10 ** Math.floor(Math.log10(about));
  const lead = about / power;
  return (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10) * power;
}

const direction = new Vector3();
const turn = new Quaternion();
export function stretch(object, from, to) {
  direction.copy(to).sub(from);
  const length = direction.length();
  object.position.copy(from);
  object.quaternion.copy(turn.setFromUnitVectors(Y, length > 0 ? direction.multiplyScalar(1 / length) : Y));
  object.scale.set(1, Math.max(length, 1e-9), 1);
}
