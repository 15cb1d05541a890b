// Expressions with what they are before the statement runs: a row for each, and a field for another one.

import { el, replace } from "#shared/dom";
import { awayButton, expressionForm } from "#shared/expressions";
import { headOf } from "#shared/tables";

export class Watches {
  readonly element = el("div", { class: "watches" });
  private readonly rows = el("tbody", {});
  private texts: readonly string[] = [];

  /** `tell` gets all expressions, separated by semicolons. */
  constructor(private readonly tell: (text: string) => void) {
    const form = expressionForm("to", {
      placeholder: "C[i, j] + 1",
      add: (text) => this.tell([...this.texts, text].join("; ")),
    });
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
    const away = awayButton(text, () => this.tell(rest()));
    return el(
      "tr",
      {},
      el("td", { class: "m" }, text),
      el("td", { class: "m r", data: { watch: text } }, value),
      el("td", { class: "r" }, away),
    );
  }
}
