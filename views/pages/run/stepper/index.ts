// Stepper: both listings, toolbar, registers and time in one component, so that a step never waits for the server.

import type { Problem, Run, StepperAction, StepperProps } from "#generated/models";
import { button, link, tabs } from "#shared/controls";
import { type Child, el, prose, replace } from "#shared/dom";
import { codeLink } from "#shared/explain";
import { Find } from "#shared/find";
import { HeatLegend } from "#shared/heat";
import { act, onKeys } from "#shared/keys";
import { laterOrOnLeaving } from "#shared/leaving";
import { severitySign } from "#shared/marks";
import { component, type Take, type Tell } from "#shared/mount";
import { shareSelection } from "#shared/selection";
import heatStyle from "../../../widgets/shared/heat.css";
import { Dataflow } from "./dataflow";
import { ValueTip } from "./hover";
import { instructionTokens, namesIn } from "./instructions";
import { Listing } from "./listing";
import { chipOf, marksOf, withHeat } from "./marks";
import { Memory } from "./memory";
import { indexOf, type Place, pointAt, toggled } from "./points";
import { Side } from "./side";
import type { Command, FrameState, StepBy } from "./state";
import { type Outcome, Stepping } from "./stepping";
import style from "./style.css";
import { TensorPane } from "./tensor";
import { Timeline } from "./timeline";
import { Toolbar } from "./toolbar";

interface Values {
  readonly at: number | null;
  readonly by: StepBy;
  readonly breakpoints: Stepping["points"];
}

const SYNC_DELAY = 250;

class Stepper {
  private readonly head = el("div", { class: "ph" });
  private readonly now = el("div", { class: "now", "aria-live": "polite", role: "status" });
  private readonly strip = el("div", { class: "strip" });
  private readonly hold = el("div", { class: "hold" }, "The run goes on once the question is answered.");
  private readonly legend = new HeatLegend();
  private readonly where = el("span", { class: "n" });
  private readonly source: Listing;
  private readonly instructions: Listing;
  private readonly sourceFind: Find;
  private readonly instructionsFind: Find;
  private readonly toolbar: Toolbar;
  private readonly side: Side;
  private readonly timeline: Timeline;
  private readonly memory: Memory;
  private readonly tensor: TensorPane;
  private readonly dataflow: Dataflow;
  private readonly tip: ValueTip;
  private readonly sync = laterOrOnLeaving(SYNC_DELAY, () => this.report("state"));
  private stepping: Stepping | undefined;
  private props: StepperProps | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<StepperAction>,
  ) {
    const sourceBox = el("div", { class: "listing source", role: "region" });
    const pcBox = el("div", { class: "listing instructions", role: "region" });
    const memoryBox = el("div", { class: "memory", role: "region", "aria-label": "Memory", tabindex: 0 });
    this.source = new Listing(sourceBox, "Source", "Breakpoint at line", {
      onGutter: (line) => this.togglePoint({ line }),
      onPick: (line) => this.setCursor(line),
      onMenu: (line) => this.openCondition({ line }),
    });
    this.instructions = new Listing(pcBox, "Instructions", "Breakpoint at pc", {
      onGutter: (pc) => this.togglePoint({ pc }),
      onPick: () => undefined,
      onMenu: (pc) => this.openCondition({ pc }),
    });
    this.sourceFind = new Find(root, "the source", this.source.searched);
    this.instructionsFind = new Find(root, "the instructions", this.instructions.searched);
    this.source.found = (text) => this.sourceFind.marks(text);
    this.instructions.found = (text) => this.instructionsFind.marks(text);
    this.toolbar = new Toolbar({
      step: (command) => this.step(command),
      continue: (direction) => this.obey((it) => it.continue(direction)),
      go: (time) => this.go(time),
      setBy: (by) => this.setBy(by),
    });
    this.side = this.makeSide();
    this.timeline = new Timeline(this.strip, (time) => this.go(time));
    this.memory = new Memory(memoryBox, (time) => this.go(time));
    const tensorBox = el("div", { class: "tensor", role: "region", "aria-label": "Tensor", tabindex: 0 });
    this.tensor = new TensorPane(root, tensorBox, {
      see: (tensor) => this.report("tensor", { tensor }),
      go: (time) => this.go(time),
    });
    const graphBox = el("div", { class: "dataflow", role: "region", "aria-label": "Graph" });
    this.dataflow = new Dataflow(graphBox, (graph) => this.report("graph", { graph }));
    const executed = el("span", { class: "n" }, el("span", { class: "exkey" }), " executed");
    const title = "What the next instruction does, and which lessons tell more";
    const explain = button("Explain", "t", "", () => this.explain(), { title });
    const pcTitle = [el("b", {}, "Instructions"), this.where, explain, el("span", { class: "sp" })];
    const pcHead = el("div", { class: "ph top listing-head" }, pcTitle, this.instructionsFind.element, executed);
    const listings = [memoryBox, tensorBox, graphBox, this.legend.element, sourceBox, pcHead, pcBox];
    const left = el(
      "section",
      { class: "pane" },
      this.head,
      this.toolbar.element,
      listings,
      this.now,
      this.hold,
      this.strip,
    );
    root.append(el("div", { class: "split" }, left, this.side.element));
    this.tip = new ValueTip(root, sourceBox, () => this.stepping);
    onKeys("stepper", root, (event) => this.onKey(event));
    this.timeline.slider.addEventListener("keydown", (event) => this.onSliderKey(event));
  }

  private makeSide(): Side {
    return new Side(this.root, {
      go: (time) => this.go(time),
      choose: (key) => this.choose(key),
      revealLine: (line) => this.source.reveal(line),
      revealFrame: (frame) => this.reveal(frame),
      setPoints: (points) => this.setPoints(points),
      change: (change) => this.report("change", change),
      redraw: () => this.show(),
      watch: (names) => this.report("watch", { names }),
      view: (tensor) => this.report("tensor", { tensor }),
    });
  }

  setModel(run: Run): void {
    this.stepping = new Stepping(run, this.stepping);
    this.source.build(run.source.map((line) => ({ key: line.number || -1, tokens: line.tokens, isDim: line.is_dim })));
    this.instructions.build(
      run.instructions.map(([text, pc]) => ({ key: pc, tokens: instructionTokens(text), isDim: false })),
    );
    this.sourceFind.reset();
    this.instructionsFind.reset();
    this.timeline.setRun(run);
    this.side.changer.close();
    this.root.dataset.total = String(run.total);
  }

  setProps(props: StepperProps, take: Take<Values>): void {
    const { stepping } = this;
    this.props = props;
    if (!stepping) return;
    stepping.state.setEvaluated(props.hits);
    this.side.changer.fixed = props.fixed;
    this.side.changer.refuse(props.fault);
    this.root.dataset.tab = props.tab;
    this.root.classList.toggle("held", props.until >= 0);
    stepping.until = props.until;
    if (props.until >= 0) stepping.stand(stepping.at, stepping.at);
    this.memory.setModel(props.memory);
    this.tensor.setModel(props.tensor);
    this.side.watched = props.watched;
    this.side.logs = props.logs;
    this.dataflow.setModel(props.dataflow);
    // Above a graph there is a legend of its own.
    this.legend.show(props.tab === "graph" ? null : props.heat);
    stepping.points = take("breakpoints") ?? stepping.points;
    stepping.by = take("by") ?? stepping.by;
    const wanted = take("at") ?? null;
    if (wanted !== null) stepping.stand(wanted, stepping.at);
    this.show();
    this.drawHead(stepping, props);
  }

  private drawHead({ run }: Stepping, props: StepperProps): void {
    const [first] = props.tabs;
    // Its tab opens the tensor of the value pane, if no other one is looked at.
    const pick = (id: string) => (id === "tensor" && this.side.openTensor()) || this.report("tab", { command: id });
    const names = first ? tabs(props.tabs, props.tab || first[0], pick) : el("b", {}, "Source");
    const title = el("span", { class: "n" }, run.title);
    replace(this.head, names, el("span", { class: "sp" }), this.sourceFind.element, title);
  }

  private report(kind: StepperAction["kind"], extra: Partial<StepperAction> = {}): void {
    const { stepping } = this;
    this.sync.cancel();
    if (!stepping) return;
    const { at, by, cursor, points } = stepping;
    this.tell({ kind, at, by, line: cursor, breakpoints: points, ...extra });
  }

  // Does what a command comes to: shows the time that it leads to, or asks Python for the window that holds it.
  private obey(command: (stepping: Stepping) => Outcome): void {
    if (!this.stepping) return;
    const outcome = command(this.stepping);
    if (outcome.kind === "need") this.report("need", { to: outcome.to, command: outcome.command });
    if (outcome.kind !== "moved") return;
    this.show(true);
    this.sync();
  }

  // Into a kernel Python leads; every other step is one of the recorded run.
  private step(command: Command): void {
    const kernel = command === "into" ? (this.stepping?.kernel ?? -1) : -1;
    if (kernel >= 0) this.report("inside", { to: kernel });
    else this.obey((it) => it.step(command));
  }

  private go(time: number): void {
    this.obey((it) => it.go(time));
  }

  // Changes what is no time, and tells Python when the user is done.
  private change(change: (stepping: Stepping) => void): void {
    if (!this.stepping) return;
    change(this.stepping);
    this.show();
    this.sync();
  }

  private setBy(by: StepBy): void {
    this.change((it) => {
      it.by = by;
    });
  }

  private setCursor(line: number): void {
    this.change((it) => {
      it.cursor = line;
    });
  }

  private setPoints(points: Stepping["points"]): void {
    this.change((it) => {
      it.points = points;
    });
  }

  private togglePoint(place: Place): void {
    const { stepping } = this;
    const point = stepping && pointAt(place, stepping.state.breakable);
    if (stepping && point) this.setPoints(toggled(stepping.points, point));
  }

  // Makes a breakpoint if there is none, and leads into the field of its condition.
  private openCondition(place: Place): void {
    const { stepping } = this;
    const point = stepping && pointAt(place, stepping.state.breakable);
    if (!stepping || !point) return;
    if (indexOf(stepping.points, point) < 0) this.togglePoint(place);
    this.side.focusCondition(point);
  }

  private choose(key: string): void {
    const { stepping } = this;
    if (!stepping) return;
    stepping.chosen = stepping.chosen === key ? "" : key;
    this.show();
    const [depth = -1, index = -1] = key.split(".").map(Number);
    const frame = stepping.frames[depth];
    const node = frame && stepping.run.functions[frame.function]?.registers[index]?.node;
    if (!node) return;
    this.report("select", { node });
    shareSelection(node, this.root);
  }

  private show(isFlashing = false): void {
    const { stepping, props } = this;
    if (!stepping || !props) return;
    const { frames, at, run } = stepping;
    const top = frames.at(-1);
    this.tip.hide();
    this.markLines(stepping, frames);
    this.drawNow(stepping);
    this.side.draw(stepping, frames, isFlashing);
    if (props.tab === "memory") this.memory.setTime(at);
    if (props.tab === "graph") this.dataflow.setLine(stepping.isReturned ? 0 : (top?.line ?? 0));
    this.timeline.setTime(at, stepping.hits);
    this.toolbar.draw(stepping);
    this.root.dataset.at = String(at);
    this.root.dataset.line = String(top?.line ?? 0);
    this.root.dataset.depth = String(frames.length);
    const [, pc, line] = stepping.state.event(at) ?? [0, -1, 0];
    window.dispatchEvent(new CustomEvent("relaxscope:time", { detail: { at, line, pc } }));
    const name = top ? run.functions[top.function]?.name : "";
    this.where.textContent = stepping.isOver || !top ? "at the end" : `before ${top.pc} in @${name}`;
    // Last, for to scroll is to lay out what has changed.
    if (top) this.reveal(top);
  }

  private markLines(stepping: Stepping, frames: readonly FrameState[]): void {
    const { state, at } = stepping;
    this.source.mark({
      marks: withHeat(marksOf(stepping, frames, "line"), this.props?.heat ?? null),
      isDone: (line) => state.wasLineExecuted(line, at),
      chipOf: (line) => chipOf(stepping, frames, line),
    });
    this.instructions.mark({
      marks: marksOf(stepping, frames, "pc"),
      isDone: (pc) => state.wasPcExecuted(pc, at),
      chipOf: () => null,
    });
  }

  private reveal(frame: FrameState): void {
    this.source.reveal(frame.line);
    this.instructions.reveal(frame.pc);
  }

  private drawNow({ run, state, at, isOver }: Stepping): void {
    const problem = isOver ? run.problem : null;
    this.now.classList.toggle("error", problem !== null);
    const [number = 0, pc = -1, line = 0, , , text = ""] = state.event(at) ?? [];
    const words = text || `\`${run.functions[number]?.name}\`, line ${line}, pc ${pc}.`;
    replace(this.now, el("b", {}, "Now: "), problem ? this.stopped(problem) : prose(isOver ? run.end : words));
  }

  private explain(): void {
    const { stepping } = this;
    if (!stepping) return;
    const { run, state, at, kernel } = stepping;
    const [, next = -1, , , , words = ""] = state.event(at) ?? [];
    // At the end it is the instruction that the run came to.
    const pc = next >= 0 ? next : (state.event(at - 1)?.[1] ?? -1);
    const [text] = run.instructions.find(([, own]) => own === pc) ?? [""];
    const names = [...namesIn(text), ...(kernel >= 0 ? ["kernel"] : [])];
    this.report("explain", { names, text: next >= 0 ? words : run.end });
  }

  private stopped(problem: Problem): Child {
    const show = () => this.source.reveal(problem.line);
    return [
      severitySign(problem.severity),
      " ",
      codeLink(problem),
      " ",
      prose(problem.message),
      problem.hint ? [" · ", prose(problem.hint)] : "",
      problem.line ? [" ", link(`Go to line ${problem.line}`, show)] : "",
    ];
  }

  private onKey(event: KeyboardEvent): boolean {
    const { stepping } = this;
    if (!stepping || this.dataflow.keeps(event)) return false;
    const step = (command: Command) => () => this.step(command);
    const proceed = (direction: 1 | -1) => () => this.obey((it) => it.continue(direction));
    const here = { line: stepping.cursor || (stepping.frames.at(-1)?.line ?? 0) };
    return act(event, {
      n: step("over"),
      i: step("into"),
      o: step("out"),
      b: step("back"),
      B: step("back_over"),
      ".": () => this.obey((it) => it.toCursor()),
      F9: () => (event.shiftKey ? this.openCondition(here) : this.togglePoint(here)),
      "[": proceed(-1),
      "]": proceed(1),
      F8: proceed(1),
      F10: step("over"),
      F11: step(event.shiftKey ? "out" : "into"),
      // What is smaller is left first: a part of the time, then a register.
      Escape: () => this.timeline.reset() || this.unchoose(stepping),
    });
  }

  private unchoose(stepping: Stepping): void {
    stepping.chosen = "";
    this.show();
  }

  private onSliderKey(event: KeyboardEvent): void {
    const { at, run } = this.stepping ?? { at: 0, run: { total: 0 } };
    const isOurs = act(event, {
      ArrowLeft: () => this.go(at - 1),
      ArrowDown: () => this.go(at - 1),
      ArrowRight: () => this.go(at + 1),
      ArrowUp: () => this.go(at + 1),
      Home: () => this.go(0),
      End: () => this.go(run.total),
      PageDown: () => this.go(at + 10),
      PageUp: () => this.go(at - 10),
    });
    if (isOurs) event.preventDefault();
  }
}

export default component(`${heatStyle}\n${style}`, (root, tell: Tell<StepperAction>) => new Stepper(root, tell));
