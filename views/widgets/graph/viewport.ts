// How the picture lies on the canvas: it is moved and enlarged by the user, or placed so that something is seen.

import { el, svg, targetOf } from "#shared/dom";
import { between, isStill } from "#shared/values";
import {
  type Bounds,
  boundsOf,
  centred,
  fitted,
  isInSight,
  type Transform,
  topmost,
  type ViewBox,
  zoomed,
} from "./geometry";

// Text is too small to read under the first scale; a picture that would be opens, and marks are shown, in the second.
const SMALL = 0.6;
const READABLE = 0.8;
// A path that is longer than the pane is shown whole down to this scale.
const SMALL_PATH = 0.25;
const ZOOM_STEP = 1.25;
const WHEEL_STEP = 0.0015;
const DRAG_PIXELS = 4;

/** What the canvas asks of the component. */
export interface Host {
  /** Whether there is a picture. */
  readonly hasPicture: () => boolean;
  /** What the picture opens with if it is too large to be read whole; undefined for its top. */
  readonly start: () => Element | undefined;
  readonly all: () => readonly Element[];
  /** A press at an element that did not become a drag. */
  readonly onPick: (target: Element) => void;
  readonly onMove: () => void;
}

export class Viewport {
  readonly canvas = el("div", { class: "canvas", tabindex: "0", role: "application", "aria-roledescription": "graph" });
  readonly tools: HTMLElement;
  private readonly percent = el("span", { "aria-live": "off" }, "100%");
  private group: SVGGElement | undefined;
  private box: ViewBox = [0, 0, 1, 1];
  private at: Transform = { x: 0, y: 0, k: 1 };
  // What places the picture again when the pane gets another size; nothing once the user moved it.
  private arrange: (() => void) | undefined = () => this.home();

  constructor(
    private readonly host: Host,
    fitKey = "Space",
    private readonly small = SMALL,
  ) {
    const tool = (label: string, title: string, sign: string, click: () => void) =>
      el("button", { type: "button", "aria-label": label, title, click }, sign);
    this.tools = el(
      "div",
      { class: "gtools" },
      tool("Zoom out", "Zoom out (-)", "−", () => this.zoomOut()),
      tool("Zoom in", "Zoom in (+)", "+", () => this.zoomIn()),
      tool("Fit", `Fit (${fitKey})`, "⤢", () => this.fit()),
      this.percent,
    );
    this.canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    new ResizeObserver(() => {
      this.arrange?.();
      this.host.onMove();
    }).observe(this.canvas);
  }

  get viewBox(): ViewBox {
    return this.box;
  }

  /** What of the picture is in sight, in its own coordinates, with what is beside it. */
  get sight(): ViewBox {
    const { x, y, k } = this.at;
    return [-x / k, -y / k, this.size.width / k, this.size.height / k];
  }

  /** Whether the picture is too large to be read whole. */
  get isLarge(): boolean {
    return this.host.hasPicture() && this.size.width > 0 && fitted(this.size, this.box).k < this.small;
  }

  /** The bounds of each of the elements that are shown. */
  boundsOfEach(elements: readonly Element[]): readonly Bounds[] {
    const outer = this.canvas.getBoundingClientRect();
    const rects = elements.map((element) => element.getBoundingClientRect());
    return rects.filter((rect) => rect.width || rect.height).map((rect) => boundsOf(outer, this.at, [rect]));
  }

  /** Brings a point of the picture to the middle. */
  lookAt(x: number, y: number): void {
    const [left, top, width, height] = this.box;
    const { k } = this.at;
    const middle = { x: between(left, x, left + width), y: between(top, y, top + height) };
    this.lie({ k, x: this.size.width / 2 - middle.x * k, y: this.size.height / 2 - middle.y * k });
  }

  /** Wraps what a picture holds into a group that is moved, so that its own size does not matter. */
  hold(picture: SVGSVGElement): void {
    const [x = 0, y = 0, width = 100, height = 100] = (picture.getAttribute("viewBox") || "0 0 100 100")
      .split(/[\s,]+/)
      .map(Number);
    this.box = [x, y, width, height];
    this.group = svg("g", { class: "view" }, [...picture.childNodes]);
    for (const name of ["width", "height", "viewBox"]) picture.removeAttribute(name);
    picture.replaceChildren(this.group);
  }

  zoomIn(): void {
    this.zoomBy(ZOOM_STEP);
  }

  zoomOut(): void {
    this.zoomBy(1 / ZOOM_STEP);
  }

  pan(dx: number, dy: number): void {
    this.lie({ ...this.at, x: this.at.x + dx, y: this.at.y + dy });
  }

  /** Shows the whole picture. */
  fit(): void {
    if (!this.host.hasPicture() || !this.canvas.clientWidth) return;
    this.at = fitted(this.size, this.box);
    this.arrange = () => this.fit();
    this.place();
  }

  /** Shows the whole picture, or where it begins if it would be too small to read. */
  home(): void {
    this.fit();
    if (this.host.hasPicture() && this.at.k < this.small) {
      const start = this.host.start() ?? topmost(this.host.all());
      if (start) this.lie(centred(this.size, this.box, this.bounds([start]), READABLE));
    }
    this.arrange = () => this.home();
  }

  /** Moves only if something is out of sight or too small to read. */
  reveal(elements: readonly Element[]): void {
    const { canvas, at } = this;
    if (!elements.length || !canvas.clientWidth || !this.group) return;
    const bounds = this.bounds(elements);
    if (isInSight(this.size, at, bounds) && at.k >= SMALL) return;
    this.glide(this.group);
    const { width, height } = this.size;
    const whole = Math.min((width * 0.9) / (bounds.right - bounds.left), (height * 0.8) / (bounds.bottom - bounds.top));
    const scale = Math.max(SMALL_PATH, Math.min(at.k < SMALL ? READABLE : at.k, whole));
    this.lie(centred(this.size, this.box, bounds, scale));
  }

  private get size(): { readonly width: number; readonly height: number } {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  private bounds(elements: readonly Element[]): Bounds {
    const rects = elements.map((element) => element.getBoundingClientRect());
    return boundsOf(this.canvas.getBoundingClientRect(), this.at, rects);
  }

  private glide(group: SVGGElement): void {
    if (isStill()) return;
    group.style.transition = "transform 160ms";
    window.setTimeout(() => {
      group.style.transition = "";
    }, 200);
  }

  private zoomBy(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    this.lie(zoomed(this.at, factor, x, y));
  }

  private lie(next: Transform): void {
    this.at = next;
    this.arrange = undefined;
    this.place();
  }

  private place(): void {
    const { x, y, k } = this.at;
    this.group?.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    this.percent.textContent = `${Math.round(k * 100)}%`;
    this.host.onMove();
  }

  private onWheel(event: WheelEvent): void {
    if (!this.host.hasPicture() || targetOf(event)?.closest(".sought,.menu,.minimap")) return;
    event.preventDefault();
    const rect = this.canvas.getBoundingClientRect();
    if (event.shiftKey) this.pan(-event.deltaY, 0);
    else this.zoomBy(Math.exp(-event.deltaY * WHEEL_STEP), event.clientX - rect.left, event.clientY - rect.top);
  }

  private onPointerDown(event: PointerEvent): void {
    const target = targetOf(event);
    const isControl = target?.closest(".gtools,.legend,.sought,.minimap");
    if (!this.host.hasPicture() || event.button !== 0 || !target || isControl) return;
    const start = this.at;
    let isMoved = false;
    const move = (next: PointerEvent) => {
      const [dx, dy] = [next.clientX - event.clientX, next.clientY - event.clientY];
      if (!isMoved && Math.hypot(dx, dy) < DRAG_PIXELS) return;
      isMoved = true;
      this.canvas.classList.add("drag");
      this.lie({ ...this.at, x: start.x + dx, y: start.y + dy });
    };
    const up = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      this.canvas.classList.remove("drag");
      if (!isMoved) this.host.onPick(target);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
  }
}
