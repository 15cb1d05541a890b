// The analysis step by step: visits as reported, or the constraints in the order in which they were found.

import type { DevicesView, VisitKind } from "#generated/models";
import { between } from "#shared/values";

/** A step of either kind. */
export interface Step {
  readonly number: number;
  readonly words: string;
  readonly node: string;
  readonly line: number;
  readonly depth: number;
  readonly kind: VisitKind | "";
}

/** So many steps are in the page; the slider and the keys lead to the others. */
const STEPS_SHOWN = 400;

export function hasVisits(model: DevicesView): boolean {
  return model.report.visits.length > 0;
}

export function stepsOf(model: DevicesView): readonly Step[] {
  if (hasVisits(model)) return model.report.visits;
  return model.steps.map(([number, words, node, line]) => ({ number, words, node, line, depth: 0, kind: "" }));
}

/** The place of a visit that the page asks for; a negative one is the end. */
export function placeOf(visit: number, count: number): number {
  return visit < 0 ? count - 1 : Math.min(visit, count - 1);
}

/** The first step that is in the page. */
export function firstShown(place: number, count: number): number {
  return Math.max(0, Math.min(place - STEPS_SHOWN / 2, count - STEPS_SHOWN));
}

export function shownSteps(steps: readonly Step[], place: number): readonly Step[] {
  const first = firstShown(place, steps.length);
  return steps.slice(first, first + STEPS_SHOWN);
}

/** Where a step leads, undefined if that is where it is. */
export function target(place: number, count: number, visit: number): number | undefined {
  const next = between(0, place, count - 1);
  return count && next !== visit ? next : undefined;
}
