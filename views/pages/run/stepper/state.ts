// The recorded run: frames at any time from deltas, where commands lead, and which events stop at a breakpoint.
// Times are absolute; an index into the window is `time - run.first_event`.

import type { Breakpoint, Event, Jumps, PointHits, Run, Write } from "#generated/models";
import { conditionKey, isStop } from "./points";

/** A frame at a time; the lists hold an entry for each register that was written, by its number. */
export interface FrameState {
  readonly function: number;
  readonly pc: number;
  readonly line: number;
  readonly through: string;
  readonly registers: readonly number[];
  readonly notes: readonly string[];
  readonly times: readonly number[];
}

export type StepBy = "binding" | "instruction";
export type Command = keyof Jumps;
/** Where the breakpoints with a condition stop. */
export type Evaluated = PointHits & { readonly moments: ReadonlySet<number> };

interface OwnLists {
  readonly registers: number[];
  readonly notes: string[];
  readonly times: number[];
}

const KEEP_EVERY = 64;

export class RunState {
  readonly first: number;
  readonly last: number;
  /** The last time that can be shown: the end of the run, or of the window. */
  readonly newest: number;
  /** The lines that have code, in order. */
  readonly breakable: readonly number[];
  private readonly firstTimeOfLine: Map<number, number>;
  private readonly firstTimeOfPc: Map<number, number>;
  private readonly kept: Map<number, readonly FrameState[]>;
  private readonly registersOf = new Map<number, ReadonlyMap<number, readonly number[]>>();
  private stops: ReadonlyMap<string, Evaluated> = new Map();

  constructor(private readonly run: Run) {
    this.first = run.first_event;
    this.last = this.first + run.events.length;
    this.newest = this.last === run.total ? this.last : this.last - 1;
    this.kept = new Map([[0, run.frames.map((frame) => ({ ...frame, notes: [], times: [] }))]]);
    this.firstTimeOfLine = new Map(run.executed_lines.map((line) => [line, -1]));
    this.firstTimeOfPc = new Map(run.executed_pcs.map((pc) => [pc, -1]));
    run.events.forEach(([, pc, line], i) => {
      if (!this.firstTimeOfLine.has(line)) this.firstTimeOfLine.set(line, this.first + i);
      if (!this.firstTimeOfPc.has(pc)) this.firstTimeOfPc.set(pc, this.first + i);
    });
    const lines = run.instructions.map(([, , line]) => line).filter(Boolean);
    this.breakable = [...new Set(lines)].sort((a, b) => a - b);
  }

  holds(time: number): boolean {
    return time >= this.first && time <= this.newest;
  }

  event(time: number): Event | undefined {
    return this.run.events[time - this.first];
  }

  wasLineExecuted(line: number, time: number): boolean {
    return (this.firstTimeOfLine.get(line) ?? time) < time;
  }

  wasPcExecuted(pc: number, time: number): boolean {
    return (this.firstTimeOfPc.get(pc) ?? time) < time;
  }

  /**
   * The stack at a time. A step costs at most KEEP_EVERY events, and copies of the frames that they change: stacks
   * are deep, frames long.
   */
  framesAt(time: number): readonly FrameState[] {
    const target = time - this.first;
    const [from, start] = this.nearest(target);
    const stack = new Stack(this.run, start);
    for (let i = from; i < target; i += 1) {
      const event = this.run.events[i];
      if (event) stack.apply(event, this.first + i + 1);
      if ((i + 1) % KEEP_EVERY === 0 && !this.kept.has(i + 1)) this.kept.set(i + 1, stack.share());
    }
    const next = this.run.events[target];
    if (next) stack.stand(next[1], next[2], next[3]);
    else if (this.run.stop_pc >= 0) stack.stand(this.run.stop_pc, this.run.stop_line, stack.frames.length - 1);
    return stack.frames;
  }

  // The last kept state before an index, and its index; index 0 is always kept.
  private nearest(target: number): readonly [number, readonly FrameState[]] {
    for (let from = target - (target % KEEP_EVERY); from > 0; from -= KEEP_EVERY) {
      const found = this.kept.get(from);
      if (found) return [from, found];
    }
    return [0, this.kept.get(0) ?? []];
  }

  /** The registers of a function whose variable a line binds. */
  registersByLine(number: number): ReadonlyMap<number, readonly number[]> {
    const known = this.registersOf.get(number);
    if (known) return known;
    const byLine = new Map<number, number[]>();
    this.run.functions[number]?.registers.forEach((register, index) => {
      if (register.line) byLine.set(register.line, [...(byLine.get(register.line) ?? []), index]);
    });
    this.registersOf.set(number, byLine);
    return byLine;
  }

  /** Where a command leads from a time; -1 for nowhere. */
  jump(by: StepBy, command: Command, time: number): number {
    const table = by === "instruction" ? this.run.by_instruction : this.run.by_binding;
    return table[command][time - this.first] ?? -1;
  }

  /** Takes where breakpoints with a condition stop, which the server has evaluated. */
  setEvaluated(list: readonly PointHits[]): void {
    this.stops = new Map(list.map((item) => [conditionKey(item.point), { ...item, moments: new Set(item.times) }]));
  }

  evaluated(point: Breakpoint): Evaluated | undefined {
    return point.condition ? this.stops.get(conditionKey(point)) : undefined;
  }

  /** Whether a breakpoint stops at a time, switched on or not. */
  isHit(time: number, point: Breakpoint): boolean {
    const event = this.event(time);
    if (!event || !isAt(point, event)) return false;
    return !point.condition || (this.evaluated(point)?.moments.has(time) ?? false);
  }

  hits(point: Breakpoint): readonly number[] {
    const found: number[] = [];
    for (let time = this.first; time < this.last; time += 1) if (this.isHit(time, point)) found.push(time);
    return found;
  }

  /** The nearest hit after (step 1) or before (step -1) a time; -1 if the window has none. */
  search(time: number, step: 1 | -1, points: readonly Breakpoint[]): number {
    const active = points.filter(isStop);
    for (let t = time + step; t >= this.first && t < this.last; t += step) {
      if (active.some((point) => this.isHit(t, point))) return t;
    }
    return -1;
  }
}

function isAt(point: Breakpoint, [, pc, line, , isStart]: Event): boolean {
  if (point.line) return point.line === line && isStart;
  return point.pc < 0 ? point.condition !== "" : point.pc === pc;
}

/** Frames while events change them; a frame's lists belong to the state that it came from until they are in `own`. */
class Stack {
  readonly frames: FrameState[];
  private own = new WeakMap<FrameState, OwnLists>();

  constructor(
    private readonly run: Run,
    start: readonly FrameState[],
  ) {
    this.frames = [...start];
  }

  /** Gives the frames to be kept: what is changed from now on is copied first. */
  share(): readonly FrameState[] {
    this.own = new WeakMap();
    return [...this.frames];
  }

  stand(pc: number, line: number, depth: number): void {
    const frame = this.frames[depth];
    if (!frame) return;
    const lists = this.own.get(frame);
    const moved = { ...frame, pc, line };
    if (lists) this.own.set(moved, lists);
    this.frames[depth] = moved;
  }

  apply([, pc, line, depth, , , changes]: Event, time: number): void {
    this.stand(pc, line, depth);
    for (const change of changes) {
      if (change[0] === "push") this.push(change[1], change[2]);
      else if (change[0] === "pop") this.frames.pop();
      else this.write(change, time);
    }
  }

  private push(number: number, through: string): void {
    const line = this.run.functions[number]?.line ?? 0;
    this.frames.push({ function: number, pc: -1, line, through, registers: [], notes: [], times: [] });
  }

  private write([, depth, register, value, note]: Write, time: number): void {
    const lists = this.writable(depth);
    if (!lists) return;
    lists.registers[register] = value;
    lists.notes[register] = note;
    lists.times[register] = time;
  }

  private writable(depth: number): OwnLists | undefined {
    const frame = this.frames[depth];
    const known = frame && this.own.get(frame);
    if (!frame || known) return known;
    const lists = { registers: [...frame.registers], notes: [...frame.notes], times: [...frame.times] };
    const copy = { ...frame, ...lists };
    this.own.set(copy, lists);
    this.frames[depth] = copy;
    return lists;
  }
}
