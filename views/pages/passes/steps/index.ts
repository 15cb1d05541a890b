// A pipeline as a list: passes are added with completion, removed and moved, and their options are a form.

import type { PassOption, PipelineForm, StepsAction, StepsProps } from "#generated/models";
import { el, find, keepFocus, replace } from "#shared/dom";
import { consume, isTyping } from "#shared/keys";
import { component, type Tell } from "#shared/mount";
import { added, type Chain, moved, offers, removed, textOf, withOption } from "./chain";
import { type Doing, problemOf, rowOf } from "./draw";
import { Finder } from "./finder";
import style from "./style.css";

const key = (name: string) => el("span", { class: "kbd" }, name);

class Steps implements Doing {
  private readonly list = el("ol", { "aria-label": "Passes, in order" });
  private readonly said = el("div", { role: "status", class: "said" });
  private readonly finder = new Finder(
    (typed) => offers(this.model?.passes ?? [], typed),
    (place) => this.add(place),
  );
  private readonly keys = el(
    "p",
    { class: "muted keys" },
    key("Alt+↑"),
    " ",
    key("Alt+↓"),
    " move, ",
    key("Delete"),
    " removes",
  );
  private model: PipelineForm | undefined;
  private chain: Chain = [];
  private opened = -1;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<StepsAction>,
  ) {
    root.append(this.finder.root, this.list, this.said, this.keys);
  }

  setModel(model: PipelineForm): void {
    this.model = model;
    this.chain = model.steps;
    if (this.opened >= this.chain.length) this.opened = -1;
  }

  setProps(_: StepsProps): void {
    // A popover stands outside of the app's own element, which holds whether it is light or dark.
    const app = document.querySelector(".stApp");
    if (app) this.root.style.colorScheme = getComputedStyle(app).colorScheme;
    this.draw();
  }

  open(place: number): void {
    this.opened = this.opened === place ? -1 : place;
    this.draw();
  }

  move(from: number, to: number): void {
    const name = this.chain[from]?.name;
    if (to < 0 || to >= this.chain.length || !name) return;
    if (this.opened === from) this.opened = to;
    else if (this.opened >= 0) this.opened = -1;
    this.change(moved(this.chain, from, to), `${name} is now ${to + 1} of ${this.chain.length}`, to);
  }

  remove(place: number): void {
    const name = this.chain[place]?.name;
    if (!name || this.chain.length === 1) return;
    this.opened = -1;
    const left = removed(this.chain, place);
    this.change(left, `${name} is removed, ${left.length} passes`, Math.min(place, left.length - 1));
  }

  // Drawn when the page answers: a row that is made anew now would take the focus from the field that Tab goes to.
  set(place: number, option: PassOption, shown: string): void {
    this.chain = withOption(this.chain, place, option, shown);
    this.said.textContent = `${option.name} is ${shown || "the default"}`;
    this.tell({ kind: "text", text: textOf(this.chain) });
  }

  key(event: KeyboardEvent, place: number): void {
    if (isTyping(event)) return;
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      consume(event);
      this.move(place, place + (event.key === "ArrowUp" ? -1 : 1));
    } else if (event.key === "Delete") {
      consume(event);
      this.remove(place);
    }
  }

  private add(known: number): void {
    const pass = this.model?.passes[known];
    if (!pass) return;
    const place = this.opened >= 0 ? this.opened + 1 : this.chain.length;
    const chain = added(this.chain, place, pass.name, known);
    this.opened = place;
    this.change(chain, `${pass.name} is added, ${place + 1} of ${chain.length}`, place);
  }

  private change(chain: Chain, words: string, focus = -1): void {
    this.chain = chain;
    this.draw();
    this.said.textContent = words;
    if (focus >= 0) find(this.list, `[data-focus="name-${focus}"]`)?.focus();
    this.tell({ kind: "text", text: textOf(chain) });
  }

  private draw(): void {
    const { model, chain } = this;
    if (!model) return;
    this.root.dataset.passes = String(chain.length);
    this.finder.root.hidden = model.problems.length > 0;
    const rows = chain.map((step, place) =>
      rowOf({ step, pass: model.passes[step.known], place, count: chain.length, isOpen: place === this.opened }, this),
    );
    const hint = el("p", { class: "muted" }, "The list is empty until the text below can be read.");
    keepFocus(this.root, this.list, () => replace(this.list, rows));
    this.list.hidden = !rows.length;
    this.keys.hidden = !rows.length;
    for (const old of [...this.root.querySelectorAll(".why")]) old.remove();
    if (model.problems.length) this.root.append(el("div", { class: "why" }, model.problems.map(problemOf), hint));
  }
}

export default component(style, (root, tell: Tell<StepsAction>) => new Steps(root, tell));
