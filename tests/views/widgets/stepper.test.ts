// Stepping without a page: frames from deltas, commands, breakpoints, the time axis, memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Breakpoint, Event, MemoryBox, MemoryView, Run } from "#generated/models";
import { levelOf } from "#shared/heat";
import { at } from "#shared/values";
import { axisOf, ticks, timeAt } from "../../../views/pages/run/stepper/axis";
import { nodeAt } from "../../../views/pages/run/stepper/dataflow";
import { dimensionsOf } from "../../../views/pages/run/stepper/dimensions";
import { meantBy, nameAt } from "../../../views/pages/run/stepper/hover";
import { instructionTokens, namesIn } from "../../../views/pages/run/stepper/instructions";
import { logText, shownAround } from "../../../views/pages/run/stepper/log";
import { marksOf, withHeat } from "../../../views/pages/run/stepper/marks";
import { outlineOf, sizeAt } from "../../../views/pages/run/stepper/memory";
import { lanesOf } from "../../../views/pages/run/stepper/memory_rows";
import { changed, indexOf, pointAt, toggled } from "../../../views/pages/run/stepper/points";
import { grouped, Uses } from "../../../views/pages/run/stepper/register_groups";
import { shownPart } from "../../../views/pages/run/stepper/registers";
import { longestRising, settle } from "../../../views/pages/run/stepper/settle";
import { shownDepths } from "../../../views/pages/run/stepper/stack";
import { RunState } from "../../../views/pages/run/stepper/state";
import { Stepping } from "../../../views/pages/run/stepper/stepping";
import { placeOf } from "../../../views/pages/run/stepper/values";
import { around, callsAround, holding, moved, nextCall, whole, zoomed } from "../../../views/pages/run/stepper/view";

const COUNT = 200;

// A loop of one frame that writes the number of the event into register 0 at every event, and calls at the fifth.
function event(i: number): Event {
  if (i === 5) return [0, 5, 15, 0, true, "", [["push", 1, ""]]];
  if (i === 6) return [1, 0, 30, 1, true, "", [["write", 1, 0, 6, "inner"], ["pop"]]];
  return [0, i, 10 + i, 0, true, "", [["write", 0, 0, i, ""]]];
}

function jumps(by: number): Run["by_binding"] {
  const to = Array.from({ length: COUNT + 1 }, (_, i) => (i + by <= COUNT ? i + by : -1));
  const back = Array.from({ length: COUNT + 1 }, (_, i) => i - 1);
  return { into: to, over: to, out: to, back, back_over: back };
}

function recorded(more: Partial<Run> = {}): Run {
  return {
    revision: "1",
    title: "main",
    source: [],
    instructions: [
      ["@main", -1, 0],
      ["call  f", 5, 15],
      ["ret", 7, 17],
    ],
    functions: [
      { name: "main", line: 1, registers: [], dimensions: [], home: "" },
      { name: "inner", line: 30, registers: [], dimensions: [], home: "" },
    ],
    first_event: 0,
    total: COUNT,
    frames: [{ function: 0, pc: 0, line: 10, registers: [], through: "" }],
    events: Array.from({ length: COUNT }, (_, i) => event(i)),
    values: [],
    by_binding: jumps(1),
    by_instruction: jumps(2),
    flame: [],
    output: [],
    executed_lines: [],
    executed_pcs: [],
    kernel_pcs: [],
    outcome: "returned",
    end: "",
    problem: null,
    stop_pc: -1,
    stop_line: 0,
    interventions: [],
    ...more,
  };
}

const AT_15: Breakpoint = { line: 15, pc: -1, is_on: true, condition: "", message: "" };

test("frames at a time are the same whichever way one comes there", () => {
  const forwards = new RunState(recorded());
  const all = Array.from({ length: COUNT + 1 }, (_, time) => JSON.stringify(forwards.framesAt(time)));
  for (const time of [200, 3, 130, 64, 63, 65, 6, 7, 0]) {
    assert.equal(JSON.stringify(new RunState(recorded()).framesAt(time)), all[time]);
    assert.equal(JSON.stringify(forwards.framesAt(time)), all[time]);
  }
});

test("a call pushes a frame, and what it writes is its own", () => {
  const state = new RunState(recorded());
  assert.deepEqual(
    state.framesAt(6).map((frame) => frame.function),
    [0, 1],
  );
  assert.equal(state.framesAt(7).length, 1);
  assert.deepEqual(state.framesAt(5)[0]?.registers, [4]);
  assert.deepEqual(state.framesAt(7)[0]?.registers, [4]);
  assert.deepEqual(state.framesAt(8)[0]?.times, [8]);
});

test("a step goes where the table says, and a time outside the window is asked for", () => {
  const stepping = new Stepping(recorded({ first_event: 0, total: 5000 }));
  assert.deepEqual(stepping.step("into"), { kind: "moved", from: 0 });
  assert.equal(stepping.at, 1);
  assert.deepEqual(stepping.go(4000), { kind: "need", to: 4000, command: "at" });
  assert.equal(stepping.at, 1);
  assert.deepEqual(stepping.step("back"), { kind: "moved", from: -1 });
  assert.deepEqual(stepping.step("back"), { kind: "stay" });
});

test("continue stops at a breakpoint that is on, else at the end or in the next window", () => {
  const stepping = new Stepping(recorded());
  stepping.points = [AT_15];
  stepping.continue(1);
  assert.equal(stepping.at, 5);
  stepping.continue(1);
  assert.equal(stepping.at, COUNT);
  stepping.continue(-1);
  assert.equal(stepping.at, 5);
  stepping.points = [{ ...AT_15, is_on: false }];
  stepping.continue(-1);
  assert.equal(stepping.at, 0);
  const cut = new Stepping(recorded({ total: 5000 }));
  assert.deepEqual(cut.continue(1), { kind: "need", to: 0, command: "continue" });
});

test("a condition that Python has not evaluated is asked for, and one that it has stops where it says", () => {
  const stepping = new Stepping(recorded());
  const point = { line: 0, pc: -1, is_on: true, condition: "i > 3", message: "" };
  stepping.points = [point];
  assert.deepEqual(stepping.continue(1), { kind: "need", to: 0, command: "continue" });
  const known = { point, met: 200, stops: 1, first: 9, times: [9], problem: null, problem_count: 0 };
  stepping.state.setEvaluated([known]);
  stepping.continue(1);
  assert.equal(stepping.at, 9);
});

test("a logpoint stops no run, and needs no answer before one goes on", () => {
  const stepping = new Stepping(recorded());
  stepping.points = [
    { ...AT_15, message: "here" },
    { ...AT_15, line: 17, condition: "i > 3", message: "there" },
  ];
  assert.deepEqual(stepping.hits, []);
  stepping.continue(1);
  assert.equal(stepping.at, COUNT);
});

test("of a long log the messages around the time are shown, and its file has all of them", () => {
  const messages = Array.from({ length: 500 }, (_, i) => ({ time: 2 * i, line: 8, text: `${i}`, is_fault: false }));
  const shownTimes = (at: number) => {
    const shown = shownAround(messages, at);
    return [shown.length, shown[0]?.time, shown.at(-1)?.time];
  };
  assert.deepEqual(shownTimes(0), [200, 0, 398]);
  assert.deepEqual(shownTimes(500), [200, 302, 700]);
  assert.deepEqual(shownTimes(5000), [200, 600, 998]);
  assert.deepEqual(shownAround(messages.slice(0, 2), 9).length, 2);
  assert.equal(logText(messages.slice(1, 3)), "time 2, line 8: 1\ntime 4, line 8: 2\n");
});

test("another window of the same run keeps what was chosen, another run does not", () => {
  const before = new Stepping(recorded());
  before.chosen = "0.1";
  before.points = [AT_15];
  assert.equal(new Stepping(recorded(), before).chosen, "0.1");
  const other = new Stepping(recorded({ title: "other" }), before);
  assert.equal(other.chosen, "");
  assert.deepEqual(other.points, [AT_15]);
});

test("a breakpoint goes to the next line with code, and again takes it away", () => {
  const point = pointAt({ line: 12 }, [15, 17]);
  assert.deepEqual(point, AT_15);
  assert.equal(pointAt({ line: 18 }, [15, 17]), undefined);
  assert.equal(indexOf([AT_15], AT_15), 0);
  assert.deepEqual(toggled([AT_15], AT_15), []);
  assert.deepEqual(changed([AT_15], 0, { condition: "x" }), [{ ...AT_15, condition: "x" }]);
});

test("the newest frame is current, the others are marked, and a finished run marks none", () => {
  const stepping = new Stepping(recorded());
  stepping.go(6);
  const marks = marksOf(stepping, stepping.frames, "line");
  assert.equal(marks.get(30)?.frame, "cur");
  assert.equal(marks.get(15)?.frame, "sel");
  stepping.go(COUNT);
  assert.equal(marksOf(stepping, stepping.frames, "line").size, 0);
});

test("ticks are round, and the present time pushes its neighbours away", () => {
  const axis = axisOf(1000, 600);
  assert.deepEqual(ticks(axis, 0), [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  assert.ok(ticks(axis, 333).includes(333));
  assert.ok(!ticks(axis, 333).includes(300));
  for (const time of [0, 1, 500, 1000]) assert.equal(timeAt(axis, axis.x(time)), time);
  assert.equal(timeAt(axis, -50), 0);
  assert.deepEqual(ticks(axisOf(0, 600), 0), [0]);
});

test("a run that is held goes back and not on", () => {
  const stepping = new Stepping(recorded());
  stepping.until = 2;
  stepping.go(stepping.run.total);
  assert.equal(stepping.at, 2);
  assert.deepEqual(stepping.continue(1), { kind: "stay" });
  assert.equal(stepping.canStep("over"), false);
  assert.equal(stepping.isLast, true);
  assert.equal(stepping.kernel, -1);
  stepping.go(0);
  assert.equal(stepping.at, 0);
  stepping.until = -1;
  stepping.go(3);
  assert.equal(stepping.at, 3);
});

test("an instruction becomes tokens that spell it", () => {
  for (const text of ["@main", "call  vm.f  in: %0, i2  dst: %3", "ret  %1", "if  %2, else: 4", "goto  -2", ""]) {
    const tokens = instructionTokens(text);
    assert.equal(tokens.map(([part]) => part).join(""), text);
  }
  assert.deepEqual(instructionTokens("ret  %1")[0], ["ret", "synKeyword"]);
});

test("what is explained of an instruction is its opcode and what the machine knows", () => {
  assert.deepEqual(namesIn("call  vm.builtin.copy  in: %0  dst: %3"), ["instruction/call", "vm.builtin.copy"]);
  assert.deepEqual(namesIn("call  fused_add  in: %0  dst: %3"), ["instruction/call"]);
  assert.deepEqual(namesIn("ret   %1"), ["instruction/ret"]);
});

test("a deep stack shows its newest frames and its two oldest", () => {
  assert.deepEqual(shownDepths(3), [2, 1, 0]);
  const deep = shownDepths(40);
  assert.equal(deep.length, 15);
  assert.deepEqual(deep.slice(-3), [null, 1, 0]);
});

test("of a long frame the registers around the one written last are shown", () => {
  const shown = Array.from({ length: 500 }, (_, i) => i);
  const base = { function: 0, pc: 0, line: 0, through: "", notes: [] };
  const times: number[] = [];
  times[300] = 9;
  const registers: number[] = [];
  registers[300] = 1;
  assert.deepEqual(shownPart(shown, { ...base, registers, times }, 60), [248, 308]);
  assert.deepEqual(shownPart(shown, { ...base, registers, times }, 200), [108, 308]);
  assert.deepEqual(shownPart(shown.slice(0, 5), { ...base, registers: [], times: [] }, 60), [0, 5]);
});

test("a cell of a tensor's table is an element, further axes at 0", () => {
  assert.deepEqual(placeOf("(2, 3) f32", 4, 3), [1, 1]);
  assert.deepEqual(placeOf("(7, 2, 3) f32", 4, 3), [0, 1, 1]);
  assert.deepEqual(placeOf("(3,) f32", 2, 3), [2]);
  assert.equal(placeOf("() f32", 0, 1), null);
});

test("memory: lanes do not overlap, and the bytes are those of the last change", () => {
  const box = (start: number, end: number): MemoryBox => ["x", start, end, 0, 0, 4, 0, 0, "", false];
  assert.deepEqual(lanesOf([box(0, 4), box(2, 6), box(4, 8), box(4, 4)]), [0, 1, 0, 2]);
  const model: MemoryView = {
    rows: [],
    times: [2, 5],
    sizes: [10, 30],
    peak_bytes: 30,
    peak_time: 5,
    total: 10,
    summary: "",
    faults: [],
    note: "",
  };
  assert.deepEqual(
    [0, 2, 4, 5, 9].map((time) => sizeAt(model, time)),
    [0, 10, 10, 30, 30],
  );
  assert.match(outlineOf(model), /^M200,.*H500V2H1000$/);
});

test("a dimension is bound by the value that was written first, and others agree or differ", () => {
  const sizes = (...found: readonly number[]) => ({ sizes: found }) as unknown as Run["values"][number];
  const dimensions: Run["functions"][number]["dimensions"] = [
    [
      "n",
      [
        [0, 1],
        [1, 0],
        [2, 0],
        [3, 0],
      ],
    ],
    ["unknown", [[3, 1]]],
  ];
  const run = recorded({
    functions: [{ name: "main", line: 1, registers: [], dimensions, home: "" }],
    values: [sizes(2, 8), sizes(8), sizes(9)],
  });
  const at = { function: 0, pc: 0, line: 1, through: "", notes: [] };
  const [known, ...others] = dimensionsOf(run, { ...at, registers: [0, 1, 2], times: [5, 3, 7] });
  assert.equal(others.length, 0);
  assert.deepEqual(known?.bound, { register: 1, axis: 0, time: 3, size: 8 });
  assert.deepEqual(
    known?.others.map(({ register, size }) => [register, size]),
    [
      [0, 8],
      [2, 9],
    ],
  );
  assert.deepEqual(dimensionsOf(run, { ...at, registers: [], times: [] }), []);
});

test("instructions tell what a step reads and writes, and what is read again", () => {
  const run = recorded({
    instructions: [
      ["@main:", -1, 0],
      ["  call  add  in: %0, %1  dst: %2", 0, 1],
      ["  call  mul  in: %2, %1  dst: %3", 1, 2],
      ["  ret   %3", 2, 3],
      ["", -1, 0],
      ["@loop:", -1, 0],
      ["  call  add  in: %0, %1  dst: %0", 3, 5],
      ["  goto  3", 4, 6],
    ],
  });
  const uses = new Uses(run);
  assert.deepEqual(uses.of([1]), [2, 1, 3]);
  assert.deepEqual(uses.of([0, 1]), [0, 1, 2, 3]);
  assert.deepEqual(
    [0, 1, 2, 3].map((register) => uses.isRead(register, 1)),
    [false, true, true, true],
  );
  // The function jumps back: what was read may be read again.
  assert.equal(uses.isRead(1, 4), true);
  assert.equal(uses.isRead(3, 4), false);
});

test("registers come in groups: of the step, new ones, live ones, the rest", () => {
  const groups = grouped(
    [0, 1, 2, 3, 4, 5],
    [4, 1],
    (register) => (register >= 4 ? register : -1),
    (register) => register === 2,
  );
  assert.deepEqual(groups, [
    ["step", [1, 4]],
    ["changed", [5]],
    ["live", [2]],
    ["rest", [0, 3]],
  ]);
  const many = Array.from({ length: 100 }, (_, register) => register);
  const [, changed, live] = grouped(
    many,
    [],
    (register) => register,
    () => true,
  );
  assert.deepEqual(changed?.[1], many.slice(70));
  assert.deepEqual(live?.[1], many.slice(0, 70));
});

test("a name of the source means what was bound last before its line, in the newest frame that has it", () => {
  const register = (variable: string, line: number) =>
    ({ name: "", variable, type: "", line, node: "", is_parameter: false, is_hidden: false }) as const;
  const outer = { name: "main", line: 2, registers: [register("x", 2), register("y", 4), register("y", 6)] };
  const inner = { name: "f", line: 10, registers: [register("x", 10)] };
  const functions = [outer, inner].map((item) => ({ ...item, dimensions: [], home: "" }));
  const frame = (number: number) => ({
    function: number,
    pc: 0,
    line: 0,
    registers: [],
    times: [],
    through: "",
    notes: [],
  });
  const [older, newer] = [frame(0), frame(1)];
  const run = recorded({ functions });
  assert.deepEqual(meantBy(run, [older, newer], "x", 11), [newer, 0]);
  assert.deepEqual(meantBy(run, [older, newer], "x", 5), [older, 0]);
  assert.deepEqual(meantBy(run, [older, newer], "y", 5), [older, 1]);
  assert.deepEqual(meantBy(run, [older], "y", 6), [older, 2]);
  assert.equal(meantBy(run, [older], "z", 6), undefined);
  const names = [0, 2, 3, 4, 6, 7, 9].map((at) => nameAt("lv1 = R.add", at));
  assert.deepEqual(names, ["lv1", "lv1", "", "", "R", "", "add"]);
});

test("what a line takes stands beside its other marks, and beside lines without any", () => {
  const heat = { title: "", scale: "", note: "", lines: [[15, [3, "4 B", "Bytes: 4 B"]]], nodes: [] } as const;
  const point = { point: AT_15 };
  const found = withHeat(new Map([[15, point]]), heat);
  assert.deepEqual(found.get(15), { ...point, heat: heat.lines[0][1] });
  assert.deepEqual(withHeat(new Map(), heat).get(15), { heat: heat.lines[0][1] });
  assert.equal(withHeat(new Map(), null).size, 0);
});

test("a figure of nothing has no colour, and a NaN has one of its own", () => {
  assert.deepEqual(
    [levelOf([0, "", ""]), levelOf([5, "", ""]), levelOf([-1, "NaN", ""])],
    ["", "level-5", "level-odd"],
  );
});

const FLAME: Run["flame"] = [
  ["main", 0, 100, 0, ""],
  ["f", 10, 40, 1, ""],
  ["g", 12, 20, 2, ""],
  ["f", 50, 90, 1, ""],
];

test("a call is taken over the whole width, and what is around it are the calls it lies in", () => {
  const view = around(at(FLAME, 2), 100);
  assert.deepEqual(view, { from: 12, to: 20 });
  assert.deepEqual(
    callsAround(FLAME, view).map(([name]) => name),
    ["main", "f", "g"],
  );
  assert.deepEqual(callsAround(FLAME, whole(100)), [at(FLAME, 0)]);
  const axis = axisOf(100, 642, view);
  assert.deepEqual([axis.x(12), axis.x(20)], [21, 621]);
  assert.deepEqual(ticks(axis, 50), [12, 13, 14, 15, 16, 17, 18, 19, 20]);
  assert.deepEqual([timeAt(axis, -50), timeAt(axis, 900)], [12, 20]);
});

test("zooming keeps the time under the pointer, and stays within the run", () => {
  const view = zoomed(whole(100), 100, 4, 0.5);
  assert.deepEqual(view, { from: 37.5, to: 62.5 });
  assert.deepEqual(zoomed(view, 100, 0.01, 0.5), whole(100));
  assert.equal(zoomed(view, 100, 1e9, 0).to - view.from, 1);
  assert.deepEqual(moved(view, 100, 9), { from: 75, to: 100 });
  assert.deepEqual(zoomed(whole(0), 0, 4, 0.5), whole(0));
});

test("a step out of sight moves what is in view", () => {
  const view = { from: 20, to: 40 };
  assert.equal(holding(view, 100, 40), view);
  assert.deepEqual(holding(view, 100, 60), { from: 50, to: 70 });
  assert.deepEqual(holding(view, 100, 100), { from: 80, to: 100 });
});

test("arrows lead into a call, out of it and along its depth", () => {
  assert.deepEqual([nextCall(FLAME, -1, "inner"), nextCall([], -1, "inner")], [0, -1]);
  assert.deepEqual([nextCall(FLAME, 0, "inner"), nextCall(FLAME, 1, "inner"), nextCall(FLAME, 2, "inner")], [1, 2, 2]);
  assert.deepEqual(
    [nextCall(FLAME, 2, "outer"), nextCall(FLAME, 1, "behind"), nextCall(FLAME, 3, "before")],
    [1, 3, 1],
  );
  assert.deepEqual([nextCall(FLAME, 3, "behind"), nextCall(FLAME, 0, "outer")], [3, 0]);
});

test("a line is the node of what it calls, or else binds, whether that is drawn or folded", () => {
  const plain = { title: "", subtitle: "", before_node: "", function: "f", side: "both", mark: "unchanged" } as const;
  const drawn = (node: string, line: number, name: string, is_call: boolean) =>
    ({ ...plain, id: node, node, line, group: "", fault: "", name, is_call }) as const;
  const graph = {
    nodes: [drawn("0/f/1", 3, "x", false), drawn("0/f/5", 4, "", false), drawn("0/f/4", 4, "y", true)],
    unseen: [["n9", "add", "", "0/f/7", "z", true, 0, 5]],
  } as const;
  assert.deepEqual(
    [3, 4, 5, 6, 0].map((line) => nodeAt(graph, line)),
    ["0/f/1", "0/f/4", "0/f/7", "", ""],
  );
});

/** As much of an element as `settle` touches, and how often something was put into it. */
class Box {
  puts = 0;
  readonly childNodes: Item[] = [];

  get firstChild(): Item | null {
    return this.childNodes[0] ?? null;
  }

  insertBefore(item: Item, behind: Item | null): void {
    this.puts += 1;
    item.box?.take(item);
    const place = behind ? this.childNodes.indexOf(behind) : this.childNodes.length;
    assert.ok(place >= 0, "what it is put before is in the box");
    this.childNodes.splice(place, 0, item);
    item.box = this;
  }

  take(item: Item): void {
    this.childNodes.splice(this.childNodes.indexOf(item), 1);
  }
}

class Item {
  box: Box | undefined;

  get nextSibling(): Item | null {
    const all = this.box?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  remove(): void {
    this.box?.take(this);
    this.box = undefined;
  }
}

function ordersOf(count: number): readonly (readonly number[])[] {
  if (!count) return [[]];
  return ordersOf(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, place) => [...order.slice(0, place), count - 1, ...order.slice(place)]),
  );
}

test("rows come into any order, with as few of them moved as can be", () => {
  for (const order of ordersOf(6)) {
    const box = new Box();
    const items = Array.from({ length: 6 }, () => new Item());
    const put = (wanted: readonly Item[]) => settle(box as unknown as Element, wanted as unknown as Node[]);
    // The last one is new, and the fifth one goes.
    put(items.slice(0, 5));
    box.puts = 0;
    const kept = order.filter((number) => number !== 4);
    put(kept.map((number) => at(items, number)));
    assert.deepEqual(
      box.childNodes.map((item) => items.indexOf(item)),
      kept,
    );
    const longest = Math.max(
      ...parts(kept.filter((number) => number < 4))
        .filter(isRising)
        .map((part) => part.length),
    );
    assert.equal(box.puts, 5 - longest);
  }
  assert.deepEqual([...longestRising([-1, 3, 0, -1, 1, 2])].sort(), [2, 4, 5]);
});

function parts(numbers: readonly number[]): readonly (readonly number[])[] {
  const [first, ...rest] = numbers;
  if (first === undefined) return [[]];
  return parts(rest).flatMap((part) => [part, [first, ...part]]);
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, place) => place === 0 || number > at(numbers, place - 1));
}
