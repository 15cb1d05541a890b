// The time axis: where a time lies, and which ones are written below.

import { between } from "#shared/values";

const LEFT = 21;
const LEAST_WIDTH = 200;
const TICK_GAP = 54;
// A tick that is nearer to the present time gives way to it.
const NOW_GAP = 34;

export interface Axis {
  readonly total: number;
  readonly x: (time: number) => number;
}

/** The axis of a run of `total` events on so many pixels. */
export function axisOf(total: number, pixels: number): Axis {
  const width = Math.max(LEAST_WIDTH, pixels - 2 * LEFT);
  return { total, x: (time) => LEFT + (width * time) / Math.max(1, total) };
}

/** The time at a place of the axis. */
export function timeAt({ total, x }: Axis, pixels: number): number {
  const share = (pixels - x(0)) / (x(total) - x(0));
  return Math.round(between(0, share, 1) * total);
}

/** The times that are written: round ones, the end, and the present one. */
export function ticks(axis: Axis, now: number): readonly number[] {
  const { total, x } = axis;
  const perTick = (TICK_GAP * total) / Math.max(1, x(total) - x(0));
  const power = 10 ** Math.floor(Math.log10(Math.max(1, perTick)));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= perTick) ?? 1);
  const out: number[] = [];
  for (let time = 0; time <= total; time += step) if (total - time >= step || time === total) out.push(time);
  if (out.at(-1) !== total) out.push(total);
  if (out.includes(now) || step === 1) return out;
  return [...out.filter((time) => Math.abs(x(time) - x(now)) > NOW_GAP), now];
}
