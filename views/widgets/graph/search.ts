// The field that searches the graph, and which of the hits is looked at.

import { button } from "#shared/controls";
import { el } from "#shared/dom";
import type { Hit } from "./hits";
import { QueryError, readQuery, type Test } from "./query";

const HELP = `Words, /regular expressions/, and conditions on op, name, dtype, shape, shape[0] and rank, such as:
op = matmul and dtype = f32
name ~ norm$
shape[-1] >= 512
Enter goes to the next hit, Shift+Enter to the one before; a hit in a group opens the way to it.`;

/** What the field asks of the graph. */
export interface Searching {
  /** Marks what passes a test, nothing if there is none, and returns it. */
  readonly find: (test: Test | undefined) => readonly Hit[];
  readonly go: (hit: Hit) => void;
  readonly selected: () => string;
  /** How many nodes are searched. */
  readonly count: () => number;
  /** Gives the focus back. */
  readonly leave: () => void;
}

export class Search {
  readonly element: HTMLElement;
  private hits: readonly Hit[] = [];
  private place = -1;
  private readonly words = el("span", { class: "muted", role: "status" });
  private readonly input: HTMLInputElement;
  private readonly steps: readonly HTMLButtonElement[];

  constructor(private readonly graph: Searching) {
    const names = { "aria-label": "Search the graph", placeholder: "Name, op = matmul, /regex/", title: HELP };
    const input = () => this.look();
    this.input = el("input", { type: "search", ...names, input, keydown: (event) => this.onKey(event) });
    const step = (sign: string, label: string, by: number) =>
      button(sign, "i", "", () => this.step(by), { "aria-label": label, title: label });
    this.steps = [step("‹", "Previous hit", -1), step("›", "Next hit", 1)];
    this.element = el("div", { class: "sought", role: "search", hidden: true }, this.input, this.steps, this.words);
    this.say();
  }

  get hasFocus(): boolean {
    return this.input.matches(":focus");
  }

  open(): void {
    this.element.hidden = false;
    this.input.focus();
  }

  close(): void {
    this.element.hidden = true;
    this.input.value = "";
    this.look();
  }

  /** Looks again, in another picture; the hit that is looked at stays the one. */
  again(): void {
    const before = this.place;
    this.look();
    const selected = this.graph.selected();
    const same = before < 0 ? -1 : this.hits.findIndex((hit) => hit.node === selected);
    this.place = same < 0 ? Math.min(before, this.hits.length - 1) : same;
    this.say();
  }

  /** Goes on among the hits, if there are any. */
  step(by: number): boolean {
    const { length } = this.hits;
    if (!length) return false;
    this.place = this.place < 0 ? (by > 0 ? 0 : length - 1) : (this.place + by + length) % length;
    const hit = this.hits[this.place];
    if (hit) this.graph.go(hit);
    this.say();
    return true;
  }

  private look(): void {
    const wanted = this.input.value.trim();
    const read = wanted ? readQuery(this.input.value) : undefined;
    this.place = -1;
    this.hits = this.graph.find(read instanceof QueryError ? undefined : read);
    this.say(read instanceof QueryError ? read : undefined);
  }

  private say(error?: QueryError): void {
    const { length } = this.hits;
    const count = this.graph.count().toLocaleString("en");
    this.input.setAttribute("aria-invalid", String(error !== undefined));
    for (const item of this.steps) item.disabled = !length;
    this.words.classList.toggle("error-text", error !== undefined);
    if (error) this.words.textContent = `Column ${error.column}: ${error.words}`;
    else if (!this.input.value.trim()) this.words.textContent = "";
    else if (!length) this.words.textContent = `No hit. ${count} nodes searched, folds included.`;
    else if (this.place < 0) this.words.textContent = `${length.toLocaleString("en")} found`;
    else this.words.textContent = `${(this.place + 1).toLocaleString("en")} of ${length.toLocaleString("en")}`;
  }

  private onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.close();
      this.graph.leave();
    } else if (event.key === "Enter") {
      this.step(event.shiftKey ? -1 : 1);
    }
  }
}
