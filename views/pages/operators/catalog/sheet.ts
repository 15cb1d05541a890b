// The sheet about an operator: schema, facts, example, listing, and a run of the example.

import type { CatalogPage, CatalogProps, Code, CodeLine, Form, Sheet, Shown, Tried } from "#generated/models";
import { tokenSpan } from "#shared/code";
import { button, tabs } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink } from "#shared/explain";
import { badge, chip, severitySign } from "#shared/marks";
import { arranged } from "#shared/tables";
import { later } from "#shared/values";

/** What the buttons of the sheet ask for. */
export interface Asks {
  readonly run: () => void;
  readonly open: (page: "source" | "run") => void;
  readonly listing: (form: Form) => void;
}

const LISTINGS = [
  ["tir", "TIR"],
  ["llvm", "LLVM IR"],
] as const;
const COPIED_MS = 1500;

/** The panes of the sheet of `model`, or what stands there if what was asked for is not in the table. */
export function sheetOf(model: CatalogPage, props: CatalogProps, asks: Asks): Child {
  const item = model.sheet;
  if (!item) {
    const words = el("span", {}, "There is no ", el("code", {}, model.unknown), ". Choose one from the list.");
    return el("div", { class: "state" }, el("b", {}, "Not in the table"), words);
  }
  const head = el(
    "div",
    { class: "ph" },
    el("b", { class: "m" }, item.name),
    el("span", { class: "sp" }),
    item.chips.map((text) => chip(text)),
  );
  const summary = el("p", { class: "summary" }, prose(item.summary));
  const parts = [summary, codeBlock(item.call), schemaTable(item), facts(item), exampleOf(item, model.tried, asks)];
  const region = { class: "body", tabindex: 0, role: "region", "aria-label": `About ${item.name}` };
  const about = el("div", { class: "pane about" }, head, el("div", region, el("div", { class: "pad" }, parts)));
  return [about, item.has_listing ? listingPane(item, props, asks) : ""];
}

function schemaTable(item: Sheet): Child {
  if (!item.params.length) return el("p", { class: "sub" }, "It has no parameters.");
  const heads = ["Parameter", "Takes", "Default", "Notes"].map((name) => el("th", {}, name));
  const rows = item.params.map((row) =>
    el(
      "tr",
      {},
      el("td", { class: "m" }, row.name),
      el("td", { class: "sub" }, row.type),
      el("td", { class: "m" }, row.default || el("span", { class: "muted" }, "required")),
      el("td", { class: "muted" }, row.notes.join(", ")),
    ),
  );
  return arranged(el("table", { "aria-label": "Parameters" }, el("tr", {}, heads), rows));
}

function facts(item: Sheet): HTMLElement {
  return el(
    "dl",
    { class: "facts" },
    item.facts.map((row) => [el("dt", {}, row.label), el("dd", {}, prose(row.text))]),
  );
}

function exampleOf(item: Sheet, tried: Tried | null, asks: Asks): Child {
  const name = item.sample ? `Example: the sample ${item.sample}` : "Example";
  const title = el("div", { class: "h", role: "heading", "aria-level": "3" }, name);
  if (!item.example) return [title, el("p", { class: "sub" }, "No sample calls it.")];
  const focus = (name: string) => ({ data: { focus: name } });
  const tools = el(
    "div",
    { class: "row tools" },
    button("Run", "p", "r", asks.run, focus("run")),
    copyButton(item.example.text, "example"),
    el("span", { class: "sp" }),
    button("Open in Source", "", "", () => asks.open("source"), focus("source")),
    button("Open in Run", "", "", () => asks.open("run"), focus("openrun")),
  );
  return [title, tools, tried ? triedOf(tried) : "", codeBlock(item.example)];
}

function listingPane(item: Sheet, props: CatalogProps, asks: Asks): HTMLElement {
  const { listing } = item;
  const line = (row: CodeLine) =>
    el(
      "div",
      { class: "ln" },
      el("span", { class: "g" }, row.number),
      el("span", { class: "t" }, row.tokens.map(tokenSpan)),
    );
  const content = listing
    ? el("div", { class: "code lines" }, listing.lines.map(line))
    : el("div", { class: "state" }, el("b", {}, "No prim func"), prose(item.listing_note));
  const head = el(
    "div",
    { class: "ph" },
    tabs(LISTINGS, props.listing, asks.listing),
    el("span", { class: "n" }, "of the example"),
    el("span", { class: "sp" }),
    listing ? copyButton(listing.text, "listing") : "",
  );
  const label = props.listing === "llvm" ? "LLVM IR" : "TIR";
  const body = el("div", { class: "body", tabindex: 0, role: "region", "aria-label": label }, content);
  return el("div", { class: "pane listing" }, head, body);
}

function codeBlock(code: Code): HTMLElement {
  const last = code.lines.findLastIndex((line) => line.tokens.length > 0);
  const lines = code.lines.slice(0, last + 1).map((line) => el("div", { class: "line" }, line.tokens.map(tokenSpan)));
  return el("div", { class: "code block", tabindex: 0, role: "region", "aria-label": code.name }, lines);
}

function copyButton(text: string, name: string): HTMLElement {
  const copied = later(COPIED_MS, (node: HTMLElement) => {
    node.textContent = "Copy";
  });
  const say = (node: HTMLElement, words: string) => {
    node.textContent = words;
    copied(node);
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(made, "Copied");
    } catch {
      say(made, "Not copied");
    }
  };
  const made = button("Copy", "t", "", copy, { data: { focus: `copy-${name}` }, "aria-live": "polite" });
  return made;
}

function triedOf(tried: Tried): HTMLElement {
  const part = (title: string, rows: readonly Child[]): Child =>
    rows.length ? [el("tr", { class: "part" }, el("td", { colspan: 4 }, title)), rows] : "";
  const problems = tried.problems.map((problem) =>
    el(
      "tr",
      {},
      el("td", {}, severitySign(problem.severity)),
      el("td", {}, codeLink(problem)),
      el("td", { colspan: 2 }, prose(problem.message), problem.hint ? el("div", { class: "sub" }, problem.hint) : ""),
    ),
  );
  const output = tried.output.map((line) => el("tr", {}, el("td", { colspan: 4 }, el("pre", { class: "m" }, line))));
  return el(
    "table",
    { class: "tried", "aria-label": "Run of the example" },
    el(
      "colgroup",
      {},
      ["badge", "name", "type", "text"].map((name) => el("col", { class: name })),
    ),
    part("Given, made up from seed 0", tried.inputs.map(shownRow)),
    part("Printed", output),
    part("Result", tried.results.map(shownRow)),
    part("Not run to the end", problems),
  );
}

function shownRow(value: Shown): HTMLElement {
  const label = `Value of ${value.name}`;
  return el(
    "tr",
    { data: { kind: value.kind } },
    el("td", { class: "kind" }, badge(value.kind)),
    el("td", { class: "m" }, value.name),
    el("td", { class: "m muted" }, value.type),
    el("td", {}, el("pre", { class: "m", tabindex: 0, role: "group", "aria-label": label }, value.text)),
  );
}
