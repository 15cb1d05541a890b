// The two listings: rows are made as they come into sight, and marks are put on those that are there.

import type { Breakpoint, HeatMark } from "#generated/models";
import { lineSpans, type Piece, type Span, textOf, widthOf } from "#shared/code";
import { el, replace } from "#shared/dom";
import { stripe } from "#shared/heat";
import { Rows } from "#shared/rows";

/** A line as it is shown; `key` is the number that it is known by (a line of the source, a pc), -1 for none. */
export interface ListedLine {
  readonly key: number;
  readonly tokens: readonly Piece[];
  readonly isDim: boolean;
}

/** What is marked at a line. */
export interface LineMark {
  readonly frame?: "cur" | "sel";
  readonly cursor?: boolean;
  readonly point?: Breakpoint;
  readonly heat?: HeatMark;
}

/** The value that is shown behind a line. */
export interface LineChip {
  readonly text: string;
  readonly isNew: boolean;
}

/** The marks of a time: by the key of a line. */
export interface Marks {
  readonly marks: ReadonlyMap<number, LineMark>;
  readonly isDone: (key: number) => boolean;
  readonly chipOf: (key: number) => LineChip | null;
}

export interface Asks {
  readonly onGutter: (key: number) => void;
  readonly onPick: (key: number) => void;
  readonly onMenu: (key: number) => void;
}

interface Entry {
  readonly key: number;
  readonly row: HTMLElement;
  readonly left: HTMLElement;
  readonly text: HTMLElement;
  chip: HTMLElement | null;
  shown: string;
}

const NOTHING: Marks = { marks: new Map(), isDone: () => false, chipOf: () => null };

export class Listing {
  private readonly rows: Rows;
  private lines: readonly ListedLine[] = [];
  private texts: readonly string[] = [];
  private placeOf = new Map<number, number>();
  private readonly entries = new WeakMap<HTMLElement, Entry>();
  private marked = NOTHING;
  /** What is found in the text of a line. */
  found: (text: string) => readonly Span[] = () => [];

  constructor(
    box: HTMLElement,
    label: string,
    private readonly gutterLabel: string,
    private readonly asks: Asks,
  ) {
    const held = el("div", { class: "code lines" });
    this.rows = new Rows(box, held, (index) => this.rowOf(index));
    box.setAttribute("aria-label", label);
    box.tabIndex = 0;
    box.append(held);
  }

  get searched() {
    return {
      texts: () => this.texts,
      reveal: (index: number) => this.rows.reveal(index),
      redraw: () => this.rows.refresh(),
    };
  }

  build(lines: readonly ListedLine[]): void {
    this.lines = lines;
    this.texts = lines.map((line) => textOf(line.tokens));
    this.placeOf = new Map();
    lines.forEach(({ key }, index) => {
      if (key >= 0 && !this.placeOf.has(key)) this.placeOf.set(key, index);
    });
    this.rows.set(
      lines.length,
      this.texts.reduce((longest, text) => Math.max(longest, widthOf(text)), 0),
    );
  }

  mark(marked: Marks): void {
    this.marked = marked;
    for (const [index, row] of this.rows.shown) {
      const entry = this.entries.get(row);
      if (entry && this.placeOf.get(entry.key) === index) this.dress(entry);
    }
  }

  reveal(key: number): void {
    const index = this.placeOf.get(key);
    if (index !== undefined) this.rows.reveal(index);
  }

  private rowOf(index: number): HTMLElement {
    const line = this.lines[index];
    const left = el("span", { class: "g" });
    const spans = line ? lineSpans(line.tokens, this.found(this.texts[index] ?? "")) : "";
    const text = el("span", { class: "t" }, spans);
    const row = el("div", { class: `ln${line?.isDim ? " dim" : ""}` }, left, text);
    if (!line || line.key < 0) return row;
    const entry: Entry = { key: line.key, row, left, text, chip: null, shown: "" };
    this.equip(entry);
    this.entries.set(row, entry);
    if (this.placeOf.get(line.key) === index) this.dress(entry);
    return row;
  }

  private equip({ key, row, left, text }: Entry): void {
    row.dataset.key = String(key);
    left.classList.add("can-break");
    left.title = `${this.gutterLabel} ${key}; right button: with a condition`;
    left.addEventListener("click", () => this.asks.onGutter(key));
    left.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.asks.onMenu(key);
    });
    text.addEventListener("click", () => this.asks.onPick(key));
  }

  private dress(entry: Entry): void {
    const mark = this.marked.marks.get(entry.key) ?? {};
    const isDone = this.marked.isDone(entry.key);
    const shown = JSON.stringify([mark.frame, mark.cursor, isDone, mark.point, mark.heat]);
    if (shown !== entry.shown) {
      entry.shown = shown;
      entry.row.classList.toggle("cur", mark.frame === "cur");
      entry.row.classList.toggle("sel", mark.frame === "sel");
      entry.row.classList.toggle("cursor", Boolean(mark.cursor));
      if (mark.frame === "cur") entry.row.setAttribute("aria-current", "step");
      else entry.row.removeAttribute("aria-current");
      drawGutter(entry, mark, isDone);
    }
    drawChip(entry, this.marked.chipOf(entry.key));
  }
}

function drawChip(entry: Entry, chip: LineChip | null): void {
  const look = chip ? `iv${chip.isNew ? " new" : ""}` : "";
  if (entry.chip?.className === look && entry.chip.textContent === chip?.text) return;
  entry.chip?.remove();
  entry.chip = chip && el("span", { class: look }, chip.text);
  if (entry.chip) entry.text.append(entry.chip);
}

function drawGutter(entry: Entry, { point, frame, heat }: LineMark, isDone: boolean): void {
  replace(
    entry.left,
    heat ? stripe(heat) : "",
    isDone ? el("span", { class: "ex", title: "executed" }) : "",
    point ? disc(point) : "",
    frame === "cur" && !point ? el("span", { class: "ar", "aria-hidden": "true" }, "▶") : "",
    entry.key,
  );
}

function disc(point: Breakpoint): HTMLElement {
  const condition = point.condition ? `if ${point.condition}` : "";
  const message = point.message ? `writes ${point.message}` : "";
  const words = [message, condition].filter(Boolean).join(", ");
  const label = `${message ? "logpoint" : "breakpoint"}${point.is_on ? "" : ", off"}${words && `, ${words}`}`;
  const look = `bp${point.is_on ? "" : " off"}${message && " log"}`;
  const names = { role: "img", "aria-label": label, title: words || null };
  return el("span", { class: look, ...names }, condition && !message ? "?" : "");
}
