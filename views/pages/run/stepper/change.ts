// A change to the stopped program: what a variable or a register gets, and the button that runs on with it.

import type { ChangeFault, Problem, StepperAction, Value } from "#generated/models";
import { button } from "#shared/controls";
import { type Child, el, find, prose } from "#shared/dom";
import { codeLink } from "#shared/explain";
import { severitySign } from "#shared/marks";

/** The register that is changed: of the frame at a depth, by its variable or its own name. */
export interface Target {
  readonly key: string;
  readonly depth: number;
  readonly name: string;
}

export type Change = Required<Pick<StepperAction, "text" | "is_in_place" | "content">>;

interface Draft {
  readonly key: string;
  place: string;
  value: string;
  isInPlace: boolean;
  file: { readonly name: string; readonly content: string } | undefined;
  problem: (Pick<Problem, "severity" | "code" | "message"> & Partial<Problem>) | undefined;
}

const FILE_MEGABYTES = 24;
const FILE_BYTES = FILE_MEGABYTES * 1024 * 1024;
const FILE_CALL = "file()";
const LONGEST = 400;
const CHANGEABLE = /^(tensor|tensor0|prim|shape|string|tuple|adt|unwritten)$/;
const TENSOR = /^(tensor|tensor0|unwritten)$/;
const FILLS = ["zeros()", "ones()", "random(0)", "normal(0)"];

export class ChangeForm {
  /** Why no value can be changed, empty if one can. */
  fixed = "";
  private draft: Draft | undefined;

  /** `run` gets a change; `show` draws the pane `side`, which the form is in, again. */
  constructor(
    private readonly side: HTMLElement,
    private readonly run: (change: Change) => void,
    private readonly show: () => void,
  ) {}

  close(): void {
    this.draft = undefined;
  }

  /** Says why a change did not fit. */
  refuse(fault: ChangeFault | null): void {
    if (!this.draft || !fault) return;
    this.draft.problem = fault.problem;
    requestAnimationFrame(() => this.reveal());
  }

  open(target: Target, element?: readonly number[]): void {
    if (this.fixed) return;
    const place = element ? `${target.name}[${element.join(", ")}]` : target.name;
    this.draft = { key: target.key, place, value: "", isInPlace: false, file: undefined, problem: undefined };
    this.redraw("change-value");
  }

  opener(target: Target, value: Value): Child {
    if (!CHANGEABLE.test(value.kind)) return "";
    if (this.fixed) return el("button", { type: "button", class: "link", disabled: "", title: this.fixed }, "Change");
    const isOpen = this.draft?.key === target.key;
    const click = () => (isOpen ? this.leave() : this.open(target));
    const state = { "aria-expanded": String(isOpen), data: { focus: "change-open" }, click };
    return el("button", { type: "button", class: "link", ...state }, "Change");
  }

  form(target: Target, value: Value): Child {
    const { draft } = this;
    if (draft?.key !== target.key) return "";
    const isTensor = TENSOR.test(value.kind);
    const hint = isTensor ? `0.5, nan, ${target.name} * 2` : value.short;
    const run = button("Run on with this value", "p", "", () => this.submit(draft), { data: { focus: "change-run" } });
    const line = el(
      "div",
      { class: "change-line" },
      this.field(draft, "place", "What is changed", ""),
      el("span", { class: "m" }, "="),
      this.field(draft, "value", "Its value", hint),
      run,
    );
    const rest = isTensor ? [this.fills(draft, target), inPlace(draft)] : "";
    return el("div", { class: "change", role: "group", "aria-label": "Change a value" }, line, rest, problemOf(draft));
  }

  private leave(): void {
    this.close();
    this.redraw("change-open");
  }

  private redraw(focus: string): void {
    this.show();
    find(this.side, `[data-focus="${focus}"]`)?.focus({ preventScroll: true });
    this.reveal();
  }

  private reveal(): void {
    find(this.side, ".change")?.scrollIntoView({ block: "nearest" });
  }

  private field(draft: Draft, name: "place" | "value", label: string, placeholder: string): HTMLInputElement {
    const input = el("input", {
      type: "text",
      class: "m",
      maxlength: LONGEST,
      spellcheck: "false",
      autocomplete: "off",
      placeholder,
      "aria-label": label,
      data: { focus: `change-${name}` },
      input: () => {
        draft[name] = input.value;
        draft.problem = undefined;
      },
      keydown: (event) => this.onKey(draft, event),
    });
    input.value = draft[name];
    return input;
  }

  private onKey(draft: Draft, event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Enter") this.submit(draft);
    if (event.key === "Escape") this.leave();
  }

  private fills(draft: Draft, target: Target): HTMLElement {
    const put = (text: string) => {
      draft.value = text;
      draft.file = undefined;
      this.redraw("change-value");
    };
    const fill = (text: string) => button(text, "t m", "", () => put(text), { data: { focus: `fill-${text}` } });
    const picked = { "aria-label": "A .npy file", data: { focus: "change-file" } };
    const change = () => void this.take(draft, input.files?.[0]);
    const input = el("input", { type: "file", accept: ".npy", class: "sr", ...picked, change });
    const file = el("label", { class: "btn t file" }, draft.file?.name ?? ".npy …", input);
    return el("div", { class: "change-line" }, [...FILLS, `${target.name} * 2`].map(fill), file);
  }

  private async take(draft: Draft, file: File | undefined): Promise<void> {
    if (!file) return;
    if (file.size > FILE_BYTES) {
      draft.problem = { message: `The file has more than ${FILE_MEGABYTES} MB.`, code: "", severity: "error" };
      this.redraw("change-file");
      return;
    }
    draft.file = { name: file.name, content: await base64Of(file) };
    draft.value = FILE_CALL;
    this.redraw("change-run");
  }

  private submit(draft: Draft): void {
    const value = draft.value.trim();
    const content = value === FILE_CALL ? (draft.file?.content ?? "") : "";
    this.run({ text: `${draft.place.trim()} = ${value}`, is_in_place: draft.isInPlace, content });
  }
}

async function base64Of(file: File): Promise<string> {
  const url = await new Promise<string>((done) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}

function inPlace(draft: Draft): HTMLElement {
  const change = () => {
    draft.isInPlace = box.checked;
  };
  const box = el("input", { type: "checkbox", data: { focus: "change-in-place" }, change });
  box.checked = draft.isInPlace;
  const words = "In place: tensors that share its memory change, too";
  return el("label", { class: "change-line muted" }, box, words);
}

function problemOf({ problem }: Draft): Child {
  if (!problem) return "";
  const hint = problem.hint ? [" · ", prose(problem.hint)] : "";
  const words = [severitySign(problem.severity), " ", codeLink(problem), " ", prose(problem.message), hint];
  return el("div", { class: "change-problem", role: "alert" }, words);
}
