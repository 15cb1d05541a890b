// A buffer as a picture: cells on a canvas, five steps of one colour, the cells that are read and written now framed.

import type { HeatView, InsideAccess } from "#generated/models";
import { cellOf, othersOf } from "./walk";

/** Width and height of a cell, by how many there are to draw. */
export type CellSize = readonly [width: number, height: number];

const SIZES: readonly (readonly [most: number, size: CellSize])[] = [
  [2400, [26, 17]],
  [6000, [6, 6]],
  [40_000, [3, 3]],
];
const LEAST: CellSize = [1, 1];
const MARGIN = 24;
const STEPS = 6;
// The numbers of columns take less room than those of rows.
const HEAD = 0.7;

export function sizeOf(heat: HeatView): CellSize {
  return SIZES.find(([most]) => heat.rows * heat.columns <= most)?.[1] ?? LEAST;
}

export interface Colours {
  readonly steps: readonly string[];
  readonly text: string;
  readonly strong: string;
  readonly line: string;
  readonly now: string;
  readonly nowFill: string;
}

const known = new Map<string, Colours>();

/** Returns the colours of the page, which is asked for them once in each mode. */
export function coloursOf(root: HTMLElement): Colours {
  const mode = getComputedStyle(root).color;
  const found = known.get(mode) ?? readColours(root);
  known.set(mode, found);
  return found;
}

function readColours(root: HTMLElement): Colours {
  const probe = document.createElement("span");
  probe.style.position = "absolute";
  root.append(probe);
  const read = (colour: string) => {
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  };
  const steps = Array.from({ length: STEPS }, (_, step) =>
    read(`color-mix(in srgb, var(--cat0) ${step * 9}%, var(--bg))`),
  );
  const found = {
    steps,
    text: read("var(--text)"),
    strong: read("var(--text2)"),
    line: read("var(--line)"),
    now: read("var(--currentBar)"),
    nowFill: read("var(--current)"),
  };
  probe.remove();
  return found;
}

/** The indices of the element at a place of a picture, none beside its cells. */
export function elementAt(heat: HeatView, x: number, y: number): readonly number[] | undefined {
  const [width, height] = sizeOf(heat);
  const margin = marginOf(width);
  const [column, row] = [Math.floor((x - margin) / width), Math.floor((y - margin * HEAD) / height)];
  if (row < 0 || column < 0 || row >= heat.rows || column >= heat.columns) return undefined;
  return heat.fixed.map((at, axis) =>
    axis === heat.axes[0] ? heat.top + row : axis === heat.axes[1] ? heat.left + column : at,
  );
}

function marginOf(width: number): number {
  return width > LEAST[0] ? MARGIN : 0;
}

/** Draws the window of a buffer; `changed` has the cells that are not as they were sent. */
export function draw(
  canvas: HTMLCanvasElement,
  heat: HeatView,
  changed: ReadonlyMap<number, readonly [string, number]>,
  now: readonly InsideAccess[],
  colours: Colours,
): void {
  const [width, height] = sizeOf(heat);
  const margin = marginOf(width);
  const scale = window.devicePixelRatio || 1;
  const [whole, tall] = [margin + heat.columns * width + 2, margin * HEAD + heat.rows * height + 2];
  canvas.width = Math.ceil(whole * scale);
  canvas.height = Math.ceil(tall * scale);
  canvas.style.width = `${whole}px`;
  canvas.style.height = `${tall}px`;
  const paint = canvas.getContext("2d");
  if (!paint) return;
  paint.scale(scale, scale);
  paint.translate(margin, margin * HEAD);
  drawCells(paint, heat, changed, colours);
  if (margin) drawHeads(paint, heat, colours);
  drawNow(paint, heat, now, colours);
}

function drawCells(
  paint: CanvasRenderingContext2D,
  heat: HeatView,
  changed: ReadonlyMap<number, readonly [string, number]>,
  colours: Colours,
): void {
  const [width, height] = sizeOf(heat);
  const hasText = width >= 20 && heat.texts.length > 0;
  const gap = width > 3 ? 1 : 0;
  paint.font = "10px ui-monospace, monospace";
  paint.textAlign = "center";
  paint.textBaseline = "middle";
  for (let cell = 0; cell < heat.rows * heat.columns; cell += 1) {
    const [text, step] = changed.get(cell) ?? [heat.texts[cell] ?? "", Number(heat.levels[cell])];
    const [x, y] = [(cell % heat.columns) * width, Math.floor(cell / heat.columns) * height];
    paint.fillStyle = colours.steps[step] ?? colours.line;
    paint.fillRect(x, y, width - gap, height - gap);
    if (gap) {
      paint.strokeStyle = colours.line;
      paint.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    }
    if (hasText && text) {
      paint.fillStyle = colours.text;
      paint.fillText(text, x + width / 2, y + height / 2, width - 3);
    }
  }
}

function drawHeads(paint: CanvasRenderingContext2D, heat: HeatView, colours: Colours): void {
  const [width, height] = sizeOf(heat);
  paint.fillStyle = colours.strong;
  paint.font = "10px ui-monospace, monospace";
  const columns = Math.max(Math.ceil(26 / width), 1);
  for (let column = 0; column < heat.columns; column += columns) {
    paint.fillText(String(heat.left + column), (column + 0.5) * width, -8, columns * width);
  }
  paint.textAlign = "right";
  const rows = Math.max(Math.ceil(14 / height), 1);
  for (let row = 0; heat.axes[0] >= 0 && row < heat.rows; row += rows) {
    paint.fillText(String(heat.top + row), -4, (row + 0.5) * height, MARGIN - 4);
  }
}

function drawNow(
  paint: CanvasRenderingContext2D,
  heat: HeatView,
  now: readonly InsideAccess[],
  colours: Colours,
): void {
  const [width, height] = sizeOf(heat);
  paint.strokeStyle = colours.now;
  for (const cell of now.flatMap((access) => othersOf(heat, access))) {
    const [x, y] = [(cell % heat.columns) * width, Math.floor(cell / heat.columns) * height];
    paint.strokeRect(x + 0.5, y + 0.5, Math.max(width, 3) - 2, Math.max(height, 3) - 2);
  }
  const letters = new Map<number, string>();
  for (const access of now) {
    const cell = access.buffer === heat.buffer && access.is_inside ? cellOf(heat, access.indices) : -1;
    if (cell < 0) continue;
    const letter = access.is_write ? "w" : "r";
    letters.set(cell, (letters.get(cell) ?? "").replace(letter, "") + letter);
  }
  paint.textAlign = "center";
  for (const [cell, letter] of letters) {
    const [x, y] = [(cell % heat.columns) * width, Math.floor(cell / heat.columns) * height];
    const [wide, tall] = [Math.max(width, 5), Math.max(height, 5)];
    paint.fillStyle = width >= 20 ? colours.nowFill : colours.now;
    paint.fillRect(x, y, wide, tall);
    paint.strokeStyle = colours.now;
    paint.lineWidth = 2;
    paint.strokeRect(x + 1, y + 1, wide - 2, tall - 2);
    paint.lineWidth = 1;
    if (width < 20) continue;
    paint.fillStyle = colours.text;
    paint.font = "bold 10px ui-monospace, monospace";
    paint.fillText(letter, x + width / 2, y + height / 2);
  }
}
