// A kernel in three forms beside each other; a line, a row or a key selects a part, and all forms show it.

import type { KernelsAction, KernelsProps, KernelText, KernelView } from "#generated/models";
import { segments } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { onKeys, stepOf } from "#shared/keys";
import { component, type Tell } from "#shared/mount";
import { count } from "#shared/tables";
import { type Form, formOf, markPart } from "./forms";
import style from "./style.css";
import { kernelTables, lineLinks, type Scene } from "./tables";

type FormOfIr = KernelsProps["form"];

/** The part that so many steps lead to, in a ring; from part 0, which is none, to the first or the last. */
export function nextPart(part: number, step: number, count: number): number {
  const from = part || (step > 0 ? 0 : 1);
  return ((from - 1 + step + count) % count) + 1;
}

class Kernels {
  private readonly body = el("div", { class: "forms" });
  private model: KernelView | undefined;
  private part = 0;
  private form: FormOfIr = "optimised";
  private forms: readonly Form[] = [];

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<KernelsAction>,
  ) {
    root.append(this.body);
    onKeys("kernels", root, (event) => this.onKey(event));
  }

  setModel(model: KernelView): void {
    this.model = model;
    this.forms = [];
  }

  setProps(props: KernelsProps): void {
    if (!this.model) return;
    const isSame = this.forms.length > 0 && props.form === this.form;
    this.form = props.form;
    this.part = this.model.parts.some(([number]) => number === props.part) ? props.part : 0;
    if (!isSame) this.draw(this.model);
    this.mark(true);
  }

  private onKey(event: KeyboardEvent): boolean {
    const step = stepOf(event, { j: 1, k: -1 });
    if (step) return this.go(step);
    if (event.key === "l") this.choose(this.form === "lowered" ? "optimised" : "lowered");
    else if (event.key === "Escape" && this.part > 0) this.select(0);
    else return false;
    return true;
  }

  private draw(model: KernelView): void {
    const scene: Scene = {
      model,
      pick: (number) => this.select(number === this.part ? 0 : number),
      follow: (line) => this.tell({ kind: "line", part: this.part, form: this.form, line }),
    };
    const entries = [
      ["lowered", "as lowered"],
      ["optimised", "optimised"],
    ] as const;
    const toggle = segments("Form of the IR", entries, this.form, (form) => this.choose(form));
    this.forms = [
      this.pane(model, "TIR", model.tir, el("code", { class: "n" }, model.name), originsOf(scene)),
      this.pane(model, "LLVM", model[this.form], toggle),
      this.pane(model, "Assembly", model.assembly, el("code", { class: "n" }, model.target)),
    ];
    this.body.replaceChildren(...this.forms.map((item) => item.section), ...kernelTables(scene));
    this.root.dataset.form = this.form;
    this.root.dataset.kernel = model.name;
  }

  private pane(model: KernelView, title: string, text: KernelText, extra: Child, origins?: Child): Form {
    const note = origins ?? count(text.instruction_count, "instruction");
    return formOf(model, { title, extra, note }, text, (own, others) => {
      this.select(own === this.part ? (others[0] ?? own) : own);
    });
  }

  private choose(form: FormOfIr): void {
    this.form = form;
    if (this.model) this.draw(this.model);
    this.mark(true);
    this.tell({ kind: "form", form, part: this.part });
  }

  private go(step: number): boolean {
    const total = this.model?.parts.length ?? 0;
    if (total) this.select(nextPart(this.part, step, total));
    return total > 0;
  }

  private select(part: number): void {
    this.part = part;
    this.mark(false);
    this.tell({ kind: "part", part, form: this.form });
  }

  // Every form scrolls to the part, but not the one in which it can be seen already.
  private mark(isFirst: boolean): void {
    for (const node of this.body.querySelectorAll(".sel,tr.on")) node.classList.remove("sel", "on");
    this.root.dataset.part = String(this.part);
    for (const form of this.forms) markPart(form, this.part, isFirst);
    if (!this.part) return;
    for (const node of this.body.querySelectorAll(`tr[data-part="${this.part}"]`)) node.classList.add("on");
  }
}

// The lines of the user's text that the kernel computes, as links to them.
function originsOf(scene: Scene): Child {
  const { origins } = scene.model;
  if (!origins.length) return "";
  return [origins.length > 1 ? "lines " : "line ", lineLinks(scene, origins)];
}

export default component(style, (root, tell: Tell<KernelsAction>) => new Kernels(root, tell));
