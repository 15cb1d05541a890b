// The buffers of a kernel: for each its shape, a window of it, the whole in small, and which axes are shown.

import type { HeatView, InsideAccess, InsideBuffer } from "#generated/models";
import { button, choice, link } from "#shared/controls";
import { el, replace } from "#shared/dom";
import { bytesText } from "#shared/tables";
import { type Colours, coloursOf, draw, elementAt } from "./grid";
import { changed, type Walk } from "./walk";

export interface Asks {
  /** `text` is `top,left,side`, then the axes, then the indices that are fixed. */
  readonly window: (buffer: string, text: string) => void;
  /** An element was clicked, such as `C[3, 6]`. */
  readonly cell: (text: string) => void;
}

const SIDES = [32, 64, 192] as const;
const OVERVIEW = 96;
// Memory that threads share: of registers only values are known.
const SHARED: readonly string[] = ["global", "shared", "shared.dyn", "warp"];
const LEGENDS: Readonly<Record<string, string>> = {
  count: "times touched:",
  age: "last touched by statement:",
  value: "value:",
  owner: "written last by a thread of:",
};

/** A buffer with all that its picture is made of. */
interface Drawn {
  readonly heat: HeatView;
  readonly key: string;
  readonly colours: Colours;
  readonly box: HTMLElement;
}

export class Buffers {
  readonly element = el("div", { class: "buffers", role: "region", "aria-label": "Buffers", tabindex: 0 });

  private drawn: readonly Drawn[] = [];

  constructor(
    private readonly root: HTMLElement,
    private readonly asks: Asks,
  ) {}

  draw(walk: Walk, heats: readonly HeatView[], what: string, line: number): void {
    const colours = coloursOf(this.root);
    const drawn = heats.map((heat) => this.drawnOf(heat, walk, what, changed(heat, walk, what, line), colours));
    if (drawn.some((item) => !this.drawn.includes(item)) || drawn.length !== this.drawn.length) {
      replace(
        this.element,
        drawn.map((item) => item.box),
      );
    }
    this.drawn = drawn;
  }

  // As it was drawn last if a step changes nothing in it: most steps touch a few buffers.
  private drawnOf(
    heat: HeatView,
    walk: Walk,
    what: string,
    cells: ReadonlyMap<number, readonly [string, number]>,
    colours: Colours,
  ): Drawn {
    const now = (walk.stop?.accesses ?? []).filter((access) => access.buffer === heat.buffer);
    const key = JSON.stringify([what, [...cells], now]);
    const old = this.drawn.find((item) => item.heat === heat && item.key === key && item.colours === colours);
    return old ?? { heat, key, colours, box: this.buffer(heat, walk, what, cells, colours) };
  }

  private buffer(
    heat: HeatView,
    walk: Walk,
    what: string,
    cells: ReadonlyMap<number, readonly [string, number]>,
    colours: Colours,
  ): HTMLElement {
    const buffer = walk.view.buffers.find((item) => item.name === heat.buffer);
    const own = (walk.stop?.accesses ?? []).filter((access) => access.buffer === heat.buffer);
    const words = own.map((access) => `${access.is_write ? "writes" : "reads"} ${cellText(access)}`).join(", ");
    const label = `${heat.buffer}, ${shapeText(heat.shape)}${words && `: ${words}`}`;
    const canvas = el("canvas", { role: "img", "aria-label": label, data: { buffer: heat.buffer } });
    draw(canvas, heat, cells, own, colours);
    const texts = heat.texts.map((text, cell) => cells.get(cell)?.[0] ?? text);
    canvas.dataset.cells = texts.join(" ");
    canvas.addEventListener("click", (event) => {
      const indices = elementAt(heat, event.offsetX, event.offsetY);
      if (indices) this.asks.cell(`${heat.buffer}[${indices.join(", ")}]`);
    });
    const head = el(
      "div",
      { class: "buffer-head" },
      el("b", { class: "m" }, heat.buffer),
      el("span", { class: "m muted" }, shapeText(heat.shape)),
      el("span", { class: "muted" }, buffer ? noteOf(buffer) : ""),
      this.controls(heat),
      texts.length ? button("Copy", "t", "", () => copy(heat, texts), { "aria-label": `Copy ${heat.buffer}` }) : "",
    );
    const legend = el(
      "div",
      { class: "legend" },
      LEGENDS[walk.view.threads && buffer && !SHARED.includes(buffer.scope) ? "value" : what] ?? "",
      heat.since > 0 ? `since statement ${heat.since.toLocaleString("en")}` : "",
      heat.legend.map((text, step) => (text ? [swatch(colours.steps[step + 1] ?? ""), text] : "")),
    );
    const outside = own.filter((access) => !access.is_inside).map((access) => outOfRange(access));
    const box = el("div", { class: "buffer" }, head, outside, plane(heat.buffer, canvas), legend);
    if (heat.rows < heat.row_count || heat.columns < heat.column_count) box.append(this.overview(heat, colours));
    return box;
  }

  private controls(heat: HeatView): (HTMLElement | string)[] {
    const ask = (top: number, left: number, side: number, axes: readonly number[], fixed: readonly number[]) =>
      this.asks.window(heat.buffer, `${top},${left},${side};${axes.join(",")};${fixed.join(",")}`);
    const found: (HTMLElement | string)[] = [];
    const side = Math.max(heat.rows, heat.columns);
    const larger = SIDES.find((item) => item > side);
    const smaller = [...SIDES].reverse().find((item) => item < side);
    const isCut = heat.rows < heat.row_count || heat.columns < heat.column_count;
    const axes = heat.shape.length > 1 ? heat.axes : [];
    if (isCut && larger) {
      const wider = () => ask(heat.top, heat.left, larger, axes, heat.fixed);
      found.push(button("−", "t", "", wider, { "aria-label": `Show more of ${heat.buffer}` }));
    }
    if (smaller && side > SIDES[0]) {
      const closer = () => ask(heat.top, heat.left, smaller, axes, heat.fixed);
      found.push(button("+", "t", "", closer, { "aria-label": `Show less of ${heat.buffer}, larger` }));
    }
    if (heat.shape.length > 2) found.push(...this.slices(heat, side, ask));
    return found;
  }

  // Which two axes are shown, and the index in each of the others.
  private slices(
    heat: HeatView,
    side: number,
    ask: (top: number, left: number, side: number, axes: readonly number[], fixed: readonly number[]) => void,
  ): HTMLElement[] {
    const pairs = heat.shape.flatMap((_, row) =>
      heat.shape.flatMap((__, column) =>
        row < column ? [[`${row},${column}`, `axes ${row}, ${column}`] as const] : [],
      ),
    );
    const pick = (text: string) => ask(0, 0, side, text.split(",").map(Number), heat.fixed);
    const fields = heat.shape.flatMap((size, axis) => {
      if (heat.axes.includes(axis)) return [];
      const field = el("input", {
        type: "number",
        min: 0,
        max: size - 1,
        value: heat.fixed[axis] ?? 0,
        "aria-label": `Index of ${heat.buffer} in axis ${axis}`,
        change: () =>
          ask(
            heat.top,
            heat.left,
            side,
            heat.axes,
            heat.fixed.map((at, k) => (k === axis ? Number(field.value) : at)),
          ),
      });
      return [field];
    });
    return [choice(`Axes of ${heat.buffer}`, pairs, heat.axes.join(","), pick), ...fields];
  }

  // The whole plane in small; a click moves the window there.
  private overview(heat: HeatView, colours: Colours): HTMLElement {
    const canvas = el("canvas", {
      class: "overview",
      role: "img",
      "aria-label": `All of ${heat.buffer}: ${heat.touched.toLocaleString("en")} elements touched`,
      width: heat.overview_columns,
      height: heat.overview_rows,
    });
    const paint = canvas.getContext("2d");
    for (let cell = 0; paint && cell < heat.overview.length; cell += 1) {
      paint.fillStyle = colours.steps[Number(heat.overview[cell])] ?? colours.line;
      paint.fillRect(cell % heat.overview_columns, Math.floor(cell / heat.overview_columns), 1, 1);
    }
    if (paint) {
      paint.strokeStyle = colours.now;
      const [across, down] = [heat.overview_columns / heat.column_count, heat.overview_rows / heat.row_count];
      const size = [Math.max(heat.columns * across, 2), Math.max(heat.rows * down, 2)] as const;
      paint.strokeRect(heat.left * across, heat.top * down, ...size);
    }
    canvas.style.width = `${OVERVIEW}px`;
    canvas.style.height = `${Math.max(Math.min((OVERVIEW * heat.row_count) / heat.column_count, OVERVIEW * 2), 12)}px`;
    canvas.addEventListener("click", (event) => this.moveTo(heat, event, canvas));
    const from = `rows ${heat.top} to ${heat.top + heat.rows - 1} of ${heat.row_count}`;
    const across = `columns ${heat.left} to ${heat.left + heat.columns - 1} of ${heat.column_count}`;
    const next = link("Next part", () => this.next(heat));
    return el("div", { class: "overview-box" }, canvas, el("span", { class: "muted" }, `${from}, ${across} `, next));
  }

  private moveTo(heat: HeatView, event: MouseEvent, canvas: HTMLCanvasElement): void {
    const top = Math.round((event.offsetY / canvas.clientHeight) * heat.row_count - heat.rows / 2);
    const left = Math.round((event.offsetX / canvas.clientWidth) * heat.column_count - heat.columns / 2);
    this.show(heat, top, left);
  }

  private next(heat: HeatView): void {
    const isLastColumn = heat.left + heat.columns >= heat.column_count;
    const left = isLastColumn ? 0 : heat.left + heat.columns;
    const top = isLastColumn ? (heat.top + heat.rows) % heat.row_count : heat.top;
    this.show(heat, top, left);
  }

  private show(heat: HeatView, top: number, left: number): void {
    const side = Math.max(heat.rows, heat.columns, SIDES[0]);
    const place = [
      Math.max(Math.min(top, heat.row_count - heat.rows), 0),
      Math.max(Math.min(left, heat.column_count - heat.columns), 0),
      side,
    ];
    const axes = heat.shape.length > 1 ? heat.axes : [];
    this.asks.window(heat.buffer, `${place.join(",")};${axes.join(",")};${heat.fixed.join(",")}`);
  }
}

// A wide picture scrolls, with the keys as well.
function plane(name: string, canvas: HTMLElement): HTMLElement {
  return el("div", { class: "plane", tabindex: 0, role: "region", "aria-label": `Elements of ${name}` }, canvas);
}

function swatch(colour: string): HTMLElement {
  return el("span", { class: "swatch", "aria-hidden": "true", style: { background: colour } });
}

// The window as text, which a table takes.
function copy(heat: HeatView, texts: readonly string[]): void {
  const rows = Array.from({ length: heat.rows }, (_, row) =>
    texts.slice(row * heat.columns, (row + 1) * heat.columns).join("\t"),
  );
  void navigator.clipboard.writeText(rows.join("\n"));
}

function outOfRange(access: InsideAccess): HTMLElement {
  const behind = access.flat >= 0 ? `; in memory it is element ${access.flat}, which is another cell` : "";
  const words = `${cellText(access)} is out of range${behind}`;
  return el("div", { class: "outside" }, el("span", { class: "ghost", "aria-hidden": "true" }, "✕"), words);
}

export function cellText(access: InsideAccess): string {
  return `${access.buffer}[${access.indices.join(", ")}]`;
}

function shapeText(shape: readonly number[]): string {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}

function noteOf(buffer: InsideBuffer): string {
  const place = buffer.is_parameter ? (buffer.is_written ? "written" : "read") : buffer.scope;
  return `${buffer.dtype}, ${place}, ${bytesText(buffer.size_bytes)}`;
}
