// Words and heads of the tables of components; their rows in order, filtered, and as a file.

import { button } from "./controls";
import { type Child, el, nodes } from "./dom";
import { download } from "./download";

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
export type Order = readonly [column: number, isDown: boolean];
/** A row with those below it that go on with it: their first cells reach over several columns, or they say so. */
type Group = readonly [HTMLTableRowElement, ...HTMLTableRowElement[]];

const UNITS: Readonly<Record<string, number>> = { kB: 1e3, MB: 1e6, GB: 1e9 };
/** As many rows are seen at once, and need no filter. */
const FEW = 8;
// By the labels of tables: a table is drawn again whenever its page is run.
const orders = new Map<string, Order>();
const filters = new Map<string, string>();

/**
 * Lets the rows of a table be sorted by a click on a head (up, down, and as they came), filtered by words, and saved as
 * CSV. `rest` makes those that are not shown at first: they come in with the first order or filter.
 */
export function arranged(
  table: HTMLTableElement,
  rest: () => Child = () => "",
): readonly [tools: Child, table: HTMLTableElement] {
  const made = new Arranged(table, rest);
  return [made.isWorthwhile ? made.tools : "", table];
}

class Arranged {
  readonly tools = el("div", { class: "tools-of-table" });
  readonly isWorthwhile: boolean;
  private readonly name: string;
  private readonly heads: readonly HTMLTableCellElement[];
  private readonly said = el("span", { class: "muted", role: "status" });
  private rows: readonly HTMLTableRowElement[];
  private isWhole = false;

  constructor(
    private readonly table: HTMLTableElement,
    private readonly rest: () => Child,
  ) {
    this.name = table.getAttribute("aria-label") ?? "";
    const [head, ...rows] = table.rows;
    this.heads = [...(head?.cells ?? [])];
    this.rows = rows;
    this.isWorthwhile = rows.length > 1;
    if (!this.isWorthwhile) return;
    for (const [column, cell] of this.heads.entries()) this.offerOrder(column, cell);
    const save = button("CSV", "t", "", () => this.save(), { "aria-label": `${this.name} as a CSV file` });
    this.tools.append(...nodes([rows.length > FEW ? [this.said, this.filter()] : "", save]));
    if (rows.length <= FEW) filters.delete(this.name);
    this.arrange();
  }

  private offerOrder(column: number, cell: HTMLTableCellElement): void {
    if (!cell.textContent) return;
    const sort = () => {
      const next = following(orders.get(this.name), column);
      if (next) orders.set(this.name, next);
      else orders.delete(this.name);
      this.arrange();
    };
    cell.replaceChildren(el("button", { type: "button", class: "sort", click: sort }, [...cell.childNodes]));
  }

  private filter(): HTMLElement {
    const look = () => {
      filters.set(this.name, field.value);
      this.arrange();
    };
    const names = { placeholder: "Rows with…", "aria-label": `Rows of ${this.name} with` };
    const field = el("input", {
      type: "search",
      class: "find",
      input: look,
      data: { focus: `f ${this.name}` },
      ...names,
    });
    field.value = filters.get(this.name) ?? "";
    return field;
  }

  private arrange(): void {
    const order = orders.get(this.name);
    const words = wordsOf(filters.get(this.name) ?? "");
    this.mark(order);
    const groups = groupsOf(order || words.length ? this.wholeRows() : this.rows);
    const place = this.rows[0]?.parentNode;
    let count = 0;
    for (const group of order ? inOrder(groups, order) : groups) {
      const isShown = says(group.map(textOf).join("\n"), words);
      count += Number(isShown);
      for (const row of group) {
        row.hidden = !isShown;
        place?.append(row);
      }
    }
    this.said.textContent = words.length
      ? `${count.toLocaleString("en")} of ${groups.length.toLocaleString("en")}`
      : "";
  }

  private mark(order: Order | undefined): void {
    for (const [column, cell] of this.heads.entries()) {
      if (order?.[0] === column) cell.setAttribute("aria-sort", order[1] ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  private wholeRows(): readonly HTMLTableRowElement[] {
    if (!this.isWhole) {
      this.isWhole = true;
      this.table.dataset.whole = "";
      const others = nodes(this.rest()).filter((row) => row instanceof HTMLTableRowElement);
      this.rows = [...this.rows, ...others];
    }
    return this.rows;
  }

  private save(): void {
    const named = this.heads.flatMap((cell, column) => (cell.textContent ? [column] : []));
    const order = orders.get(this.name);
    const groups = groupsOf(this.wholeRows());
    const shown = (order ? inOrder(groups, order) : groups).flat().filter((row) => !row.hidden);
    const lines = shown.map((row) => cellsOf(row));
    const heads = this.heads.map((cell) => cell.textContent ?? "");
    download(`${this.name}.csv`, "text/csv", csvOf([heads, ...lines].map((line) => named.map((at) => line[at] ?? ""))));
  }
}

function groupsOf(rows: readonly HTMLTableRowElement[]): readonly Group[] {
  const groups: [HTMLTableRowElement, ...HTMLTableRowElement[]][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last && ("below" in row.dataset || (row.cells[0]?.colSpan ?? 1) > 1)) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

/** What the cells of a row say, by columns: a cell that reaches over several stands in the first of them. */
function cellsOf(row: HTMLTableRowElement): readonly string[] {
  return [...row.cells].flatMap((cell) => [textOf(cell), ...Array<string>(cell.colSpan - 1).fill("")]);
}

function textOf(cell: Element): string {
  const typed = [...cell.querySelectorAll("input")].map((field) => field.value);
  return [cell.textContent ?? "", ...typed].join(" ").replace(/\s+/gu, " ").trim();
}

/** The order behind a click on the head of a column: up, down, and as the rows came. */
export function following(order: Order | undefined, column: number): Order | undefined {
  if (order?.[0] !== column) return [column, false];
  return order[1] ? undefined : [column, true];
}

function inOrder(groups: readonly Group[], [column, isDown]: Order): readonly Group[] {
  const keyed = groups.map((group) => [cellsOf(group[0])[column] ?? "", group] as const);
  const sign = isDown ? -1 : 1;
  return keyed
    .sort(([one], [other]) => Number(!one) - Number(!other) || sign * compared(one, other))
    .map(([, group]) => group);
}

export const wordsOf = (text: string): readonly string[] => text.toLowerCase().split(/\s+/u).filter(Boolean);

/** Whether each of the words stands somewhere in a text, in large letters or small ones; figures without commas, too. */
export function says(text: string, words: readonly string[]): boolean {
  const whole = `${text}\n${text.replace(/(?<=\d),(?=\d{3})/gu, "")}`.toLowerCase();
  return words.every((word) => whole.includes(word));
}

/** Lines of cells as a CSV file; a text that a spreadsheet would take for a formula begins with a quote. */
export function csvOf(lines: readonly (readonly string[])[]): string {
  const cell = (text: string) => {
    const safe = /^[=+\-@\t\r]/u.test(text) && !/^[+-]?[\d,]*\.?\d+$/u.test(text) ? `'${text}` : text;
    return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
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
