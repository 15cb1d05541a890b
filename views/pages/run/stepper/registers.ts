// The registers of the newest frames.

import type { Closure, Kind, Register, Run, Value } from "#generated/models";
import { link, pickable } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { badge, KIND_LOOK, KIND_NAME, symbol } from "#shared/marks";
import { Dimensions } from "./dimensions";
import { type GroupName, grouped, UNGROUPED, Uses } from "./register_groups";
import { RegisterTools } from "./register_tools";
import { settle } from "./settle";
import type { FrameState, StepBy } from "./state";

/** What the table is drawn from besides the frames, and what its rows do. */
export interface Options {
  readonly by: StepBy;
  /** A value that was written after this time is new. */
  readonly newAfter: number;
  /** New values are lit up for a moment. */
  readonly isFlashing: boolean;
  readonly chosen: string;
  /** The instructions of the step that is next. */
  readonly next: readonly number[];
  readonly redraw: () => void;
  readonly onChoose: (key: string) => void;
  readonly onLine: (line: number) => void;
}

interface Row {
  readonly depth: number;
  readonly index: number;
  readonly frame: FrameState;
  readonly register: Register;
}

interface Kept {
  /** What the rows tell; whether it is new or chosen is put on them later. */
  readonly content: string;
  readonly rows: readonly HTMLElement[];
}

export const FRAMES_SHOWN = 8;
// Of a frame with more registers those around the one written last are shown, so that a step stays a step: a table is
// laid out as a whole. Others are shown when they are asked for, so many at a time.
const REGISTERS_SHOWN = 30;
const REGISTERS_MORE = 200;
const REGISTERS_AHEAD = 8;

/** The key of a register of the frame at a depth. */
export function registerKey(depth: number, index: number): string {
  return `${depth}.${index}`;
}

/** The value in a register of a frame; undefined if none was written. */
export function valueIn(run: Run, frame: FrameState, index: number): Value | undefined {
  return run.values[frame.registers[index] ?? -1];
}

/** The part of a long list of registers that is shown, at most so many: from and to. */
export function shownPart(
  shown: readonly number[],
  frame: FrameState,
  most: number,
): readonly [from: number, to: number] {
  if (shown.length <= most) return [0, shown.length];
  const timeOf = (index: number | undefined) => frame.times[index ?? -1] ?? 0;
  let latest = 0;
  shown.forEach((index, place) => {
    if (timeOf(index) >= timeOf(shown[latest]) && (frame.registers[index] ?? -1) >= 0) latest = place;
  });
  const last = Math.min(shown.length, Math.max(most, latest + REGISTERS_AHEAD));
  return [Math.max(0, last - most), last];
}

/** A table that stays: a step makes only the rows that it changes, for a long frame has hundreds. */
export class Registers {
  private readonly table = el("table", { class: "registers", "aria-label": "Registers, newest frame first" });
  // The numbers of a function's registers that are listed; found once, for a function may have thousands.
  private readonly listed = new WeakMap<readonly Register[], Map<boolean, readonly number[]>>();
  private kept = new Map<string, Kept>();
  private readonly dimensions = new Dimensions();
  private readonly tools: RegisterTools;
  private run: Run | undefined;
  private shown: readonly FrameState[] = [];
  private by: StepBy = "binding";
  private uses: Uses | undefined;
  private isRestOpen = false;
  private most = REGISTERS_SHOWN;

  constructor(redraw: () => void) {
    this.tools = new RegisterTools(redraw, () => this.lines());
  }

  /** What filters, orders and saves them. */
  get toolsElement(): HTMLElement {
    return this.tools.element;
  }

  draw(run: Run, frames: readonly FrameState[], options: Options): HTMLElement {
    if (run !== this.run) {
      this.kept = new Map();
      this.uses = new Uses(run);
    }
    this.run = run;
    this.shown = frames;
    this.by = options.by;
    const used = new Map<string, Kept>();
    settle(this.table, this.rows(run, frames, options, used));
    this.kept = used;
    return this.table;
  }

  private rows(run: Run, frames: readonly FrameState[], options: Options, used: Map<string, Kept>): HTMLElement[] {
    const newest = frames.length - 1;
    const body: HTMLElement[] = [];
    const { isActive } = this.tools;
    let [picked, total] = [0, 0];
    for (let depth = newest; depth >= Math.max(0, newest - FRAMES_SHOWN + 1); depth -= 1) {
      const frame = frames[depth];
      const info = frame && run.functions[frame.function];
      if (!frame || !info) continue;
      const where = depth === newest ? "top frame" : `waits at line ${frame.line}`;
      const words = [el("b", {}, info.name), " ", el("span", { class: "muted" }, where)];
      body.push(el("tr", { class: "frame" }, el("td", { colspan: 5 }, words)));
      body.push(...this.dimensions.draw(depth, { run, frame, onLine: options.onLine }));
      const listed = this.pickedOf(run, frame, options.by);
      picked += listed.length;
      total += this.listedOf(info.registers, options.by === "instruction").length;
      const make = (registers: readonly number[], group: GroupName | "") => {
        const [first, last] = isActive ? [0, this.most] : shownPart(registers, frame, this.most);
        const rows = registers.slice(first, last).flatMap((index) => {
          const register = info.registers[index];
          return register ? this.rowsOf(run, { depth, index, frame, register }, options, used) : [];
        });
        const leftOut = (count: number, where: string) => this.leftOut(count, where, `${depth}${group}`, options);
        return [...leftOut(first, "before"), ...rows, ...leftOut(Math.max(0, registers.length - last), "behind")];
      };
      const isLong = listed.length > UNGROUPED && !isActive;
      body.push(...(isLong ? this.groups(listed, frame, depth === newest, options, make) : make(listed, "")));
    }
    const older = `${newest + 1 - FRAMES_SHOWN} older frames, in the call stack`;
    const rest = newest >= FRAMES_SHOWN ? [el("tr", {}, el("td", { colspan: 5, class: "muted" }, older))] : [];
    this.tools.say(picked, total);
    return [this.tools.head, ...body, ...legendRow(body), ...rest];
  }

  private groups(
    listed: readonly number[],
    frame: FrameState,
    isTop: boolean,
    options: Options,
    make: (registers: readonly number[], group: GroupName) => readonly HTMLElement[],
  ): HTMLElement[] {
    const { uses } = this;
    const step = uses?.of(isTop ? options.next : [frame.pc]) ?? [];
    const isWritten = (register: number) => (frame.registers[register] ?? -1) >= 0;
    const newTime = (register: number) => {
      const time = isWritten(register) ? (frame.times[register] ?? -1) : -1;
      return time > options.newAfter ? time : -1;
    };
    const groups = grouped(
      listed,
      step,
      newTime,
      (register) => isWritten(register) && (uses?.isRead(register, frame.pc) ?? false),
    );
    return groups.flatMap(([name, registers]) => {
      if (!registers.length) return [];
      const head = name === "rest" ? this.restRow(registers.length, options) : groupRow(GROUP_WORDS[name]);
      return name === "rest" && !this.isRestOpen ? [head] : [head, ...make(registers, name)];
    });
  }

  private restRow(count: number, options: Options): HTMLElement {
    const toggle = () => {
      this.isRestOpen = !this.isRestOpen;
      options.redraw();
    };
    const words = `${this.isRestOpen ? "▾" : "▸"} ${count.toLocaleString("en")} not written yet, or not read again`;
    const state = { "aria-expanded": String(this.isRestOpen), data: { focus: "rest" }, click: toggle };
    return groupRow(el("button", { type: "button", class: "link", ...state }, words));
  }

  private leftOut(count: number, where: string, place: string, options: Options): HTMLElement[] {
    if (!count) return [];
    const showMore = () => {
      this.most += REGISTERS_MORE;
      options.redraw();
    };
    const text = `${count.toLocaleString("en")} registers ${where}, not shown `;
    const more = { type: "button", class: "link", data: { focus: `more ${where} ${place}` }, click: showMore };
    return [el("tr", {}, el("td", { colspan: 5, class: "muted" }, text, el("button", more, "Show more")))];
  }

  /** The registers of a frame that the filter leaves, in the order that was chosen. */
  private pickedOf(run: Run, frame: FrameState, by: StepBy): readonly number[] {
    const registers = run.functions[frame.function]?.registers ?? [];
    const listed = this.listedOf(registers, by === "instruction");
    return this.tools.isActive ? this.tools.pick(listed, (index) => cellsOf(run, frame, index)) : listed;
  }

  private lines(): readonly (readonly string[])[] {
    const { run, shown } = this;
    if (!run) return [];
    return shown.toReversed().flatMap((frame) => {
      const name = run.functions[frame.function]?.name ?? "";
      return this.pickedOf(run, frame, this.by).map((index) => [name, ...cellsOf(run, frame, index)]);
    });
  }

  private listedOf(registers: readonly Register[], isAll: boolean): readonly number[] {
    const known = this.listed.get(registers) ?? new Map<boolean, readonly number[]>();
    this.listed.set(registers, known);
    const found = known.get(isAll) ?? registers.flatMap((item, index) => (isAll || !item.is_hidden ? [index] : []));
    known.set(isAll, found);
    return found;
  }

  private rowsOf(run: Run, row: Row, options: Options, used: Map<string, Kept>): readonly HTMLElement[] {
    const { frame, index, depth } = row;
    const key = registerKey(depth, index);
    const content = JSON.stringify([frame.function, frame.registers[index], frame.notes[index]]);
    const known = this.kept.get(key);
    const entry = known?.content === content ? known : { content, rows: makeRows(run, row, options) };
    used.set(key, entry);
    const [made] = entry.rows;
    if (made) dress(made, isNewIn(run, row, options), options.isFlashing, options.chosen === key);
    return entry.rows;
  }
}

const GROUP_WORDS: Readonly<Record<Exclude<GroupName, "rest">, string>> = {
  step: "this step reads and writes",
  changed: "changed",
  live: "live: read again",
};

function groupRow(words: Child): HTMLElement {
  return el("tr", { class: "group" }, el("td", { colspan: 5, class: "muted" }, words));
}

function isNewIn(run: Run, { frame, index }: Row, options: Options): boolean {
  return valueIn(run, frame, index) !== undefined && (frame.times[index] ?? -1) > options.newAfter;
}

/** What the row of a register says, by columns. */
function cellsOf(run: Run, frame: FrameState, index: number): readonly string[] {
  const register = run.functions[frame.function]?.registers[index];
  const value = valueIn(run, frame, index);
  const kind = KIND_NAME[value?.kind ?? "unwritten"];
  const type = [value ? value.type : (register?.type ?? ""), value?.device ?? ""].filter(Boolean).join(" ");
  return [kind, register?.name ?? "", register?.variable ?? "", type, shortOf(frame, index, value)];
}

function shortOf(frame: FrameState, index: number, value: Value | undefined): string {
  return value ? frame.notes[index] || value.short : "not yet written";
}

// Names the kinds that the rows have: a prim value and a rank-0 tensor look alike in their numbers.
function legendRow(rows: readonly HTMLElement[]): HTMLElement[] {
  const present = new Set(rows.map((row) => row.dataset.kind));
  const kinds = (Object.keys(KIND_NAME) as Kind[]).filter((kind) => KIND_LOOK[kind] && present.has(kind));
  const entry = (kind: Kind) => el("span", { class: "legend-entry" }, badge(kind, 14), KIND_NAME[kind]);
  if (!kinds.length) return [];
  return [el("tr", { class: "legend" }, el("td", { colspan: 5 }, el("div", {}, kinds.map(entry))))];
}

function makeRows(run: Run, row: Row, options: Options): readonly HTMLElement[] {
  const { depth, index, frame, register } = row;
  const value = valueIn(run, frame, index);
  const kind = value?.kind ?? "unwritten";
  const key = registerKey(depth, index);
  const name = value ? "m" : "m muted";
  const place = value?.category ? [" ", symbol(value.category, value.device)] : "";
  const short = shortOf(frame, index, value);
  const made = el(
    "tr",
    { data: { register: key, focus: `register${key}`, kind } },
    el("td", { class: "kind" }, badge(kind)),
    el("td", { class: name }, register.name),
    el("td", { class: name }, register.variable),
    el("td", { class: name }, value ? value.type : register.type, place),
    el("td", { class: value ? "m sub" : "muted" }, short),
  );
  pickable(made, () => options.onChoose(key));
  return value?.closure ? [made, closureRow(run, value.closure, options)] : [made];
}

function dress(row: HTMLElement, isNew: boolean, isFlashing: boolean, isChosen: boolean): void {
  const look = `${isNew && isFlashing ? "flash" : ""}${isChosen ? " on" : ""}`;
  if (row.className !== look) row.className = look;
  const chip = row.querySelector(".chip.new");
  if (isNew && !chip) row.lastElementChild?.append(el("span", { class: "chip added new" }, "new"));
  if (!isNew) chip?.remove();
}

function closureRow(run: Run, closure: Closure, options: Options): HTMLElement {
  const show = (event: Event) => {
    event.stopPropagation();
    options.onLine(closure.line);
  };
  const captures = capturesOf(run, closure);
  const line = closure.line ? el("span", { class: "muted" }, `line ${closure.line}`) : "";
  const label = (text: string) => el("span", { class: "muted label" }, text);
  const held = captures.length ? el("div", {}, captures) : el("span", { class: "muted" }, "none");
  const inside = el(
    "div",
    { class: "inside" },
    el("div", { class: "row" }, label("function"), link(`@${closure.function}`, show, { class: "link m" }), line),
    el("div", { class: "row top" }, label("captures"), held),
  );
  return el("tr", { class: "opened" }, el("td"), el("td", { colspan: 4 }, inside));
}

function capturesOf(run: Run, closure: Closure): readonly Child[] {
  return closure.captures.map((capture) => {
    const value = run.values[capture.value];
    const where = capture.where ? ` = ${capture.where}` : "";
    const bound = capture.time >= 0 ? el("span", { class: "muted" }, `bound at time ${capture.time}`) : "";
    const short = capture.where ? "" : el("span", { class: "m muted" }, value?.short);
    const sign = badge(value?.kind ?? "unwritten", 14);
    return el("div", { class: "row" }, sign, el("span", { class: "m" }, capture.name, where), short, bound);
  });
}
