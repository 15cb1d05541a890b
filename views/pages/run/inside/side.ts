// The middle of the view: loops with their values, the block with its axes, and where to run to.

import type { InsideLoop, InsideProps, InsideStop, InsideView } from "#generated/models";
import { button } from "#shared/controls";
import { type Child, el, replace } from "#shared/dom";
import { headOf } from "#shared/tables";
import { Threads } from "./threads";
import { Watches } from "./watches";

export interface Asks {
  readonly move: (text: string) => void;
  readonly loop: (number: number) => void;
  readonly choose: (name: string, text: string) => void;
}

const BOXES = 24;

export class Side {
  readonly element = el("section", { class: "pane middle" });
  private readonly body = el("div", { class: "body", tabindex: 0, role: "region", "aria-label": "Loops" });
  private readonly form: HTMLElement;
  private readonly threads: Threads;
  private readonly watches: Watches;
  private readonly loops = el("div", {});
  private readonly values = el("span", { class: "values" });
  private fields: readonly (readonly [string, HTMLInputElement])[] = [];

  constructor(private readonly asks: Asks) {
    this.form = this.makeForm();
    this.threads = new Threads(asks);
    this.watches = new Watches((text) => asks.choose("watch", text));
    this.body.append(this.threads.element, this.loops, this.watches.element);
    this.element.append(this.body, headOf("Run to"), this.form);
  }

  /** Puts an element into the field of what is looked for. */
  lookFor(cell: string): void {
    const field = this.form.querySelector<HTMLInputElement>("[aria-label='Write of']");
    if (field) field.value = cell;
  }

  draw(view: InsideView, stop: InsideStop | undefined, props: InsideProps): void {
    const rows = view.loops.map((loop, at) => this.row(loop, stop?.loops[at] ?? [], props.loop));
    const loops = rows.length ? [headOf("Loops"), el("div", { class: "loops", role: "list" }, rows)] : "";
    replace(this.loops, loops, blockOf(view, stop));
    this.threads.draw(view.threads, stop?.threads);
    this.watches.draw(props.watch, view.watched, stop?.watched ?? []);
    this.drawFields(view, stop);
  }

  private row(loop: InsideLoop, place: readonly number[], chosen: number): HTMLElement {
    const indent = { paddingLeft: `${12 + loop.depth * 11}px` };
    const isAround = place.length > 0;
    const look = `loop${isAround ? " around" : ""}${loop.number === chosen ? " on" : ""}`;
    if (loop.kind === "block") {
      const name = loop.name ? `block ${loop.name}` : "block";
      return el("div", { class: look, role: "listitem" }, el("span", { class: "m", style: indent }, name));
    }
    const pick = () => this.asks.loop(loop.number === chosen ? -1 : loop.number);
    const words = loop.kind === "for" ? loop.name : "";
    const label = el(
      "span",
      { class: "m name", style: indent },
      el("span", { class: "synKeyword" }, loop.kind),
      ` ${words}`,
    );
    const name = el(
      "button",
      { type: "button", class: "pick", "aria-pressed": loop.number === chosen, click: pick },
      label,
    );
    const next = button("next", "t", "", () => this.asks.move(`next ${words || "while"}`), {
      disabled: !isAround,
      "aria-label": `Next iteration of ${words || "while"}`,
    });
    const [value = 0, start = loop.start, end = loop.end] = place;
    const count = Math.ceil((end - start) / loop.step);
    const done = isAround ? (value - start) / loop.step : -1;
    const far = count > 0 ? `${isAround ? done + 1 : "–"} of ${count.toLocaleString("en")}` : "";
    const cells: Child[] = [name, bar(done, count), el("span", { class: "far", data: { loop: loop.name } }, far), next];
    return el("div", { class: look, role: "listitem" }, cells);
  }

  private makeForm(): HTMLElement {
    const at = () => this.fields.map(([name, field]) => (field.value === "" ? "" : `${name}=${field.value}`));
    const iteration = () => this.asks.move(at().filter(Boolean).join(", "));
    this.values.addEventListener("keydown", (event) => {
      if (event.key === "Enter") iteration();
    });
    const go = button("Go", "", "", iteration, { "aria-label": "Go to the iteration" });
    const move = (words: string, text: string) => button(words, "", "", () => this.asks.move(text));
    return el(
      "div",
      { class: "form" },
      line("Iteration", this.values, go),
      this.search("Condition", "i == 3 and A[i, j] < 0", "if", "the condition"),
      this.search("Write of", "C[3, 6]", "write", "the write"),
      el("div", { class: "to" }, move("First NaN", "nan"), move("Out of loop", "out"), move("End", "end")),
    );
  }

  // A field for what is looked for, and buttons that look backwards and forwards.
  private search(label: string, example: string, verb: string, what: string): HTMLElement {
    const field = el("input", { type: "text", "aria-label": label, placeholder: example });
    const go = (way: string) => () => this.asks.move(`${way}${verb} ${field.value}`);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") go("")();
    });
    const back = button("‹", "i", "", go("back "), { "aria-label": `Back to ${what}` });
    return line(label, field, back, button("›", "i", "", go(""), { "aria-label": `On to ${what}` }));
  }

  // The fields are those of the loops around; what is typed into one stays while the loops are the same.
  private drawFields(view: InsideView, stop: InsideStop | undefined): void {
    const around = view.loops.filter((loop, at) => loop.kind === "for" && (stop?.loops[at]?.length ?? 0) > 0);
    const names = around.map((loop) => loop.name);
    if (names.join() === this.fields.map(([name]) => name).join()) return;
    this.fields = names.map((name) => [name, el("input", { type: "number", "aria-label": `Iteration of ${name}` })]);
    replace(
      this.values,
      this.fields.map(([name, field]) => el("label", { class: "value" }, field, el("span", { class: "m" }, name))),
    );
  }
}

function line(label: string, ...parts: Child[]): HTMLElement {
  return el("div", { class: "to" }, el("span", { class: "label" }, label), parts);
}

// A box for each iteration, or a bar where there are many.
function bar(done: number, count: number): HTMLElement {
  const element = el("span", { class: "bar", "aria-hidden": "true" });
  if (count <= 0) return element;
  if (count > BOXES) {
    const width = `${(100 * Math.max(done, 0)) / count}%`;
    element.append(el("span", { class: "fill", style: { width } }));
    if (done >= 0) element.append(el("span", { class: "here-box", style: { left: width } }));
    return element;
  }
  for (let at = 0; at < count; at += 1) {
    element.append(el("span", { class: at < done ? "box done" : at === done ? "box here" : "box" }));
  }
  return element;
}

function blockOf(view: InsideView, stop: InsideStop | undefined): Child {
  const block = view.loops.find((loop) => loop.number === stop?.block);
  const lets = stop?.lets.map(([name, value]) => row(name, "let", value)) ?? [];
  if (!stop || !block) return lets.length ? [headOf("Variables"), el("table", {}, el("tbody", {}, lets))] : "";
  const phases = (["init", "update"] as const).map((phase) =>
    el("span", { class: `phase${stop.phase === phase ? " on" : ""}` }, stop.phase === phase ? `▶ ${phase}` : phase),
  );
  const axes = stop.axes.map((axis) => row(axis.name, axis.kind, `${axis.value} of ${axis.extent}`, axis.binding));
  const where = stop.where ? [row("where", "true", stop.where)] : [];
  return [
    headOf(block.name ? `Block ${block.name}` : "Block"),
    stop.phase ? el("div", { class: "phases" }, phases) : "",
    el("table", { class: "axes" }, el("tbody", {}, axes, where, lets)),
  ];
}

function row(name: string, kind: string, value: string, binding = ""): HTMLElement {
  const bound = binding ? `= ${binding}` : "";
  return el(
    "tr",
    {},
    el("td", { class: "m" }, name),
    el("td", { class: "muted" }, kind),
    el("td", { class: "m muted" }, bound),
    el("td", { class: "m r" }, value),
  );
}
