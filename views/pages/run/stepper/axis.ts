// The time axis: where a time lies, and which ones are written below.

import { between } from "#shared/values";
import { type View, whole } from "./view";

const LEFT = 21;
const LEAST_WIDTH = 200;
const TICK_GAP = 54;
// A tick that is nearer to the present time gives way to it.
const NOW_GAP = 34;

export interface Axis {
  readonly total: number;
  readonly view: View;
  readonly x: (time: number) => number;
}

/** The axis of what is in view of a run of `total` events, on so many pixels. */
export function axisOf(total: number, pixels: number, view: View = whole(total)): Axis {
  const width = Math.max(LEAST_WIDTH, pixels - 2 * LEFT);
  return { total, view, x: (time) => LEFT + (width * (time - view.from)) / Math.max(1, view.to - view.from) };
}

/** The place on the axis as a share of what is in view, from 0 to 1. */
export function shareAt({ view, x }: Axis, pixels: number): number {
  return between(0, (pixels - x(view.from)) / (x(view.to) - x(view.from) || 1), 1);
}

/** The time at a place of the axis. */
export function timeAt(axis: Axis, pixels: number): number {
  const { from, to } = axis.view;
  return between(0, Math.round(from + shareAt(axis, pixels) * (to - from)), axis.total);
}

/** The times that are written: round ones, the end, and the present one, as far as they are in view. */
export function ticks({ total, view, x }: Axis, now: number): readonly number[] {
  const { from, to } = view;
  const perTick = (TICK_GAP * (to - from)) / Math.max(1, x(to) - x(from));
  const power = 10 ** Math.floor(Math.log10(Math.max(1, perTick)));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= perTick) ?? 1);
  const out: number[] = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step)
    if (total - time >= step || time === total) out.push(time);
  if (to >= total && out.at(-1) !== total) out.push(total);
  if (out.includes(now) || step === 1 || now < from || now > to) return out;
  return [...out.filter((time) => Math.abs(x(time) - x(now)) > NOW_GAP), now];
}
