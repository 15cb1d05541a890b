// One form of a kernel: its lines, of which those of a part are linked with the other forms.

import type { KernelLine, KernelText, KernelView } from "#generated/models";
import { tokenSpan } from "#shared/code";
import { type Child, el } from "#shared/dom";
import { colourOf } from "./tables";

/** A form in the page, and the rows of each part. */
export interface Form {
  readonly section: HTMLElement;
  readonly scroll: HTMLElement;
  readonly rows: ReadonlyMap<number, readonly HTMLElement[]>;
}

/** What stands in the head of a form besides its title: at its left, and at its right. */
export interface Head {
  readonly title: string;
  readonly extra: Child;
  readonly note: Child;
}

const LINES_SHOWN = 6000;

export function formOf(
  model: KernelView,
  head: Head,
  text: KernelText,
  onPick: (own: number, others: readonly number[]) => void,
): Form {
  const rows = new Map<number, HTMLElement[]>();
  const shown = text.lines.slice(0, LINES_SHOWN);
  const lines: Child[] = shown.map((line) => {
    const [, , own, others] = line;
    const row = lineRow(model, line);
    if (!own) return row;
    row.addEventListener("click", () => onPick(own, others));
    row.dataset.part = String(own);
    for (const part of [own, ...others]) rows.set(part, [...(rows.get(part) ?? []), row]);
    return row;
  });
  const rest = text.lines.length - shown.length;
  if (rest) lines.push(el("p", { class: "none" }, `${rest.toLocaleString("en")} more lines: export them.`));
  const { title } = head;
  const code = el("div", { class: "code" }, lines);
  const scroll = el("div", { class: "body", tabindex: "0", role: "region", "aria-label": title }, code);
  return { section: el("section", { class: "pane", data: { form: title } }, headOf(head), scroll), scroll, rows };
}

function headOf({ title, extra, note }: Head): HTMLElement {
  const name = el("b", { role: "heading", "aria-level": "2" }, title);
  return el("div", { class: "ph" }, name, extra, el("span", { class: "sp" }), el("span", { class: "n" }, note));
}

function lineRow(model: KernelView, [tokens, number, own]: KernelLine): HTMLElement {
  const tag = own ? el("span", { class: "tag", "aria-hidden": "true" }, own) : "";
  const look = `ln ${colourOf(model, own)}${own ? " linked" : ""}`;
  const gutter = el("span", { class: "g" }, tag, number);
  return el("div", { class: look }, gutter, el("span", { class: "t" }, tokens.map(tokenSpan)));
}

/** Marks the lines of a part, and scrolls to the first of them unless one is in sight. */
export function markPart({ scroll, rows }: Form, part: number, isFirst: boolean): void {
  const found = rows.get(part) ?? [];
  for (const node of found) node.classList.add("sel");
  const [start] = found;
  if (start && !found.some((node) => isVisible(scroll, node))) {
    scroll.scrollTop = start.offsetTop - scroll.clientHeight / 3;
  } else if (!start && isFirst && !part) {
    scroll.scrollTop = 0;
  }
}

function isVisible(scroll: HTMLElement, node: HTMLElement): boolean {
  const bottom = scroll.scrollTop + scroll.clientHeight;
  return node.offsetTop >= scroll.scrollTop && node.offsetTop + node.offsetHeight <= bottom;
}
