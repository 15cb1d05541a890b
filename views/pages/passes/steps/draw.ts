// The rows of a pipeline, and the form of a pass's options.

import type { GivenPass, KnownPass, PassOption, Problem } from "#generated/models";
import { button } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink } from "#shared/explain";

/** What a row can do. */
export interface Doing {
  open(place: number): void;
  move(from: number, to: number): void;
  remove(place: number): void;
  set(place: number, option: PassOption, shown: string): void;
  key(event: KeyboardEvent, place: number): void;
}

/** One row: its place among so many, and whether its options are open. */
export interface RowOf {
  readonly step: GivenPass;
  readonly pass: KnownPass | undefined;
  readonly place: number;
  readonly count: number;
  readonly isOpen: boolean;
}

export function rowOf(row: RowOf, doing: Doing): HTMLElement {
  const { step, pass, place, isOpen } = row;
  const options = step.given.map((item) => `${item.name}=${item.literal}`).join(", ");
  const name = el(
    "button",
    {
      type: "button",
      class: "name",
      "aria-expanded": String(isOpen),
      title: pass?.summary,
      data: { focus: `name-${place}` },
      click: () => doing.open(place),
    },
    el("span", { class: "muted m no" }, place + 1),
    el("b", {}, step.name),
    options ? el("span", { class: "m options" }, options) : "",
  );
  const line = el(
    "div",
    { class: "line" },
    el("span", { class: "grip", "aria-hidden": "true" }, "⠿"),
    name,
    tools(row, doing),
  );
  const made = el("li", { data: { place }, draggable: "true" }, line, isOpen ? formOf(row, doing) : "");
  made.addEventListener("keydown", (event) => doing.key(event, place));
  dragged(made, place, doing);
  return made;
}

function tools({ step, place, count }: RowOf, doing: Doing): HTMLElement {
  const tool = (sign: string, label: string, isOff: boolean, act: () => void) =>
    button(sign, "t i", "", act, {
      "aria-label": `${label} ${step.name}`,
      title: label,
      disabled: isOff,
      data: { focus: `${label}-${place}` },
    });
  return el(
    "span",
    { class: "tools" },
    tool("↑", "Move up", place === 0, () => doing.move(place, place - 1)),
    tool("↓", "Move down", place === count - 1, () => doing.move(place, place + 1)),
    tool("✕", "Remove", count === 1, () => doing.remove(place)),
  );
}

function dragged(row: HTMLElement, place: number, doing: Doing): void {
  row.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", String(place)));
  row.addEventListener("dragover", (event) => {
    event.preventDefault();
    row.classList.add("over");
  });
  row.addEventListener("dragleave", () => row.classList.remove("over"));
  row.addEventListener("drop", (event) => {
    event.preventDefault();
    row.classList.remove("over");
    const from = Number.parseInt(event.dataTransfer?.getData("text/plain") ?? "", 10);
    if (Number.isInteger(from) && from !== place) doing.move(from, place);
  });
}

function formOf({ step, pass, place }: RowOf, doing: Doing): HTMLElement {
  const fields = (pass?.options ?? []).map((option) => {
    const shown = step.given.find((item) => item.name === option.name)?.shown ?? option.default;
    const field = fieldOf(option, shown, (value) => doing.set(place, option, value));
    field.dataset.focus = `option-${place}-${option.name}`;
    return el(
      "label",
      {},
      el("span", { class: "m" }, option.name),
      field,
      el("span", { class: "muted" }, wordsOf(option)),
    );
  });
  const none = fields.length ? "" : el("p", { class: "muted" }, "It has no options.");
  return el("div", { class: "form" }, el("p", {}, pass?.summary ?? ""), fields, none);
}

const KINDS: Readonly<Record<PassOption["kind"], string>> = {
  flag: "",
  number: "integer",
  text: "text",
  choice: "",
  list: "names, separated by commas",
  literal: "literal",
};

function wordsOf(option: PassOption): string {
  const known = option.default === "" ? "default: none" : `default: ${option.default}`;
  return [KINDS[option.kind], known].filter(Boolean).join("; ");
}

function fieldOf(option: PassOption, shown: string, set: (value: string) => void): HTMLElement {
  const choices = option.kind === "flag" ? ["False", "True"] : option.choices;
  if (choices.length) {
    const items = choices.map((item) => el("option", { value: item, selected: item === shown }, item));
    const pick = el("select", { change: () => set(pick.value) }, items);
    return pick;
  }
  const type = option.kind === "number" ? "number" : "text";
  const input = el("input", { type, value: shown, spellcheck: "false", change: () => set(input.value) });
  return input;
}

/** Why the text cannot be read, with its place. */
export function problemOf(problem: Problem): Child {
  const head = `${problem.line} | `;
  const mark = `${" ".repeat(head.length + Math.max(problem.column - 1, 0))}^`;
  return el(
    "div",
    { role: "alert", class: "problem" },
    el("div", {}, codeLink(problem), " ", prose(problem.message)),
    problem.excerpt ? el("pre", {}, `${head}${problem.excerpt}\n${mark}`) : "",
    problem.hint ? el("div", { class: "muted" }, prose(problem.hint)) : "",
  );
}
