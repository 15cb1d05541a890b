// The field that searches the graph.

import { el } from "#shared/dom";

export class Search {
  readonly element: HTMLElement;
  private readonly hits = el("span", { class: "muted" });
  private readonly input: HTMLInputElement;

  /** `find` marks what has a text and gives how many; `next` goes on among them; `leave` gives the focus back. */
  constructor(
    private readonly find: (text: string) => number,
    private readonly next: (by: number) => void,
    private readonly leave: () => void,
  ) {
    const names = { "aria-label": "Search the graph", placeholder: "Name, type, function" };
    const input = () => this.look();
    this.input = el("input", { type: "search", ...names, input, keydown: (event) => this.onKey(event) });
    this.element = el("div", { class: "find", hidden: true }, this.input, this.hits);
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

  private look(): void {
    const wanted = this.input.value.trim().toLowerCase();
    const count = this.find(wanted);
    this.hits.textContent = wanted ? `${count} found` : "";
  }

  private onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.close();
      this.leave();
    } else if (event.key === "Enter") {
      this.next(event.shiftKey ? -1 : 1);
    }
  }
}
