// What is marked in the listings at a time: the frames, the breakpoints, the cursor, and values behind their lines.

import type { LineHeat, Register } from "#generated/models";
import type { LineChip, LineMark } from "./listing";
import { valueIn } from "./registers";
import type { FrameState } from "./state";
import type { Stepping } from "./stepping";
import { inlineText } from "./values";

// Of a deeper stack only the newest frames are marked.
const FRAMES_MARKED = 200;

type Where = "line" | "pc";

/** The marks of the source or of the instructions. */
export function marksOf(
  stepping: Stepping,
  frames: readonly FrameState[],
  where: Where,
): ReadonlyMap<number, LineMark> {
  const marks = new Map<number, LineMark>();
  const add = (key: number, mark: LineMark) => {
    marks.set(key, { ...mark, ...marks.get(key) });
  };
  const newest = stepping.isReturned ? [] : frames.slice(-FRAMES_MARKED).reverse();
  for (const [i, frame] of newest.entries()) add(frame[where], { frame: i === 0 ? "cur" : "sel" });
  for (const point of stepping.points) {
    if (where === "line" && point.line) add(point.line, { point });
    if (where === "pc" && !point.line) add(point.pc, { point });
  }
  if (where === "line" && stepping.cursor) add(stepping.cursor, { cursor: true });
  return marks;
}

/** The same with what the lines take. */
export function withHeat(marks: ReadonlyMap<number, LineMark>, heat: LineHeat | null): ReadonlyMap<number, LineMark> {
  const found = new Map(marks);
  for (const [line, mark] of heat?.lines ?? []) found.set(line, { ...marks.get(line), heat: mark });
  return found;
}

/** At most one chip per line: the value written last by the newest frame that has one there. */
export function chipOf(stepping: Stepping, frames: readonly FrameState[], line: number): LineChip | null {
  const top = frames.length - 1;
  for (let depth = top; depth >= Math.max(0, frames.length - FRAMES_MARKED); depth -= 1) {
    const frame = frames[depth];
    const indexes = frame && stepping.state.registersByLine(frame.function).get(line);
    const found = frame && indexes && chipIn(stepping, frame, indexes, depth < top && line === frame.line);
    if (found) return found;
  }
  return null;
}

// `isWaiting`: the frame stands at the line, and waits for what it called.
function chipIn(
  stepping: Stepping,
  frame: FrameState,
  indexes: readonly number[],
  isWaiting: boolean,
): LineChip | null {
  const registers = stepping.run.functions[frame.function]?.registers ?? [];
  let newest: (LineChip & { readonly time: number }) | null = null;
  for (const index of indexes) {
    const register = registers[index];
    const value = valueIn(stepping.run, frame, index);
    const time = frame.times[index] ?? 0;
    if (value && register && !register.is_hidden) {
      const isNew = time > stepping.newAfter && time > 0;
      if (!newest || newest.time <= time) newest = { time, text: inlineText(value, register), isNew };
    } else if (register && isWaiting && register.variable) {
      newest ??= { time: -1, text: waitingText(register), isNew: false };
    }
  }
  return newest;
}

function waitingText(register: Register): string {
  return `${register.type || register.variable}, being computed`;
}
