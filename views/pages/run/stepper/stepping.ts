// Where the user is in a run, and where a command leads: all that the stepper knows, and nothing of the page.

import type { Breakpoint, Run } from "#generated/models";
import { between } from "#shared/values";
import { isStop } from "./points";
import { type Command, type FrameState, RunState, type StepBy } from "./state";

/** What a command comes to: nothing, another time, or a question to Python for another window of the run. */
export type Outcome =
  | { readonly kind: "stay" }
  | { readonly kind: "moved"; readonly from: number }
  | { readonly kind: "need"; readonly to: number; readonly command: "at" | "continue" | "continue_back" };

// Of a step with more instructions only the first ones count for what it reads and writes.
const MOST_NEXT = 64;
const STAY: Outcome = { kind: "stay" };

export class Stepping {
  readonly state: RunState;
  at: number;
  /** Values that were written after this time are new. */
  newAfter = -1;
  by: StepBy = "binding";
  points: readonly Breakpoint[] = [];
  /** The line that was clicked; 0 for none. */
  cursor = 0;
  /** The key of the register that was chosen; empty for none. */
  chosen = "";
  /** The last time that may be shown; -1 if all may. */
  until = -1;

  /** Takes another window or another run; of the same run everything else stays as it was. */
  constructor(
    readonly run: Run,
    before?: Stepping,
  ) {
    this.state = new RunState(run);
    const isSame = before !== undefined && before.run.title === run.title && before.run.total === run.total;
    this.by = before?.by ?? this.by;
    this.points = before?.points ?? this.points;
    this.cursor = before?.cursor ?? this.cursor;
    this.newAfter = before?.newAfter ?? this.newAfter;
    this.chosen = isSame ? before.chosen : "";
    this.until = before?.until ?? this.until;
    this.at = this.held(before?.at ?? 0);
  }

  get isOver(): boolean {
    return this.at === this.run.total;
  }

  /** Whether nothing is left to run. */
  get isReturned(): boolean {
    return this.isOver && this.run.outcome === "returned";
  }

  /** Whether no later time may be shown. */
  get isLast(): boolean {
    return this.at >= this.allowed(this.run.total);
  }

  /** The instructions of the step that is next: those up to the next binding of the frame, or one. */
  get nextInstructions(): readonly number[] {
    const found: number[] = [];
    const depth = this.state.event(this.at)?.[3];
    for (let time = this.at; found.length < MOST_NEXT; time += 1) {
      const event = this.state.event(time);
      if (!event || (event[3] ?? 0) < (depth ?? 0) || (time > this.at && event[3] === depth && event[4])) break;
      if (event[3] === depth) found.push(event[1]);
      if (this.by === "instruction") break;
    }
    return found;
  }

  get frames(): readonly FrameState[] {
    return this.state.framesAt(this.at);
  }

  /** Stands at a time of the window; values written after `newAfter` are new. */
  stand(time: number, newAfter: number): void {
    this.at = this.held(time);
    this.newAfter = newAfter;
  }

  private held(time: number): number {
    return between(this.state.first, this.allowed(time), this.state.newest);
  }

  private allowed(time: number): number {
    return this.until < 0 ? time : Math.min(time, this.until);
  }

  go(time: number): Outcome {
    const target = between(0, this.allowed(time), this.run.total);
    if (target === this.at) return STAY;
    if (!this.state.holds(target)) return { kind: "need", to: target, command: "at" };
    const from = target > this.at ? this.at : target - 1;
    this.stand(target, from);
    return { kind: "moved", from };
  }

  canStep(command: Command): boolean {
    const target = this.state.jump(this.by, command, this.at);
    return target >= 0 && this.allowed(target) !== this.at;
  }

  /** The time of the kernel that a step into would go into: the first one that is called within a step; -1 if none. */
  get kernel(): number {
    const { state, at, run } = this;
    // What a kernel does comes behind the time of its call.
    if (this.until >= 0) return -1;
    const event = state.event(at);
    if (!event && run.kernel_pcs.includes(run.stop_pc)) return at;
    const over = state.jump(this.by, "over", at);
    if (!event || state.jump(this.by, "into", at) !== over) return -1;
    const last = over < 0 ? state.last : over;
    for (let time = at; time < last && state.holds(time); time += 1) {
      if (run.kernel_pcs.includes(state.event(time)?.[1] ?? run.stop_pc)) return time;
    }
    return last === run.total && run.kernel_pcs.includes(run.stop_pc) ? last : -1;
  }

  step(command: Command): Outcome {
    const target = this.state.jump(this.by, command, this.at);
    return target < 0 ? STAY : this.go(target);
  }

  /** Runs to the next (1) or previous (-1) breakpoint; Python answers what the window does not. */
  continue(direction: 1 | -1): Outcome {
    if (direction > 0 && this.until >= 0) return this.go(this.until);
    const ask: Outcome = { kind: "need", to: this.at, command: direction > 0 ? "continue" : "continue_back" };
    const isKnown = this.points.every((point) => !isStop(point) || !point.condition || this.state.evaluated(point));
    if (!isKnown) return ask;
    const hit = this.state.search(this.at, direction, this.points);
    if (hit >= 0) return this.go(hit);
    const isCut = direction > 0 ? this.state.last < this.run.total : this.state.first > 0;
    return isCut ? ask : this.go(direction > 0 ? this.run.total : 0);
  }

  /** Runs to the line that was clicked. */
  toCursor(): Outcome {
    const point = { line: this.cursor, pc: -1, is_on: true, condition: "", message: "" };
    const target = this.cursor ? this.state.search(this.at, 1, [point]) : -1;
    return target < 0 ? STAY : this.go(target);
  }

  /** The times at which a breakpoint stops. */
  get hits(): readonly number[] {
    return this.points.filter(isStop).flatMap((point) => this.state.hits(point));
  }
}
