// The call stack, newest frame first.

import type { Run } from "#generated/models";
import { pickable } from "#shared/controls";
import { el } from "#shared/dom";
import type { FrameState } from "./state";

const STACK_SHOWN = 12;

/** The depths that are shown, newest first; null stands for those between. */
export function shownDepths(count: number): readonly (number | null)[] {
  const length = count > STACK_SHOWN + 3 ? STACK_SHOWN : count;
  const newest = Array.from({ length }, (_, place) => count - 1 - place);
  return count > length ? [...newest, null, 1, 0] : newest;
}

export function stackTable(run: Run, frames: readonly FrameState[], onFrame: (frame: FrameState) => void): HTMLElement {
  const rows = shownDepths(frames.length).map((depth) => {
    const frame = depth === null ? undefined : frames[depth];
    if (depth !== null && frame) return frameRow(run, frame, depth, depth === frames.length - 1, onFrame);
    const words = `${(frames.length - STACK_SHOWN - 2).toLocaleString("en")} frames between`;
    return el("tr", {}, el("td"), el("td", { class: "muted", colspan: 3 }, words));
  });
  return el("table", { "aria-label": "Call stack, newest first" }, rows);
}

function frameRow(
  run: Run,
  frame: FrameState,
  depth: number,
  isTop: boolean,
  onFrame: (frame: FrameState) => void,
): HTMLElement {
  const through = frame.through && !isTop ? [", through ", el("code", {}, frame.through)] : "";
  const row = el(
    "tr",
    { class: isTop ? "on" : "", data: { focus: `frame${depth}` } },
    el("td", { class: "arrow" }, isTop ? "▶" : ""),
    el("td", { class: "m" }, run.functions[frame.function]?.name),
    el("td", { class: "muted" }, frame.line ? `line ${frame.line}` : "", through),
    el("td", { class: "m muted r" }, frame.pc >= 0 ? `pc ${frame.pc}` : ""),
  );
  return pickable(row, () => onFrame(frame));
}
