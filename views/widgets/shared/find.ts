// Looks for words in all lines of a text; the browser's own search sees only the lines that are in the page.

import type { Span } from "./code";
import { el } from "./dom";
import { isDialogOpen } from "./keys";
import { later } from "./values";

const FIND_DELAY = 120;
// A shorter text is whole in the page.
const FIND_LINES = 150;

/** The text that is searched: its lines, how one is shown, and how the lines in sight are made anew. */
export interface Searched {
  readonly texts: () => readonly string[];
  readonly reveal: (index: number) => void;
  readonly redraw: () => void;
  /** Whether a line is folded away until it is revealed. */
  readonly isHidden?: (index: number) => boolean;
}

/** Where a word is in a text; one without capitals is found in any case. */
export function placesOf(wanted: string, text: string): readonly number[] {
  if (!wanted) return [];
  const whole = wanted === wanted.toLowerCase() ? text.toLowerCase() : text;
  const places: number[] = [];
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

export class Find {
  readonly element: HTMLElement;
  private wanted = "";
  private found: readonly number[] = [];
  private place = -1;
  private hidden = 0;
  private readonly input: HTMLInputElement;
  private readonly count = el("span", { class: "n", role: "status" });
  private readonly search = later(FIND_DELAY, () => this.look());

  constructor(
    private readonly root: HTMLElement,
    label: string,
    private readonly searched: Searched,
  ) {
    const title = "Enter leads to the next line with it, Shift and Enter to the one before";
    const names = { placeholder: "Find", "aria-label": `Find in ${label}`, title };
    this.input = el("input", { type: "search", class: "find", ...names });
    this.element = el("span", { class: "row finder" }, this.count, this.input);
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("keydown", this.onFind, true);
  }

  /** Looks for nothing any more: the text is another one. */
  reset(): void {
    this.element.hidden = this.searched.texts().length < FIND_LINES;
    this.found = [];
    this.wanted = this.input.value = "";
    this.say();
  }

  /** What is found in a line, for `markedSpans`. */
  marks(text: string): readonly Span[] {
    return placesOf(this.wanted, text).map((at) => [at, at + this.wanted.length, "hit"]);
  }

  private look(): void {
    this.wanted = this.input.value;
    this.found = this.searched.texts().flatMap((text, index) => (placesOf(this.wanted, text).length ? [index] : []));
    this.place = -1;
    this.hidden = this.found.filter((index) => this.searched.isHidden?.(index)).length;
    this.searched.redraw();
    this.step(1);
  }

  private step(by: number): void {
    const total = this.found.length;
    this.place = this.place < 0 ? 0 : (this.place + by + total) % total;
    const index = this.found[this.place];
    if (index !== undefined) this.searched.reveal(index);
    this.say();
  }

  private say(): void {
    const total = this.found.length;
    const folded = this.hidden ? `, ${this.hidden.toLocaleString("en")} in folds` : "";
    const words = total ? `${this.place + 1} of ${total.toLocaleString("en")} lines${folded}` : "not found";
    this.count.textContent = this.wanted ? words : "";
  }

  private onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.input.value = "";
      this.look();
      this.input.blur();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (this.input.value === this.wanted) {
      this.step(event.shiftKey ? -1 : 1);
      return;
    }
    this.search.cancel();
    this.look();
  }

  // The listener ends with its component.
  private readonly onFind = (event: KeyboardEvent): void => {
    if (!this.root.isConnected) {
      document.removeEventListener("keydown", this.onFind, true);
      return;
    }
    const isFind = (event.ctrlKey || event.metaKey) && event.key === "f";
    if (!isFind || event.defaultPrevented || this.element.hidden || isDialogOpen()) return;
    event.preventDefault();
    this.input.focus();
    this.input.select();
  };
}
