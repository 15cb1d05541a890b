// Filter, order and file of the registers, of which a table holds only the rows that are seen.

import { button } from "#shared/controls";
import { el } from "#shared/dom";
import { download } from "#shared/download";
import { compared, csvOf, following, type Order, says, wordsOf } from "#shared/tables";

const HEADS = ["Kind", "Reg", "Name", "Type, device", "Value"];

export class RegisterTools {
  /** Stays in the page, and with it what is typed. */
  readonly element: HTMLElement;
  /** The head of the table, by which it is sorted. */
  readonly head: HTMLElement;
  private readonly cells: readonly HTMLElement[];
  private readonly said = el("span", { class: "muted", role: "status" });
  private words: readonly string[] = [];
  private order: Order | undefined;

  /** `lines` gives all that would be in the table, each line with the name of its frame first. */
  constructor(
    private readonly redraw: () => void,
    private readonly lines: () => readonly (readonly string[])[],
  ) {
    const field = el("input", {
      type: "search",
      class: "find",
      placeholder: "Rows with…",
      "aria-label": "Registers with",
      data: { focus: "f registers" },
      input: () => {
        this.words = wordsOf(field.value);
        this.redraw();
      },
    });
    const save = button("CSV", "t", "", () => this.save(), { "aria-label": "Registers as a CSV file" });
    this.element = el("div", { class: "tools-of-table" }, this.said, field, save);
    this.cells = HEADS.map((name, column) => this.headCell(name, column));
    this.head = el("tr", {}, this.cells);
  }

  /** Whether there is a filter or an order: then the registers stand in no groups. */
  get isActive(): boolean {
    return this.order !== undefined || this.words.length > 0;
  }

  /** Of some items those whose cells say the words of the filter, in the order of a column. */
  pick<Item>(items: readonly Item[], cellsOf: (item: Item) => readonly string[]): readonly Item[] {
    const { order, words } = this;
    const keyed = items.map((item) => [cellsOf(item), item] as const);
    const found = words.length ? keyed.filter(([cells]) => says(cells.join("\n"), words)) : keyed;
    if (order) {
      const [column, isDown] = order;
      const sign = isDown ? -1 : 1;
      found.sort(([one], [other]) => sign * compared(one[column] ?? "", other[column] ?? ""));
    }
    return found.map(([, item]) => item);
  }

  /** Says how many registers the filter leaves. */
  say(count: number, total: number): void {
    const text = this.words.length ? `${count.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  private headCell(name: string, column: number): HTMLElement {
    const sort = () => {
      this.order = following(this.order, column);
      for (const [at, cell] of this.cells.entries()) {
        if (this.order?.[0] === at) cell.setAttribute("aria-sort", this.order[1] ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      }
      this.redraw();
    };
    // The kinds are signs without words, which the filter finds by their names.
    if (!column) return el("th", {}, el("span", { class: "sr" }, name));
    const data = { focus: `sort ${name}` };
    return el("th", {}, el("button", { type: "button", class: "sort", click: sort, data }, name));
  }

  private save(): void {
    download("Registers.csv", "text/csv", csvOf([["Frame", ...HEADS], ...this.lines()]));
  }
}
