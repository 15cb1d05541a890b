// The registers of a long frame in the order in which a step asks for them: its own, what changed, what is live, the rest.

import type { Run } from "#generated/models";

export type GroupName = "step" | "changed" | "live" | "rest";
export type Group = readonly [name: GroupName, registers: readonly number[]];

/** A frame with more registers than this is shown in groups. */
export const UNGROUPED = 30;
const MOST_CHANGED = 30;

interface Instruction {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly section: Section;
}

interface Section {
  /** The last instruction that reads each register. */
  readonly lastRead: Map<number, number>;
  /** What was read may be read again: the function jumps back. */
  isLoop: boolean;
}

const REGISTER = /%(\d+)/g;
const WRITTEN = /\bdst:/;
const JUMP = /^\s*goto\s+(\d+)/;

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(REGISTER)].map(([, number]) => Number(number));
}

/** What the instructions of a run read and write. */
export class Uses {
  private readonly byPc = new Map<number, Instruction>();

  constructor(run: Run) {
    let section: Section = { lastRead: new Map(), isLoop: false };
    for (const [text, pc] of run.instructions) {
      if (pc < 0) {
        // A header begins another function.
        if (text) section = { lastRead: new Map(), isLoop: false };
        continue;
      }
      const [read = "", written = ""] = text.split(WRITTEN);
      const reads = numbersIn(read);
      for (const register of reads) section.lastRead.set(register, pc);
      section.isLoop ||= Number(JUMP.exec(text)?.[1] ?? pc + 1) <= pc;
      this.byPc.set(pc, { reads, writes: numbersIn(written), section });
    }
  }

  /** The registers that instructions read or write, each once. */
  of(pcs: readonly number[]): readonly number[] {
    const found = pcs.flatMap((pc) => {
      const instruction = this.byPc.get(pc);
      return instruction ? [...instruction.reads, ...instruction.writes] : [];
    });
    return [...new Set(found)];
  }

  /** Whether an instruction from `pc` on may read a register. */
  isRead(register: number, pc: number): boolean {
    const section = this.byPc.get(pc)?.section;
    const last = section?.lastRead.get(register);
    return last !== undefined && (last >= pc || section?.isLoop === true);
  }
}

/**
 * Sorts registers into groups: those of the step that is next, those that changed at a `newTime`, which is -1 for
 * others, live ones, and the rest. Behind a jump over many steps the latest ones have changed.
 */
export function grouped(
  listed: readonly number[],
  step: readonly number[],
  newTime: (register: number) => number,
  isLive: (register: number) => boolean,
): readonly Group[] {
  const own = new Set(step);
  const others = listed.filter((register) => !own.has(register) && newTime(register) >= 0);
  const latest = others.sort((a, b) => newTime(b) - newTime(a)).slice(0, MOST_CHANGED);
  const changed = new Set(latest);
  const found: Record<GroupName, number[]> = { step: [], changed: [], live: [], rest: [] };
  for (const register of listed) {
    if (own.has(register)) found.step.push(register);
    else if (changed.has(register)) found.changed.push(register);
    else found[isLive(register) ? "live" : "rest"].push(register);
  }
  return (Object.keys(found) as GroupName[]).map((name) => [name, found[name]]);
}
