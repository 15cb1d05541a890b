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

/** The line below the head of a frame: `n = 2, m = 3`, which opens to where each comes from. */
export class Dimensions {
  private readonly opened = new Set<string>();

  private onLine: (line: number) => void = () => {};

  /** The line of the frame at a depth, if a dimension of it is known. */
  draw(run: Run, frame: FrameState, depth: number, onLine: (line: number) => void): readonly HTMLElement[] {
    this.onLine = onLine;
    const known = dimensionsOf(run, frame);
    if (!known.length) return [];
    const key = `${depth} ${frame.function}`;
    const sizes = known.map(({ name, bound }) => `${name} = ${bound.size}`).join(", ");
    const differ = known.some(differs) ? el("span", { class: "chip error" }, "sizes differ") : "";
    const summary = el("summary", { class: "m", data: { focus: `dimensions${depth}` } }, sizes, " ", differ);
    const rows = known.map((item) => this.rowOf(run, frame, item));
    const details = el("details", { class: "dimensions" }, summary, rows);
    details.open = this.opened.has(key);
    details.addEventListener("toggle", () => {
      if (details.open) this.opened.add(key);
      else this.opened.delete(key);
    });
    return [el("tr", {}, el("td", { colspan: 5 }, details))];
  }

  private rowOf(run: Run, frame: FrameState, { name, bound, others }: Known): HTMLElement {
    const agree = others.filter((seen) => seen.size === bound.size);
    const differ = others.filter((seen) => seen.size !== bound.size);
    return el(
      "div",
      {},
      el("b", { class: "m" }, `${name} = ${bound.size}`),
      " bound by ",
      this.placeOf(run, frame, bound),
      agree.length ? ["; agrees: ", this.listOf(run, frame, agree)] : "; no other value has it yet",
      differ.length
        ? ["; ", el("span", { class: "error-text" }, "differs: "), this.listOf(run, frame, differ, true)]
        : "",
    );
  }

  private listOf(run: Run, frame: FrameState, seen: readonly Seen[], hasSize = false): Child[] {
    const shown = seen.slice(0, SHOWN).flatMap((item, i): Child[] => {
      const size = hasSize ? ` is ${item.size}` : "";
      return [i ? ", " : "", this.placeOf(run, frame, item), size];
    });
    return [...shown, seen.length > SHOWN ? ` and ${seen.length - SHOWN} more` : ""];
  }

  private placeOf(run: Run, frame: FrameState, { register, axis, time }: Seen): Child[] {
    const info = run.functions[frame.function]?.registers[register];
    const line = info?.line ?? 0;
    const isAlone = !run.values[frame.registers[register] ?? -1]?.tensor && info?.type.startsWith("Prim");
    const words = `${info?.variable || info?.name}${isAlone ? "" : `.shape[${axis}]`}`;
    const when = time < 0 ? "written before this part of the run" : `written by time ${time}`;
    const title = line ? `Line ${line}, ${when}` : when;
    return [
      line
        ? link(words, () => this.onLine(line), { class: "link m", title })
        : el("span", { class: "m", title }, words),
    ];
  }
}

function differs({ bound, others }: Known): boolean {
  return others.some((seen) => seen.size !== bound.size);
}
