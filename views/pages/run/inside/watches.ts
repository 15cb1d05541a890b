// Expressions with what they are before the statement runs: a row for each, and a field for another one.

import { button } from "#shared/controls";
import { el, replace } from "#shared/dom";
import { headOf } from "#shared/tables";

export class Watches {
  readonly element = el("div", { class: "watches" });
  private readonly rows = el("tbody", {});
  private texts: readonly string[] = [];

  /** `tell` gets all expressions, separated by semicolons. */
  constructor(private readonly tell: (text: string) => void) {
    const field = el("input", { type: "text", "aria-label": "Expression to watch", placeholder: "C[i, j] + 1" });
    const add = () => {
      if (!field.value.trim()) return;
      const text = field.value.trim();
      field.value = "";
      this.tell([...this.texts, text].join("; "));
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") add();
    });
    const form = el(
      "div",
      { class: "to" },
      field,
      button("Watch", "", "", add, { "aria-label": "Watch the expression" }),
    );
    this.element.append(headOf("Watch"), el("table", {}, this.rows), form);
  }

  /** `known` are the expressions that could be read, `values` what they are at the statement that is shown. */
  draw(watch: string, known: readonly (readonly [string, string])[], values: readonly string[]): void {
    this.texts = watch
      .split(";")
      .map((text) => text.trim())
      .filter(Boolean);
    replace(
      this.rows,
      this.texts.map((text, at) => this.row(text, known[at] ? (values[at] ?? known[at][1]) : "–")),
    );
  }

  private row(text: string, value: string): HTMLElement {
    const rest = () => this.texts.filter((other) => other !== text).join("; ");
    const away = button("×", "i", "", () => this.tell(rest()), { "aria-label": `Watch ${text} no longer` });
    return el(
      "tr",
      {},
      el("td", { class: "m" }, text),
      el("td", { class: "m r", data: { watch: text } }, value),
      el("td", { class: "r" }, away),
    );
  }
}
