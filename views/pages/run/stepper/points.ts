// Breakpoints: what they are called, and which one a click in the gutter means.

import type { Breakpoint } from "#generated/models";

/** A place in the gutter of one of the listings: a line of the source, or an instruction. */
export type Place = { readonly line: number } | { readonly pc: number };

/** Stops behind the instruction that wrote the first of them. */
export const AT_NAN: Breakpoint = {
  line: 0,
  pc: -1,
  is_on: true,
  condition: "isnan(written) or isinf(written)",
  message: "",
};

export function pointLabel(point: Breakpoint): string {
  if (point.line) return `line ${point.line}`;
  return point.pc >= 0 ? `pc ${point.pc}` : "anywhere";
}

export function pointKey(point: Breakpoint): string {
  return `${point.line}:${point.pc}`;
}

export function conditionKey(point: Breakpoint): string {
  return `${pointKey(point)}:${point.condition}`;
}

/** Whether a run stops there: a logpoint writes its message, and one that is off does nothing. */
export function isStop(point: Breakpoint): boolean {
  return point.is_on && !point.message;
}

/** The breakpoint that belongs to a place; a line without code passes it on to the next line that has some. */
export function pointAt(place: Place, breakable: readonly number[]): Breakpoint | undefined {
  if (!("line" in place)) return { line: 0, pc: place.pc, is_on: true, condition: "", message: "" };
  const line = breakable.find((number) => number >= place.line);
  return line === undefined ? undefined : { line, pc: -1, is_on: true, condition: "", message: "" };
}

/** The index of the breakpoint at the same place, -1 if there is none. */
export function indexOf(points: readonly Breakpoint[], wanted: Breakpoint): number {
  return points.findIndex((point) =>
    wanted.line ? point.line === wanted.line : point.pc === wanted.pc && !point.line,
  );
}

/** The breakpoints without the one at a place, or with it. */
export function toggled(points: readonly Breakpoint[], wanted: Breakpoint): readonly Breakpoint[] {
  const found = indexOf(points, wanted);
  return found < 0 ? [...points, wanted] : points.filter((_, i) => i !== found);
}

/** The breakpoints with one changed, or without it. */
export function changed(
  points: readonly Breakpoint[],
  index: number,
  change: Partial<Breakpoint> | null,
): readonly Breakpoint[] {
  if (!change) return points.filter((_, i) => i !== index);
  return points.map((point, i) => (i === index ? { ...point, ...change } : point));
}
