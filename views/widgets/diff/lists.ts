// The lists beside the texts: rewrites, remarks, values, and why a pass failed.

import type { DiffProps, Remark, ValueRow } from "#generated/models";
import { pickable } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { chip, severitySign } from "#shared/marks";

type Select = (node: string, line: number) => void;

const VALUE_SIGN: Readonly<Record<ValueRow["verdict"], readonly [sign: string, tone: string]>> = {
  same: ["✓", ""],
  different: ["✕", "removed"],
  "stops alike": ["!", "warning"],
  "not comparable": ["?", "warning"],
};
const REMARK_TONE: Readonly<Record<Remark["kind"], string>> = { applied: "added", missed: "warning", note: "" };

const lineCell = (line: number) => el("td", { class: "muted r" }, line ? `line ${line}` : "");
const numberCell = (number: number) => el("td", { class: "m muted r" }, number);

export function rewriteList(props: DiffProps, selected: string, select: Select): Child {
  const rows = props.rewrites.map((item) => {
    const row = el(
      "tr",
      { class: item.node && item.node === selected ? "on" : "" },
      numberCell(item.number),
      el("td", { class: "m" }, item.before),
      el("td", { class: "m" }, item.after),
      el("td", { class: "muted" }, item.rule),
      lineCell(item.line),
    );
    return pickable(row, () => item.node && select(item.node, item.line));
  });
  if (!rows.length) return empty("No rewrites", "This pass replaced nothing.");
  return list("Rewrites", ["#", "Before", "After", "Rule", ""], rows);
}

export function remarkList(props: DiffProps, select: Select): Child {
  const rows = props.remarks.map((item) => {
    const kind = el("td", {}, chip(item.kind, REMARK_TONE[item.kind]));
    const message = el("td", {}, prose(item.message));
    const row = el("tr", {}, numberCell(item.number), kind, message, lineCell(item.line));
    const [node] = item.nodes;
    return pickable(row, () => node && select(node, item.line));
  });
  if (!rows.length) return empty("No remarks", "This pass said nothing about what it did.");
  return list("Remarks", ["#", "Kind", "Remark", ""], rows);
}

export function valueList(props: DiffProps): Child {
  const rows = props.values.map((item) => {
    const [sign, tone] = VALUE_SIGN[item.verdict];
    return el(
      "tr",
      { class: item.verdict === "different" ? "unlike" : "" },
      el("td", {}, chip(`${sign} ${item.verdict}`, tone)),
      el("td", { class: "m" }, item.name),
      el("td", { class: "m muted" }, item.type),
      el("td", {}, item.words),
      el("td", { class: "muted r" }, item.line || ""),
    );
  });
  const note = props.values_note ? el("div", { class: "pad muted" }, props.values_note) : "";
  if (!rows.length) return [note, empty("No values", "Neither of the two runs bound a value.")];
  return [note, list("Values", ["Verdict", "Binding", "Type", "Difference", "Line"], rows)];
}

const NOTHING_LEFT = "The module is as it was before this pass";

/** Why a pass failed: in place of the texts if it left nothing to compare, else above them. */
export function failure(props: DiffProps, hasTexts: boolean): Child {
  const lines = props.problems.map((item) =>
    el(
      "div",
      { class: "problem" },
      severitySign(item.severity),
      " ",
      el("code", { title: item.explanation }, item.code),
      " ",
      item.line ? el("span", { class: "muted" }, `line ${item.line}, column ${item.column}: `) : "",
      prose(item.message),
      item.hint ? el("div", { class: "sub" }, prose(item.hint)) : "",
    ),
  );
  const module = hasTexts ? "What the pass left is set beside the module before it" : NOTHING_LEFT;
  const rest = `The pipeline stopped here. ${module}, and the passes behind it were not run.`;
  const told = el(
    "div",
    { class: "failed" },
    el("b", {}, `${props.title} failed`),
    lines,
    el("p", { class: "muted" }, rest),
  );
  const look = `items body${hasTexts ? " above" : ""}`;
  return el("div", { class: look, role: "region", "aria-label": "Why the pass failed", tabindex: "0" }, told);
}

export function unchanged(): HTMLElement {
  const words = [el("b", {}, "Unchanged"), "This pass leaves the module as it is."];
  return el("div", { class: "items" }, el("div", { class: "state" }, words));
}

function empty(title: string, text: string): HTMLElement {
  return el("div", { class: "items body" }, el("div", { class: "state" }, el("b", {}, title), text));
}

function list(label: string, names: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  const heads = el(
    "tr",
    {},
    names.map((name) => el("th", {}, name)),
  );
  const table = el("table", { "aria-label": label }, heads, rows);
  return el("div", { class: "items", role: "region", "aria-label": `${label} of this stage`, tabindex: "0" }, table);
}
