// The symbolic dimensions of a frame: their sizes, where each was bound, and every value that has it.

import type { Dimension, Run } from "#generated/models";
import { link } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import type { FrameState } from "./state";

/** A value that has a dimension in its type: its register, the axis, when it was written, the size that it has. */
export interface Seen {
  readonly register: number;
  readonly axis: number;
  /** -1 where that was before the part of the run that is there. */
  readonly time: number;
  readonly size: number;
}

/** A dimension that is known at a time; the value that was written first binds it, the others are to agree. */
export interface Known {
  readonly name: string;
  readonly bound: Seen;
  readonly others: readonly Seen[];
}

const SHOWN = 24;

/** The dimensions of a frame that have a size, in the order of their function. */
export function dimensionsOf(run: Run, frame: FrameState): readonly Known[] {
  return (run.functions[frame.function]?.dimensions ?? []).flatMap((dimension) => {
    const [bound, ...others] = seenOf(run, frame, dimension);
    return bound ? [{ name: dimension[0], bound, others }] : [];
  });
}

function seenOf(run: Run, frame: FrameState, [, places]: Dimension): readonly Seen[] {
  const seen = places.flatMap(([register, axis]) => {
    const size = run.values[frame.registers[register] ?? -1]?.sizes[axis];
    return size === undefined ? [] : [{ register, axis, time: frame.times[register] ?? -1, size }];
  });
  return seen.sort((a, b) => a.time - b.time || a.register - b.register || a.axis - b.axis);
}

/** A frame whose dimensions are shown, and what a click on the place of a value does. */
interface Shown {
  readonly run: Run;
  readonly frame: FrameState;
  readonly onLine: (line: number) => void;
}

/** The line below the head of a frame: `n = 2, m = 3`, which opens to where each comes from. */
export class Dimensions {
  private readonly opened = new Set<string>();

  /** The line of the frame at a depth, if a dimension of it is known. */
  draw(depth: number, of: Shown): readonly HTMLElement[] {
    const known = dimensionsOf(of.run, of.frame);
    if (!known.length) return [];
    const key = `${depth} ${of.frame.function}`;
    const sizes = known.map(({ name, bound }) => `${name} = ${bound.size}`).join(", ");
    const differ = known.some(differs) ? el("span", { class: "chip error" }, "sizes differ") : "";
    const summary = el("summary", { class: "m", data: { focus: `dimensions${depth}` } }, sizes, " ", differ);
    const rows = known.map((item) => rowOf(of, item));
    const details = el("details", { class: "dimensions" }, summary, rows);
    details.open = this.opened.has(key);
    details.addEventListener("toggle", () => {
      if (details.open) this.opened.add(key);
      else this.opened.delete(key);
    });
    return [el("tr", {}, el("td", { colspan: 5, class: "wraps" }, details))];
  }
}

function differs({ bound, others }: Known): boolean {
  return others.some((seen) => seen.size !== bound.size);
}

function rowOf(of: Shown, { name, bound, others }: Known): HTMLElement {
  const agree = others.filter((seen) => seen.size === bound.size);
  const differ = others.filter((seen) => seen.size !== bound.size);
  const size = (seen: Seen) => [linkTo(of, seen), ` is ${seen.size}`];
  return el(
    "div",
    {},
    el("b", { class: "m" }, `${name} = ${bound.size}`),
    " bound by ",
    linkTo(of, bound),
    agree.length ? ["; agrees: ", listed(agree, (seen) => linkTo(of, seen))] : "; no other value has it yet",
    differ.length ? ["; ", el("span", { class: "error-text" }, "differs: "), listed(differ, size)] : "",
  );
}

function listed(seen: readonly Seen[], words: (item: Seen) => Child): Child[] {
  const shown = seen.slice(0, SHOWN).flatMap((item, i): Child[] => [i ? ", " : "", words(item)]);
  return [...shown, seen.length > SHOWN ? ` and ${seen.length - SHOWN} more` : ""];
}

// The value of a dimension, such as `x.shape[0]`; a scalar that is one itself has no shape.
function linkTo({ run, frame, onLine }: Shown, { register, axis, time }: Seen): HTMLElement {
  const info = run.functions[frame.function]?.registers[register];
  const line = info?.line ?? 0;
  const isScalar = run.values[frame.registers[register] ?? -1]?.kind === "prim";
  const words = `${info?.variable || info?.name}${isScalar ? "" : `.shape[${axis}]`}`;
  const when = time < 0 ? "written before this part of the run" : `written by time ${time}`;
  return line
    ? link(words, () => onLine(line), { class: "link m", title: `Line ${line}, ${when}` })
    : el("span", { class: "m", title: when }, words);
}
