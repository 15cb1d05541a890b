// Names that a component shows and that can be explained: a click on one asks the page for what it means.

import type { Asked, Problem } from "#generated/models";
import { link } from "./controls";
import type { Child } from "./dom";

const ASKED = "relaxscope-explain";
const MEANING = "What it means, and a program that has it";

/** What a click does that asks what some names mean; `text` is the sentence that uses them. */
export function explains(names: readonly string[], text = ""): (event: Event) => void {
  const detail: Asked = { names, text };
  return (event) => {
    // A row that acts as a button leads elsewhere.
    event.stopPropagation();
    event.currentTarget?.dispatchEvent(new CustomEvent(ASKED, { bubbles: true, detail }));
  };
}

/** The code of a problem, which leads to its paragraph with a program that has it; nothing where there is no code. */
export function codeLink(problem: Pick<Problem, "code"> & Partial<Problem>): Child {
  if (!problem.code) return "";
  const more = { class: "link m", title: problem.explanation || MEANING, data: { code: problem.code } };
  return link(problem.code, explains([problem.code]), more);
}

/** Hears what is to be explained of a component. */
export function onExplain(root: HTMLElement, tell: (asked: Asked) => void): void {
  root.addEventListener(ASKED, (event) => event instanceof CustomEvent && tell(event.detail as Asked));
}

/** A text of diagnostics as a terminal has it, "error[VM012]: …", each code with the way to its paragraph. */
export function withCodes(text: string): Child[] {
  return text.split(/\b([A-Z]{2}\d{3})\b(?=\])/).map((part, i) => (i % 2 ? codeLink({ code: part }) : part));
}
