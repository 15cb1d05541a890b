// The two texts side by side: their rows are made as they come into sight.

import type { Diff, DiffSide } from "#generated/models";
import { cut, markedSpans, type Piece, type Span } from "#shared/code";
import { el } from "#shared/dom";
import { Find } from "#shared/find";
import { Tokens } from "#shared/grammar";
import { MARK_SIGN } from "#shared/marks";
import { Rows } from "#shared/rows";
import { type FoldKey, type Item, itemsOf, keyOf, partsOf, placeOf, rangesOf, textOfSide } from "./items";
import { columnsIn, tokensBetween } from "./wrap";

/** Which side: an index of a row of the model. */
type Which = 0 | 1;

interface Half {
  readonly which: Which;
  readonly box: HTMLElement;
  readonly lines: HTMLElement;
  readonly rows: Rows;
  readonly find: Find;
  readonly tokens: Tokens;
  texts: readonly string[];
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

export class Sides {
  readonly element = el("div", { class: "sides" });
  private readonly halves: readonly Half[];
  private readonly wrapButton: HTMLElement;
  private items: readonly Item[] = [];
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
      reveal: (index) => rows.reveal(index),
      redraw: () => rows.refresh(),
    });
    const words = el("span", { class: "title", title }, title);
    const name = el("div", { class: "name" }, words, find.element, isLast && this.wrapButton);
    const box = el("div", { class: "half", role: "region", "aria-label": title, tabindex: "0" }, name, lines);
    const tokens = new Tokens(
      this.model.rows.map((row) => textOfSide(row[which])),
      this.model.language,
    );
    const half: Half = { which, box, lines, rows, find, tokens, texts: [] };
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
    for (const half of this.halves) {
      half.texts = this.items.map((item) => this.searchedText(half, item));
      const longest = half.texts.reduce((most, text) => Math.max(most, text.length), 0);
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
    const place = node && isFromOutside ? placeOf(this.model, this.items, node) : -1;
    if (place >= 0) this.halves[0]?.rows.reveal(place);
    for (const { lines } of this.halves) {
      for (const row of lines.children) {
        row.classList.toggle("sel", node !== "" && row instanceof HTMLElement && row.dataset.node === node);
      }
    }
  }

  // A row of the page that is no beginning of a line holds nothing to be found.
  private searchedText(half: Half, item: Item): string {
    if (item.kind !== "line" || item.part) return "";
    return textOfSide(this.model.rows[item.row]?.[half.which] ?? null);
  }

  private itemOf(half: Half, place: number): HTMLElement {
    const item = this.items[place];
    if (!item) return el("div");
    if (item.kind === "line") return this.lineOf(half, item.row, item.part);
    const lines = `${item.count.toLocaleString("en")} unchanged lines`;
    const words = item.kind === "rows" ? lines : `${item.count} more rows of this line`;
    const unfold = { "aria-expanded": "false", click: () => this.expand(keyOf(item)) };
    return el("button", { type: "button", class: "fold", ...unfold }, el("span", {}, `⋯ ${words}`));
  }

  private expand(key: FoldKey): void {
    this.open.add(key);
    this.draw(Number.isFinite(this.columns));
    this.mark(this.selected, false);
  }

  private lineOf(half: Half, row: number, part: number): HTMLElement {
    const line = this.model.rows[row]?.[half.which] ?? null;
    if (!line) return filler(part);
    const [number, change, , node] = line;
    const [from, to, hang] = partsOf(line, this.columns)[part] ?? [0, 0, 0];
    const hits = half.find.marks(textOfSide(line)).map(([start, end, look]): Span => [start - from, end - from, look]);
    const isPlain = change === "unchanged";
    const isFirst = part === 0 && number > 0;
    const sign = isPlain || !isFirst ? "" : el("span", { role: "img", "aria-label": change }, MARK_SIGN[change]);
    const look = (isPlain ? "" : change) + (node && node === this.selected ? " sel" : "");
    const text = markedSpans(tokensBetween(this.piecesOf(half, row, line), from, to), hits);
    return el(
      "div",
      { class: `ln ${look}`, data: { line: number, node } },
      this.gutterOf(line, part),
      el("span", { class: "s" }, sign),
      el("span", { class: "t", style: { paddingLeft: hang ? `${hang}ch` : "" } }, text),
    );
  }

  private piecesOf(half: Half, row: number, line: DiffSide): readonly Piece[] {
    const differing = rangesOf(line).map(([from, to]): Span => [from, to, "differs"]);
    return cut(half.tokens.at(row), differing).map(([[text, syntax], look]) => [text, syntax, look !== ""]);
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
