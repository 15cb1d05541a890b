// What the two halves show, row by row: lines, parts of long ones, and folds.

import type { Diff, DiffRow, DiffSide } from "#generated/models";
import { manyParameters } from "#shared/signature";
import { type LinePart, type Range, shownRows, type WrappedSide, wrapped } from "./wrap";

/**
 * A row of the page: a part of a row of the model, a fold of rows, a fold of the parts of one row, one row for a line
 * with many parameters, or what closes that again.
 */
export type Item =
  | { readonly kind: "line"; readonly row: number; readonly part: number }
  | { readonly kind: "rows"; readonly row: number; readonly count: number }
  | { readonly kind: "parts"; readonly row: number; readonly count: number }
  | { readonly kind: "signature" | "opened"; readonly row: number; readonly count: number };

const SURROGATE = /[\ud800-\udfff]/;

/** A fold of rows is known by its first row, one of a long line by `line` and its row. */
export type FoldKey = number | `line ${number}`;

export function keyOf(item: Item): FoldKey {
  return item.kind === "rows" || item.kind === "line" ? item.row : `line ${item.row}`;
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

/** The fold that a row of the model is in, undefined if it is in none; it may be open. */
export function foldOf(model: Diff, row: number): FoldKey | undefined {
  const fold = model.folds.find(([first, count]) => row >= first && row < first + count);
  return fold?.[0];
}

function itemsOfRow(line: DiffRow, row: number, columns: number, open: ReadonlySet<FoldKey>): readonly Item[] {
  const count = Math.max(...line.map((side) => manyParameters(textOfSide(side))?.names.length ?? 0));
  if (!count) return linesOfRow(line, row, columns, open);
  if (!open.has(`line ${row}`)) return [{ kind: "signature", row, count }];
  return [{ kind: "opened", row, count }, ...linesOfRow(line, row, columns, open)];
}

function linesOfRow(line: DiffRow, row: number, columns: number, open: ReadonlySet<FoldKey>): readonly Item[] {
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

/** The row of the page that shows a place of a line of one side, -1 if that is folded away. */
export function placeAt(
  items: readonly Item[],
  row: number,
  side: DiffSide | null,
  at: number,
  columns: number,
): number {
  const parts = partsOf(side, columns);
  const part = parts.findIndex(([from, to]) => at >= from && at < to);
  const many = manyParameters(textOfSide(side));
  const isInside = many !== null && at >= many.from && at < many.to;
  return items.findIndex((item) => {
    if (item.row !== row) return false;
    if (item.kind === "signature") return !isInside;
    return item.kind === "line" && item.part === Math.max(0, part);
  });
}
