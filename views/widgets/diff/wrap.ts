// Long lines on several rows: where a line breaks, and the tokens of a part of it.

import { el } from "#shared/dom";

const HANG = 4;
// A pane that is narrower is scrolled sideways: lines of a few characters cannot be read.
const LEAST = 24;
// A line breaks behind one of these if it comes in the last part of the row, else where the row ends.
const BREAK = /[\s,([{=]/;
const LAST_PART = 0.5;
// Of a line on more rows, those behind the first ones are folded but for what is marked.
const ROWS = 8;
const FIRST_ROWS = 2;

/** A part of a line: from and to in UTF-16 units, and columns of indentation. */
export type LinePart = readonly [from: number, to: number, hang: number];
/** What is shown of a line: a row and 0, or the first row of a fold and how many rows it holds. */
export type ShownRow = readonly [row: number, hidden: number];
export type WrappedSide = readonly [differing: readonly Range[], parts: readonly LinePart[]];
/** From and to in UTF-16 units. */
export type Range = readonly [from: number, to: number];

/** Cuts a line into parts of at most so many columns. */
export function wrapped(text: string, columns: number): readonly LinePart[] {
  if (text.length <= columns) return [[0, text.length, 0]];
  const hang = Math.min(text.search(/\S|$/) + HANG, Math.floor(columns / 3));
  const parts: LinePart[] = [];
  for (let from = 0; from < text.length; ) {
    const to = endOfPart(text, from, columns - (from ? hang : 0));
    parts.push([from, to, from ? hang : 0]);
    from = to;
  }
  return parts;
}

function endOfPart(text: string, from: number, room: number): number {
  let to = Math.min(text.length, from + room);
  if (to === text.length) return to;
  const least = from + room * LAST_PART;
  let at = to;
  while (at > least && !BREAK.test(text.charAt(at - 1))) at -= 1;
  if (at > least) to = at;
  while (text[to] === " ") to += 1;
  return to;
}

/** Lists what is shown of two lines on `count` rows. */
export function shownRows(count: number, sides: readonly WrappedSide[], isOpen: boolean): readonly ShownRow[] {
  const rows = Array.from({ length: count }, (_, row) => row);
  if (count <= ROWS || isOpen) return rows.map((row) => [row, 0]);
  const out: ShownRow[] = [];
  for (const row of rows) {
    const last = out.at(-1);
    if (row < FIRST_ROWS || sides.some((side) => isMarked(side, row))) out.push([row, 0]);
    else if (last?.[1]) out[out.length - 1] = [last[0], last[1] + 1];
    else out.push([row, 1]);
  }
  return out;
}

function isMarked([differing, parts]: WrappedSide, row: number): boolean {
  const part = parts[row];
  return part !== undefined && differing.some(([from, to]) => from < part[1] && to > part[0]);
}

/** How many characters of code fit into so many pixels. */
export function columnsIn(root: HTMLElement, width: number): number {
  const style = { position: "absolute", visibility: "hidden" };
  const ruler = el("span", { class: "code", "aria-hidden": "true", style }, "0".repeat(100));
  root.append(ruler);
  const columns = Math.floor((width * 100) / ruler.getBoundingClientRect().width);
  ruler.remove();
  return Math.max(LEAST, columns);
}
