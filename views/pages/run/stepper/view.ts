// What is in view of the time of a run, and the calls around it.

import type { FlameSpan } from "#generated/models";
import { between } from "#shared/values";

/** A part of the time axis, in events. */
export interface View {
  readonly from: number;
  readonly to: number;
}

// So few events are as large as a view becomes.
const LEAST = 1;

export function whole(total: number): View {
  return { from: 0, to: total };
}

/** A view of so many events that begins at `from`, within the run. */
function placed(from: number, length: number, total: number): View {
  const size = between(Math.min(LEAST, total), length, total);
  const start = between(0, from, total - size);
  return { from: start, to: start + size };
}

/** The call over the whole width. */
export function around([, start, end]: FlameSpan, total: number): View {
  return placed(start, end - start, total);
}

/** Larger by a factor above 1, smaller by one below; what lies at `share` of the width stays there. */
export function zoomed({ from, to }: View, total: number, factor: number, share: number): View {
  const size = between(Math.min(LEAST, total), (to - from) / factor, total);
  return placed(from + (to - from - size) * share, size, total);
}

/** Moved by a share of its width. */
export function moved({ from, to }: View, total: number, share: number): View {
  return placed(from + (to - from) * share, to - from, total);
}

/** Moved so far that a time is in it, if it is not. */
export function holding(view: View, total: number, time: number): View {
  if (time >= view.from && time <= view.to) return view;
  return placed(time - (view.to - view.from) / 2, view.to - view.from, total);
}

/** The calls that last as long as what is in view, the outermost first. */
export function callsAround(flame: readonly FlameSpan[], { from, to }: View): readonly FlameSpan[] {
  const found = flame.filter(([, start, end]) => start <= from && end >= to);
  return found.sort((one, other) => one[3] - other[3]);
}

export type Way = "outer" | "inner" | "before" | "behind";

/** The place of the call next to one: the one it lies in, the first one in it, the one before or behind at its depth. */
export function nextCall(flame: readonly FlameSpan[], place: number, way: Way): number {
  const call = flame[place];
  if (!call) return flame.length ? 0 : -1;
  const [, start, end, depth] = call;
  const at = (wanted: number) => (span: FlameSpan) => span[3] === wanted;
  const rules: Readonly<Record<Way, (span: FlameSpan) => boolean>> = {
    outer: (span) => at(depth - 1)(span) && span[1] <= start && span[2] >= end,
    inner: (span) => at(depth + 1)(span) && span[1] >= start && span[2] <= end,
    before: (span) => at(depth)(span) && span[1] < start,
    behind: (span) => at(depth)(span) && span[1] > start,
  };
  // Calls are in the order of their start.
  const found = way === "before" ? flame.findLastIndex(rules.before) : flame.findIndex(rules[way]);
  return found < 0 ? place : found;
}
