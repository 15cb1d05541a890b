// The right side: call stack, registers, the value of one of them, breakpoints, output.

import type { Logs, TensorAsked, Watched } from "#generated/models";
import { button, link } from "#shared/controls";
import { type Child, el, find, focusedIn, nodes, targetOf } from "#shared/dom";
import { type Change, ChangeForm, type Target } from "./change";
import { logPane } from "./log";
import { paneHead } from "./pane_head";
import { PointTable } from "./point_table";
import { AT_NAN, changed, indexOf, pointKey } from "./points";
import { FRAMES_SHOWN, Registers, registerKey, valueIn } from "./registers";
import { settle } from "./settle";
import { stackTable } from "./stack";
import type { FrameState } from "./state";
import type { Stepping } from "./stepping";
import { elementAt, valueBody, valueHead } from "./values";
import { Watches } from "./watches";

/** What the side asks of the component. */
export interface Asks {
  readonly go: (time: number) => void;
  readonly choose: (key: string) => void;
  readonly revealLine: (line: number) => void;
  readonly revealFrame: (frame: FrameState) => void;
  readonly setPoints: (points: Stepping["points"]) => void;
  readonly change: (change: Change & { readonly depth: number }) => void;
  readonly redraw: () => void;
  readonly watch: (names: readonly string[]) => void;
  readonly view: (tensor: TensorAsked) => void;
}

interface Shown {
  readonly depth: number;
  readonly frame: FrameState;
  readonly index: number;
}

const OUTPUT_SHOWN = 200;

export class Side {
  readonly element: HTMLElement;
  readonly changer: ChangeForm;
  // Both stay, and so does how far they are scrolled: reading or writing that at a step would cost a layout.
  private readonly upper = el("div", { class: "upper" });
  private readonly lower = el("div", { class: "lower" });
  private readonly registers: Registers;
  watched: Watched | null = null;
  logs: Logs | null = null;
  private readonly points: PointTable;
  private readonly watches: Watches;
  private target: Target | undefined;
  private tensor: TensorAsked | undefined;
  private stepping: Stepping | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly asks: Asks,
  ) {
    this.element = el("section", { class: "pane side", "aria-label": "State" }, this.upper, this.lower);
    const run = (change: Change) => asks.change({ ...change, depth: this.target?.depth ?? -1 });
    this.changer = new ChangeForm(this.element, run, asks.redraw);
    this.registers = new Registers(asks.redraw);
    this.watches = new Watches({ go: asks.go, watch: asks.watch });
    this.points = new PointTable((index, change) => {
      if (this.stepping) asks.setPoints(changed(this.stepping.points, index, change));
    });
  }

  draw(stepping: Stepping, frames: readonly FrameState[], isFlashing: boolean): void {
    this.stepping = stepping;
    const held = focusedIn(this.root, this.root);
    const caret = held instanceof HTMLInputElement ? ([held.selectionStart, held.selectionEnd] as const) : undefined;
    const stack = el("span", { class: "n" }, frames.length ? "newest first" : "empty");
    const frameCount = `${frames.length} frame${frames.length === 1 ? "" : "s"}`;
    refill(this.upper, [
      el("div", { class: "ph" }, el("b", {}, "Call stack"), stack),
      stackTable(stepping.run, frames, this.asks.revealFrame),
      paneHead("Registers", frameCount, el("span", { class: "sp" }), frames.length ? this.registers.toolsElement : ""),
      this.registersOf(stepping, frames, isFlashing),
      this.valuePane(stepping, frames),
    ]);
    refill(this.lower, [
      this.watchPane(stepping),
      this.pointsPane(stepping),
      logPane(this.logs, stepping.at, this.asks.go),
      this.outputPane(stepping),
    ]);
    const name = held?.dataset.focus;
    const again = name ? find(this.element, `[data-focus="${name}"]`) : null;
    again?.focus({ preventScroll: true });
    if (caret && caret[0] !== null && again instanceof HTMLInputElement) again.setSelectionRange(...caret);
  }

  /** Leads into the field of the condition of a breakpoint. */
  focusCondition(point: Stepping["points"][number]): void {
    const index = this.stepping ? indexOf(this.stepping.points, point) : -1;
    find(this.element, `[data-focus="condition${index}"]`)?.focus();
  }

  /** Opens the tensor whose value is shown; false if that is no tensor. */
  openTensor(): boolean {
    if (this.tensor) this.asks.view(this.tensor);
    return this.tensor !== undefined;
  }

  private registersOf(stepping: Stepping, frames: readonly FrameState[], isFlashing: boolean): HTMLElement {
    if (!frames.length) {
      const words = "The run is over: no frame is left. Step back to see its registers.";
      return el("div", { class: "pad muted" }, words);
    }
    const { by, newAfter, chosen, run } = stepping;
    const onLine = (line: number) => line && this.asks.revealLine(line);
    const { choose, redraw } = this.asks;
    const next = stepping.nextInstructions;
    return this.registers.draw(run, frames, {
      by,
      newAfter,
      isFlashing,
      chosen,
      next,
      redraw,
      onChoose: choose,
      onLine,
    });
  }

  private valuePane(stepping: Stepping, frames: readonly FrameState[]): Child {
    this.tensor = undefined;
    const found = shownRegister(stepping, frames);
    const registers = found && stepping.run.functions[found.frame.function]?.registers;
    const register = found && registers?.[found.index];
    const value = found && valueIn(stepping.run, found.frame, found.index);
    if (!found || !register || !value) return "";
    const sameName = registers?.filter((item) => item.variable === register.variable).length;
    // A name that several registers have does not say which of them it is.
    const name = register.variable && sameName === 1 ? register.variable : register.name;
    const target = { key: registerKey(found.depth, found.index), depth: found.depth, name };
    this.target = target;
    const written = found.frame.times[found.index] ?? -1;
    const onWriter = written > stepping.state.first ? () => this.asks.go(written) : undefined;
    const body = valueBody(stepping.run, value);
    body.addEventListener("dblclick", (event) => {
      const place = elementAt(targetOf(event), value);
      if (place) this.changer.open(target, place);
    });
    if (value.tensor) this.tensor = wholeTensor(register.name, found.depth);
    const open = { title: "All of it: slices, statistics, another time", data: { focus: "tensor" } };
    const viewer = this.tensor ? button("View", "t", "", () => this.openTensor(), open) : "";
    const title = [valueHead(value, register, onWriter), viewer, this.changer.opener(target, value)];
    return [el("div", { class: "ph top tight" }, title), this.changer.form(target, value), body];
  }

  private watchPane({ at, run }: Stepping): Child {
    const count = this.watched?.expressions.length ?? 0;
    const rows = this.watches.draw(this.watched, at, run.total);
    return rows && [paneHead("Watch", count ? String(count) : "an expression, at every time"), rows];
  }

  private pointsPane(stepping: Stepping): Child {
    const { points, state } = stepping;
    const hint = points.length ? String(points.length) : "click a line's number; right click: with a condition";
    const hasNan = points.some((point) => pointKey(point) === pointKey(AT_NAN));
    const title = "Stop behind the instruction that wrote a NaN or an infinity";
    const stop = () => this.asks.setPoints([...stepping.points, AT_NAN]);
    const atNan = hasNan ? "" : button("Stop at NaN", "t", "", stop, { title, data: { focus: "nan" } });
    const [tools, table] = points.length ? this.points.draw(points, state) : ["", ""];
    return [paneHead("Breakpoints", hint, el("span", { class: "sp" }), tools, atNan), table];
  }

  private outputPane({ run, at }: Stepping): Child {
    const shown = run.output.filter(([time]) => time <= at);
    const count = `${shown.length} of ${run.output.length} lines; a line leads to its time`;
    const lines = shown.slice(-OUTPUT_SHOWN).map(([time, text]) => {
      const go = link(`time ${time}`, () => this.asks.go(time), { class: "link m" });
      return el("div", {}, go, text);
    });
    return [paneHead("Output", run.output.length ? count : "none"), el("div", { class: "code out" }, lines)];
  }
}

function wholeTensor(expression: string, depth: number): TensorAsked {
  const place = { axes: [], fixed: [], top: 0, left: 0 };
  return { expression, depth, ...place, other: "", measure: "value", search: "" };
}

function refill(box: Element, children: Child): void {
  settle(
    box,
    nodes(children).filter((child) => child !== ""),
  );
}

/** The chosen register, or the one written last; undefined if none was written. */
export function shownRegister({ run, chosen }: Stepping, frames: readonly FrameState[]): Shown | undefined {
  const [depth = -1, index = -1] = chosen ? chosen.split(".").map(Number) : [];
  const frame = frames[depth];
  if (frame && (frame.registers[index] ?? -1) >= 0) return { depth, frame, index };
  let best: (Shown & { readonly time: number }) | undefined;
  const first = Math.max(0, frames.length - FRAMES_SHOWN);
  frames.slice(first).forEach((held, i) => {
    held.registers.forEach((_, place) => {
      const time = held.times[place] ?? 0;
      const value = valueIn(run, held, place);
      const isShown = value && value.kind !== "void" && run.functions[held.function]?.registers[place];
      if (isShown && (!best || time >= best.time)) best = { depth: first + i, frame: held, index: place, time };
    });
  });
  return best;
}
