// Words and heads of the tables of components, and the order of their rows.

import { type Child, el } from "./dom";

export function headOf(title: string, note: Child = "", ...rest: Child[]): HTMLElement {
  const words = note ? el("span", { class: "n" }, note) : "";
  return el("div", { class: "ph top" }, el("b", { role: "heading", "aria-level": "2" }, title), words, rest);
}

export function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : many}`;
}

/** A name of several words may break between them. */
export function pieces(name: string): Child[] {
  return name.split(/(?<=_)|(?<=[a-z])(?=[A-Z])/).map((word, k) => [k ? el("wbr") : "", word]);
}

/** Makes a sentence of a message; a name at its start stays as it is. */
export function sentence(text: string, name: string): string {
  const start = text.startsWith(name) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return (start + text.slice(1)).replaceAll("->", "→") + (/[.!?]$/.test(text) ? "" : ".");
}

/** A number of bytes in at most five characters and a unit. */
export function bytesText(number: number): string {
  if (number < 1000) return `${number} B`;
  if (number < 1e6) return `${(number / 1e3).toFixed(1)} kB`;
  return number < 1e9 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(1)} GB`;
}

/** By which column the rows of a table are sorted, and whether the last comes first. */
type Order = readonly [column: number, isDown: boolean];

const UNITS: Readonly<Record<string, number>> = { kB: 1e3, MB: 1e6, GB: 1e9 };
// By the labels of tables: a table is drawn again whenever its page is run.
const orders = new Map<string, Order>();

/** Sorts the rows of a table by a click on a head: up, down, and as they came. */
export function sortable(table: HTMLTableElement): HTMLTableElement {
  const name = table.getAttribute("aria-label") ?? "";
  const [head, ...rows] = table.rows;
  if (!head || rows.length < 2) return table;
  const heads = [...head.cells];
  const arrange = () => {
    const order = orders.get(name);
    for (const [column, cell] of heads.entries()) {
      if (order?.[0] === column) cell.setAttribute("aria-sort", order[1] ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    for (const row of order ? inOrder(rows, order) : rows) row.parentNode?.append(row);
  };
  for (const [column, cell] of heads.entries()) {
    if (!cell.textContent) continue;
    const sort = () => {
      const next = following(orders.get(name), column);
      if (next) orders.set(name, next);
      else orders.delete(name);
      arrange();
    };
    cell.replaceChildren(el("button", { type: "button", class: "sort", click: sort }, cell.textContent));
  }
  arrange();
  return table;
}

function following(order: Order | undefined, column: number): Order | undefined {
  if (order?.[0] !== column) return [column, false];
  return order[1] ? undefined : [column, true];
}

function inOrder(rows: readonly HTMLTableRowElement[], [column, isDown]: Order): readonly HTMLTableRowElement[] {
  const keyed = rows.map((row) => [row.cells[column]?.textContent?.trim() ?? "", row] as const);
  const sign = isDown ? -1 : 1;
  return keyed
    .sort(([one], [other]) => Number(!one) - Number(!other) || sign * compared(one, other))
    .map(([, row]) => row);
}

/** Compares what two cells say: figures by their values, with thousands and units, before words. */
export function compared(one: string, other: string): number {
  const [left, right] = [figureOf(one), figureOf(other)];
  if (left !== undefined && right !== undefined && left !== right) return left - right;
  if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1;
  return one.localeCompare(other, "en", { numeric: true });
}

function figureOf(text: string): number | undefined {
  const found = /^(?:line )?([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)(?: ?(kB|MB|GB))?(?![\w.])/u.exec(text.replace("−", "-"));
  return found ? Number(found[1]?.replaceAll(",", "")) * (UNITS[found[2] ?? ""] ?? 1) : undefined;
}
