// Flame strip and slider on one time axis.

import type { FlameSpan, Run } from "#generated/models";
import { type Child, svg } from "#shared/dom";
import { type Axis, axisOf, ticks, timeAt } from "./axis";

const STRIP_HEIGHT = 88;
const POINTS_SHOWN = 300;
const LETTER_WIDTH = 6.7;

export class Timeline {
  private run: Run | undefined;
  private points: readonly number[] = [];
  private at = 0;
  // The frames are drawn once for a run and a width; a step draws the axis only.
  private drawnWidth = 0;
  // Kept, for asking for it at a step would cost a layout.
  private width = 0;
  private readonly frames = svg("g");
  private readonly axis = svg("g");
  private readonly picture = svg("svg", { "aria-hidden": "true" }, this.frames, this.axis);

  constructor(
    private readonly box: HTMLElement,
    private readonly onTime: (time: number) => void,
  ) {
    box.append(this.picture);
    box.setAttribute("role", "slider");
    box.setAttribute("aria-label", "Time");
    box.tabIndex = 0;
    box.addEventListener("pointerdown", (event) => this.onDown(event));
    new ResizeObserver(([entry]) => {
      this.width = entry?.contentRect.width ?? 0;
      this.draw();
    }).observe(box);
  }

  setRun(run: Run): void {
    this.run = run;
    this.drawnWidth = 0;
    this.box.setAttribute("aria-valuemin", "0");
    this.box.setAttribute("aria-valuemax", String(run.total));
  }

  setTime(time: number, points: readonly number[]): void {
    this.at = time;
    this.points = points;
    this.box.setAttribute("aria-valuenow", String(time));
    this.box.setAttribute("aria-valuetext", `time ${time} of ${this.run?.total ?? 0}`);
    this.draw();
  }

  private draw(): void {
    const { run, width } = this;
    if (!width || !run) return;
    const axis = axisOf(run.total, width);
    const deep = Math.max(1, ...run.flame.map(([, , , depth]) => depth + 1));
    const rowHeight = Math.min(22, STRIP_HEIGHT / deep);
    const y = 8 + Math.max(2 * 22, deep * rowHeight) + 10;
    if (this.drawnWidth !== width) {
      this.drawnWidth = width;
      this.frames.replaceChildren(...run.flame.map((span) => flame(span, axis, rowHeight)));
      this.picture.setAttribute("width", String(width));
      this.picture.setAttribute("height", String(y + 26));
    }
    this.axis.replaceChildren(...this.axisParts(axis, y));
  }

  private axisParts(axis: Axis, y: number): SVGElement[] {
    const { x, total } = axis;
    const { at } = this;
    const bar = (to: number, fill: string) =>
      svg("rect", { x: x(0), y: y - 2, width: x(to) - x(0), height: 4, rx: 2, fill });
    const point = (time: number) => svg("circle", { cx: x(time), cy: y, r: 5, fill: "var(--error)" });
    return [
      bar(total, "var(--line2)"),
      bar(at, "var(--accent)"),
      ...ticks(axis, at).flatMap((time) => tick(x(time), y, time, time === at)),
      ...this.points.slice(0, POINTS_SHOWN).map(point),
      svg("line", { x1: x(at), x2: x(at), y1: 0, y2: y, stroke: "var(--accent)", "stroke-width": 1.5 }),
      svg("circle", { cx: x(at), cy: y, r: 8, fill: "var(--accent)", stroke: "var(--chrome)", "stroke-width": 2 }),
    ];
  }

  private onDown(event: PointerEvent): void {
    const { run } = this;
    if (!run || event.button !== 0) return;
    const go = (next: PointerEvent) =>
      this.onTime(timeAt(axisOf(run.total, this.width), next.clientX - this.box.getBoundingClientRect().left));
    const up = () => {
      window.removeEventListener("pointermove", go);
      window.removeEventListener("pointerup", up);
    };
    go(event);
    window.addEventListener("pointermove", go);
    window.addEventListener("pointerup", up);
  }
}

function tick(x: number, y: number, time: number, isNow: boolean): SVGElement[] {
  const font = { "font-size": 10.5, "font-family": "var(--mono)", "font-weight": isNow ? 700 : 400 };
  const fill = isNow ? "var(--accent)" : "var(--text3)";
  return [
    svg("rect", { x: x - 1, y: y - 6, width: 2, height: 12, fill: "var(--text3)" }),
    svg("text", { x, y: y + 20, "text-anchor": "middle", fill, ...font }, time),
  ];
}

function flame([label, start, end, depth, category]: FlameSpan, { x }: Axis, rowHeight: number): SVGElement {
  const left = x(start) + 1;
  const width = Math.max(1.5, x(end) - x(start) - 2);
  const y = 4 + depth * rowHeight;
  const isThin = rowHeight < 4;
  const colour = category ? `var(--${category})` : "var(--line2)";
  const fill = category ? `var(--${category}Bg)` : isThin ? "var(--line2)" : "var(--raised)";
  const height = rowHeight > 8 ? rowHeight - 4 : rowHeight * 0.8;
  const look = { fill, stroke: isThin ? "none" : colour, rx: Math.min(4, rowHeight / 4) };
  const shape = svg("rect", { x: left, y, width, height, ...look });
  const title = svg("title", {}, `${label}, time ${start} to ${end}`);
  return svg("g", {}, title, shape, flameName(label, left + 7, y + rowHeight / 2 + 2, { width, rowHeight, category }));
}

function flameName(
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
