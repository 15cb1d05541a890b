// The list of problems below the text.

import type { Elsewhere, Mend, Problem } from "#generated/models";
import { button, link, pickable } from "#shared/controls";
import { type Child, el, prose, replace } from "#shared/dom";
import { explains } from "#shared/explain";
import { severitySign } from "#shared/marks";
import { arranged } from "#shared/tables";
import { bySeverity, counts, mendsOf } from "./places";

export class Problems {
  readonly head = el("div", { class: "ph top wraps" });
  readonly body = el("div", { class: "problems" });
  private problems: readonly Problem[] = [];
  private opened = -1;
  private isWithheld = false;

  /** `mend` writes what mends problems into the text. */
  constructor(
    private readonly goTo: (line: number, column: number) => void,
    private readonly mend: (mends: readonly Mend[]) => void,
  ) {}

  show(problems: readonly Problem[]): void {
    this.problems = problems;
    this.draw();
  }

  /** Says that problems are held back, in place of that there are none. */
  withhold(isWithheld: boolean): void {
    if (isWithheld === this.isWithheld) return;
    this.isWithheld = isWithheld;
    this.draw();
  }

  private draw(): void {
    const chips = counts(this.problems).map(([severity, n]) => {
      const look = severity === "note" ? "chip " : `chip ${severity}`;
      return el("span", { class: look }, severitySign(severity), `${n} ${severity}${n > 1 ? "s" : ""}`);
    });
    const key = (name: string) => el("span", { class: "kbd" }, name);
    const rows = bySeverity(this.problems).map(([problem, i]) => this.row(problem, i));
    const [tools, table] = tableOf(rows);
    const keys = [key("Tab"), " leaves the editor, ", key("Ctrl Enter"), " runs"];
    replace(
      this.head,
      el("b", {}, "Problems"),
      chips.length ? chips : el("span", { class: "n" }, this.isWithheld ? "held back" : "none"),
      el("span", { class: "sp" }),
      this.allButton(),
      tools,
      el("span", { class: "note-keys" }, keys),
    );
    replace(this.body, table);
  }

  private row(problem: Problem, i: number): HTMLElement {
    const place = problem.line ? `${problem.line}:${problem.column}` : "";
    const isOpen = this.opened === i;
    const why = problem.explanation
      ? link(problem.code, (event) => this.toggle(event, i), { class: "link m", "aria-expanded": String(isOpen) })
      : el("span", { class: "m muted" }, problem.code);
    const hint = problem.hint ? el("span", { class: "hint" }, " · ", prose(problem.hint)) : "";
    const fix = problem.mend ? [" ", this.mendLink(problem.mend)] : "";
    const related = problem.related.map((item) => this.related(item));
    const explanation = isOpen ? el("div", { class: "why" }, prose(problem.explanation), " ", this.more(problem)) : "";
    const row = el(
      "tr",
      { data: { problem: i } },
      el("td", {}, severitySign(problem.severity)),
      el("td", {}, prose(problem.message), hint, fix, related, explanation),
      el("td", { class: "place" }, why),
      el("td", { class: "m muted r place" }, place),
    );
    return problem.line ? pickable(row, () => this.goTo(problem.line, problem.column)) : row;
  }

  private more({ code }: Problem): HTMLElement {
    return link("A program that has it", explains([code]), { data: { code } });
  }

  private allButton(): Child {
    const known = mendsOf(this.problems);
    const title = "Every error that knows its mend; Ctrl Z takes all of them back";
    return known.length > 1 ? button(`Fix all ${known.length}`, "t", "", () => this.mend(known), { title }) : "";
  }

  private mendLink(mend: Mend): HTMLElement {
    const write = (event: Event) => {
      event.stopPropagation();
      this.mend([mend]);
    };
    return link(mend.title, write, { data: { mend: mend.text } });
  }

  private related(place: Elsewhere): Child {
    const jump = (event: Event) => {
      event.stopPropagation();
      this.goTo(place.line, place.column);
    };
    return el("div", { class: "hint" }, link(`line ${place.line}`, jump), ": ", prose(place.message));
  }

  private toggle(event: Event, i: number): void {
    event.stopPropagation();
    this.opened = this.opened === i ? -1 : i;
    this.draw();
  }
}

/** What the hover says of problems. */
export function problemTip(problems: readonly Problem[]): Child {
  return problems.map((problem) => {
    const hint = problem.hint ? el("div", { class: "hint" }, prose(problem.hint)) : "";
    return el("div", {}, severitySign(problem.severity), " ", prose(problem.message), hint);
  });
}

/** The problems as a table, and what orders and saves them: a single one has no head. */
function tableOf(rows: readonly HTMLElement[]): readonly [tools: Child, table: HTMLElement] {
  const isOne = rows.length < 2;
  const heads = ["", "Problem", "Code", "Line"].map((name) => el("th", {}, name));
  const table = el("table", { "aria-label": "Problems" }, isOne ? "" : el("tr", {}, heads), rows);
  return isOne ? ["", table] : arranged(table);
}
