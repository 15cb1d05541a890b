// Inside a kernel: its text, loops, moves, buffers and accesses. Steps within the window that is here need no server.

import type { InsideAccess, InsideAction, InsideProps, InsideStop, InsideView } from "#generated/models";
import { markedSpans, type Span, textOf } from "#shared/code";
import { button, link, segments } from "#shared/controls";
import { type Child, el, replace } from "#shared/dom";
import { withCodes } from "#shared/explain";
import { act, onKeys } from "#shared/keys";
import { laterOrOnLeaving } from "#shared/leaving";
import { component, type Tell } from "#shared/mount";
import { Buffers, cellText } from "./buffers";
import { launchOf, reportOf, uncounted } from "./report";
import { Side } from "./side";
import style from "./style.css";
import { Walk } from "./walk";

const SYNC_DELAY = 250;
const WHAT = [
  ["count", "count"],
  ["age", "age"],
  ["value", "value"],
] as const;
const OF_THREADS = [...WHAT, ["owner", "who wrote it"]] as const;
const SPELL = [
  ["so_far", "so far"],
  ["iteration", "this iteration"],
  ["whole", "whole run"],
] as const;

class Inside {
  private readonly head = el("div", { class: "ph way" });
  private readonly toolbar = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Stepping inside" });
  private readonly listing = el("div", { class: "listing code", tabindex: 0, role: "region", "aria-label": "Kernel" });
  private readonly now = el("div", { class: "now", "aria-live": "polite", role: "status", tabindex: 0 });
  private readonly place = el("span", { class: "m time" });
  private readonly choices = el("div", { class: "ph" });
  private readonly report = el("div", {
    class: "report-box",
    tabindex: 0,
    role: "region",
    "aria-label": "Access report",
  });
  private readonly side: Side;
  private readonly buffers: Buffers;
  private readonly ofThreads = el("span", { class: "of-threads" });
  private readonly ofLoops: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly over: HTMLButtonElement;
  private readonly sync = laterOrOnLeaving(SYNC_DELAY, () => this.ask("state"));
  private rows: readonly HTMLElement[] = [];
  /** What was last drawn in each row: a step changes a few of them. */
  private shown: string[] = [];
  private walk: Walk | undefined;
  private props: InsideProps | undefined;
  /** The window for which another one was asked at its edge. */
  private renewed: Walk | undefined;
  private cursor = 0;
  /** What was asked last was a window around the statement that was shown: steps since then stay. */
  private isFollowed = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<InsideAction>,
  ) {
    this.side = new Side({
      move: (text) => this.move(text),
      loop: (number) => this.ask("look", String(number), "loop"),
      choose: (name, text) => this.ask("look", text, name),
    });
    this.buffers = new Buffers(root, {
      window: (name, text) => this.ask("window", text, name),
      cell: (text) => this.side.lookFor(text),
    });
    const step = (by: 1 | -1) => () => this.step(by);
    this.back = button("‹ Back", "", "b", step(-1), { title: "The statement before (b)" });
    this.over = button("Next", "", "n", step(1), { title: "The next statement (n)" });
    const iteration = button("Iteration", "", "]", () => this.move(`next ${this.innermost}`), {
      title: "The next iteration of the selected or innermost loop (])",
    });
    const block = button("Block", "", "", () => this.move("block"), { title: "The next instance of a block" });
    const out = button("Out", "", "o", () => this.ask("out"), { title: "Back to the run (o)" });
    const threads = [
      button("Thread", "", "t", () => this.moveThreads("thread"), { title: "The next statement of the thread (t)" }),
      button("Barrier", "", "w", () => this.moveThreads("barrier"), { title: "To where all wait at a barrier (w)" }),
      button("Race", "", "", () => this.moveThreads("race"), { title: "The next statement with a fault" }),
    ];
    this.ofThreads.append(...threads);
    this.toolbar.append(this.back, this.over, iteration, block, this.ofThreads, out);
    this.toolbar.append(el("span", { class: "sp" }), this.place);
    this.ofLoops = block;
    const left = el("section", { class: "pane" }, this.head, this.toolbar, this.listing, this.now);
    const right = el("section", { class: "pane right" }, this.choices, this.buffers.element, this.report);
    root.append(el("div", { class: "split" }, left, this.side.element, right));
    onKeys("inside", root, (event) => this.onKey(event));
    // Pictures have the colours of the mode that they were drawn in.
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  setModel(view: InsideView): void {
    this.walk = new Walk(view, this.isFollowed ? this.walk?.clock : view.clock);
    this.ofThreads.hidden = !view.threads;
    this.ofLoops.hidden = Boolean(view.threads);
    this.rows = view.lines.map(({ tokens, number }) => {
      const text = el("span", { class: "t" }, markedSpans(tokens, []));
      const row = el("div", { class: "ln", data: { key: number } }, el("span", { class: "g" }, number || ""), text);
      text.addEventListener("click", () => this.setCursor(number));
      return row;
    });
    this.shown = [];
    replace(this.listing, this.rows);
  }

  setProps(props: InsideProps): void {
    this.props = props;
    this.drawChoices(props);
    const loop = this.walk?.view.loops.find((item) => item.number === props.loop);
    const toLine = (line: number) => this.rowOf(line)?.scrollIntoView({ block: "nearest" });
    replace(this.report, this.reportOf(props, loop?.name ?? "", toLine));
    this.report.hidden = !this.report.firstChild;
    this.show();
  }

  private reportOf(props: InsideProps, loop: string, toLine: (line: number) => void): Child {
    const { report, machine } = props;
    if (report?.launched)
      return launchOf(report.launched, machine, toLine, (text) => this.ask("look", text, "machine"));
    if (report) return reportOf(report, loop, toLine);
    return this.walk?.view.threads && this.walk.view.total >= 0
      ? uncounted(() => this.ask("look", "1", "counted"))
      : "";
  }

  // The loop that is selected, or the innermost one around the statement.
  private get innermost(): string {
    const { walk, props } = this;
    const around = walk?.view.loops.filter(
      (loop, at) => loop.kind !== "block" && (walk.stop?.loops[at]?.length ?? 0) > 0,
    );
    const chosen = around?.find((loop) => loop.number === props?.loop) ?? around?.at(-1);
    return chosen ? chosen.name : "";
  }

  private ask(kind: InsideAction["kind"], text = "", name = ""): void {
    this.sync.cancel();
    this.isFollowed = kind === "state";
    if (this.walk) this.tell({ kind, clock: this.walk.clock, text, name });
  }

  private move(text: string): void {
    if (text.trim()) this.ask("move", text.trim());
  }

  private moveThreads(text: string): void {
    if (this.walk?.view.threads) this.move(text);
  }

  private step(by: 1 | -1): void {
    const { walk } = this;
    if (!walk || (by > 0 ? this.over : this.back).disabled) return;
    if (!walk.step(by)) {
      this.move(by > 0 ? "next" : "back");
      return;
    }
    this.show();
    if (walk.isNearEdge(by) && this.walk !== this.renewed) {
      this.renewed = walk;
      this.ask("state");
    } else this.sync();
  }

  private setCursor(line: number): void {
    this.cursor = line;
    if (this.props) this.drawChoices(this.props);
    this.show();
  }

  private show(): void {
    const { walk, props } = this;
    if (!walk || !props) return;
    const { view, stop } = walk;
    const total = view.total < 0 ? "" : ` of ${view.total.toLocaleString("en")}`;
    this.place.textContent = `statement ${walk.clock.toLocaleString("en")}${total}`;
    this.back.disabled = walk.isStart;
    this.over.disabled = walk.isOver || (view.problem !== "" && walk.clock === view.clock);
    this.drawWay(view, stop, props);
    this.drawLines(view, stop);
    this.drawNow(view, stop, props);
    this.side.draw(view, stop, props);
    this.buffers.draw(walk, props.heats, props.what, props.line);
    Object.assign(this.root.dataset, { clock: walk.clock, line: stop?.line ?? 0, phase: stop?.phase ?? "" });
  }

  private drawWay(view: InsideView, stop: InsideStop | undefined, props: InsideProps): void {
    const block = view.loops.find((loop) => loop.number === stop?.block);
    const way = link(props.way, () => this.ask("out"), { title: "Back to the run (o)" });
    const rest = [view.kernel, ...(block ? [`block ${block.name}`] : [])].map((name) => [" › ", el("b", {}, name)]);
    replace(this.head, way, rest);
  }

  private rowOf(line: number): HTMLElement | undefined {
    return this.rows.find((row) => row.dataset.key === String(line));
  }

  private drawLines(view: InsideView, stop: InsideStop | undefined): void {
    const loops = view.loops.filter((loop, at) => loop.kind === "for" && (stop?.loops[at]?.length ?? 0) > 0);
    const chips = new Map<number, string[]>();
    for (const loop of loops) {
      const value = stop?.loops[view.loops.indexOf(loop)]?.[0] ?? 0;
      chips.set(loop.line, [...(chips.get(loop.line) ?? []), `${loop.name} = ${value}`]);
    }
    const written = stop?.accesses.filter((access) => access.is_write && access.after) ?? [];
    if (stop && written.length)
      chips.set(
        stop.line,
        written.map((access) => `${cellText(access)} = ${access.after}`),
      );
    view.lines.forEach(({ tokens, number }, at) => {
      const row = this.rows[at];
      const isNow = number > 0 && number === stop?.line;
      row?.classList.toggle("cur", isNow);
      row?.classList.toggle("cursor", number === this.cursor);
      if (isNow) row?.setAttribute("aria-current", "step");
      else row?.removeAttribute("aria-current");
      const chip = chips.get(number);
      const shown = JSON.stringify([chip, isNow && stop?.accesses]);
      if (this.shown[at] === shown) return;
      this.shown[at] = shown;
      const spans = markedSpans(tokens, isNow && stop ? marksOf(view, textOf(tokens), at, stop.accesses) : []);
      const text = row?.lastElementChild;
      if (text) replace(text, spans, chip ? el("span", { class: `iv${isNow ? " new" : ""}` }, chip.join(", ")) : "");
    });
    if (stop) this.rowOf(stop.line)?.scrollIntoView({ block: "nearest" });
  }

  private drawNow(view: InsideView, stop: InsideStop | undefined, props: InsideProps): void {
    const isFailing = view.problem !== "" && stop?.clock === view.clock;
    const words = stop?.sentence ?? "The kernel has ended.";
    const { told = [], costs = [] } = stop?.threads ?? {};
    this.now.classList.toggle("error", isFailing || props.fault !== "" || told.length > 0);
    const who = stop?.threads ? ` Thread ${stop.threads.shown} of warp ${stop.threads.warp}.` : "";
    const notes = [
      ...told.map((text) => el("pre", { class: "fault" }, withCodes(text))),
      ...costs.map((text) => el("div", {}, text)),
    ];
    const fault = props.fault ? el("div", { class: "fault" }, props.fault) : "";
    const problem = isFailing ? el("pre", { class: "fault" }, withCodes(view.problem)) : "";
    replace(this.now, el("b", {}, "Now: "), words, who, notes, fault, problem);
  }

  private drawChoices(props: InsideProps): void {
    replace(
      this.choices,
      el("b", { role: "heading", "aria-level": "2" }, "Buffers"),
      el("span", { class: "sp" }),
      this.walk?.view.threads
        ? segments("What is shown", OF_THREADS, props.what, (what) => this.ask("look", what, "heat"))
        : [
            segments("What is shown", WHAT, props.what, (what) => this.ask("look", what, "heat")),
            segments("Of which part", SPELL, props.spell, (spell) => this.ask("look", spell, "spell")),
            this.linesOf(props),
          ],
    );
  }

  // Counts of one statement alone: of the line that was clicked, or of the one that is shown.
  private linesOf(props: InsideProps): Child {
    const line = this.cursor || props.line;
    if (!line || props.what !== "count") return "";
    const lines = [
      ["0", "all lines"],
      [String(line), `line ${line}`],
    ] as const;
    return segments("Of which line", lines, String(props.line), (id) => this.ask("look", id, "line"));
  }

  private onKey(event: KeyboardEvent): boolean {
    return act(event, {
      n: () => this.step(1),
      b: () => this.step(-1),
      o: () => this.ask("out"),
      i: () => undefined,
      t: () => this.moveThreads("thread"),
      w: () => this.moveThreads("barrier"),
      "]": () => this.move(`next ${this.innermost}`),
      "[": () => this.move(`back ${this.innermost}`),
      ".": () => this.move(this.cursor ? `line ${this.cursor}` : ""),
    });
  }
}

// What a line reads and writes now, underlined.
function marksOf(view: InsideView, text: string, at: number, accesses: readonly InsideAccess[]): readonly Span[] {
  const before = view.lines.slice(0, at).reduce((sum, line) => sum + textOf(line.tokens).length + 1, 0);
  return accesses
    .map(({ range_start, range_end, is_write }): Span => {
      const from = range_start - before;
      // A store is marked up to its index: what it stores has marks of its own.
      const cut = is_write ? text.indexOf("]", Math.max(from, 0)) + 1 : range_end - before;
      return [from, cut, is_write ? "writes" : "reads"];
    })
    .filter(([from, to]) => from >= 0 && to > from && to <= text.length);
}

export default component(style, (root, tell: Tell<InsideAction>) => new Inside(root, tell));
