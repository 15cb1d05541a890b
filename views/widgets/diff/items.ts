// What the two halves show, row by row: lines, parts of long ones, and folds.

import type { Diff, DiffRow, DiffSide } from "#generated/models";
import { type LinePart, type Range, shownRows, type WrappedSide, wrapped } from "./wrap";

/** A row of the page: a part of a row of the model, a fold of rows, or a fold of the parts of one row. */
export type Item =
  | { readonly kind: "line"; readonly row: number; readonly part: number }
  | { readonly kind: "rows"; readonly row: number; readonly count: number }
  | { readonly kind: "parts"; readonly row: number; readonly count: number };

const SURROGATE = /[\ud800-\udfff]/;

/** A fold of rows is known by its first row, one of a long line by `line` and its row. */
export type FoldKey = number | `line ${number}`;

export function keyOf(item: Item): FoldKey {
  return item.kind === "parts" ? `line ${item.row}` : item.row;
}

export function textOfSide(side: DiffSide | null): string {
  return side?.[2] ?? "";
}

/** What differs in a line, in UTF-16 units. */
export function rangesOf(side: DiffSide | null): readonly Range[] {
  if (!side?.[4].length) return [];
  const [, , text, , ranges] = side;
  if (!SURROGATE.test(text)) return ranges;
  const points = [...text];
  const units = (place: number) => points.slice(0, place).join("").length;
  return ranges.map(([from, to]) => [units(from), units(to)]);
}

export function partsOf(side: DiffSide | null, columns: number): readonly LinePart[] {
  return wrapped(textOfSide(side), columns);
}

/** Lists what is shown with lines of so many columns; `open` holds the folds that the user opened. */
export function itemsOf(model: Diff, columns: number, open: ReadonlySet<FoldKey>): readonly Item[] {
  const folds = new Map(model.folds.filter(([first]) => !open.has(first)));
  const items: Item[] = [];
  for (let row = 0; row < model.rows.length; ) {
    const count = folds.get(row) ?? 0;
    const line = model.rows[row];
    if (count) items.push({ kind: "rows", row, count });
    else if (line) items.push(...itemsOfRow(line, row, columns, open));
    row += count || 1;
  }
  return items;
}

function itemsOfRow(line: DiffRow, row: number, columns: number, open: ReadonlySet<FoldKey>): readonly Item[] {
  if (line.every((side) => textOfSide(side).length <= columns)) return [{ kind: "line", row, part: 0 }];
  const sides = line.map((side): WrappedSide => [rangesOf(side), partsOf(side, columns)]);
  const count = Math.max(...sides.map(([, parts]) => parts.length));
  return shownRows(count, sides, open.has(`line ${row}`)).map(([part, hidden]) =>
    hidden ? { kind: "parts", row, count: hidden } : { kind: "line", row, part },
  );
}

/** The first row of the page that shows a node, -1 if none does. */
export function placeOf(model: Diff, items: readonly Item[], node: string): number {
  return items.findIndex((item) => item.kind !== "rows" && model.rows[item.row]?.some((side) => side?.[3] === node));
}
