// The lists beside the texts: rewrites, remarks, values, and why a pass failed.

import type { DiffProps, Remark, SingleRewrite, ValueRow } from "#generated/models";
import { button, link, pickable, segments } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink, explains } from "#shared/explain";
import { chip, severitySign } from "#shared/marks";
import { arranged } from "#shared/tables";

type Select = (node: string, line: number) => void;
export type ShowRewrite = (rewrite: number, isLeftOut: boolean) => void;

const VALUE_SIGN: Readonly<Record<ValueRow["verdict"], readonly [sign: string, tone: string]>> = {
  same: ["✓", ""],
  different: ["✕", "removed"],
  "stops alike": ["!", "warning"],
  "not comparable": ["?", "warning"],
};
const REMARK_TONE: Readonly<Record<Remark["kind"], string>> = { applied: "added", missed: "warning", note: "" };

const lineCell = (line: number) => el("td", { class: "muted r" }, line ? `line ${line}` : "");
const numberCell = (number: number) => el("td", { class: "m muted r" }, number);

/** The name of a pass without its options. */
export const passOf = (name = "") => name.split("(")[0] ?? "";

export function rewriteList(props: DiffProps, selected: string, select: Select, show: ShowRewrite): Child {
  const rewrites = props.detail?.rewrites ?? [];
  const rows = rewrites.map((item) => {
    const row = el(
      "tr",
      { class: item.node && item.node === selected ? "on" : "" },
      numberCell(item.number),
      el("td", { class: "m" }, item.before),
      el("td", { class: "m" }, item.after),
      el("td", {}, item.rule && ruleLink(item.rule, passOf(props.detail?.name))),
      lineCell(item.line),
      el("td", { class: "r" }, item.is_single && singleButtons(item.number, show)),
    );
    return pickable(row, () => item.node && select(item.node, item.line));
  });
  if (!rows.length) return empty("No rewrites", "This pass replaced nothing.");
  const left = (props.detail?.rewrite_count ?? 0) - rewrites.length;
  const more = left
    ? el("div", { class: "pad muted" }, `${left} more are not listed; Step leads from each rewrite to the next.`)
    : "";
  return [list("Rewrites", ["#", "Before", "After", "Rule", "Line", ""], rows), more];
}

function ruleLink(rule: string, pass: string): Child {
  return link(rule, explains([`rewrite rule/${rule}`, pass]), { title: "Explain this rule" });
}

function singleButtons(number: number, show: ShowRewrite): Child {
  const one = (text: string, title: string, isLeftOut: boolean) => {
    const click = (event: Event) => {
      event.stopPropagation();
      show(number, isLeftOut);
    };
    return button(text, "i", "", click, { title, "aria-label": `${title}: rewrite ${number}` });
  };
  const step = one("Step", "Show the module before and after this rewrite", false);
  return el("span", { class: "row end" }, step, one("Skip", "Show what the others make without this one", true));
}

/** The head of the texts of one rewrite: which it is, the one before and behind it, and the way back to the list. */
export function singleHead(single: SingleRewrite, show: ShowRewrite): Child {
  const { number, numbers, is_left_out: isLeftOut } = single;
  const place = numbers.indexOf(number);
  const arrow = (text: string, label: string, by: number) => {
    const near = numbers[place + by];
    const go = () => near !== undefined && show(near, isLeftOut);
    return button(text, "i", "", go, { "aria-label": label, disabled: near === undefined });
  };
  const views = segments(
    "What is shown of the rewrite",
    [
      ["step", "Step"],
      ["skip", "Skip"],
    ] as const,
    isLeftOut ? "skip" : "step",
    (id) => show(number, id === "skip"),
  );
  const wrong = single.problems.find((item) => item.severity === "error");
  const head = el(
    "div",
    { class: "scrub single", role: "group", "aria-label": "Single rewrite" },
    arrow("‹", "Rewrite before", -1),
    arrow("›", "Rewrite after", 1),
    el("b", {}, `Rewrite ${number}`),
    el("span", { class: "n" }, single.rule),
    el("span", { class: "sp" }),
    views,
    button("All rewrites", "", "", () => show(0, false)),
  );
  return [head, wrong && el("div", { class: "pad error-text" }, "✕ ", codeLink(wrong), " ", prose(wrong.message))];
}

export function remarkList(props: DiffProps, select: Select): Child {
  const rows = (props.detail?.remarks ?? []).map((item) => {
    const ask = explains([`remark/${item.kind}`, passOf(props.detail?.name)], item.message);
    const title = "Explain this remark";
    const kind = el("td", {}, link(chip(item.kind, REMARK_TONE[item.kind]), ask, { title }));
    const message = el("td", {}, prose(item.message));
    const row = el("tr", {}, numberCell(item.number), kind, message, lineCell(item.line));
    const [node] = item.nodes;
    return pickable(row, () => node && select(node, item.line));
  });
  if (!rows.length) return empty("No remarks", "This pass said nothing about what it did.");
  return list("Remarks", ["#", "Kind", "Remark", "Line"], rows);
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
      codeLink(item),
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
    el("b", {}, `${props.detail?.name} failed`),
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
  const table = arranged(el("table", { "aria-label": label }, heads, rows));
  return el("div", { class: "items", role: "region", "aria-label": `${label} of this stage`, tabindex: "0" }, table);
}
