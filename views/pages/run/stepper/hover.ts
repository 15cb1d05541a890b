// The value of the name under the pointer, at the time that is shown.

import type { Register, Run } from "#generated/models";
import { el, replace, targetOf } from "#shared/dom";
import { badge } from "#shared/marks";
import { valueIn } from "./registers";
import type { FrameState } from "./state";

/** What a name means: the frame, and the number of its register. */
export type Meant = readonly [frame: FrameState, index: number];

const NAME = /[\p{L}_][\p{L}\p{N}_]*/gu;
const GAP = 14;

/** The register of the newest frame that holds a name as a line knows it: what was bound there, or last before it. */
export function meantBy(run: Run, frames: readonly FrameState[], name: string, line: number): Meant | undefined {
  for (const frame of frames.toReversed()) {
    const info = run.functions[frame.function];
    if (!info || info.line > line) continue;
    const index = info.registers.findLastIndex((item) => item.variable === name && item.line <= line);
    if (index >= 0) return [frame, index];
  }
  return undefined;
}

/** The name that stands at a place of a text. */
export function nameAt(text: string, at: number): string {
  for (const match of text.matchAll(NAME)) {
    if (match.index <= at && at < match.index + match[0].length) return match[0];
  }
  return "";
}

/** A tip over a listing of the source. */
export class ValueTip {
  private readonly element = el("div", { class: "tip", role: "tooltip", hidden: true });

  constructor(
    private readonly root: HTMLElement,
    box: HTMLElement,
    private readonly shown: () => { readonly run: Run; readonly frames: readonly FrameState[] } | undefined,
  ) {
    root.append(this.element);
    box.addEventListener("pointermove", (event) => this.follow(event));
    for (const name of ["pointerleave", "scroll", "pointerdown"] as const) {
      box.addEventListener(name, () => this.hide(), { passive: true });
    }
  }

  hide(): void {
    this.element.hidden = true;
  }

  private follow(event: PointerEvent): void {
    const row = targetOf(event)?.closest<HTMLElement>(".ln");
    const text = row?.querySelector<HTMLElement>(".t");
    const name = text ? nameUnder(text, event) : "";
    const shown = this.shown();
    const meant = name && shown && meantBy(shown.run, shown.frames, name, Number(row?.dataset.key));
    if (meant) this.show(shown.run, meant, event);
    else this.hide();
  }

  private show(run: Run, [frame, index]: Meant, event: PointerEvent): void {
    const info = run.functions[frame.function];
    const register = info?.registers[index];
    if (!info || !register) return;
    replace(this.element, ...wordsOf(run, frame, index, register), el("div", { class: "hint" }, `in @${info.name}`));
    this.element.hidden = false;
    const home = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height, style } = this.element;
    style.left = `${Math.max(8, Math.min(event.clientX - home.left + GAP, home.width - width - 8))}px`;
    style.top = `${Math.min(event.clientY - home.top + GAP, home.height - height - 8)}px`;
  }
}

function wordsOf(run: Run, frame: FrameState, index: number, register: Register) {
  const value = valueIn(run, frame, index);
  const name = el("b", { class: "m" }, register.variable);
  if (!value)
    return [name, el("span", { class: "muted" }, " not yet written"), el("div", { class: "m" }, register.type)];
  return [badge(value.kind), " ", name, ` ${value.summary || value.type}`, el("div", { class: "m" }, value.short)];
}

// The name at the pointer, in the text of a line without the value that stands behind it.
function nameUnder(text: HTMLElement, event: PointerEvent): string {
  const place = document.createRange();
  for (const node of text.childNodes) {
    if (node instanceof HTMLElement && node.classList.contains("iv")) continue;
    place.selectNodeContents(node);
    const { left, right, width } = place.getBoundingClientRect();
    const content = node.textContent ?? "";
    if (event.clientX >= left && event.clientX < right) {
      return nameAt(content, Math.floor(((event.clientX - left) / width) * content.length));
    }
  }
  return "";
}
