// A field that completes names of passes.

import { el, replace } from "#shared/dom";
import { consume } from "#shared/keys";
import type { Offer } from "./chain";

export class Finder {
  readonly root: HTMLElement;
  private readonly field: HTMLInputElement;
  private readonly list = el("ul", { role: "listbox", id: "offers", "aria-label": "Passes to add" });
  private found: readonly Offer[] = [];
  private current = 0;

  constructor(
    private readonly search: (typed: string) => readonly Offer[],
    private readonly pick: (place: number) => void,
  ) {
    this.field = el("input", {
      type: "text",
      role: "combobox",
      "aria-label": "Add a pass",
      "aria-controls": "offers",
      "aria-expanded": "false",
      "aria-autocomplete": "list",
      placeholder: "Add a pass: type a name, or what it does",
      spellcheck: "false",
      autocomplete: "off",
      input: () => this.show(),
      click: () => this.show(),
      blur: () => this.hide(),
      keydown: (event) => this.onKey(event),
    });
    this.list.hidden = true;
    // A press in the list must not take the focus from the field, which would hide the list.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.root = el("div", { class: "finder" }, this.field, this.list);
  }

  private show(): void {
    this.found = this.search(this.field.value);
    this.current = 0;
    this.draw();
  }

  private hide(): void {
    this.found = [];
    this.draw();
  }

  private draw(): void {
    this.list.hidden = !this.found.length;
    this.field.setAttribute("aria-expanded", String(this.found.length > 0));
    if (this.found.length) this.field.setAttribute("aria-activedescendant", `offer-${this.current}`);
    else this.field.removeAttribute("aria-activedescendant");
    const items = this.found.map(([place, { name, dialect, summary }], at) =>
      el(
        "li",
        {
          role: "option",
          id: `offer-${at}`,
          "aria-selected": String(at === this.current),
          click: () => this.take(place),
        },
        el("b", {}, name),
        el("span", { class: "muted" }, ` ${dialect === "relay" ? "Relay: " : ""}${summary}`),
      ),
    );
    replace(this.list, items);
    this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  private take(place: number): void {
    this.field.value = "";
    this.hide();
    this.pick(place);
  }

  private onKey(event: KeyboardEvent): void {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const offer = this.found[this.current];
    if (by && !this.found.length) this.show();
    else if (by) this.current = Math.min(Math.max(this.current + by, 0), this.found.length - 1);
    else if (event.key === "Enter" && offer) this.take(offer[0]);
    else if (event.key === "Escape" && this.found.length) this.hide();
    else return;
    consume(event);
    if (by) this.draw();
  }
}
