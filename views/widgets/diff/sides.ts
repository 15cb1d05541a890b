// The two texts side by side: their rows are made as they come into sight.

import type { Diff, DiffSide } from "#generated/models";
import { cut, markedSpans, type Piece, type Span, tokensBetween } from "#shared/code";
import { type Child, el } from "#shared/dom";
import { Find } from "#shared/find";
import { Tokens } from "#shared/grammar";
import { MARK_SIGN } from "#shared/marks";
import { Rows } from "#shared/rows";
import { manyParameters, parametersWords } from "#shared/signature";
import {
  type FoldKey,
  foldOf,
  type Item,
  itemsOf,
  keyOf,
  partsOf,
  placeAt,
  placeOf,
  rangesOf,
  textOfSide,
} from "./items";
import { columnsIn } from "./wrap";

/** Which side: an index of a row of the model. */
type Which = 0 | 1;

interface Half {
  readonly which: Which;
  readonly box: HTMLElement;
  readonly lines: HTMLElement;
  readonly rows: Rows;
  readonly find: Find;
  readonly tokens: Tokens;
  /** The lines by rows of the model. */
  readonly texts: readonly string[];
}

/** What the texts ask of the component: to select the node of a line, and to wrap long lines or not. */
export interface Asks {
  readonly choose: (node: string, line: number) => void;
  readonly toggleWrap: () => void;
}

// Pixels of a side beside its text: number, sign, padding and the bar that scrolls.
const BESIDE_TEXT = 86;
// Room behind a change that was behind the right edge, and how many marks of a side are looked at for it.
const CHANGE_MARGIN = 60;
const MARKS_SEEN = 200;
// What stands for many parameters has room for some of their names; behind it a long result is cut.
const LEAST_WORDS = 24;
const MOST_WORDS = 80;

export class Sides {
  readonly element = el("div", { class: "sides" });
  private readonly halves: readonly Half[];
  private readonly wrapButton: HTMLElement;
  private items: readonly Item[] = [];
  private shownRows: ReadonlySet<number> = new Set();
  // The folds that a search has opened.
  private way: readonly FoldKey[] = [];
  private selected = "";
  private columns = Number.POSITIVE_INFINITY;

  constructor(
    private readonly root: HTMLElement,
    private readonly model: Diff,
    private readonly open: Set<FoldKey>,
    private readonly asks: Asks,
  ) {
    const key = el("span", { class: "kbd", "aria-hidden": "true" }, "w");
    const wrap = { title: "Long lines on several rows (w)", "aria-pressed": "true", click: asks.toggleWrap };
    this.wrapButton = el("button", { type: "button", class: "chip wrap", ...wrap }, "Wrap ", key);
    const titles = [model.before_title, model.after_title].filter((title) => title);
    this.halves = titles.map((title, which) => this.half(which ? 1 : 0, title, which === titles.length - 1));
    this.element.append(...this.halves.map((half) => half.box));
  }

  private half(which: Which, title: string, isLast: boolean): Half {
    const lines = el("div", { class: "code lines" });
    const rows = new Rows(this.element, lines, (place) => this.itemOf(half, place));
    const find = new Find(this.root, title, {
      texts: () => half.texts,
      reveal: (row) => this.showHit(half, row),
      redraw: () => rows.refresh(),
      isHidden: (row) => !this.shownRows.has(row),
    });
    const words = el("span", { class: "title", title }, title);
    const name = el("div", { class: "name" }, words, find.element, isLast && this.wrapButton);
    const box = el("div", { class: "half", role: "region", "aria-label": title, tabindex: "0" }, name, lines);
    const texts = this.model.rows.map((row) => textOfSide(row[which]));
    const half: Half = { which, box, lines, rows, find, texts, tokens: new Tokens(texts, this.model.language) };
    return half;
  }

  /** How many columns of text a side has room for. */
  room(): number {
    return columnsIn(this.root, this.root.clientWidth / this.halves.length - BESIDE_TEXT);
  }

  /** Whether the room for a side is another one than what its lines are wrapped for. */
  isOutgrown(): boolean {
    return Number.isFinite(this.columns) && this.room() !== this.columns;
  }

  draw(isWrapping: boolean): void {
    this.columns = isWrapping ? this.room() : Number.POSITIVE_INFINITY;
    this.items = itemsOf(this.model, this.columns, this.open);
    const lines = this.items.filter((item) => item.kind === "line");
    this.shownRows = new Set(this.items.filter((item) => item.kind !== "rows").map((item) => item.row));
    for (const half of this.halves) {
      const longest = lines.reduce((most, { row }) => Math.max(most, half.texts[row]?.length ?? 0), 0);
      half.rows.set(this.items.length, isWrapping ? 0 : longest);
    }
    this.wrapButton.classList.toggle("accent", isWrapping);
    this.wrapButton.setAttribute("aria-pressed", String(isWrapping));
  }

  resetFind(): void {
    for (const { find } of this.halves) find.reset();
  }

  /** If all changes of a text are behind its right edge, brings the nearest one into sight. */
  showChange(): void {
    for (const { box, lines } of this.halves) {
      const edge = box.getBoundingClientRect().right;
      const marks = [...lines.querySelectorAll(".ln u")].slice(0, MARKS_SEEN);
      const behind = Math.min(...marks.map((mark) => mark.getBoundingClientRect().right - edge));
      if (marks.length && behind > 0) box.scrollLeft += behind + CHANGE_MARGIN;
    }
  }

  mark(node: string, isFromOutside: boolean): void {
    this.selected = node;
    if (node && isFromOutside) this.showNode(node);
    for (const { lines } of this.halves) {
      for (const row of lines.children) {
        row.classList.toggle("sel", node !== "" && row instanceof HTMLElement && row.dataset.node === node);
      }
    }
  }

  private showNode(node: string): void {
    if (placeOf(this.model, this.items, node) < 0) {
      const row = this.model.rows.findIndex((sides) => sides.some((side) => side?.[3] === node));
      const fold = row < 0 ? undefined : foldOf(this.model, row);
      if (fold !== undefined) this.unfold([fold]);
    }
    const place = placeOf(this.model, this.items, node);
    if (place >= 0) this.halves[0]?.rows.reveal(place);
  }

  // Opens what hides the first hit in a line, and closes what the last one has opened.
  private showHit(half: Half, row: number): void {
    const side = this.model.rows[row]?.[half.which] ?? null;
    const at = half.find.marks(textOfSide(side))[0]?.[0] ?? 0;
    const fold = foldOf(this.model, row);
    const keys: FoldKey[] = fold === undefined ? [] : [fold];
    const left = this.way.filter((key) => !keys.includes(key) && key !== `line ${row}`);
    for (const key of left) this.open.delete(key);
    this.way = this.way.filter((key) => !left.includes(key));
    if (left.length) this.draw(Number.isFinite(this.columns));
    const place = () => placeAt(this.items, row, side, at, this.columns);
    if (place() < 0) this.way = [...this.way, ...this.unfold(keys)];
    if (place() < 0) this.way = [...this.way, ...this.unfold([`line ${row}`])];
    half.rows.reveal(Math.max(0, place()));
  }

  // Gives those that were not open.
  private unfold(keys: readonly FoldKey[]): readonly FoldKey[] {
    const closed = keys.filter((key) => !this.open.has(key));
    for (const key of closed) this.open.add(key);
    if (closed.length) this.draw(Number.isFinite(this.columns));
    return closed;
  }

  private itemOf(half: Half, place: number): HTMLElement {
    const item = this.items[place];
    if (!item) return el("div");
    const count = item.kind === "line" ? "" : item.count.toLocaleString("en");
    switch (item.kind) {
      case "line":
        return this.lineOf(half, item.row, item.part);
      case "signature":
        return this.signatureOf(half, item);
      case "rows":
        return this.foldOf(item, `⋯ ${count} unchanged lines`);
      case "parts":
        return this.foldOf(item, `⋯ ${count} more rows of this line`);
      case "opened":
        return this.foldOf(item, `▾ ${count} parameters`);
    }
  }

  private foldOf(item: Item, words: string): HTMLElement {
    const state = { "aria-expanded": String(item.kind === "opened"), click: () => this.toggle(keyOf(item)) };
    return el("button", { type: "button", class: "fold", ...state }, el("span", {}, words));
  }

  private toggle(key: FoldKey): void {
    if (!this.open.delete(key)) this.open.add(key);
    this.draw(Number.isFinite(this.columns));
    this.mark(this.selected, false);
  }

  // One row for a line with many parameters, whose names stand for them.
  private signatureOf(half: Half, item: Item): HTMLElement {
    const line = this.model.rows[item.row]?.[half.which] ?? null;
    if (!line) return filler(0);
    const text = textOfSide(line);
    const room = Number.isFinite(this.columns) ? this.columns : MOST_WORDS;
    const many = manyParameters(text);
    if (!many) return this.rowOf(line, 0, 0, this.textOf(half, item.row, line, 0, text.length));
    const { from, to, names } = many;
    const changes = rangesOf(line).filter(([start, end]) => start < to && end > from).length;
    const extra = changes ? ` · ${changes} changed` : "";
    const words = `▸ ${parametersWords(names, Math.max(LEAST_WORDS, room - from - extra.length - LEAST_WORDS))}${extra}`;
    const state = { "aria-expanded": "false", click: () => this.toggle(keyOf(item)) };
    const tag = el("button", { type: "button", class: "tag", ...state }, words);
    const end = Math.min(text.length, to + Math.max(LEAST_WORDS, room - from - words.length - 6));
    const shown = [this.textOf(half, item.row, line, 0, from), tag, this.textOf(half, item.row, line, to, end)];
    return this.rowOf(line, 0, 0, [shown, end < text.length && "…"]);
  }

  private lineOf(half: Half, row: number, part: number): HTMLElement {
    const line = this.model.rows[row]?.[half.which] ?? null;
    if (!line) return filler(part);
    const [from, to, hang] = partsOf(line, this.columns)[part] ?? [0, 0, 0];
    return this.rowOf(line, part, hang, this.textOf(half, row, line, from, to));
  }

  private rowOf(line: DiffSide, part: number, hang: number, text: Child): HTMLElement {
    const [number, change, , node] = line;
    const isPlain = change === "unchanged";
    const isFirst = part === 0 && number > 0;
    const sign = isPlain || !isFirst ? "" : el("span", { role: "img", "aria-label": change }, MARK_SIGN[change]);
    const look = (isPlain ? "" : change) + (node && node === this.selected ? " sel" : "");
    return el(
      "div",
      { class: `ln ${look}`, data: { line: number, node } },
      this.gutterOf(line, part),
      el("span", { class: "s" }, sign),
      el("span", { class: "t", style: { paddingLeft: hang ? `${hang}ch` : "" } }, text),
    );
  }

  // A part of a line with what differs and what is found in it.
  private textOf(half: Half, row: number, line: DiffSide, from: number, to: number): Child {
    const differing = rangesOf(line).map(([start, end]): Span => [start, end, "differs"]);
    const pieces = cut(half.tokens.at(row), differing).map(([[text, syntax], look]): Piece => [text, syntax, !!look]);
    const hits = half.find.marks(textOfSide(line)).map(([start, end, look]): Span => [start - from, end - from, look]);
    return markedSpans(tokensBetween(pieces, from, to), hits);
  }

  private gutterOf(line: DiffSide, part: number): HTMLElement {
    const [number, , , node] = line;
    if (part === 0 && number > 0) {
      const cell = el("span", { class: "g", data: node ? { node } : {} }, number);
      if (node) cell.addEventListener("click", () => this.asks.choose(node, number));
      return cell;
    }
    return el("span", { class: "g" }, part < partsOf(line, this.columns).length ? "↪" : "");
  }
}

function filler(part: number): HTMLElement {
  const look = part ? "ln hatched" : "ln filler";
  const cells = ["g", "s", "t"].map((name) => el("span", { class: name }));
  return el("div", { class: look, "aria-hidden": "true" }, cells);
}
