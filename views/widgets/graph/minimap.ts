// The whole of a graph that does not fit, in a corner: what of it is in sight is a frame that can be dragged.

import { el, svg } from "#shared/dom";
import { act, consume } from "#shared/keys";
import { between } from "#shared/values";
import type { Bounds, ViewBox } from "./geometry";
import type { Viewport } from "./viewport";

/** What is drawn in one colour, one above the other. */
export const LAYERS = ["plain", "folded", "changed", "hit", "chosen"] as const;
export type Layer = (typeof LAYERS)[number];

interface Point {
  readonly x: number;
  readonly y: number;
}

const LONGEST = { width: 124, height: 150 };
// A node is drawn so many pixels large at the least, and the frame.
const SMALLEST = { node: 1.5, frame: 5 };
const PAGE = 0.8;
const STEP = 0.2;

/** How many pixels of the map a unit of the picture is. */
export function scaleOf([, , width, height]: ViewBox): number {
  return Math.min(LONGEST.width / width, LONGEST.height / height);
}

/** Rectangles as the text of one path; each is at least so large. */
export function rectangles(parts: readonly Bounds[], least: number): string {
  return parts
    .map(({ left, top, right, bottom }) => {
      const [width, height] = [Math.max(right - left, least), Math.max(bottom - top, least)];
      return `M${left.toFixed(1)} ${top.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
    })
    .join("");
}

/** The part of a picture that is in sight, as far as it is within the picture. */
export function frameOf([x, y, width, height]: ViewBox, sight: ViewBox, least: number): ViewBox {
  const along = (start: number, size: number, from: number, length: number): readonly [number, number] => {
    const first = between(start, from, start + size - least);
    return [first, between(least, from + length - first, start + size - first)];
  };
  const [left, wide] = along(x, width, sight[0], sight[2]);
  const [top, high] = along(y, height, sight[1], sight[3]);
  return [left, top, wide, high];
}

export class Minimap {
  readonly element: HTMLElement;
  private readonly paths: Readonly<Record<Layer, SVGPathElement>>;
  private readonly frame = svg("rect", { class: "frame", "vector-effect": "non-scaling-stroke" });
  private readonly map: SVGSVGElement;
  private parts: Readonly<Partial<Record<Layer, readonly Element[]>>> = {};
  private isDrawn = false;

  constructor(private readonly viewport: Viewport) {
    const path = (layer: Layer) => svg("path", { class: layer });
    this.paths = {
      plain: path("plain"),
      folded: path("folded"),
      changed: path("changed"),
      hit: path("hit"),
      chosen: path("chosen"),
    };
    this.map = svg(
      "svg",
      { "aria-hidden": "true" },
      LAYERS.map((layer) => this.paths[layer]),
      this.frame,
    );
    const label = "Map of the graph. Arrows move what is in sight, Page Up and Page Down by a screen, Home and End.";
    const names = { role: "application", "aria-roledescription": "map", "aria-label": label, title: "Drag the frame" };
    this.element = el("div", { class: "minimap", tabindex: 0, ...names, hidden: true }, this.map);
    this.element.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    this.element.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Another picture: what is in its layers is measured when the map is first seen. */
  setParts(parts: Readonly<Partial<Record<Layer, readonly Element[]>>>): void {
    this.parts = parts;
    this.isDrawn = false;
    this.follow();
  }

  /** Draws a layer anew. */
  mark(layer: Layer, elements: readonly Element[]): void {
    this.parts = { ...this.parts, [layer]: elements };
    if (this.isDrawn) this.drawLayer(layer);
  }

  /** Moves the frame to what is in sight; a picture that fits has no map. */
  follow(): void {
    this.element.hidden = !this.viewport.isLarge;
    if (this.element.hidden) return;
    if (!this.isDrawn) this.draw();
    const { viewBox, sight } = this.viewport;
    const [x, y, width, height] = frameOf(viewBox, sight, SMALLEST.frame / scaleOf(viewBox));
    for (const [name, value] of Object.entries({ x, y, width, height }))
      this.frame.setAttribute(name, value.toFixed(1));
  }

  private draw(): void {
    const { viewBox } = this.viewport;
    const scale = scaleOf(viewBox);
    this.isDrawn = true;
    this.map.setAttribute("viewBox", viewBox.join(" "));
    this.map.setAttribute("width", (viewBox[2] * scale).toFixed(1));
    this.map.setAttribute("height", (viewBox[3] * scale).toFixed(1));
    for (const layer of LAYERS) this.drawLayer(layer);
  }

  private drawLayer(layer: Layer): void {
    const least = SMALLEST.node / scaleOf(this.viewport.viewBox);
    this.paths[layer].setAttribute("d", rectangles(this.viewport.boundsOfEach(this.parts[layer] ?? []), least));
  }

  private pointOf(event: PointerEvent): Point {
    const rect = this.map.getBoundingClientRect();
    const [x, y, width, height] = this.viewport.viewBox;
    return {
      x: x + ((event.clientX - rect.left) / rect.width) * width,
      y: y + ((event.clientY - rect.top) / rect.height) * height,
    };
  }

  // The frame is taken where it is pressed; beside it a press brings it there.
  private onPointerDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { viewport, element } = this;
    const [left, top, width, height] = viewport.sight;
    const start = this.pointOf(event);
    const away = { x: start.x - left - width / 2, y: start.y - top - height / 2 };
    const isInside = Math.abs(away.x) <= width / 2 && Math.abs(away.y) <= height / 2;
    const by = isInside ? away : { x: 0, y: 0 };
    const move = (next: PointerEvent) => {
      const { x, y } = this.pointOf(next);
      viewport.lookAt(x - by.x, y - by.y);
    };
    const up = () => element.removeEventListener("pointermove", move);
    event.stopPropagation();
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", up, { once: true });
    move(event);
  }

  private onKey(event: KeyboardEvent): void {
    const { viewport } = this;
    const [left, top, width, height] = viewport.sight;
    const go = (dx: number, dy: number) => viewport.lookAt(left + width * (0.5 + dx), top + height * (0.5 + dy));
    const [x, y, wide, high] = viewport.viewBox;
    const isOurs = act(event, {
      ArrowLeft: () => go(-STEP, 0),
      ArrowRight: () => go(STEP, 0),
      ArrowUp: () => go(0, -STEP),
      ArrowDown: () => go(0, STEP),
      PageUp: () => go(0, -PAGE),
      PageDown: () => go(0, PAGE),
      Home: () => viewport.lookAt(x + wide / 2, y),
      End: () => viewport.lookAt(x + wide / 2, y + high),
    });
    if (isOurs) consume(event);
  }
}
