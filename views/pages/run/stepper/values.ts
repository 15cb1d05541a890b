// A value: the chip behind its line, and the pane that shows all of it.

import type { Register, Run, Tensor, Value } from "#generated/models";
import { link } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { badge, KIND_LOOK } from "#shared/marks";

const CHIP_LENGTH = 40;
const UNKNOWN_HEAT = 30;

/** The chip after a line: kind letter and type, or what the value is. */
export function inlineText(value: Value, register: Register): string {
  const isTyped = value.kind.startsWith("tensor") || value.kind === "prim";
  const letter = KIND_LOOK[value.kind]?.letter ?? "";
  const name = register.is_parameter ? `${register.variable} = ` : "";
  const text = `${name}${letter} ${isTyped ? value.type : value.short}`;
  return text.length > CHIP_LENGTH ? `${text.slice(0, CHIP_LENGTH - 1)}…` : text;
}

export function valueHead(value: Value, register: Register, onWriter: (() => void) | undefined): Child {
  return [
    badge(value.kind),
    el("b", { class: "m" }, `${register.name} ${register.variable}`.trim()),
    el("span", { class: "n" }, value.summary || value.type),
    el("span", { class: "sp" }),
    onWriter ? link("Who wrote this", onWriter) : "",
  ];
}

export function valueBody(run: Run, value: Value): HTMLElement {
  if (value.tensor) return heatTable(value.tensor);
  const captures = value.closure?.captures.map((capture) => [capture.name, capture.value] as const);
  const rows = captures ?? value.fields;
  if (!rows.length) return el("div", { class: "m long" }, value.long || value.short);
  return el(
    "table",
    {},
    rows.map(([name, index]) => fieldRow(name, run.values[index])),
  );
}

function fieldRow(name: string, field: Value | undefined): HTMLElement {
  return el(
    "tr",
    {},
    el("td", { class: "kind" }, badge(field?.kind ?? "unwritten")),
    el("td", { class: "m" }, name),
    el("td", { class: "m" }, field?.type),
    el("td", { class: "m sub" }, field?.short),
  );
}

/** How much of the colour of the hottest cell a cell has, in per cent; nothing for NaN and infinities. */
export function heatShare(tensor: Tensor, index: number): number {
  const heat = tensor.heat[index] ?? UNKNOWN_HEAT;
  return heat < 0 ? 0 : 16 + heat * 0.34;
}

function heatTable(tensor: Tensor): HTMLElement {
  const longest = Math.max(4, ...tensor.cells.map((cell) => cell.length));
  const cells = tensor.cells.map((cell, i) => {
    const background = `color-mix(in srgb,var(--cat0) ${heatShare(tensor, i)}%,var(--bg))`;
    const look = `cell${(tensor.heat[i] ?? 0) < 0 ? " odd" : ""}`;
    return el("span", { class: look, role: "cell", style: { background } }, cell);
  });
  const columns = tensor.column_count;
  const rows = Array.from({ length: tensor.row_count }, (_, i) =>
    el("div", { class: "heat-row", role: "row" }, cells.slice(i * columns, (i + 1) * columns)),
  );
  const table = el("div", { class: "heat", role: "table", "aria-label": "Values" }, rows);
  table.style.setProperty("--cell", `${Math.max(52, longest * 7 + 12)}px`);
  const cut = tensor.cut ? el("div", { class: "muted cut" }, tensor.cut) : "";
  return el("div", { class: "pad heat-box" }, table, cut);
}

/** The place in a tensor of the cell of its table that was clicked, null for no cell; further axes are at 0. */
export function elementAt(cell: Element | null, value: Value): readonly number[] | null {
  const table = value.tensor && cell?.closest(".heat");
  const index = table && cell ? [...table.querySelectorAll(".cell")].indexOf(cell) : -1;
  return index < 0 || !value.tensor ? null : placeOf(value.type, index, value.tensor.column_count);
}

/** The place of the cell with a number, in a tensor of a type such as `(2, 3) f32`; null for a tensor of rank 0. */
export function placeOf(type: string, cell: number, columns: number): readonly number[] | null {
  const sizes = type.slice(1, type.indexOf(")")).split(",");
  const rank = sizes.filter((size) => size.trim()).length;
  const last = [Math.floor(cell / columns), cell % columns];
  return rank ? [...Array<number>(Math.max(0, rank - 2)).fill(0), ...last.slice(-rank)] : null;
}
