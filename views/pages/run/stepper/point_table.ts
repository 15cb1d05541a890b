// Breakpoints: the table below the registers, with a condition for each.

import type { Breakpoint, PointHits, Problem } from "#generated/models";
import { link } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink } from "#shared/explain";
import { severitySign } from "#shared/marks";
import { unitOf } from "#shared/values";
import { pointKey, pointLabel } from "./points";
import type { RunState } from "./state";

/** Changes a breakpoint, or with null removes it. */
type Change = (index: number, change: Partial<Breakpoint> | null) => void;

const LONGEST_CONDITION = 400;
const HELP =
  "Stops only where this holds: variables, %3, x.shape[0], isnan(x), written, hits, depth, time. Enter takes it.";

/** What is typed is kept until Enter or leaving the field. */
export class PointTable {
  private readonly drafts = new Map<string, string>();
  // The field of each breakpoint in the newest table.
  private readonly fields = new Map<string, HTMLInputElement>();

  constructor(private readonly change: Change) {}

  draw(points: readonly Breakpoint[], state: RunState): HTMLElement {
    this.fields.clear();
    const rows = points.map((point, i) => this.rows(point, i, state));
    return el("table", { class: "points", "aria-label": "Breakpoints" }, rows);
  }

  private rows(point: Breakpoint, i: number, state: RunState): Child {
    const label = pointLabel(point);
    const known = state.evaluated(point);
    const disc = el("button", {
      type: "button",
      class: `bp${point.is_on ? "" : " off"}`,
      "aria-label": `${label}: switch ${point.is_on ? "off" : "on"}`,
      "aria-pressed": String(point.is_on),
      data: { focus: `point${i}` },
      click: () => this.change(i, { is_on: !point.is_on }),
    });
    const drop = () => {
      this.drafts.delete(pointKey(point));
      this.change(i, null);
    };
    const row = el(
      "tr",
      { data: { point: label } },
      el("td", { class: "kind" }, disc),
      el("td", { class: "m" }, label),
      el("td", { class: "cond" }, this.field(point, i, known)),
      el("td", { class: "muted" }, point.is_on ? statusOf(point, state) : "off"),
      el("td", { class: "r" }, link("Remove", drop, { "aria-label": `Remove ${label}` })),
    );
    return [row, known?.problem ? problemRow(point, known, known.problem) : ""];
  }

  private field(point: Breakpoint, i: number, known: PointHits | undefined): HTMLInputElement {
    const key = pointKey(point);
    const commit = () => {
      // A field loses the focus while it is taken off the page, too: what it holds lives on in the new table.
      if (this.fields.get(key) !== input) return;
      const condition = input.value.trim();
      this.drafts.delete(key);
      if (condition !== point.condition) this.change(i, { condition });
    };
    const keydown = (event: KeyboardEvent) => {
      event.stopPropagation();
      if (event.key === "Enter") commit();
      if (event.key !== "Escape") return;
      this.drafts.delete(key);
      input.value = point.condition;
      input.blur();
    };
    const input = el("input", {
      type: "text",
      class: "m",
      maxlength: LONGEST_CONDITION,
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "if, such as i > 3",
      "aria-label": `Condition of ${pointLabel(point)}`,
      "aria-invalid": known?.problem ? "true" : null,
      title: HELP,
      data: { focus: `condition${i}` },
      input: () => this.drafts.set(key, input.value),
      keydown,
      blur: commit,
    });
    input.value = this.drafts.get(key) ?? point.condition;
    this.fields.set(key, input);
    return input;
  }
}

/** What is known of where a breakpoint stops. */
export function statusOf(point: Breakpoint, state: RunState): string {
  const known = state.evaluated(point);
  if (!known) return point.condition ? "looking" : hitText(state.hits(point));
  if (known.problem && !known.met) return "never stops";
  const first = known.first >= 0 ? `, ${known.stops === 1 ? "at" : "first at"} time ${known.first}` : "";
  return known.met ? `stops at ${known.stops} of ${known.met}${first}` : "not hit";
}

function hitText(times: readonly number[]): string {
  if (!times.length) return "not hit";
  return times.length === 1 ? `hit once, at time ${times[0]}` : `hit ${times.length} times, first at time ${times[0]}`;
}

function problemRow(point: Breakpoint, known: PointHits, problem: Problem): HTMLElement {
  const from = unitOf(point.condition, problem.column);
  const to = Math.max(from + 1, unitOf(point.condition, Math.max(problem.column + 1, problem.end_column)));
  const text = `${point.condition} `;
  const words = ` At ${known.problem_count} of ${known.met} hits; it does not stop there.`;
  const condition = [text.slice(0, from), el("span", { class: "sq-error" }, text.slice(from, to)), text.slice(to)];
  const said = [
    severitySign(problem.severity),
    " ",
    codeLink(problem),
    " ",
    prose(problem.message),
    problem.hint ? [" · ", prose(problem.hint)] : "",
    known.problem_count ? el("span", { class: "muted" }, words) : "",
  ];
  const cell = el("td", { colspan: 4 }, el("div", { class: "m" }, condition), el("div", {}, said));
  return el("tr", { class: "problem" }, el("td"), cell);
}
