// The flame chart: the calls of a run over the part of its time that is in view. One is chosen, and taken over the width.

import type { FlameSpan } from "#generated/models";
import { type Child, el, replace, svg, targetOf } from "#shared/dom";
import { act, consume, isModified } from "#shared/keys";
import { between } from "#shared/values";
import type { Axis } from "./axis";
import { nextCall, type Way } from "./view";

const HEIGHT = 88;
const ROWS = 2;
const ROW_HEIGHT = 22;
const LETTER_WIDTH = 6.7;
const KEYS =
  "Arrows choose a call, Enter takes it over the width, Backspace leads out of it, Escape shows the whole run";

export interface Asks {
  readonly onZoom: (place: number) => void;
  readonly onOut: () => void;
  readonly onReset: () => void;
}

export class Calls {
  readonly element: HTMLElement;
  private readonly frames = svg("g");
  private readonly now = svg("line", { stroke: "var(--accent)", "stroke-width": 1.5, "aria-hidden": "true" });
  private readonly picture = svg("svg", { role: "presentation" }, this.frames, this.now);
  private flame: readonly FlameSpan[] = [];
  private chosen = -1;

  constructor(private readonly asks: Asks) {
    const names = { role: "listbox", "aria-label": "Calls", "aria-description": KEYS, tabindex: 0 };
    const keydown = (event: KeyboardEvent) => this.onKey(event);
    this.element = el("div", { class: "calls", ...names, keydown }, this.picture);
  }

  set(flame: readonly FlameSpan[]): void {
    this.flame = flame;
    this.chosen = -1;
    this.element.hidden = !flame.length;
  }

  /** The place of the call that is under an event, -1 if none is. */
  placeOf(event: Event): number {
    const place = targetOf(event)?.closest<SVGElement>("[data-call]")?.dataset.call;
    return place === undefined ? -1 : Number(place);
  }

  zoom(place: number): void {
    this.choose(place);
    this.asks.onZoom(place);
  }

  draw(axis: Axis, width: number): void {
    const deep = Math.max(1, ...this.flame.map(([, , , depth]) => depth + 1));
    const rowHeight = Math.min(ROW_HEIGHT, HEIGHT / deep);
    const height = 8 + Math.max(ROWS * ROW_HEIGHT, deep * rowHeight);
    const { from, to } = axis.view;
    const isInView = ([, start, end]: FlameSpan) => end > from && start < to;
    const shown = this.flame.map((span, place) => isInView(span) && frame(span, place, axis, rowHeight));
    replace(this.frames, shown);
    for (const [name, value] of Object.entries({ width, height })) this.picture.setAttribute(name, String(value));
    this.now.setAttribute("y2", String(height));
    this.markChosen();
  }

  setTime(x: number): void {
    this.now.setAttribute("x1", String(x));
    this.now.setAttribute("x2", String(x));
  }

  private choose(place: number): void {
    this.chosen = place;
    this.markChosen();
  }

  private markChosen(): void {
    for (const item of this.frames.querySelectorAll<SVGElement>("[data-call]"))
      item.setAttribute("aria-selected", String(item.dataset.call === String(this.chosen)));
    const id = this.frames.querySelector("[aria-selected=true]")?.id;
    if (id) this.element.setAttribute("aria-activedescendant", id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private onKey(event: KeyboardEvent): void {
    if (isModified(event)) return;
    const go = (way: Way) => () => this.choose(nextCall(this.flame, this.chosen, way));
    const zoom = () => this.chosen >= 0 && this.asks.onZoom(this.chosen);
    const isOurs = act(event, {
      ArrowUp: go("outer"),
      ArrowDown: go("inner"),
      ArrowLeft: go("before"),
      ArrowRight: go("behind"),
      Enter: zoom,
      " ": zoom,
      Backspace: () => this.asks.onOut(),
      Escape: () => this.asks.onReset(),
    });
    if (isOurs) consume(event);
  }
}

function frame(span: FlameSpan, place: number, axis: Axis, rowHeight: number): SVGElement {
  const [label, start, end, depth, category] = span;
  const { x, view } = axis;
  // A call that goes on out of sight ends at the border, so that its name is in sight.
  const [from, to] = [x(Math.max(start, view.from)), x(Math.min(end, view.to))];
  const width = Math.max(1.5, to - from - 2);
  const y = 4 + depth * rowHeight;
  const isThin = rowHeight < 4;
  const colour = category ? `var(--${category})` : "var(--line2)";
  const fill = category ? `var(--${category}Bg)` : isThin ? "var(--line2)" : "var(--raised)";
  const height = rowHeight > 8 ? rowHeight - 4 : rowHeight * 0.8;
  const look = { fill, stroke: isThin ? "none" : colour, rx: between(0, rowHeight / 4, 4) };
  const words = `${label}, time ${start} to ${end}`;
  const names = { role: "option", id: `call-${place}`, "aria-label": words, data: { call: place } };
  const shape = svg("rect", { x: from + 1, y, width, height, ...look });
  const name = frameName(label, from + 8, y + rowHeight / 2 + 2, { width, rowHeight, category });
  return svg("g", names, svg("title", {}, words), shape, name);
}

function frameName(
  label: string,
  x: number,
  y: number,
  { width, rowHeight, category }: { width: number; rowHeight: number; category: string },
): Child {
  const room = Math.floor((width - 12) / LETTER_WIDTH);
  if (rowHeight < 14 || room < 3) return "";
  const text = label.length > room ? `${label.slice(0, room - 1)}…` : label;
  const fill = category ? `var(--${category})` : "var(--text2)";
  return svg("text", { x, y, "font-size": 11, "font-family": "var(--mono)", fill }, text);
}
