// Breakpoints: the table below the registers, with a condition for each, and the message of a logpoint.

import type { Breakpoint, PointHits, Problem } from "#generated/models";
import { link } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink } from "#shared/explain";
import { severitySign } from "#shared/marks";
import { arranged } from "#shared/tables";
import { unitOf } from "#shared/values";
import { pointKey, pointLabel } from "./points";
import type { RunState } from "./state";

/** Changes a breakpoint, or with null removes it. */
type Change = (index: number, change: Partial<Breakpoint> | null) => void;

const LONGEST_TEXT = 400;
const LANGUAGE = "variables, %3, x.shape[0], x.sum(), isnan(x), written, hits, depth, time. Enter takes it.";

/** What a breakpoint has a field for. */
interface Field {
  readonly part: "condition" | "message";
  readonly label: string;
  readonly placeholder: string;
  readonly title: string;
}

const CONDITION: Field = {
  part: "condition",
  label: "Condition",
  placeholder: "if, such as i > 3",
  title: `Only where this holds: ${LANGUAGE}`,
};
const MESSAGE: Field = {
  part: "message",
  label: "Message",
  placeholder: "sum is {x.sum()}",
  title: `Written before the line runs, in place of stopping; between braces: ${LANGUAGE}`,
};

/** What is typed is kept until Enter or leaving the field. */
export class PointTable {
  private readonly drafts = new Map<string, string>();
  // The fields of the newest table.
  private readonly fields = new Map<string, HTMLInputElement>();
  // The breakpoints that are to become logpoints.
  private readonly logging = new Set<string>();

  constructor(private readonly change: Change) {}

  /** The table, and what orders it and saves it. */
  draw(points: readonly Breakpoint[], state: RunState): readonly [tools: Child, table: HTMLElement] {
    this.fields.clear();
    const rows = points.map((point, i) => this.rows(point, i, state));
    const isOne = points.length < 2;
    const table = el("table", { class: "points", "aria-label": "Breakpoints" }, isOne ? "" : headRow(), rows);
    return isOne ? ["", table] : arranged(table);
  }

  private rows(point: Breakpoint, i: number, state: RunState): Child {
    const label = pointLabel(point);
    const known = state.evaluated(point);
    const disc = el("button", {
      type: "button",
      class: `bp${point.is_on ? "" : " off"}${point.message && " log"}`,
      "aria-label": `${label}: switch ${point.is_on ? "off" : "on"}`,
      "aria-pressed": String(point.is_on),
      data: { focus: `point${i}` },
      click: () => this.change(i, { is_on: !point.is_on }),
    });
    const drop = () => {
      this.forget(point);
      this.change(i, null);
    };
    const isLog = point.message !== "" || this.logging.has(pointKey(point));
    const log = () => {
      this.logging.add(pointKey(point));
      this.change(i, {});
      this.fields.get(fieldKey(point, MESSAGE))?.focus();
    };
    const title = "Write a message here in place of stopping";
    const logLink = isLog ? "" : link("Log", log, { title, "aria-label": `Log at ${label}` });
    const row = el(
      "tr",
      { data: { point: label } },
      el("td", { class: "kind" }, disc),
      el("td", { class: "m" }, label),
      el("td", { class: "cond" }, this.field(point, i, CONDITION, known?.problem)),
      el("td", { class: "muted" }, point.is_on ? statusOf(point, state) : "off"),
      el("td", { class: "r" }, logLink, link("Remove", drop, { "aria-label": `Remove ${label}` })),
    );
    return [row, isLog ? this.messageRow(point, i) : "", known?.problem ? problemRow(point, known, known.problem) : ""];
  }

  private messageRow(point: Breakpoint, i: number): HTMLElement {
    const field = el("td", { colspan: 4, class: "log" }, el("span", { class: "muted" }, "writes"));
    field.append(this.field(point, i, MESSAGE));
    return el("tr", { class: "message", data: { below: "" } }, el("td"), field);
  }

  private forget(point: Breakpoint): void {
    this.logging.delete(pointKey(point));
    for (const field of [CONDITION, MESSAGE]) this.drafts.delete(fieldKey(point, field));
  }

  private field(point: Breakpoint, i: number, field: Field, problem?: Problem | null): HTMLInputElement {
    const key = fieldKey(point, field);
    const commit = () => {
      // A field loses the focus while it is taken off the page, too: what it holds lives on in the new table.
      if (this.fields.get(key) !== input) return;
      const text = input.value.trim();
      this.drafts.delete(key);
      if (field.part === "message") this.logging.delete(pointKey(point));
      if (text !== point[field.part]) this.change(i, { [field.part]: text });
    };
    const keydown = (event: KeyboardEvent) => {
      event.stopPropagation();
      if (event.key === "Enter") commit();
      if (event.key !== "Escape") return;
      this.drafts.delete(key);
      input.value = point[field.part];
      input.blur();
    };
    const input = el("input", {
      type: "text",
      class: "m",
      maxlength: LONGEST_TEXT,
      spellcheck: "false",
      autocomplete: "off",
      placeholder: field.placeholder,
      "aria-label": `${field.label} of ${pointLabel(point)}`,
      "aria-invalid": problem ? "true" : null,
      title: field.title,
      data: { focus: `${field.part}${i}` },
      input: () => this.drafts.set(key, input.value),
      keydown,
      blur: commit,
    });
    input.value = this.drafts.get(key) ?? point[field.part];
    this.fields.set(key, input);
    return input;
  }
}

function headRow(): HTMLElement {
  return el(
    "tr",
    {},
    ["", "Where", "Condition", "Hits", ""].map((name) => el("th", {}, name)),
  );
}

function fieldKey(point: Breakpoint, { part }: Field): string {
  return `${pointKey(point)}:${part}`;
}

/** What is known of where a breakpoint stops. */
export function statusOf(point: Breakpoint, state: RunState): string {
  const known = state.evaluated(point);
  if (!known) return point.condition ? "looking" : hitText(state.hits(point));
  const does = point.message ? "writes" : "stops";
  if (known.problem && !known.met) return `never ${does}`;
  const first = known.first >= 0 ? `, ${known.stops === 1 ? "at" : "first at"} time ${known.first}` : "";
  return known.met ? `${does} at ${known.stops} of ${known.met}${first}` : "not hit";
}

function hitText(times: readonly number[]): string {
  if (!times.length) return "not hit";
  return times.length === 1 ? `hit once, at time ${times[0]}` : `hit ${times.length} times, first at time ${times[0]}`;
}

function problemRow(point: Breakpoint, known: PointHits, problem: Problem): HTMLElement {
  const from = unitOf(point.condition, problem.column);
  const to = Math.max(from + 1, unitOf(point.condition, Math.max(problem.column + 1, problem.end_column)));
  const text = `${point.condition} `;
  const words = ` At ${known.problem_count} of ${known.met} hits; it has no effect there.`;
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
  return el("tr", { class: "problem", data: { below: "" } }, el("td"), cell);
}
